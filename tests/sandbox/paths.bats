#!/usr/bin/env bats
# Paths that become something else: while a sandbox is made, or since they were named. Each
# attack of paths.sh is tried as root and as a normal user.

load ../harness/users

setup() { users_bring "$PERCH_SOURCE/tests/sandbox/paths.sh" "$PERCH_SOURCE/tests/sandbox/swap.py"; }

attack() {
    local code=0
    as_user "$1" paths.sh "${@:2}" || code=$?
    [ "$code" != 77 ] || skip "no namespaces here"
    return "$code"
}

users_prepare() {
    [ "$3" = stranger ] || return 0
    ln -s / /tmp/.X11-unix
    ln -s /usr /tmp/.ICE-unix
    chown -h 12345 /tmp/.X11-unix /tmp/.ICE-unix
}

@test "what is swapped while a room is furnished is not used, root" { attack root swapped; }
@test "what is swapped while a room is furnished is not used, normal user" { attack normal swapped; }

@test "a project that is swapped for a link is not used, root" { attack root swapped_project; }
@test "a project that is swapped for a link is not used, normal user" {
    attack normal swapped_project
}

@test "a home directory is one however it is spelled, root" { attack root home; }
@test "a home directory is one however it is spelled, normal user" { attack normal home; }

@test "a place for secrets that is a link into the project stays what it is, root" {
    attack root ssh_in_project
}
@test "a place for secrets that is a link into the project stays what it is, normal user" {
    attack normal ssh_in_project
}

@test "what holds something hidden cannot be renamed, root" { attack root holders; }
@test "what holds something hidden cannot be renamed, normal user" { attack normal holders; }

@test "a variable that hides the project is named, root" { attack root variable_hides_project; }
@test "a variable that hides the project is named, normal user" { attack normal variable_hides_project; }

@test "what was allowed and has become a link is refused, root" { attack root grants; }
@test "what was allowed and has become a link is refused, normal user" { attack normal grants; }
@test "what has become a link can be allowed again, and taken back" { attack normal again; }
@test "what a profile names and has become a link is refused, root" { attack root profiles; }
@test "what a profile names and has become a link is refused, normal user" { attack normal profiles; }
@test "a link does not name what is hidden, root" { attack root command_line; }
@test "a link does not name what is hidden, normal user" { attack normal command_line; }

@test "a link that somebody else has put into /tmp breaks no sandbox, root" { attack root stranger; }
@test "a link that somebody else has put into /tmp breaks no sandbox, normal user" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    attack normal stranger
}
