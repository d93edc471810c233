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
        if [ "$1" = stranger ]; then
            ln -s / /tmp/.X11-unix
            ln -s /usr /tmp/.ICE-unix
            chown -h 12345 /tmp/.X11-unix /tmp/.ICE-unix
        fi
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
