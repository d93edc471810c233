#!/usr/bin/env bats
# The example agents, as a user would run them.

# shellcheck disable=SC2154,SC2030,SC2031 # what agent_open and turn set
load agents

setup() {
    agent_open
    agents="$PERCH_SOURCE/examples/agents"
}
teardown() { agent_close; }

# say PROFILE MESSAGE [OPTION…]: one turn with a stored session.
say() {
    keep "$perch" agent run --profile "$1" --prompt "$2" "${@:3}"
}

@test "every profile passes the check" {
    cp -r "$agents" "$WORK/agents"
    cp "$PERCH_BUILD/examples/agent-count" "$WORK/agents/count"
    for file in "$WORK"/agents/*.yaml; do
        "$perch" agent check "$file"
    done
}

@test "echo" {
    # shellcheck disable=SC2016
    say "$agents/echo.yaml" 'hello $(there) "you"'
    expect_status 0
    # shellcheck disable=SC2016
    expect 'hello $(there) "you"'
}

@test "stream: word by word, and the session again" {
    say "$agents/stream.yaml" 'one two' --json
    [ "$(grep -c '"event":"partial"' "$WORK/out")" -eq 4 ]
    say "$agents/stream.yaml" 'one two'
    expect 'Again: one two'
    say "$agents/stream.yaml" 'one two' --new --no-stream
    expect 'Hello: one two'
}

@test "count: in C, with an error of its own" {
    cp "$agents/count.yaml" "$WORK"
    cp "$PERCH_BUILD/examples/agent-count" "$WORK/count"
    say "$WORK/count.yaml" 'one two  three'
    expect '3 words in turn 1'
    say "$WORK/count.yaml" 'one'
    expect '1 words in turn 2'
    say "$WORK/count.yaml" '  '
    expect_status 1
    has "$errors" 'There is nothing to count.'
}

@test "calculator: an interactive program, with variables that stay" {
    say "$agents/calculator.yaml" 'x = 6'
    expect_status 0
    say "$agents/calculator.yaml" 'x * 7'
    expect 42
    say "$agents/calculator.yaml" 'x * 7' --session-name other
    expect 0
}

# fails WORD CODE TEXT [TIMEOUT]: the code, and TEXT in what is said.
fails() {
    say "$agents/fail.yaml" "$1" --json --no-store --timeout "${4:-60}"
    expect_status "$2"
    has "$output" "$3"
    [ "$(field session_id)" = failing ]
}

@test "fail: in every documented way" {
    fails error 1 '"code":"agent_error","message":"The upstream API'
    lacks "$output" 'never seen'
    lacks "$output" 'nor is this'
    fails empty-error 1 'without saying which'
    fails two-errors 1 'the first one counts'
    fails exit 3 '"code":"exit","message":"the agent failed with exit status 3\n\nno configuration found"'
    fails signal 134 '"code":"signal"'
    fails timeout 124 '"code":"timeout"' 1
    has "$output" 'I am thinking'
    fails obedient-timeout 124 'I did not finish.' 1
    fails child 0 'does not wait'
    fails not-json 1 '"text":"no quotes"'
    fails bad-session 0 'is kept'
    fails long-line 1 '"code":"output_limit"'
    fails flood 1 '"code":"output_limit"'
    fails not-utf8 0 'caf�'
    fails silent 0 '"success":true'
    fails help 1 'I know these'
}
