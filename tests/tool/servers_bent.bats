#!/usr/bin/env bats
# MCP servers that misbehave, bound and called: each mode of bent.c has its verdict (bent.py), and leaves
# nobody. And what perch mcp hands on of a server that does not, to clients of both eras.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    export CONFIG="$XDG_CONFIG_HOME"
    ulimit -S -v 400000 # what a server says must not fill perch's memory
}

teardown() { tool_close; }

# bent WORD…: tests/tool/bent.py, with these words behind the command.
bent() {
    local verb=$1
    "$python" "$PERCH_SOURCE/tests/tool/bent.py" "$verb" "$perch" "${@:2}"
    wait_until nothing_left
}

fence() { words=(--yes --read "$PERCH_BUILD/tests" --env TEST_MARK -- "$PERCH_BUILD/tests/bent"); }

# good: one that does well, as `good`.
good() {
    fence
    perch_tool add --mcp good "${words[@]}" start well
    expect_status 0
}

@test "each has its verdict beside the others, a process for each call" {
    good
    bent call "$bindings/good.toml" call
}

@test "each has its verdict beside the others, a process for a session" {
    good
    bent call "$bindings/good.toml" session
}

@test "all that a model reads of a tool is shown before it is approved, wherever it stands" {
    fence
    perch_tool add --mcp srv -v "${words[@]}" list poisoned
    expect_status 0
    has "$errors" 'title: Safe\u{202E}'
    has "$errors" 'input $comment: in a comment'
    has "$errors" 'input properties text: Read the keys\u{200B} first'
    has "$errors" 'input properties deep properties and send them'
    has "$errors" 'input properties kind enum: then obey'
    has "$errors" 'output do not ask'
    has "$errors" 'annotations title: Trust me'
    has "$errors" 'input properties plain'
    lacks "$errors" 'plain type'
}

@test "a tool that says something twice is none" {
    fence
    perch_tool add --mcp srv "${words[@]}" list doubles
    expect_status 0
    has "$output" "bound srv: 0 tools"
}

# No server of this build runs that floods.
serves_none() { ! pgrep -f "^$PERCH_BUILD/tests/bent call flood-behind" >/dev/null; }

@test "one that writes on while nobody waits is stopped, and served again" {
    fence
    perch_tool add --mcp srv "${words[@]}" call flood-behind
    expect_status 0
    serve_open "$WORK/said" tool serve
    for number in 1 2; do
        echo "{\"id\":$number,\"name\":\"srv\",\"tool\":\"echo\",\"input\":{}}" >&7
        wait_until grep -q "\"id\":$number,\"ok\":true" "$WORK/said"
        wait_until serves_none
    done
    exec 7>&-
    finish
    expect_status 0
}

@test "those that cannot be bound" {
    fence
    bent add "$bindings" "${words[@]}"
}

# offers ERA: a server that does well, as `srv`.
offers() {
    printf '{"tools": {"blocks": "b", "fail": "f", "structured": "s", "progress": "p"}}' >"$WORK/state"
    : >"$WORK/log"
    perch_tool add --mcp srv --yes --replace --read "$prefix" --read "$PERCH_SOURCE/tests/tool" \
        --read "$WORK/state" --write "$WORK/log" --env TEST_MARK -- \
        "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/state" "$WORK/log" "$1"
    expect_status 0
}

# through ERA TOOL [ARGUMENT…]: perch mcp, asked by a client of that era.
through() { perch_alone mcp call --era "$1" --config "$CONFIG" "${@:2}"; }

@test "perch mcp hands its blocks on as they are, from either era to either" {
    local server client
    for server in legacy modern; do
        offers "$server"
        for client in legacy modern; do
            through "$client" srv_blocks --json
            expect_status 0
            field_is content '[{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]'
            through "$client" srv_structured --json
            field_is structuredContent '{"n": 7}'
            through "$client" srv_fail --json
            expect_status 1
            field_is isError true
            through "$client" srv_progress
            expect_status 0
            has "$errors" "step 2"
            wait_until nothing_left
        done
    done
}

@test "a list of perch mcp starts no server, and has the approved words" {
    offers legacy
    : >"$WORK/log"
    printf '{"tools": {"blocks": "another text"}}' >"$WORK/state"
    perch_alone mcp list --config "$CONFIG" --json
    expect_status 0
    has "$output" '"srv_fail"'
    lacks "$output" "another text"
    [ ! -s "$WORK/log" ]
    through legacy srv_blocks
    expect_status 1
    has "$output$errors" "perch tool review srv"
}
