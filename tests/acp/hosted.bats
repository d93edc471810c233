#!/usr/bin/env bats
# Agents that speak ACP under perch: `protocol: acp` in a profile.

# shellcheck disable=SC2154,SC2030,SC2031 # what agent_open and turn set
load ../agent/agents
load ../foreign/foreign
load acp

setup() {
    agent_open
    acp_tape
    export HOSTED_LOG="$BATS_TEST_TMPDIR/lines"
    hosted
}
teardown() { agent_close; }

# hosted [LINE…]: the agent of hosted.py.
hosted() {
    profile_of "command: $PERCH_SOURCE/tests/acp/hosted.py" 'protocol: acp' "$@"
}

# serve LINE…: the events of `perch agent serve` with these turns.
serve() {
    printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/turns"
    keep "$perch" agent serve --profile "$profile" <"$BATS_TEST_TMPDIR/turns"
    expect_status 0
}

# replies ID: all that a turn of `serve` says.
replies() { jq -rj "select(.id == \"$1\" and .event == \"partial\") | .text" "$WORK/out"; }

@test "a turn: thinking, plan, tools, usage, the reply, and why it ended" {
    turn --prompt show --json
    expect_status 0
    [ "$(jq -r .event "$WORK/out" | tr '\n' ' ')" = \
        'start session thinking plan tool tool usage partial end ' ]
    has "$output" '"event":"start","protocol":"acp"'
    [ "$(jq -c 'select(.event == "tool").tool' "$WORK/out" | head -1)" = \
        '{"id":"c1","title":"Read it","kind":"read","status":"pending","input":{"path":"x"}}' ]
    [ "$(field stop_reason)" = end_turn ]
    turn --prompt show -v
    has "$errors" 'tool: Read it'
    has "$errors" 'plan: look'
    expect shown
    turn --prompt 'say a whole' --no-stream --json
    has "$output" '{"event":"reply","text":"a whole"}'
}

@test "the directory, the environment, the servers" {
    export OWN=1
    turn --prompt 'env OWN'
    expect OWN
    mkdir "$BATS_TEST_TMPDIR/there"
    turn --prompt cwd --cwd "$BATS_TEST_TMPDIR/there"
    expect "$BATS_TEST_TMPDIR/there $BATS_TEST_TMPDIR/there"
    hosted 'mcp_servers:' '  - perch' '  - {name: files, command: /bin/files, args: [-x], env: {A: b}}' \
        '  - {name: web, url: "https://x.example/mcp", headers: {H: v}}'
    turn --prompt servers
    [ "$(jq -c '[.[] | .name]' "$WORK/out")" = '["perch","files"]' ]
    has "$errors" 'the agent takes MCP servers that are programs alone, and is not told of web'
    echo 'args: [remote]' >>"$profile"
    turn --prompt servers
    lacks "$errors" 'is not told'
    [ "$(jq -c '[.[] | .name]' "$WORK/out")" = '["perch","files","web"]' ]
    [ "$(jq -c '.[2]' "$WORK/out")" = '{"headers":[{"name":"H","value":"v"}],"name":"web","type":"http","url":"https://x.example/mcp"}' ]
    [ "$(jq -r '.[0].command' "$WORK/out")" = "$perch" ]
    [ "$(jq -c '.[1].env' "$WORK/out")" = '[{"name":"A","value":"b"}]' ]
}

@test "an agent that nobody has logged in to says so, and what to do is said" {
    turn --prompt locked
    expect_status 1
    has "$errors" "Authentication required: log in by the agent's own command first"
}

@test "attachments: a picture where it is taken, else a link" {
    turn --prompt look --image 'data:image/png;base64,aGk=' --file /etc/hostname
    expect 'you said look [image] [resource_link]'
}

