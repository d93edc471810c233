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
    wait_for 'Type yes, no, session'
    keys yes Enter
    wait_for 'May the agent use tool2?'
    keys n Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'1allow 2deny'* ]]
    wait_until test -s "$WORK/after"
    cmp "$WORK/before" "$WORK/after"
}

@test "session and always: what was said once is not asked again" {
    cat >"$WORK/agent.py" <<'END'
import json, sys
turn = json.loads(sys.stdin.readline())
print(json.dumps({"type": "permission_request", "request_id": "1", "tool_name": turn["message"],
                  "description": "to look round", "input": {"n": 1}}), flush=True)
print(json.dumps({"type": "result", "text": turn["message"] + ": " + json.loads(sys.stdin.readline())["behavior"]}))
END
    printf 'permission: true\ncommand: %s\nargs: [%s]\n' "$python" "$WORK/agent.py" >"$profile"
    between_looks "$WORK" "$perch" agent run "$profile" ls
    wait_for 'May the agent use ls? to look round {"n": 1} (session: always in this'
    wait_for 'Type yes, no, session or always [no]:'
    keys session Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'May the agent use ls? to look round {"n": 1} session'* ]]
    [[ "$(screen)" == *'ls: allow'* ]]
    "$perch" agent sessions show default | grep '^may use *ls$'
    [ "$("$perch" agent run "$profile" ls </dev/null)" = "ls: allow" ]
    [ "$("$perch" agent run "$profile" ls --session-name other </dev/null)" = "ls: deny" ]
    between_looks "$WORK" "$perch" agent run "$profile" rm
    wait_for 'May the agent use rm?'
    keys always Enter
    wait_for 'rm: allow'
    [ "$("$perch" agent run "$profile" rm --session-name other </dev/null)" = "rm: allow" ]
    "$perch" agent allow "$profile" | grep '^  tools  *rm$'
    "$perch" agent revoke "$profile" --tool rm
    [ "$("$perch" agent run "$profile" rm --session-name other </dev/null)" = "rm: deny" ]
}

# Asks when it is told to, for a tool with this input; says what the answer was.
agent_asks_on_command() {
    printf '%s' "$1" >"$WORK/input"
    cat >"$WORK/agent.py" <<'END'
import json, os, sys, time
work = os.path.dirname(os.path.abspath(__file__))
sys.stdin.readline()
open(work + "/asks", "w").close()
while not os.path.exists(work + "/go"):
    time.sleep(0.02)
text = json.load(open(work + "/input"))
print(json.dumps({"type": "permission_request", "request_id": "1", "tool_name": "bash",
                  "input": {"command": text}}), flush=True)
answer = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "text": "answer: " + answer["behavior"]}))
END
    printf 'permission: true\ncommand: %s\nargs: [%s]\n' "$python" "$WORK/agent.py" >"$profile"
}

@test "what was typed before a permission is asked for is no answer" {
    agent_asks_on_command '"rm -rf /"'
    in_terminal
    wait_until test -e "$WORK/asks"
    keys "yes" Enter "y" Enter "ye"
    wait_for ye
    touch "$WORK/go"
    wait_for 'Type yes, no, session or always [no]:'
    keys "s" Enter
    wait_for 'please type yes, no, session or always'
    [[ "$(screen)" != *'[no]: s'* ]] # the wrong answer is gone
    keys "n" Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'answer: deny'* ]]
    [[ "$(screen)" == *'May the agent use bash? {"command": "rm -rf /"} no'* ]]
}

@test "a pasted text answers no permission" {
    agent_asks_on_command '"rm -rf /"'
    in_terminal
    touch "$WORK/go"
    wait_for 'Type yes, no, session'
    printf 'yes\nyes this is pasted\n\n' >"$WORK/text"
    tmux -L "$socket" load-buffer "$WORK/text"
    tmux -L "$socket" paste-buffer -p
    wait_for 'Type yes, no, session or always [no]: yes yes this is pasted'
    keys Enter
    wait_for 'please type yes, no, session or always'
    keys C-u Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'answer: deny'* ]]
}

@test "what a tool would be given is seen in full, or is seen to be cut" {
    agent_asks_on_command "\"$(printf 'word%.0s ' $(seq 40)) && rm -rf /the-end\""
    in_terminal
    touch "$WORK/go"
    wait_for 'Type yes, no, session'
    [[ "$(screen)" == *'rm -rf /the-end"}'* ]]
    keys y Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'answer: allow'* ]]
    rm "$WORK/go"
    terminal_anew
    agent_asks_on_command "\"$(head -c 20000 /dev/zero | tr '\0' ' ') && rm -rf /the-end\""
    in_terminal
    touch "$WORK/go"
    wait_for 'Type yes, no, session'
    screen_has '…'
    keys Enter
    wait_for '[over 0]'
}

