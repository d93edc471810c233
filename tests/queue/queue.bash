# shellcheck shell=bash
# A place for several hosts and the scenes that are played with them. To be loaded by bats files.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools

queue_open() {
    tool_open
    export PERCH="$perch" XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
}

queue_close() { tool_close; }

# scene FILE NAME
scene() {
    PYTHONPATH="$PERCH_SOURCE/tests/serve:$PERCH_SOURCE/tests/queue" \
        timeout "${PATIENCE_OF_SCENES:-240}" \
        "$python" "$PERCH_SOURCE/tests/queue/$1" "$2" || {
        tail -n 50 "$WORK"/*.log "$WORK/redis/log"
        return 1
    }
}
