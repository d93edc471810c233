# shellcheck shell=bash
# Tools for the tests, made from a few lines of Python, and bindings for them. To
# be loaded by the bats files of this directory.

load ../fledge/plugins

tool_open() {
    fledge_open
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    bindings="$XDG_CONFIG_HOME/perch/tools"
    audit="$XDG_STATE_HOME/perch/audit.jsonl"
    prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
    mkdir -p "$bindings" "$WORK/tools"
    PATH="$(dirname "$python"):$PATH" # the interpreter that bundles name
}

tool_close() { fledge_close; }

# program NAME < PYTHON: an executable that has the words below.
program() {
    { printf '#!%s\n' "$python" && cat "$PERCH_SOURCE/tests/tool/kit.py" - ; } >"$WORK/tools/$1"
    chmod +x "$WORK/tools/$1"
}

# binding NAME [LINE…]: binds the program NAME as the plugin t.NAME. Lines that
# begin with [ open a table.
binding() {
    local name=$1
    shift
    {
        printf 'name = "t.%s"\ncommand = "%s"\n' "$name" "$WORK/tools/$name"
        printf '%s\n' "$@"
        printf '[env]\nTEST_MARK = "%s"\n' "$TEST_MARK"
        printf '[sandbox]\nread = ["%s", "%s"]\nwrite = ["%s"]\n' "$prefix" "$WORK" "$WORK"
    } >"$bindings/t.$name.toml"
}

# tool NAME [LINE…] < PYTHON: both.
tool() {
    program "$1"
    binding "$@"
}

# perch tool ARGUMENT… with nobody there.
perch_tool() { perch_alone tool "$@"; }

# field NAME: of the JSON object in $output.
field() {
    "$python" -c 'import json, sys; print(json.dumps(json.loads(sys.argv[1])[sys.argv[2]]))' \
        "$output" "$1"
}

# field_is NAME JSON
field_is() {
    local found
    found=$(field "$1") || return 1
    [ "$found" = "$2" ] || {
        printf '%s is %s, not %s\n%s\n' "$1" "$found" "$2" "$output"
        return 1
    }
}

# ends NUMBER CODE [WORD…]: a call of t.x of the tool t.odd ends so, with --json and
# without.
ends() {
    local number=$1 code=$2
    shift 2
    perch_tool call t.odd t.x --json "$@"
    expect_status "$number"
    field_is code "\"$code\""
    perch_tool call t.odd t.x "$@"
    expect_status "$number"
}

# The last line of the audit log.
last_audit() {
    tail -n 1 "$audit"
}
