#!/usr/bin/env bats
# An agent in a real terminal: questions of 0.4, Ctrl+C, what must not reach the
# screen.

# shellcheck disable=SC2154 # what fledge_open and terminal_open set
load terminal
load ../fledge/plugins

setup() {
    terminal_open
    fledge_open
    profile="$WORK/bot.yaml"
}

teardown() {
    terminal_close
    fledge_close
}

# in_terminal OPTION…: a turn, and its exit code.
in_terminal() {
    between_looks "$WORK" "$perch" agent run --profile "$profile" --no-store --prompt hi "$@"
}

asking_agent() {
    cat >"$WORK/agent.py" <<'END'
import json, sys
sys.stdin.readline()
for n in "12":
    print(json.dumps({"type": "permission_request", "request_id": n, "tool_name": "tool" + n,
                      "input": {"n": n}}), flush=True)
answers = [json.loads(sys.stdin.readline()) for _ in "12"]
print(json.dumps({"type": "result", "text": " ".join(a["request_id"] + a["behavior"] for a in answers)}))
END
    printf 'permission: true\ncommand: %s\nargs: [%s]\n' "$python" "$WORK/agent.py" >"$profile"
}

@test "permissions are asked one after the other" {
    asking_agent
    in_terminal
    wait_for 'May the agent use tool1?'
    keys y
    wait_for 'May the agent use tool2?'
    keys n
    wait_for '[over 0]'
    [[ "$(screen)" == *'1allow 2deny'* ]]
    wait_until test -s "$WORK/after"
    cmp "$WORK/before" "$WORK/after"
}

@test "Ctrl+C at a permission cancels the turn, the terminal is as it was" {
    asking_agent
    in_terminal
    wait_for 'May the agent use tool1?'
    keys C-c
    wait_for '[over 130]'
    wait_until test -s "$WORK/after"
    cmp "$WORK/before" "$WORK/after"
}

@test "Ctrl+C while it streams cancels the turn" {
    printf 'command: sh\nargs: ["-c", "echo AGENT_PARTIAL:\\"working\\"; sleep 60"]\n' >"$profile"
    in_terminal
    wait_for working
    keys C-c
    wait_for '[over 130]'
}

@test "what would move the cursor does not reach the screen" {
    printf 'command: printf\nargs: ["one\\\\033[2Jtwo\\\\n"]\n' >"$profile"
    in_terminal
    wait_for '[over 0]'
    [[ "$(screen)" == *'one[2Jtwo'* ]]
}
