# shellcheck shell=bash
# What the suites of perch mcp share: tools and plugins to be called, and the judge of what was said.

# shellcheck disable=SC2154 # what tool_open sets
mcp_open() {
    export PERCH="$perch" TAPE="$BATS_TEST_TMPDIR/tape" BINDINGS="$bindings"
    export XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
    cp -r "$PERCH_SOURCE/examples/tools" "$WORK/examples"
    perch_tool add "$WORK/examples/bash" --yes
    expect_status 0
    perch_tool add "$WORK/examples/python" --grant tool.execute --read "$prefix"
    expect_status 0
    # An interpreter on a machine that is busy is late for the usual two seconds.
    printf '%s\n' '[timeouts]' 'handshake = 60' 'invocation = 90' >>"$bindings/example.words.toml"
}

# expose LIST…
expose() {
    printf '%s\n' '[expose.mcp]' "$@" >"$XDG_CONFIG_HOME/perch/config.toml"
}

# example COMMAND DIRECTORY: a plugin of examples/.
example() {
    plugin -c store "$1" <"$PERCH_SOURCE/examples/plugins/$2/bin/fledge-$1"
}

# A tool that takes its time, and says when it has begun.
slow() {
    tool slow '[[tools]]' 'name = "t.x"' <<'END'
request = greet()
if not request["input"].get("quick"):
    open(os.environ["TEST_MARK"].removeprefix("perch-test-") + "/work/ready", "w").close()
    time.sleep(600)
respond(request, {"done": True})
END
}

# A tool that a scene binds later.
later() {
    program later <<<'respond(greet(), {})'
    binding later '[[tools]]' 'name = "t.x"'
    export LATER="$WORK/t.later.toml"
    mv "$bindings/t.later.toml" "$LATER"
}

# What is on the tape is valid.
judge_tape() {
    local specifications="${PERCH_TEST_DATA:-/nowhere}/../specs"
    [ -d "$specifications/mcp" ] && [ -s "$TAPE" ] || return 0
    "$python" "$PERCH_SOURCE/tests/wire/schema.py" "$specifications" "$TAPE" part
}

# All that the official clients are to call.
clients_open() {
    tool_open
    mcp_open
    export TAPE_PROGRAM="$PERCH_SOURCE/tests/mcp/tape.py" CONFIG="$XDG_CONFIG_HOME"
    expose 'plugins = ["*"]' 'agents = ["echo"]'
    example deploy deploy-python
    plugin long <<'END'
#!/bin/sh
read -r init
printf '{"type":"output","text":"%0120000d\\n"}\n' 7
END
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    cp "$PERCH_SOURCE/examples/agents/echo.yaml" "$XDG_CONFIG_HOME/perch/agents/"
    tool asks '[[tools]]' 'name = "t.x"' 'ask = true' <<<'respond(greet(), {"done": True})'
    slow
    later
}

# patience MODE WORDS: seconds. Who waits in vain need not wait long; those whose words come before
# that, long enough.
patience() {
    case $1:$2 in
    *'does not answer') echo 1 ;;
    ids-* | result-and-error:* | no-jsonrpc:* | endless-line:*) echo 3 ;;
    *) echo 30 ;;
    esac
}

# judge < TABLE: lines with a mode, a command, its exit code, and what it says.
judge() {
    local mode verb code words
    while read -r mode verb code words; do
        local tool=()
        [ "$verb" = list ] || tool=(echo)
        perch_alone mcp "$verb" "${tool[@]}" --timeout "$(patience "$mode" "$words")" -- \
            "$python" "$PERCH_SOURCE/tests/mcp/server.py" "$mode"
        [ "$status" = "$code" ] || {
            echo "$mode: exit code $status, not $code: $output$errors"
            return 1
        }
        has "$mode: $output$errors" "$words"
        wait_until nothing_left
    done
}
