#!/usr/bin/env bats
# The audit plugin of examples/: with everything granted it gets at nothing.

load sandbox.bash
load ../harness/users

setup() {
    sandbox_open
    users_bring "$PERCH_SOURCE/tests/sandbox/audit.sh" "$PERCH_SOURCE/examples/plugins/audit" \
        "$PERCH_SOURCE/examples/plugins/deploy-python"
}

audit() {
    has_rooms || skip "no namespaces here"
    as_user "$1" audit.sh
}

@test "the audit plugin is denied everything, run by root" { audit root; }
@test "the audit plugin is denied everything, run by a normal user" { audit normal; }