@test "a permission on a dumb terminal is asked for in words as well" {
    agent_asks_on_command '"ls"'
    between_looks "$WORK" env TERM=dumb "$perch" agent run --profile "$profile" --no-store --prompt hi
    wait_until test -e "$WORK/asks"
    keys "yes" Enter "ye"
    wait_for ye
    touch "$WORK/go"
    wait_for 'Type yes, no, session or always'
    keys "s" Enter
    wait_for 'please type yes, no, session or always'
    keys "yes" Enter
    wait_for '[over 0]'
    [[ "$(screen)" == *'answer: allow'* ]]
}

@test "Ctrl+Z at a permission stops the command as a job; the question comes back with it" {
    asking_agent
    shell_in_terminal "$WORK"
    keys "clear; '$perch' agent run --profile bot.yaml --no-store --prompt hi" Enter
    wait_for 'May the agent use tool1?'
    wait_for 'Type yes, no, session'
    keys C-z
    wait_for "Stopped"
    keys "clear" Enter
    wait_for "%>"
    wait_until screen_lacks 'May the agent'
    keys "fg" Enter
    wait_for 'May the agent use tool1?'
    keys yes Enter
    wait_for 'May the agent use tool2?'
    keys no Enter
    wait_for '1allow 2deny'
    keys "exit" Enter
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

@test "what is said while a permission is asked for stands on lines of its own" {
    cat >"$WORK/agent.py" <<'END'
import json, os, sys, time
work = os.path.dirname(os.path.abspath(__file__))
def say(**event):
    print(json.dumps(event), flush=True)
sys.stdin.readline()
say(type="partial", text="thinking")
say(type="permission_request", request_id="1", tool_name="bash", input={})
while not os.path.exists(work + "/go"):
    time.sleep(0.02)
say(type="partial", text="still thinking")
time.sleep(60)
END
    printf 'permission: true\ntimeout_secs: 3\ncommand: %s\nargs: [%s]\n' \
        "$python" "$WORK/agent.py" >"$profile"
    in_terminal
    wait_for 'Type yes, no, session'
    touch "$WORK/go"
    wait_for '[over 124]'
    [ "$(line 1)" = thinking ]
    [ "$(line 2)" = "still thinking" ]
    [[ "$(line 3)" == "error: the agent took"* ]]
    [[ "$(line 4)" == "  "* ]] # what to do
    [[ "$(screen)" == *$'\n[over 124]'* ]]
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

@test "that it thinks is one line, which the reply takes the place of" {
    cat >"$WORK/agent.py" <<'AGENT'
import json, os, sys, time
work = os.path.dirname(os.path.abspath(__file__))
for text in ("a long thought\n", "another one"):
    print(json.dumps({"type": "partial", "role": "thinking", "text": text}), flush=True)
while not os.path.exists(work + "/go"):
    time.sleep(0.02)
print(json.dumps({"type": "result", "text": "the reply"}), flush=True)
AGENT
    printf 'protocol: "0.4"\ncommand: %s\nargs: [%s]\n' "$python" "$WORK/agent.py" >"$profile"
    in_terminal
    wait_for 'thinking…'
    [ "$(line 1)" = "thinking…" ]
    touch "$WORK/go"
    wait_for '[over 0]'
    [ "$(line 1)" = "the reply" ]
    [ "$(line 2)" = "[over 0]" ]
}

# acp_agent: that of tests/acp, which asks what it is told to.
acp_agent() { printf 'command: %s/tests/acp/hosted.py\nprotocol: acp\n' "$PERCH_SOURCE" >"$profile"; }

@test "an agent of ACP asks: field by field, and all of it once more" {
    acp_agent
    between_looks "$WORK" "$perch" agent run --profile "$profile" --no-store --prompt form
    wait_for 'bot asks: How shall I go on? (1 of 5) Strategy'
    keys Down Enter
    wait_for '(2 of 5) count'
    keys C-u 9 Enter
    wait_for 'the number: 5 at most'
    keys C-u 4 Enter
    wait_for '(3 of 5) tags'
    keys Space Enter
    wait_for '(4 of 5) why'
    keys Enter
    wait_for '(5 of 5) sure'
    keys n
    wait_for 'count = 4, tags = x, why = (none), sure = no'
    keys Enter
    wait_for '[over 0]'
    [[ "$(screen | tr -d '\n')" == *'"content": {"count": 4, "strategy": "a", "sure": false, "tags": ["x"]}}'* ]]
    wait_until test -s "$WORK/after"
    cmp "$WORK/before" "$WORK/after"
}

@test "an agent of ACP asks: Ctrl+C declines, and the turn goes on; a page is for the user to open" {
    acp_agent
    between_looks "$WORK" "$perch" agent run --profile "$profile" --no-store --prompt one
    wait_for 'bot asks: Where? place'
    keys C-c
    wait_for '[over 0]'
    [[ "$(screen)" == *'{"action": "decline"}'* ]]
    between_looks "$WORK" "$perch" agent chat --profile "$profile"
    wait_for 'Ctrl+D leaves'
    keys page Enter
    wait_for 'a page of example.org?'
    wait_for 'https://example.org/in?x=1'
    keys y
    wait_for '{"action": "accept"}'
    keys C-d
}
