#!/usr/bin/env bats
# perch mcp list, call and inspect: with perch itself, and with small servers of either era. Those that
# misbehave are in servers.bats.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load mcp

setup() {
    tool_open
    mcp_open
    server="$WORK/server.py"
    cp "$PERCH_SOURCE/tests/mcp/server.py" "$server"
}

teardown() { tool_close; }

mcp() { perch_alone mcp "$@"; }

# against MODE WORD…: with the server of this mode.
against() {
    local mode=$1
    shift
    mcp "$@" -- "$python" "$server" "$mode"
}

@test "what hides in a server's words is written out" {
    printf '{"tools": {"say": "says\\u200b it"}}' >"$WORK/state"
    for word in list inspect; do
        mcp "$word" -- "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/state" "$WORK/log"
        expect_status 0
        has "$output" 'says\u{200B} it'
    done
}

@test "perch by itself: listed, called, inspected" {
    mcp list
    expect_status 0
    has "$output" 'MCP 2026-07-28'
    has "$output" 'example_hello_hello_greet  Greets somebody by name.'
    mcp call example_hello_hello_greet name=you
    expect_status 0
    [ "$output" = '{"greeting":"Hello, you!"}' ]
    mcp call --era legacy example_hello_hello_greet '{"name":"me"}'
    [ "$output" = '{"greeting":"Hello, me!"}' ]
    mcp call example_words_words_count
    expect_status 1
    has "$errors" '$.text: is required and missing'
    mcp call nothing
    expect_status 125
    has "$errors" '  perch mcp list shows what the server has'
    mcp inspect
    has "$output" 'modern: 2026-07-28'
    has "$output" 'legacy: 2025-11-25'
    has "$output" 'inputSchema: {'
}

@test "servers of either era are found out" {
    against modern list
    expect_status 0
    has "$output" 'a server 1, MCP 2026-07-28'
    against legacy list
    expect_status 0
    has "$output" 'a server 1, MCP 2025-06-18'
    has "$errors" 'it says what it likes' # on stderr
    against legacy list --era modern
    expect_status 125
    has "$errors" 'it does not speak 2026-07-28'
    against modern list --era legacy
    expect_status 125
    against legacy inspect
    has "$output" 'modern: no'
    has "$output" 'legacy: 2025-06-18'
    against legacy list --json
    [ "$(jq -r '.tools | length' <<<"$output")" = 3 ] # of two pages
    against legacy call echo a=1 b=text 'c={"d":[]}'
    [ "$(jq -c . <<<"$output")" = '{"a":1,"b":"text","c":{"d":[]}}' ]
}

@test "what strangers say is shown without what a terminal would obey" {
    against legacy list
    [ "$(grep -c $'\e' <<<"$output$errors")" = 0 ]
    has "$output" 'sly'
}

@test "noise is told and passed over" {
    against noise list
    expect_status 0
    has "$errors" 'it writes what is no message'
    has "$errors" 'it answers what it was not asked'
    has "$errors" 'it asks for sampling/createMessage, which is not granted'
    has "$output" 'echo'
}

@test "what is asked of it wrongly" {
    mcp list word
    expect_status 64
    mcp list --era old
    expect_status 64
    mcp call
    expect_status 64
    mcp call echo nonsense
    expect_status 64
    mcp list -- "$WORK/nothing"
    expect_status 125
    mcp nonsense
    expect_status 64
    mcp --help
    has "$output" 'connect'
}

@test "a server that lists without end of megabytes: not kept, and told" {
    against huge list
    expect_status 125
    has "$errors" "the server lists more than 64 MiB"
}