@test "a session is stored, loaded, and begun anew where it is lost" {
    keep "$perch" agent run --profile "$profile" pid
    expect_status 0
    first=$("$perch" agent sessions list --json | jq -r '.sessions[0].session_id')
    keep "$perch" agent run --profile "$profile" 'say again'
    expect again # nothing of what was replayed
    grep -q '"method":"session/load"' "$HOSTED_LOG"
    [ "$("$perch" agent sessions list --json | jq -r '.sessions[0].session_id')" = "$first" ]
    keep "$perch" agent run --profile "$profile" --session lost-1 'say new'
    expect new
    has "$errors" 'a new one begins: it is lost'
    hosted
    profile_of "command: $PERCH_SOURCE/tests/acp/hosted.py forgetful" 'protocol: acp'
    keep "$perch" agent run --profile "$profile" 'say fresh'
    expect fresh
}

@test "permissions: the agent's own options, yes, no, and nobody to ask" {
    turn --prompt permit
    expect_status 0
    expect no-1
    hosted 'permission_timeout_secs: 60'
    "$python" "$PERCH_SOURCE/tests/acp/permit.py" "$perch" "$profile" >"$BATS_TEST_TMPDIR/said"
    [ "$(cat "$BATS_TEST_TMPDIR/said")" = $'once-1\never-1\nno-1\nonce-1' ]
    hosted 'permission: false'
    turn --prompt permit
    expect no-1
}

@test "what an agent wants to know: of the user of each frontend" {
    local told='{"action": "accept", "content": {"count": 4, "strategy": "a", "sure": false, "tags": ["x", "z"], "why": "because"}}' way
    for way in serve acp-forms acp-texts; do
        [ "$("$python" "$PERCH_SOURCE/tests/acp/asked.py" "$perch" "$profile" "$way")" = "$told" ]
    done
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    printf '%s\n' '[expose.mcp]' 'agents = ["bot"]' >"$XDG_CONFIG_HOME/perch/config.toml"
    cp "$profile" "$XDG_CONFIG_HOME/perch/agents/bot.yaml"
    [ "$("$python" "$PERCH_SOURCE/tests/acp/asked.py" "$perch" "$profile" mcp)" = "$told" ]
}

@test "questions that nobody answers, that may not be asked, or are not offered" {
    turn --prompt form
    expect_status 0
    expect '{"action": "cancel"}'
    turn --prompt page
    expect '{"action": "cancel"}'
    turn --prompt secret
    expect "a form must not ask for a secret, as 'password' does"
    has "$errors" 'a question of the agent is refused: a form must not ask for a secret'
    turn --prompt odd
    expect 'there is no such mode: form and url were offered'
    hosted 'permission_timeout_secs: 0.1'
    "$python" "$PERCH_SOURCE/tests/acp/late.py" "$perch" "$profile" >"$BATS_TEST_TMPDIR/said"
    [ "$(cat "$BATS_TEST_TMPDIR/said")" = $'{"action": "cancel"}\n{"action": "decline"}\n{"action": "accept"}' ]
    hosted 'acp: {elicitation: false}'
    turn --prompt one
    expect 'it was not offered'
}

# wants KEY-LINE…: the agent in a directory of its own, which is not hidden in a sandbox.
wants() {
    mkdir -p "$BATS_TEST_TMPDIR/work" "$HOME/.ssh"
    echo key >"$HOME/.ssh/id"
    cp "$PERCH_SOURCE/tests/acp/hosted.py" "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || exit 1
    HOSTED_LOG="$PWD/lines"
    printf '1\n2\n3\n' >numbers
    profile_of "command: $PWD/hosted.py" 'protocol: acp' "$@"
}

