# shellcheck shell=bash disable=SC2154
# Recordings of real runs, shown and replayed. To be loaded by the bats files of this
# directory.

load ../fledge/plugins

trace_open() {
    fledge_open
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    export trace="$WORK/trace"
}

trace_close() { fledge_close; }

# record ARGUMENT…: a plugin with nobody there; its exit code in $status.
record() { call --trace "$trace" "$@"; }

# of_trace ARGUMENT…: perch trace.
of_trace() { perch_alone trace "$@"; }

# same: it replays without a difference.
same() {
    of_trace replay "$trace"
    expect_status 0
    has "$output" "the same:"
}

# differs LINE: the first difference is in this line.
differs() {
    of_trace replay "$trace"
    expect_status 1
    has "$output" "different: line $1 of $trace: "
}

# edit PYTHON: `lines` are the records of the trace, and are written back.
edit() {
    "$python" - "$trace" "$1" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
def event(name):
    """The index of the first event of this name."""
    return next(i for i, line in enumerate(lines) if line.get("event") == name)
exec(sys.argv[2])
with open(sys.argv[1], "w") as file:
    for line in lines:
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
END
}

# sent PART: the number of the first line to the plugin that has this in it.
sent() { grep -n '"dir":"in"' "$trace" | grep -F -- "$1" | head -n 1 | cut -d : -f 1; }

# event NAME: the number of the first event of this name.
event() { grep -n "\"event\":\"$1\"" "$trace" | head -n 1 | cut -d : -f 1; }
