#!/usr/bin/env bats
# The git that perch starts for itself, in repositories that others have written: git.sh,
# as root and as a normal user.

# As in matrix.bats: on a file system that nobody else sees. Who else is on the machine has
# left a repository in a directory that everybody may write to.
attack() {
    local user=$1
    if [ "$(id -u)" != 0 ]; then
        [ "$user" = normal ] || skip "needs root"
        mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/p"
        copy_programs "$BATS_TEST_TMPDIR/bin"
        "$BATS_TEST_TMPDIR/bin/git.sh" "$BATS_TEST_TMPDIR/p"
        return
    fi
    export -f copy_programs
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --propagation private bash -euc '
        mount -t tmpfs -o mode=755 none /mnt
        mkdir /mnt/bin
        copy_programs /mnt/bin
        mkdir -m 700 /mnt/place
        mkdir -m 1777 /mnt/place/shared
        cd /mnt/place/shared
        git -c init.defaultBranch=theirs init -q .
        git -c user.name=x -c user.email=x commit -q --allow-empty -m theirs
        chown -R 54322:54322 .
        mkdir mine
        drop=
        if [ "$1" = normal ]; then
            chown 54321:54321 /mnt/place mine
            drop="setpriv --reuid 54321 --regid 54321 --clear-groups"
        fi
        exec $drop /mnt/bin/git.sh /mnt/place
    ' bash "$user"
}

copy_programs() {
    cp "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$PERCH_SOURCE/tests/escape/git.sh" "$1"
    chmod 755 "$1"/*
}

@test "root: no git of ours runs what others have written" { attack root; }
@test "normal user: no git of ours runs what others have written" { attack normal; }
