# shellcheck shell=bash disable=SC2034,SC2154
# Agents for the tests, made from a few lines, and perch with a life of its own.

load ../fledge/plugins

agent_open() {
    fledge_open
    unset "${!AGENT_@}"
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    profile="$BATS_TEST_TMPDIR/bot.yaml"
}

agent_close() { fledge_close; }

# agent [KEY-LINE…] < SCRIPT: an agent in shell, and its profile with these lines.
agent() {
    cat >"$BATS_TEST_TMPDIR/agent.sh"
    profile_of "command: sh" "args: ['$BATS_TEST_TMPDIR/agent.sh']" "$@"
}

# The same in Python.
py_agent() {
    cat >"$BATS_TEST_TMPDIR/agent.py"
    profile_of "command: $python" "args: ['$BATS_TEST_TMPDIR/agent.py']" "$@"
}

# profile_of LINE…
profile_of() {
    printf '%s\n' "$@" >"$profile"
}

# turn [OPTION…]: one turn with the message "hi" unless there is another one.
turn() {
    [[ " $* " == *" --prompt "* || " $* " == *" --stdin "* ]] || set -- --prompt hi "$@"
    keep "$perch" agent run --profile "$profile" --no-store "$@"
}

# events: those of `turn --json`, one a line, without their times.
events() {
    sed 's/"duration_ms":[0-9]*,//' "$WORK/out"
}

# field NAME: of the end event.
field() {
    "$python" -c 'import json, sys
print(json.loads(open(sys.argv[1]).readlines()[-1])[sys.argv[2]])' "$WORK/out" "$1"
}