# files_and_terminals: what an agent may ask for, and what not.
files_and_terminals() {
    turn --prompt "read $PWD/numbers"
    expect '{"content": "1\n2\n3\n"}'
    turn --prompt "read $PWD/numbers 2 1"
    expect '{"content": "2\n"}'
    turn --prompt "write $PWD/new some words"
    expect '{}'
    [ "$(cat new)" = 'some words' ]
    turn --prompt "read $HOME/.ssh/id"
    expect_status 0
    has "$output" 'the file cannot be read'
    has "$errors" "perch agent allow $profile --read $HOME/.ssh/id"
    turn --prompt "write $HOME/.ssh/other words"
    has "$output" 'the file cannot be written'
    [ ! -e "$HOME/.ssh/other" ]
    turn --prompt 'write /usr/perch-test words'
    has "$output" 'the file cannot be written'
    has "$errors" '--write /usr'
    has "$errors" 'the file cannot be written: cannot create /usr/perch-test: '
    [ ! -e /usr/perch-test ]
    turn --prompt 'read numbers'
    expect 'it needs an absolute path'
    turn --prompt 'read /dev/zero'
    has "$output" 'more than 4 MiB'
    turn --prompt 'run cat numbers'
    expect '{"exitCode": 0, "signal": null}{"exitStatus": {"exitCode": 0, "signal": null}, "output": "1\n2\n3\n", "truncated": false}{}'
    turn --prompt "run cat $HOME/.ssh/id"
    has "$output" '{"exitCode": 1'
    lacks "$output" key
    has "$errors" "perch agent allow $profile --read $HOME/.ssh/id"
    turn --prompt 'run no-such-program x'
    has "$output" 'no such command'
    turn --prompt 'kill sleep 1000'
    expect '{"exitCode": null, "signal": "SIGTERM"}'
    wait_until nothing_left
}

@test "files and terminals of an agent in a sandbox" {
    wants 'sandbox: on'
    files_and_terminals
}

@test "files and terminals of an agent without one: the sandbox it would have decides" {
    wants
    files_and_terminals
    keep "$perch" agent allow "$profile" --read "$HOME/.ssh/id"
    expect_status 0
    turn --prompt "read $HOME/.ssh/id"
    expect '{"content": "key\n"}'
    export SOME_API_TOKEN=s
    turn --prompt 'run sh -c env'
    lacks "$output" SOME_API_TOKEN
}

# refused WORDS…: the agent is told no, and nothing of what is hidden.
refused() {
    turn --prompt "$*"
    expect_status 0
    lacks "$output" key
    has "$output" 'the file cannot be'
}

@test "ways around the policy: links, dots, descriptors of perch, races" {
    wants
    ln -s "$HOME/.ssh/id" link
    ln -s "$HOME/.ssh" folder
    refused read "$PWD/link"
    refused read "$PWD/folder/id"
    refused read "$PWD/../work/../../..$HOME/.ssh/id"
    refused read "/proc/self/root$HOME/.ssh/id"
    refused read "/proc/$PPID/root$HOME/.ssh/id"
    refused write "$PWD/link" words
    refused write "$PWD/folder/new" words
    refused write /usr/bin/perch-test words
    [ "$(cat "$HOME/.ssh/id")" = key ]
    [ ! -e "$HOME/.ssh/new" ]
    [ "$(ls -A "$HOME/.ssh")" = id ]
    exec 8<"$HOME/.ssh/id"
    refused read /proc/self/fd/8
    exec 8<&-
    turn --prompt "race $PWD/moving $HOME/.ssh/id 12"
    expect 'mine refused'
}

@test "a file that is written keeps its mode, its names and its links, and leaves nothing beside it" {
    wants
    mkdir own
    printf 'a longer text than the new one' >own/file
    chmod 640 own/file
    ln -s own/file way
    turn --prompt "write $PWD/way new"
    expect '{}'
    [ "$(cat own/file)" = new ]
    [ -L way ]
    [ "$(stat -c %a own/file)" = 640 ]
    ln own/file own/second
    turn --prompt "write $PWD/own/second both of them"
    expect '{}'
    [ "$(cat own/file)" = 'both of them' ]
    [ "$(stat -c %h own/file)" = 2 ]
    ln -s "$PWD/own/made" dangling
    turn --prompt "write $PWD/dangling made"
    expect '{}'
    [ "$(cat own/made)" = made ]
    [ "$(echo own/* own/.[!.]*)" = 'own/file own/made own/second own/.[!.]*' ]
    mkdir -p .git && printf old >.git/config # what is protected is no less so
    turn --prompt "write $PWD/.git/config new"
    has "$output" 'the file cannot be written'
    [ "$(cat .git/config)" = old ]
}

