#!/usr/bin/env bats
# What passes through perch to MCP servers that are bound, beside calls of tools: resources, prompts,
# completions, subscriptions; and what they ask, by grant. Each in both eras of client and server.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    export SERVER_LOG="$WORK/log" PERCH="$perch" TAPE="$BATS_TEST_TMPDIR/tape"
    : >"$SERVER_LOG"
}

teardown() { tool_close; }

# bind NAME [OPTION…] [-- modern]: the server of that name.
bind() {
    local name=$1 words=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do words+=("$1"); shift; done
    [ $# -eq 0 ] || shift
    perch_tool add --mcp "$name" --yes --replace --read "$prefix" --read "$PERCH_SOURCE/tests/tool" \
        --write "$SERVER_LOG" --env TEST_MARK "${words[@]}" -- \
        "$python" "$PERCH_SOURCE/tests/tool/full_server.py" "$name" "$SERVER_LOG" "$@"
    expect_status 0
}

# expose LINE…: under [expose.mcp].
expose() { printf '%s\n' '[expose.mcp]' "$@" >"$XDG_CONFIG_HOME/perch/config.toml"; }

# scene NAME: of passing.py.
scene() {
    : >"$SERVER_LOG"
    "$python" "$PERCH_SOURCE/tests/tool/passing.py" "$1"
}

# one_side LINE…: of `right` none is shown, or two servers would have the same names.
one_side() { expose 'tools = ["left"]' "$@"; }

@test "resources, templates, prompts and completions pass unchanged, to whom they belong, in both eras" {
    one_side 'resources = ["left", "right"]' 'prompts = ["*"]'
    bind left
    grep -q '^offers = \["tools", "resources", "prompts", "completions"\]$' "$bindings/left.toml"
    bind right -- modern
    scene passes
}

@test "what is not exposed is not there" {
    one_side 'resources = ["left:*"]'
    bind left
    bind right
    scene hidden
}

@test "a legacy server asks its client's user, its model and its roots, where the binding grants it" {
    one_side
    bind left --elicitation client --sampling client --roots client
    scene asks
}

@test "a modern server asks them, several at once" {
    one_side
    bind left --elicitation client --sampling client --roots client -- modern
    scene asks
}

@test "without a grant it is refused, and its roots are what the sandbox shows" {
    one_side
    bind left
    scene refuses
}

@test "a server that asks for sampling without end is stopped" {
    one_side
    bind left --sampling client
    sed -i 's/^sampling = .*/&\nasks = 2/' "$bindings/left.toml"
    scene endless
}

@test "subscriptions, changes and the log reach who wants them" {
    one_side 'resources = ["left", "right"]' 'prompts = ["*"]'
    bind left
    scene changes
    bind left -- modern
    scene changes
}

@test "a grant is approved, shown, and cannot be added behind the operator's back" {
    bind left
    sed -i 's/^\[mcp\]$/[mcp]\nelicitation = "client"/' "$bindings/left.toml"
    perch_tool call left self
    expect_status 64
    has "$errors" "asks the client's user"
    perch_tool add --mcp other --sampling nobody -- true
    expect_status 64
    has "$errors" "sampling is refuse or client"
}
