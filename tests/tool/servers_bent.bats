#!/usr/bin/env bats
# MCP servers that misbehave, bound and called: each mode of tests/mcp/server.py has its verdict, and
# leaves nobody. And what perch mcp hands on of a server that does not, to clients of both eras.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    export CONFIG="$XDG_CONFIG_HOME"
    ulimit -S -v 400000 # what a server says must not fill perch's memory
}

teardown() { tool_close; }

# bind MODE: as `srv`.
bind() {
    perch_tool add --mcp srv --yes --replace --read "$prefix" --read "$PERCH_SOURCE/tests/mcp" --env TEST_MARK -- \
        "$python" "$PERCH_SOURCE/tests/mcp/server.py" "$1"
}

# judged MODE CODE WORDS: by status and $errors. CODE may be one of several: 4|5, where the verdict is that
# of which comes first.
judged() {
    [[ "$status" =~ ^($2)$ ]] || {
        echo "$1: exit code $status, not $2: $output$errors"
        return 1
    }
    has "$1: $output$errors" "$3"
    wait_until nothing_left
}

@test "those that cannot be bound" {
    local mode code words
    while read -r mode code words; do
        rm -f "$bindings/srv.toml"
        bind "$mode"
        judged "$mode" "$code" "$words"
        [ ! -e "$bindings/srv.toml" ]
    done <<'END'
closes 3 the server has closed its pipes
closes-stdin 4|5 error: 
daemon 3 the server has ended with code 0
dies 3 the server has ended with code 3
dies-list 5 the server has ended with code 5
endless 6 its list has no end
endless-line 6 the server wrote a line that was too long
growing 6 its list has no end
error-bare 3 it refuses to list its tools
error-text 3 it refuses to list its tools
refuses 3 it refuses initialize: not today
result-list 6 no object
result-null 6 no object
version 3 it speaks version 1999-01-01
version-none 3 which perch does not know
version-number 3 which perch does not know
modern-asks 6 something that it was not granted
modern-rounds 6 without end
modern-type 6 of an unknown type
END
}

@test "those that are bound, and what their calls come to" {
    local mode code words
    while read -r mode code words; do
        bind "$mode"
        expect_status 0
        perch_tool call srv echo --timeout 2
        judged "$mode" "$code" "$words"
    done <<'END'
asks 0 {}
asks-on 0 {}
banner 0 {}
batch 0 {}
crlf 0 {}
deep 0 {}
noise 0 {}
pings 0 {}
progress 0 {}
stays 0 {}
stderr 0 {}
zero 0 {}
modern 0 {}
closes-call 5 the server has closed its pipes
dies-call 5 the server has ended with code 6
killed-call 5 the server was ended by signal 9
hangs-call 4 the server did not answer in time
long 6 the server wrote a line that was too long
tools-text 7 lists no tool 'echo'
tools-nameless 7 lists no tool 'echo'
END
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
