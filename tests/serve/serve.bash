# shellcheck shell=bash
# A place for `perch serve` and the scenes that are played with it. To be loaded by bats files.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools

serve_open() {
    tool_open
    export PERCH="$perch" XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
}

serve_close() { tool_close; }

# scene FILE NAME
scene() {
    PYTHONPATH="$PERCH_SOURCE/tests/serve" timeout "${PATIENCE_OF_SCENES:-240}" \
        "$python" "$PERCH_SOURCE/tests/serve/$1" "$2" || {
        cat "$WORK/serve.log"
        return 1
    }
}
