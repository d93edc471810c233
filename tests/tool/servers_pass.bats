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

@test "an end of a subscription that comes before its beginning counts" {
    one_side 'resources = ["left", "right"]'
    bind left
    sed -i 's/^\[mcp\]$/[mcp]\nidle = 0.2/' "$bindings/left.toml"
    scene hasty
    bind right # now it is to be found out who has it
    scene hasty
}

@test "a grant is approved, shown, and cannot be added behind the operator's back" {
    bind left
    sed -i 's/^\[mcp\]$/[mcp]\nelicitation = "client"/' "$bindings/left.toml"
    perch_tool call left self
    expect_status 64
    has "$errors" "asks the client's user"
    perch_tool add --mcp other --sampling nobody -- true
    expect_status 64
    has "$errors" "sampling is refuse, client or agent:NAME"
}

# agent NAME < SCRIPT: a profile whose agent is a shell script; the question is in AGENT_MESSAGE.
agent() {
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    cat >"$WORK/$1.sh"
    printf 'command: sh\nargs: ["%s"]\n' "$WORK/$1.sh" >"$XDG_CONFIG_HOME/perch/agents/$1.yaml"
}

# sampled [WORD…]: `left`, of which the tool `ask` asks for one answer of a model.
sampled() { perch_tool call left ask --input '{"kinds": ["sample"]}' "$@"; }

@test "an agent answers for a model, in both eras, whoever calls and whatever is exposed" {
    agent echo <<<'printf "%s\n" "$AGENT_MESSAGE"'
    for era in '' modern; do
        bind left --sampling agent:echo ${era:+-- "$era"}
        grep -q '^sampling = "agent:echo"$' "$bindings/left.toml"
        sampled
        expect_status 0
        has "$output" 'The MCP server left asks a language model'
        has "$output" 'User: Say something'
        has "$output" '\"model\": \"echo\"'
        one_side
        perch_alone mcp call --config "$XDG_CONFIG_HOME" left_ask '{"kinds": ["sample"]}'
        expect_status 0
        has "$output" 'User: Say something'
    done
    perch_alone agent sessions --json
    has "$output" '"from":"mcp:left"'
    sed -i 's/agent:echo/agent:other/' "$bindings/left.toml"
    sampled
    expect_status 64
    has "$errors" "asks the agent other"
}

@test "an agent that fails or is not there answers nothing" {
    agent fails <<<'exit 3'
    bind left --sampling agent:fails
    sampled
    expect_status 0
    has "$output" "the agent that is to answer has failed"
    perch_tool show left
    has "$output" "asks agent    fails"
    bind left --sampling agent:nobody
    has "$errors" "there is no agent 'nobody' that could answer"
    perch_tool show left --json
    has "$output" '"sampling":"agent:nobody"'
    sampled
    expect_status 0
    has "$output" "there is no agent 'nobody'"
}

@test "a call that ends takes the agent with it that was asked" {
    agent slow <<<'echo >"'"$READY"'"; exec sleep 600'
    bind left --sampling agent:slow
    start tool call left ask --input '{"kinds": ["sample"]}'
    wait_ready
    kill "$host"
    finish
    wait_until nothing_left
}

@test "a server that asks an agent without end is stopped" {
    agent echo <<<'echo hm'
    bind left --sampling agent:echo
    sed -i 's/^sampling = .*/&\nasks = 2/' "$bindings/left.toml"
    perch_tool allow left --binding --yes
    perch_tool call left endless
    expect_status 0
    has "$output" "2 the server asks too often in one call"
}

@test "an agent that calls the server that asked it comes to an end" {
    agent loops <<END
echo once >>"$WORK/asked"
"$perch" tool call left ask --input '{"kinds": ["sample"]}'
END
    bind left --sampling agent:loops
    sampled
    expect_status 0
    has "$output" "agents answer 4 questions of servers already"
    [ "$(wc -l <"$WORK/asked")" = 4 ]
}