@test "terminals: their directory, variables, output, and those that are not there" {
    wants
    turn --prompt "raw terminal/create {\"command\":\"pwd\",\"cwd\":\"relative\"}"
    expect 'it needs a command, and an absolute cwd if any'
    turn --prompt "raw terminal/create {\"command\":\"ls\",\"cwd\":\"$HOME/.ssh\"}"
    lacks "$output" terminalId
    local odd
    for odd in '"env":[{"name":"A=B","value":"c"}]' '"env":[{"name":7}]' '"env":7' '"args":["a\u0000b"]' '"args":{}'; do
        turn --prompt "raw terminal/create {\"command\":\"true\",$odd}"
        expect 'args is a list of texts, env one of names and values: 1024 at most'
    done
    turn --prompt "raw terminal/create {\"command\":\"true\",\"args\":[$(printf '"a",%.0s' {1..1024})\"a\"]}"
    expect 'args is a list of texts, env one of names and values: 1024 at most'
    turn --prompt "run sh -c cat\${IFS}$HOME/.ssh/id;env"
    lacks "$output" key
    turn --prompt 'run head -c 1100000 /dev/zero'
    grep -q '"truncated":true' "$HOSTED_LOG"
    turn --prompt 'raw terminal/output {"terminalId":"terminal-99"}'
    expect 'there is no such terminal'
    turn --prompt 'raw terminal/kill {"terminalId":"../terminal-1"}'
    expect 'there is no such terminal'
    wait_until nothing_left
}

# steps METHOD,PARAMS…: the agent asks for one after the other; "T" is the last terminal.
steps() { turn --prompt "steps [$(printf '[%s],' "$@" | sed 's/,$//')]"; }

@test "terminals: what is loaded into a command, what it leaves behind, what is kept and what is told of it" {
    wants
    local after='"terminal/wait_for_exit",{"terminalId":"T"}' said='"terminal/output",{"terminalId":"T"}'
    printf '%s\n' '#include <fcntl.h>' '#include <unistd.h>' '#include <string.h>' \
        '__attribute__((constructor)) static void loaded(void) {' \
        "const char *said = open(\"$HOME/.ssh/id\", 0) < 0 ? \"denied \" : \"key \";" \
        'write(1, said, strlen(said)); }' >loaded.c
    cc -shared -fPIC -o loaded.so loaded.c
    steps "\"terminal/create\",{\"command\":\"true\",\"args\":[],\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":\"$PWD/loaded.so\"}]}" \
        "$after" "$said"
    has "$output" '"output": "denied "' # and never outside of the sandbox: what comes before is no program of the agent
    lacks "$output" key
    steps '"terminal/create",{"command":"setsid sleep 1000 >/dev/null & echo begun"}' "$after" "$said" \
        '"terminal/create",{"command":"pgrep -x sleep"}' "$after"
    has "$output" '"output": "begun\n"'
    has "$output" '{"exitCode": 1, "signal": null}'
    steps '"terminal/create",{"command":"echo words","outputByteLimit":0,"args":null,"env":null,"cwd":null}' "$after" "$said"
    has "$output" '"output": "", "truncated": true'
    steps '"terminal/create",{"command":"printf","args":["abc\\303\\244"],"outputByteLimit":1}' "$after" "$said"
    has "$output" '"output": "", "truncated": true' # no half of a character
    steps '"terminal/create",{"command":"kill -9 $$"}' "$after"
    has "$output" '{"exitCode": null, "signal": "SIGKILL"}'
    turn --prompt "run sh -c yes\${IFS}words|head\${IFS}-c\${IFS}900000;cat\${IFS}$HOME/.ssh/id"
    has "$errors" "perch agent allow $profile --read $HOME/.ssh/id"
    [ "$(wc -c <<<"$errors")" -lt 8000 ] # not all that it has said
    wait_until nothing_left
}

