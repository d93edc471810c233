#!/usr/bin/env bats
# perch agent allow and revoke: what the user gives an agent beyond its profile, as the
# kernel sees it.

# shellcheck disable=SC2154,SC2016 # what agent_open and turn set
load agents

setup() {
    agent_open
    export HOME="$BATS_TEST_TMPDIR/home"
    vault="$HOME/.aws"
    mkdir -p "$vault" "$WORK/project"
    cd "$WORK/project" || return
    echo treasure >"$vault/credentials"
}
teardown() { agent_close; }

perch_agent() {
    status=0
    "$perch" agent "$@" >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
    output=$(cat "$WORK/out")
}

# reader [KEY-LINE…]: it lies in the project, which a sandboxed agent sees.
reader() {
    echo 'cat "$HOME/.aws/credentials" || echo denied; echo "${MY_TOKEN:-none}"' >agent.sh
    profile_of 'command: sh' "args: ['$PWD/agent.sh']" "$@"
}

@test "allow --read and --env: denied before, given, and taken back" {
    export MY_TOKEN=secret
    reader 'sandbox: on'
    turn
    has "$output" denied
    has "$output" none
    perch_agent allow "$profile" --read "$vault" --env MY_TOKEN
    expect_status 0
    turn
    has "$output" treasure
    has "$output" secret
    perch_agent check "$profile"
    has "$output" "$vault"
    has "$output" MY_TOKEN
    perch_agent check "$profile" --json
    has "$output" "\"read\":[\"$vault\"]"
    perch_agent revoke "$profile"
    expect_status 0
    turn
    has "$output" denied
    has "$output" none
}

@test "allow --preset: its files and its variables" {
    export AWS_SECRET_ACCESS_KEY=key
    reader 'sandbox: on'
    echo 'echo "${AWS_SECRET_ACCESS_KEY:-none}"' >>agent.sh
    turn
    has "$output" denied
    perch_agent allow "$profile" --preset aws
    turn
    has "$output" treasure
    has "$output" key
}

@test "allow --sandbox on and off, against the profile" {
    reader
    turn
    has "$output" treasure
    perch_agent allow "$profile" --sandbox on
    expect_status 0
    turn --json
    [ "$(field sandbox)" != '[]' ]
    turn
    has "$output" denied
    reader 'sandbox: on'
    perch_agent allow "$profile" --sandbox off
    turn
    has "$output" treasure
    perch_agent revoke "$profile" --sandbox off
    turn
    has "$output" denied
}

@test "a profile is the same by every name, and one that is gone loses its grant" {
    reader 'sandbox: on'
    ln -s "$profile" "$WORK/project/link.yaml"
    perch_agent allow link.yaml --read "$vault"
    expect_status 0
    turn
    has "$output" treasure
    rm "$profile"
    perch_agent allow "$profile" --read "$vault"
    expect_status 1
    perch_agent revoke "$profile"
    expect_status 0
    reader 'sandbox: on'
    turn
    has "$output" denied
}

@test "serve and chat see what was allowed, turn by turn" {
    reader 'sandbox: on'
    coproc SERVE { "$perch" agent serve --profile "$profile" 2>"$WORK/err"; }
    ask() {
        printf '{"id":"%s","message":"hi","new":true}\n' "$1" >&"${SERVE[1]}"
        while read -r output <&"${SERVE[0]}"; do
            case $output in
            *'"event":"reply"'*) reply=$output ;;
            *'"event":"end"'*) break ;;
            esac
        done
    }
    ask 1
    has "$reply" denied
    "$perch" agent allow "$profile" --read "$vault"
    ask 2
    has "$reply" treasure
    "$perch" agent revoke "$profile"
    ask 3
    has "$reply" denied
    pid=$SERVE_PID
    eval "exec ${SERVE[1]}>&-"
    wait "$pid"
    "$perch" agent allow "$profile" --read "$vault"
    output=$(echo hi | "$perch" agent chat --profile "$profile")
    has "$output" treasure
}

@test "what the sandbox denied an agent is explained, with the words that allow it" {
    echo 'cat "$HOME/.aws/credentials" && echo read' >agent.sh
    profile_of 'command: sh' "args: ['$PWD/agent.sh']" 'sandbox: on'
    force="the sandbox policy 'fledge' was in force;"
    allow="perch agent allow $profile --read $vault/credentials would show it"
    turn
    expect_status 1
    has "$errors" "hint: $force
  $allow"
    turn --json
    has "$(field hint)" "$force $allow"
    perch_agent allow "$profile" --read "$vault"
    turn --json
    expect_status 0
    lacks "$output" '"hint"'
    profile_of 'command: sh' "args: ['$PWD/agent.sh']"
    perch_agent allow "$profile" --profile
    has "$output" "approved: sandbox off"
    rm "$vault/credentials"
    turn --json
    expect_status 1
    lacks "$output" '"hint"'
}

@test "a sandboxed agent that cannot be executed: what was in force" {
    echo 'exec /nowhere/at/all' >agent.sh
    profile_of 'command: sh' "args: ['$PWD/agent.sh']" 'sandbox: on'
    turn
    expect_status 127
    has "$errors" "hint: the sandbox policy 'fledge' was in force; if it was denied something,
  perch agent allow $profile --read PATH,"
}

@test "--sandbox: for this turn, whatever the profile says" {
    reader
    turn --sandbox
    has "$output" denied
    reader 'sandbox: on'
    turn --sandbox=off
    has "$output" treasure
    turn --sandbox=maybe
    expect_status 64
    reader
    printf 'hi\n' | "$perch" agent chat --profile "$profile" --sandbox >"$WORK/out" 2>&1
    has "$(cat "$WORK/out")" denied
    echo '{"id":"1","message":"hi"}' | "$perch" --sandbox agent serve --profile "$profile" >"$WORK/out"
    has "$(cat "$WORK/out")" denied
}

@test "a home directory is not writable, and that is said, until it is allowed" {
    cd "$HOME" || return
    echo 'touch made && echo done' >agent.sh
    profile_of 'command: sh' "args: ['$PWD/agent.sh']" 'sandbox: on'
    turn
    expect_status 1
    has "$errors" "warning: this directory is not writable in the sandbox"
    has "$errors" "; perch agent allow $profile --write . allows it"
    perch_agent allow "$profile" --write .
    turn
    expect_status 0
    lacks "$errors" "not writable"
    [ -e made ]
}

@test "allow --tool: used without asking, listed, and taken back" {
    cat >"$PWD/agent.sh" <<'AGENT'
read -r turn
echo '{"type":"permission_request","request_id":"1","tool_name":"bash","input":{}}'
read -r answer
case $answer in *allow*) answer=yes ;; *) answer=no ;; esac
echo '{"type":"result","text":"'$answer'"}'
AGENT
    profile_of 'command: sh' "args: ['$PWD/agent.sh']" 'protocol: "0.4"' 'permission: true'
    turn
    expect no
    perch_agent allow "$profile"
    expect_status 0
    has "$output" "is allowed nothing beyond its default"
    perch_agent allow "$profile" --tool bash --tool edit
    expect_status 0
    has "$output" "tools    bash, edit"
    turn
    expect yes
    perch_agent allow "$profile"
    has "$output" "tools    bash, edit"
    perch_agent allow "$profile" --json
    has "$output" '"tools":["bash","edit"]'
    perch_agent check "$profile"
    has "$output" "may use    bash edit"
    perch_agent revoke "$profile" --tool bash
    has "$output" "tools    edit"
    turn
    expect no
    perch_agent revoke "$profile"
    has "$output" "is allowed nothing beyond its default"
}
