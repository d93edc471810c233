#!/usr/bin/env bats
# Paths that become something else: while a sandbox is made, or since they were named. Each
# attack of paths.sh is tried as root and as a normal user.

# Root's build may lie where a normal user may not go, and its /tmp is everybody's: what is needed
# is put on file systems that nobody else sees.
attack() {
    local code=0
    attack_as "$@" || code=$?
    [ "$code" != 77 ] || skip "no namespaces here"
    return "$code"
}

attack_as() {
    local user=$1
    shift
    if [ "$(id -u)" != 0 ]; then
        [ "$user" = normal ] || skip "needs root"
        mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/p"
        copy_programs "$BATS_TEST_TMPDIR/bin"
        bash "$BATS_TEST_TMPDIR/bin/paths.sh" "$BATS_TEST_TMPDIR/p" "$@"
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
        exec $drop bash /mnt/bin/paths.sh /mnt/place "$@"
    ' bash "$user" "$@"
}

copy_programs() {
    cp "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$PERCH_SOURCE/tests/sandbox/paths.sh" \
        "$PERCH_SOURCE/tests/sandbox/swap.py" "$1"
    chmod 755 "$1"/*
}

@test "what is swapped while a room is furnished is not used, root" { attack root swapped; }
@test "what is swapped while a room is furnished is not used, normal user" { attack normal swapped; }
