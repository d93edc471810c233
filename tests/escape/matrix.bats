#!/usr/bin/env bats
# The escape matrix: every row, as root and as a normal user, with a room and
# without one, with a network and without one; matrix.sh goes through the ABIs.

load ../harness/users

setup() { users_bring "$PERCH_BUILD/tests/escape" "$PERCH_SOURCE/tests/escape/matrix.sh"; }

matrix() { as_user "$1" matrix.sh "${@:2}"; }

@test "root, in a room, no network" { matrix root 1 none; }
@test "root, in a room, network" { matrix root 1 full; }
@test "root, without a room, no network" { matrix root 0 none; }
@test "root, without a room, network" { matrix root 0 full; }
@test "normal user, in a room, no network" { matrix normal 1 none; }
@test "normal user, in a room, network" { matrix normal 1 full; }
@test "normal user, without a room, no network" { matrix normal 0 none; }
@test "normal user, without a room, network" { matrix normal 0 full; }
