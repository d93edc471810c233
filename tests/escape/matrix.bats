#!/usr/bin/env bats
# The escape matrix: every row, as root and as a normal user, with a room and
# without one, with a network and without one; matrix.sh goes through the ABIs.

# Root's build may lie where a normal user may not go, and its /tmp is everybody's:
# what is needed is put on file systems that nobody else sees.
matrix() {
    local user=$1
    shift
    if [ "$(id -u)" != 0 ]; then
        [ "$user" = normal ] || skip "needs root"
        mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/p"
        copy_programs "$BATS_TEST_TMPDIR/bin"
        "$BATS_TEST_TMPDIR/bin/matrix.sh" "$BATS_TEST_TMPDIR/p" "$@"
        return
    fi
    export -f copy_programs
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --propagation private bash -euc '
        user=$1
        shift
        mount -t tmpfs -o mode=755 none /mnt
        mkdir /mnt/bin
        copy_programs /mnt/bin
        cd /mnt
        mount -t tmpfs -o mode=1777 none /tmp
        mkdir -m 700 /mnt/place
        drop=
        if [ "$user" = normal ]; then
            chown 54321:54321 /mnt/place
            drop="setpriv --reuid 54321 --regid 54321 --clear-groups"
        fi
        exec $drop /mnt/bin/matrix.sh /mnt/place "$@"
    ' bash "$user" "$@"
}

copy_programs() {
    cp "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$PERCH_BUILD/tests/escape" \
        "$PERCH_SOURCE/tests/escape/matrix.sh" "$1"
    chmod 755 "$1"/*
}

@test "root, in a room, no network" { matrix root 1 none; }
@test "root, in a room, network" { matrix root 1 full; }
@test "root, without a room, no network" { matrix root 0 none; }
@test "root, without a room, network" { matrix root 0 full; }
@test "normal user, in a room, no network" { matrix normal 1 none; }
@test "normal user, in a room, network" { matrix normal 1 full; }
@test "normal user, without a room, no network" { matrix normal 0 none; }
@test "normal user, without a room, network" { matrix normal 0 full; }