@test "files: lines, names with line breaks, what nobody may read, and one whose turn is over" {
    wants
    steps "\"fs/read_text_file\",{\"path\":\"$PWD/numbers\",\"limit\":0}" "\"fs/read_text_file\",{\"path\":\"$PWD/numbers\",\"line\":0}" \
        "\"fs/read_text_file\",{\"path\":\"$PWD/numbers\",\"line\":9}" "\"fs/read_text_file\",{\"path\":\"$PWD/numbers\",\"line\":3,\"limit\":9}"
    expect $'{"content": ""}\n{"content": "1\\n2\\n3\\n"}\n{"content": ""}\n{"content": "3\\n"}'
    printf old >name
    steps "\"fs/write_text_file\",{\"path\":\"$PWD/name\\n\",\"content\":\"new\"}" "\"fs/read_text_file\",{\"path\":\"$PWD/name\\n\"}"
    expect $'{}\n{"content": "new"}'
    [ "$(cat name)" = old ]
    turn --prompt 'read /proc/1/environ'
    has "$output" 'the file cannot be read'
    lacks "$errors" '--write' # that would not show it
    turn --prompt "write $PWD words"
    has "$output" 'the file cannot be written'
    turn --prompt 'read /dev/tty'
    has "$output" 'the file cannot be read'
    mkfifo pipe
    turn --prompt "hasty $PWD/pipe x 3"
    expect_status 0
    wait_until nothing_left
    turn --prompt "withdraw $PWD/pipe 40" # more than may be under way
    expect '40 [-32800]'
    wait_until nothing_left
    turn --prompt "hasty $PWD/big x 1000000"
    [ ! -e big ] || [ "$(wc -c <big)" -eq 1000000 ]
    [ -z "$(compgen -G '.perch-*')" ]
}

@test "what was begun for a turn ends with it, and what is not offered is refused" {
    wants
    turn --prompt 'leave sleep 1000'
    expect left
    wait_until nothing_left
    local until_gone='steps [["terminal/create",{"command":"while pgrep -x sleep; do :; done"}],["terminal/wait_for_exit",{"terminalId":"T"}]]'
    serve '{"id":"1","message":"leave sleep 1000"}' "$(jq -nc --arg message "$until_gone" '{id: "2", $message}')"
    has "$(replies 2)" '"exitCode": 0'
    wants 'acp: {fs: false, terminal: false}'
    turn --prompt offered
    expect '{"elicitation": {"form": {}, "url": {}}, "fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false}'
    turn --prompt "read $PWD/numbers"
    expect 'it was not offered'
    has "$errors" 'asks for fs/read_text_file, which it was not offered'
}

@test "a process serves many turns, in several sessions, and ends with its host" {
    serve '{"id":"1","message":"pid"}' '{"id":"2","message":"pid"}' \
        '{"id":"3","message":"pid","session_name":"other"}'
    [ -n "$(replies 1)" ]
    [ "$(replies 1)" = "$(replies 2)" ]
    [ "$(replies 1)" = "$(replies 3)" ]
    [ "$(grep -c '"method":"initialize"' "$HOSTED_LOG")" -eq 1 ]
    [ "$(grep -c '"method":"session/new"' "$HOSTED_LOG")" -eq 2 ]
    [ ! -e "/proc/$(replies 1)" ]
}

