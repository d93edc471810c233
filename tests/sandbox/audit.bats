#!/usr/bin/env bats
# The audit plugin of examples/: with everything granted it gets at nothing.

load sandbox.bash

setup() { sandbox_open; }

# audit USER: root's build may lie where a normal user may not go, and below /tmp
# everything is hidden: root puts what is needed on a file system nobody else sees.
audit() {
    has_rooms || skip "no namespaces here"
    if [ "$(id -u)" != 0 ]; then
        [ "$1" = normal ] || skip "needs root"
        mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/place"
        copy_programs "$BATS_TEST_TMPDIR/bin"
        "$BATS_TEST_TMPDIR/bin/audit.sh" "$BATS_TEST_TMPDIR/place"
        return
    fi
    export -f copy_programs
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --propagation private bash -euc '
        mount -t tmpfs -o mode=755 none /mnt
        mkdir /mnt/bin
        copy_programs /mnt/bin
        cd /mnt
        mkdir -m 700 /mnt/place
        drop=
        if [ "$1" = normal ]; then
            chown 54321:54321 /mnt/place
            drop="setpriv --reuid 54321 --regid 54321 --clear-groups"
        fi
        exec $drop /mnt/bin/audit.sh /mnt/place
    ' bash "$1"
}

copy_programs() {
    cp -r "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$PERCH_SOURCE/tests/sandbox/audit.sh" \
        "$PERCH_SOURCE/examples/plugins/audit" "$PERCH_SOURCE/examples/plugins/deploy-python" "$1"
    chmod -R go+rX "$1"
}

@test "the audit plugin is denied everything, run by root" { audit root; }
@test "the audit plugin is denied everything, run by a normal user" { audit normal; }
