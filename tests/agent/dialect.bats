#!/usr/bin/env bats
# Dialect 0.4: section 7 of the contract with real processes.

# shellcheck disable=SC2154,SC2016 # what agent_open and turn set
load agents

setup() { agent_open; }
teardown() { agent_close; }

@test "the turn is a line on stdin, then end of file; the environment is small" {
    export SECRET=s
    py_agent 'protocol: "0.4"' 'env: {OWN: 1}' <<'END'
import json, os, sys
text = sys.stdin.read()
turn = json.loads(text)
names = sorted(n for n in os.environ if n.startswith("AGENT_") or n in ("SECRET", "OWN", "EXTRA", "PATH"))
print(json.dumps({"type": "result", "text": json.dumps([turn, text.count("\n"), names])}))
END
    turn --prompt 'a "b"' --session s-1 --image http://x/i.png --env EXTRA=1
    expect_status 0
    expect '[{"type": "turn", "message": "a \"b\"", "session_id": "s-1", "session_name": "default", "attachments": [{"kind": "image", "url": "http://x/i.png", "name": "i.png"}], "protocol_version": "0.4"}, 1, ["EXTRA", "OWN", "PATH"]]'
}

@test "a command is never split, {{MESSAGE}} is a text" {
    mkdir "$BATS_TEST_TMPDIR/bin dir"
    printf '#!/bin/sh\nprintf '"'"'{"type":"result","text":"%%s"}\\n'"'"' "$1"\n' >"$BATS_TEST_TMPDIR/bin dir/my agent"
    chmod +x "$BATS_TEST_TMPDIR/bin dir/my agent"
    profile_of 'protocol: "0.4"' 'command: "{{PROFILE_DIR}}/bin dir/my agent"' 'args: ["{{MESSAGE}}"]'
    turn
    expect_status 0
    expect '{{MESSAGE}}'
    has "$errors" 'warning: {{MESSAGE}} means nothing'
}

@test "partial, result, error, session: who wins" {
    agent 'protocol: "0.4"' <<'END'
echo '{"type":"partial","text":"a","session_id":"one"}'
echo 'not an event'
echo '{"type":"result","text":"a","session_id":"two"}'
END
    turn --json
    expect_status 0
    lacks "$output" '"event":"reply"'
    [ "$(field session_id)" = one ]
    [ "$(grep -c '"event":"warning"' "$WORK/out")" -eq 2 ]
    has "$output" 'another session_id than the lines before, which counts: two'
    turn --json --no-stream
    has "$output" '{"event":"reply","text":"a"}'
    agent 'protocol: "0.4"' <<'END'
echo '{"type":"error","message":"bad"}'
echo '{"type":"partial","text":"a"}'
echo '{"type":"result","text":"b"}'
END
    turn --json
    expect_status 1
    lacks "$output" '"event":"partial"'
    lacks "$output" '"event":"reply"'
    has "$output" '"code":"agent_error","message":"bad"'
}

# Asks for two things, and says what it was told.
asking_agent() {
    py_agent 'permission: true' "$@" <<'END'
import json, sys
sys.stdin.readline()
for n in "12":
    print(json.dumps({"type": "permission_request", "request_id": n, "tool_name": "sh", "input": {}}), flush=True)
answers = [json.loads(sys.stdin.readline()) for _ in "12"]
print(json.dumps({"type": "result", "text": " ".join(a["request_id"] + a["behavior"] for a in answers)}), flush=True)
sys.stdin.read()
END
}

@test "permission without a terminal is denied" {
    asking_agent
    turn </dev/null
    expect_status 0
    expect '1deny 2deny'
}

@test "permission in a chat through pipes is denied, and the chat goes on" {
    asking_agent 'protocol: "0.4"'
    status=0
    output=$(printf 'one\ntwo\n' | "$perch" agent chat --profile "$profile") || status=$?
    expect_status 0
    expect $'1deny 2deny\n1deny 2deny'
}

@test "an executor without a command is a clear error, with one it is run" {
    profile_of 'executor: claude-code'
    turn
    expect_status 125
    has "$errors" "the executor 'claude-code'"
    agent 'executor: claude-code' <<'END'
echo '{"type":"result","text":"spawned"}'
END
    turn
    expect spawned
    has "$errors" 'warning: the executor'
}

# Shaped as the published collection has it: wrapper keys, and an agent that reads the turn.
echo_agent() {
    cat >"$BATS_TEST_TMPDIR/bridge.py" <<'END'
import json, sys
line = sys.stdin.readline()
turn = json.loads(line) if line else {}
print(json.dumps({"type": "result", "text": "You said: " + turn.get("message", "")}))
END
    profile_of "$@" 'agentproc:' "  command: $python" '  args: ["{{PROFILE_DIR}}/bridge.py"]'
}