@test "a process that dies takes its turn with it, and the next one goes on with the session" {
    serve '{"id":"1","message":"pid"}' '{"id":"2","message":"die 3"}' '{"id":"3","message":"say back"}'
    [ "$(jq -c 'select(.event == "end") | [.id, .exit_code]' "$WORK/out" | tr '\n' ' ')" = \
        '["1",0] ["2",3] ["3",0] ' ]
    [ "$(replies 3)" = back ]
    [ "$(jq -r 'select(.event == "session").session_id' "$WORK/out" | sort -u | wc -l)" -eq 1 ]
    grep -q '"method":"session/load"' "$HOSTED_LOG"
}

@test "another directory, another profile or other variables: another process" {
    mkdir "$BATS_TEST_TMPDIR/there"
    serve '{"id":"1","message":"pid"}' \
        "{\"id\":\"2\",\"message\":\"pid\",\"cwd\":\"$BATS_TEST_TMPDIR/there\"}" \
        '{"id":"3","message":"pid","env":{"A":"b"}}'
    [ "$( (replies 1; echo; replies 2; echo; replies 3; echo) | sort -u | wc -l)" -eq 3 ]
    # one variable whose value looks like two is no two
    serve '{"id":"1","message":"pid","env":{"A":"b","C":"d"}}' \
        '{"id":"2","message":"pid","env":{"A":"b\u0001C=d"}}' '{"id":"3","message":"pid","env":{"A":"b","C":"d"}}'
    [ "$(replies 1)" != "$(replies 2)" ]
    [ "$(replies 1)" = "$(replies 3)" ]
    hosted 'acp: {max_processes: 1}'
    "$python" "$PERCH_SOURCE/tests/acp/crowd.py" "$perch" "$profile" "$BATS_TEST_TMPDIR/there"
}

@test "an idle process ends" {
    hosted 'acp: {idle_secs: 0.1}'
    "$python" "$PERCH_SOURCE/tests/acp/idle.py" "$perch" "$profile"
}

@test "cancelled: an agent that obeys, and one that does not" {
    hosted 'kill_grace_secs: 0.3'
    "$python" "$PERCH_SOURCE/tests/acp/cancel.py" "$perch" "$profile"
    wait_until nothing_left
}

@test "70 agents that misbehave, each in its way" {
    mkdir "$BATS_TEST_TMPDIR/crooked"
    keep "$python" "$PERCH_SOURCE/tests/acp/crooked.py" "$perch" "$BATS_TEST_TMPDIR/crooked"
    expect_status 0
    has "$output" '70 agents, 0 wrong'
    wait_until nothing_left
}

@test "the example agent of the official SDK" {
    need_foreign node acp-npm
    local example
    example="$(foreign_path acp-npm)/node_modules/sdk-with-examples/dist/examples/agent.js"
    profile_of "command: $(foreign_node)" "args: ['$example']" 'protocol: acp'
    turn --json
    expect_status 0
    has "$output" '"title":"Modifying critical configuration file"'
    has "$output" "I'll skip the configuration update"
    [ "$(field stop_reason)" = end_turn ]
    wait_until nothing_left
}

@test "kill -9 of perch leaves nobody" {
    mkfifo "$BATS_TEST_TMPDIR/in"
    exec 9<>"$BATS_TEST_TMPDIR/in"
    "$perch" agent serve --profile "$profile" >"$WORK/out" <"$BATS_TEST_TMPDIR/in" 9>&- &
    local host=$!
    echo '{"id":"1","message":"slow"}' >&9
    wait_until grep -q waiting "$WORK/out"
    kill -9 "$host"
    wait "$host" || true
    exec 9>&-
    wait_until nothing_left
}

@test "check says what it is" {
    keep "$perch" agent check "$profile"
    expect_status 0
    has "$output" 'acp'
    keep "$perch" agent check "$profile" --json
    [ "$(jq -r .protocol <<<"$output")" = acp ]
    hosted 'acp: {colour: red}' 'mcp_servers: [{name: x}]'
    keep "$perch" agent check "$profile"
    expect_status 125
    has "$errors$output" 'must have a name, and a command or a url'
}

@test "every message that perch has sent is valid by the schema" { judged 800; }
