#!/usr/bin/env bats
# MCP servers of others in their sandbox: they see what was granted, and what was denied is explained
# by the command that allows it.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools
load ../foreign/foreign

setup() {
    tool_open
    mkdir "$WORK/notes"
    echo hello >"$WORK/notes/a"
    echo private >"$HOME/private"
}

teardown() { tool_close; }

# bind NAME [OPTION…] -- WORD…
bind() { perch_tool add --mcp "$1" --yes --env TEST_MARK "${@:2}" && expect_status 0; }

npm_server() { echo "$(foreign_path servers-npm)/node_modules/@modelcontextprotocol/$1/dist/index.js"; }

@test "server-filesystem sees what was granted, and cannot leave" {
    need_foreign servers-npm node
    local node
    node=$(foreign_node)
    bind files --read "$(dirname "$node")" --read "$(foreign_path servers-npm)" --read "$WORK/notes" -- \
        "$node" "$(npm_server server-filesystem)" "$WORK/notes" "$HOME"
    perch_tool call files read_text_file --input "{\"path\":\"$WORK/notes/a\"}"
    expect_status 0
    has "$output" 'hello\n'
    # The server itself would allow that: its second directory. The sandbox does not.
    perch_tool call files read_text_file --input "{\"path\":\"$HOME/private\"}"
    expect_status 1
    lacks "$output" private
    perch_tool call files write_file --input "{\"path\":\"$WORK/notes/a\",\"content\":\"x\"}"
    expect_status 1
    has "$errors" "perch tool allow files --write"
    [ "$(cat "$WORK/notes/a")" = hello ]
    perch_tool allow files --write "$WORK/notes"
    expect_status 0
    perch_tool call files write_file --input "{\"path\":\"$WORK/notes/b\",\"content\":\"new\"}"
    expect_status 0
    [ "$(cat "$WORK/notes/b")" = new ]
}

@test "server-memory keeps what it was told where it may write" {
    need_foreign servers-npm node
    local node
    node=$(foreign_node)
    printf 'MEMORY_FILE_PATH=%s\n' "$WORK/notes/memory.jsonl" >"$WORK/keys"
    chmod 600 "$WORK/keys"
    bind memory --read "$(dirname "$node")" --read "$(foreign_path servers-npm)" --write "$WORK/notes" \
        --secrets "$WORK/keys" -- "$node" "$(npm_server server-memory)"
    perch_tool call memory create_entities \
        --input '{"entities":[{"name":"perch","entityType":"bird","observations":["sits"]}]}'
    expect_status 0
    perch_tool call memory read_graph
    expect_status 0
    has "$output" perch
    grep -q sits "$WORK/notes/memory.jsonl"
}

@test "mcp-server-time tells the time, and nothing of it is left" {
    need_foreign servers-pip
    local site
    site=$(foreign_path servers-pip)
    printf 'PYTHONPATH=%s\n' "$site" >"$WORK/keys"
    chmod 600 "$WORK/keys"
    bind time --read "$prefix" --read "$site" --secrets "$WORK/keys" -- "$python" -m mcp_server_time
    perch_tool call time get_current_time --input '{"timezone":"UTC"}'
    expect_status 0
    has "$output" UTC
    wait_until nothing_left
}