@test "a dialect that nobody said: the line to add" {
    echo_agent 'name: echo-agent' 'description: says it' 'cli: none' 'cli_install: |' '  # none' \
        'tested: official' 'maintainer: me' 'tags: [example]' 'notes: |' '  none'
    turn
    expect_status 0
    expect 'You said: hi'
    [ "$(grep -c ^warning: "$WORK/err")" -eq 1 ]
    has "$errors" 'add the line protocol: "0.4"'
    keep "$perch" agent check "$profile"
    expect_status 0
    has "$errors" 'add the line protocol: "0.4"'
    has "$output" 'tested     official'
    turn --protocol 0.4
    expect 'You said: hi'
    lacks "$errors" warning
    echo_agent 'name: mine'
    keep "$perch" agent check "$profile"
    has "$errors" 'bridge.py looks like an agent of AgentProc 0.4: then add the line protocol: "0.4"'
    turn
    expect_status 1
    lacks "$output" 'You said'
    has "$errors" 'add the line protocol: "0.4" to the profile, or give --protocol 0.4'
    turn --protocol 0.4
    expect 'You said: hi'
    agent 'cli: sh' <<<'echo AGENT_SESSION:s; echo older'
    turn
    has "$errors" 'line 1 is one of AgentProc 0.1, whose agents need the line protocol: "0.1" in the profile'
    has "$errors" 'line 2 is not JSON and is ignored: older'
    echo_agent 'name: mine'
    turn --protocol 0.1
    expect '{"type": "result", "text": "You said: "}'
    turn --protocol 0.2
    expect_status 64
    echo 'protocol: "0.1"' >>"$profile"
    turn
    expect_status 0
}

@test "env AGENT_X is told of, and check does not list it" {
    profile_of 'protocol: "0.4"' 'command: cat' 'env: {AGENT_X: 1, OWN: 2}'
    keep "$perch" agent check "$profile"
    has "$output" 'env        OWN ('
    lacks "$output" AGENT_X
    turn --env AGENT_Y=1 --json
    has "$output" 'env AGENT_X is ignored'
    has "$output" 'env AGENT_Y is ignored'
}

@test "a missing ./x names {{PROFILE_DIR}}" {
    profile_of 'command: ./x'
    turn
    expect_status 127
    has "$errors" '{{PROFILE_DIR}}/x is the one beside the profile'
}

@test "without HOME the password file is asked" {
    profile_of 'command: sh' 'args: [-c, "echo $HOME"]'
    keep env -u HOME "$perch" agent run "$profile" hi --no-store
    expect "$(awk -F: -v id="$(id -u)" '$3 == id { print $6; exit }' /etc/passwd)"
}

@test "0.4: thinking is no part of the reply" {
    py_agent 'protocol: "0.4"' <<'AGENT'
import json
print(json.dumps({"type": "partial", "role": "thinking", "text": "hm, let me see\nyes"}))
print(json.dumps({"type": "result", "text": "the reply"}))
AGENT
    turn
    expect_status 0
    expect "the reply"
    [ -z "$errors" ]
    turn --thinking show
    expect "the reply"
    has "$errors" "thinking: hm, let me see
thinking: yes"
    turn --json
    has "$output" '{"event":"thinking","text":"hm, let me see\nyes"}'
    turn --thinking loud
    expect_status 64
    has "$errors" "--thinking is show, fold or hide, not 'loud'"
    keep "$perch" agent chat --profile "$profile" <<<"hi"
    expect "the reply"
    [ -z "$errors" ]
    keep "$perch" agent chat --profile "$profile" --thinking show <<<"hi"
    expect "the reply"
    has "$errors" "thinking: hm, let me see
thinking: yes"
}

@test "0.4: usage is told with -v, in the end event, and summed up for the session" {
    py_agent 'protocol: "0.4"' 'max_turn_tokens: 100' <<'AGENT'
import json, sys
turn = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "text": "fine", "session_id": "s",
                  "usage": {"input_tokens": int(turn["message"]), "output_tokens": 5, "total_cost_usd": 0.25}}))
AGENT
    keep "$perch" agent run "$profile" 10 -v
    expect fine
    has "$errors" 'usage: 15 tokens (10 in, 5 out), $0.2500'
    keep "$perch" agent run "$profile" 20
    expect fine
    [ -z "$errors" ]
    keep "$perch" agent run "$profile" 30 --json
    has "$output" '"usage":{"input_tokens":30,"output_tokens":5,"total_tokens":35,"cost_usd":0.25}'
    keep "$perch" agent sessions show default
    has "$output" 'used         75 tokens (60 in, 15 out), $0.7500'
    keep "$perch" agent sessions show default --json
    has "$output" '"usage":{"input_tokens":60,"output_tokens":15,"total_tokens":75,"cost_usd":0.75}'
    keep "$perch" agent run "$profile" 96
    expect_status 1
    expect fine
    has "$errors" "error: the turn has used 101 tokens, more than max_turn_tokens of its profile allows (100)"
    keep "$perch" agent chat "$profile" --new <<<$'10\n/usage'
    has "$errors" 'note: this session: 15 tokens (10 in, 5 out), $0.2500'
    keep "$perch" agent check "$profile"
    has "$output" 'tokens     at most 100 a turn'
}

@test "a budget of time: the turn that uses it up is stopped, the next one refused, a new session runs" {
    py_agent 'budget_secs: 0.2' 'kill_grace_secs: 0' <<'AGENT'
import os, time
time.sleep(60 if os.environ["AGENT_MESSAGE"] == "wait" else 0)
AGENT
    keep "$perch" agent run "$profile" wait
    expect_status 124
    has "$errors" "the session has used up its budget_secs (0.2 seconds): begin a new one, or raise them"
    keep "$perch" agent run "$profile" hi
    expect_status 125
    has "$errors" "the session has used up its budget_secs (0.2 seconds)"
    keep "$perch" agent run "$profile" hi --new --json
    has "$output" '"event":"start"'
}
