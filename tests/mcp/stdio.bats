#!/usr/bin/env bats
# perch mcp, with a client of our own (client.py) and what examples/ has. Every message that was
# sent is judged by the schema of its era.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load ../tool/tools
load mcp

setup() {
    tool_open
    mcp_open
}

teardown() { tool_close; }

# scene NAME: and what it said is valid.
scene() {
    timeout 120 "$python" "$PERCH_SOURCE/tests/mcp/scenes.py" "$1"
    judge_tape
}

@test "tools: listed, called, refused; in both eras" { scene tools; }

@test "a client of 2024" { scene old; }

@test "names without a prefix, and pages" { scene prefix; }

@test "a long result is cut, and the whole is there" { scene cut; }

@test "a command asks the user of the client, and shows its progress" {
    expose 'plugins = ["deploy"]'
    example deploy deploy-python
    scene questions
}

@test "a progress and the response are not in one read" {
    expose 'plugins = ["*"]'
    py hasty <<'END'
for step in range(3):
    send("progress", message="on", current=step, total=3)
say("done")
END
    scene gap
}

@test "a client that cannot ask: answers, defaults, a failure" {
    expose 'plugins = ["*"]'
    example deploy deploy-python
    example ship deploy-bash
    scene alone
}

@test "arguments of a manifest have names; secrets are not asked for" {
    expose 'plugins = ["*"]'
    py named <<'END'
say(json.dumps(init["args"]))
END
    sed -i '/^binary/a args = [{name="place",type="string",required=true},{name="fast",type="bool"},{name="times",type="int"}]' \
        "$cfg/plugins/fledge-named/plugin.toml"
    py secret <<'END'
say(value("prompt", message="Password:"))
END
    scene arguments
}

@test "a tool that asks is approved by the user, or refused" {
    tool asks '[[tools]]' 'name = "t.x"' 'ask = true' <<'END'
respond(greet(), {"done": True})
END
    scene approval
    expose 'approve = ["t.asks/t.x"]'
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t_asks_t_x"}}' >"$WORK/lines"
    # shellcheck disable=SC2094 # the input ends when the answer is there
    { cat "$WORK/lines" && wait_until grep -q '"id":2' "$WORK/answers"; } |
        "$perch" mcp >"$WORK/answers"
    grep -q '"structuredContent":{"done": true}' "$WORK/answers"
}

@test "an agent, and its session" {
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    cp "$PERCH_SOURCE/examples/agents/echo.yaml" "$XDG_CONFIG_HOME/perch/agents/"
    expose 'agents = ["echo"]'
    scene agent
}

@test "sessions are resources where they are shown, and nowhere else" {
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    cp "$PERCH_SOURCE/examples/agents/echo.yaml" "$XDG_CONFIG_HOME/perch/agents/"
    expose 'agents = ["echo"]' 'resources = ["perch://sessions/*"]'
    scene sessions
    expose 'agents = ["echo"]'
    scene no_resources
}

@test "traces are resources where they are shown" {
    local traces="$XDG_STATE_HOME/perch/traces"
    mkdir -p "$traces"
    printf '%s\n' '{"trace":"perch","version":1}' '{}' >"$traces/a run.ndjson"
    echo no >"$traces/.hidden"
    echo no >"$traces/../secret"
    truncate -s 3M "$traces/b" # more than a message takes
    expose 'resources = ["perch://traces/*"]'
    scene traces
}

@test "hints say what is enforced" {
    tool writes '[[tools]]' 'name = "t.x"' <<<'respond(greet(), {})' # it may write where the test looks
    program free <<<'respond(greet(), {})'
    printf 'name = "t.free"\ncommand = "%s"\n[sandbox]\nmode = "off"\n[[tools]]\nname = "t.x"\n' \
        "$WORK/tools/free" >"$bindings/t.free.toml"
    sed "s/t\.free/t.net/; s/mode = .*/net = \"full\"\nread = [\"${WORK//\//\\/}\"]/" \
        "$bindings/t.free.toml" >"$bindings/t.net.toml"
    scene hints
}

@test "plugins and agents are not shown unless they are listed" {
    example ship deploy-bash
    scene tools
}

@test "--config stands for XDG_CONFIG_HOME" {
    local config="$XDG_CONFIG_HOME"
    unset XDG_CONFIG_HOME
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' >"$WORK/lines"
    HOME="$WORK" "$perch" mcp <"$WORK/lines" >"$WORK/without"
    HOME="$WORK" "$perch" mcp --config "$config" <"$WORK/lines" >"$WORK/with"
    grep -q '"tools":\[\]' "$WORK/without"
    grep -q example_hello_hello_greet "$WORK/with"
}

@test "two things of one name are an error at the start that names both" {
    tool twin '[[tools]]' 'name = "hello_greet"' <<<'pass'
    perch_alone mcp --prefix none
    expect_status 125
    has "$errors" hello_greet
    has "$errors" hello.greet
}

@test "what is asked of it wrongly" {
    local words
    for words in '--prefix some' '--page-size 0' '--max-result-chars many' word; do
        # shellcheck disable=SC2086 # two words
        perch_alone mcp $words
        expect_status 64
    done
    perch_alone mcp --config "$WORK/nowhere"
    expect_status 125
    has "$errors" "$WORK/nowhere"
}

@test "the audit log names the client" {
    scene old
    has "$(last_audit)" '"client":"tests 1 (MCP 2024-11-05)"'
    has "$(last_audit)" '"frontend":"mcp"'
}
