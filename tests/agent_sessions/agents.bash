# shellcheck shell=bash
# Agents for the tests, made from a few lines of shell, and perch with sessions of
# its own. To be loaded by the bats files of this directory and of tests/term.

load ../fledge/plugins

agents_open() {
    perch="$PERCH_BUILD/perch"
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state" TEST_MARK="perch-test-$BATS_TEST_TMPDIR"
    export WORK="$BATS_TEST_TMPDIR" READY="$BATS_TEST_TMPDIR/ready"
    cd "$BATS_TEST_TMPDIR" || return 1
}

agents_close() { fledge_close; }

# agent NAME [PROFILE-LINE…] < SCRIPT: the profile NAME.yaml for a shell script.
agent() {
    local name=$1
    shift
    {
        echo '#!/bin/sh'
        cat
    } >"$name.sh"
    chmod +x "$name.sh"
    {
        # shellcheck disable=SC2016
        echo 'command: "{{PROFILE_DIR}}/'"$name.sh\""
        printf '%s\n' "$@"
    } >"$name.yaml"
}

# The stored sessions as they are, one a line: sender|name|id|turns.
stored() {
    python3 - <<'END'
import os, sqlite3
with sqlite3.connect(os.environ["XDG_STATE_HOME"] + "/perch/sessions.db") as database:
    for row in database.execute("select sender, name, id, turns from session order by 1, 2"):
        print("|".join(map(str, row)))
END
}
