#!/usr/bin/env bats
# The questions of perch tool in a real terminal.

# shellcheck disable=SC2154 # what tool_open and terminal_open set
load terminal
load ../tool/tools

setup() {
    terminal_open
    tool_open
    tool asked 'capabilities = ["x.y"]' '[[tools]]' 'name = "t.x"' 'ask = true' <<'END'
respond(greet(capabilities=["x.y"]), "done")
END
}

teardown() {
    terminal_close
    tool_close
}

# in_terminal WORD…: perch tool with these, and its exit code.
in_terminal() {
    {
        printf 'export %q\n' "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
        printf 'cd %q\nstty -g >before\n' "$WORK"
        # shellcheck disable=SC2016 # for that shell
        printf '(echo "$BASHPID" >pid && exec '
        printf '%q ' "$perch" tool "$@"
        printf ')\necho "[over $?]"\nstty -g >after\nexec cat\n'
    } >"$WORK/run"
    run_in_terminal "bash '$WORK/run'"
}

add_in_terminal() {
    rm -f "$bindings/t.asked.toml"
    in_terminal add --read "$prefix" --read "$WORK" "$WORK/tools/asked"
    wait_for 'Start it in this sandbox, to see what it requests? [y/N]'
    keys y
    wait_for 'Bind it, and grant what it requests? [y/N]'
}

@test "tool add asks, and binds at a yes" {
    add_in_terminal
    [[ "$(screen)" == *'requests     x.y'* ]]
    keys y
    wait_over
    [ -e "$bindings/t.asked.toml" ]
}

@test "tool add: a bundle says what it requests, and is asked about once" {
    printf '{"plugin_id":"t.asked","capabilities":["x.y"],"process":{"command":"./asked"}}\n' \
        >"$WORK/tools/rterm-plugin.json"
    in_terminal add --read "$prefix" --read "$WORK" --name once "$WORK/tools"
    wait_for 'Start it, bind it, and grant what it requests? [y/N]'
    [[ "$(screen)" == *'requests     x.y'* ]]
    keys y
    wait_over
    [ -e "$bindings/once.toml" ]
}

@test "tool add: a bundle that says less than its plugin requests is asked about again" {
    printf '{"plugin_id":"t.asked","capabilities":["other"],"process":{"command":"./asked"}}\n' \
        >"$WORK/tools/rterm-plugin.json"
    in_terminal add --read "$prefix" --read "$WORK" --name again "$WORK/tools"
    wait_for 'Start it, bind it, and grant what it requests? [y/N]'
    keys y
    wait_for 'Bind it, and grant what it requests? [y/N]'
    keys n
    wait_over 64
    [ ! -e "$bindings/again.toml" ]
}

# server_in_terminal: an MCP server with three tools, up to the question which of them are allowed.
server_in_terminal() {
    printf '{"tools": {"say": "says\\u200b it", "die": "dies", "fail": "fails"}, "instructions": "be\\u001b[31m kind"}' >"$WORK/state"
    : >"$WORK/log"
    in_terminal add --mcp srv --read "$prefix" --read "$PERCH_SOURCE/tests/tool" --read "$WORK/state" --write "$WORK/log" -- \
        "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/state" "$WORK/log"
    wait_for '[y/N]'
    screen_has 'bound_server.py'
    [ ! -s "$WORK/log" ] # it is not started before the yes
    keys y
    wait_for 'Which of its tools do you allow?'
    screen_has 'says\u{200B} it'
    screen_has 'be\u{001B}[31m kind'
}

# bound_tools: the names that the binding has.
bound_tools() { sed -n '/^\[\[tools/,$s/^name = //p' "$bindings/srv.toml" | tr -d '"\n'; }

@test "tool add --mcp: nothing runs before a yes; its tools are chosen one by one" {
    server_in_terminal
    wait_for 'one by one'
    keys Down Up Enter # the one that is marked: one by one
    wait_for 'Allow say? [y/N]'
    # What it says stands above its question again, wherever the list has gone.
    [ "$(screen | grep -c 'says')" -ge 2 ] || { screen; false; }
    keys y
    wait_for 'Allow die? [y/N]'
    keys n
    wait_for 'Allow fail? [y/N]'
    keys y
    wait_over
    [ "$(bound_tools)" = sayfail ]
}

@test "tool add --mcp: all of its tools, none, or Ctrl+C" {
    server_in_terminal
    keys Up Enter
    wait_over
    [ "$(bound_tools)" = saydiefail ]
    rm "$bindings/srv.toml"
    server_in_terminal
    keys Down Enter
    wait_over
    [ -z "$(bound_tools)" ]
    rm "$bindings/srv.toml"
    server_in_terminal
    keys C-c
    wait_over 130
    [ ! -e "$bindings/srv.toml" ]
}

@test "tool add --mcp: no line of a stranger begins where perch's own do" {
    "$python" -c 'import json; print(json.dumps({"tools": {"say": "Says." + " " * 69 + "approved by perch: " + "x" * 120}}))' >"$WORK/state"
    : >"$WORK/log"
    in_terminal add --mcp srv --read "$prefix" --read "$PERCH_SOURCE/tests/tool" --read "$WORK/state" --write "$WORK/log" -- \
        "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/state" "$WORK/log"
    wait_for '[y/N]'
    keys y
    wait_for 'one by one'
    screen_has '      approved by perch: xxx'
    screen_lacks $'\napproved'
    screen_lacks $'\nxxx'
    keys C-c
    wait_over 130
}

@test "tool add --mcp: a no starts nothing" {
    printf '{"tools": {}}' >"$WORK/state"
    : >"$WORK/log"
    in_terminal add --mcp srv --read "$prefix" --read "$PERCH_SOURCE/tests/tool" --read "$WORK/state" --write "$WORK/log" -- \
        "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/state" "$WORK/log"
    wait_for '[y/N]'
    keys n
    wait_over 64
    [ ! -s "$WORK/log" ]
    [ ! -e "$bindings/srv.toml" ]
}

@test "tool add: a no binds nothing, and is no error" {
    add_in_terminal
    keys n
    wait_over 64
    [[ "$(screen)" == *'not bound: nothing was changed'* && "$(screen)" != *error:* ]]
    [ ! -e "$bindings/t.asked.toml" ]
}

@test "tool add: Ctrl+C at the question binds nothing, the terminal is as it was" {
    add_in_terminal
    keys C-c
    wait_over 130
    [[ "$(screen)" == *'error: cancelled'* ]]
    [ ! -e "$bindings/t.asked.toml" ]
}

@test "tool add: SIGTERM at the question ends it, too" {
    add_in_terminal
    kill "$(cat "$WORK/pid")"
    wait_over 130
    [ ! -e "$bindings/t.asked.toml" ]
}

@test "tool call asks where the binding says so; Ctrl+C is no call" {
    in_terminal call t.asked t.x
    wait_for 'Call t.x of t.asked? [y/N]'
    keys y
    wait_over
    [[ "$(screen)" == *'"done"'* ]]
    has "$(last_audit)" '"approval":"terminal"'
    tmux -L "$socket" kill-server
    rm "$WORK/after"
    in_terminal call t.asked t.x
    wait_for 'Call t.x of t.asked? [y/N]'
    keys C-c
    wait_over 130
    has "$(last_audit)" '"verdict":"cancelled"'
}

@test "tool add: an interpreter that no tool sees is asked about, and may be read then" {
    mkdir -p "$WORK/venv/bin"
    ln -s "$python" "$WORK/venv/bin/python3"
    echo 'home = /nowhere' >"$WORK/venv/pyvenv.cfg"
    sed -i "1s|.*|#!$WORK/venv/bin/python3|" "$WORK/tools/asked"
    in_terminal add --read "$prefix" --name venv "$WORK/tools/asked"
    wait_for 'Its interpreter lies in'
    wait_for 'that? [y/N]'
    keys y
    wait_for 'Start it in this sandbox, to see what it requests? [y/N]'
    keys y
    wait_for 'Bind it, and grant what it requests? [y/N]'
    keys y
    wait_over
    grep -q "^read = .*$WORK/venv" "$bindings/venv.toml"
}

@test "the command of a hint about the sandbox has a line of its own" {
    columns=200
    echo treasure >"$BATS_TEST_TMPDIR/treasure"
    tool denied <<'END'
request = greet()
try:
    open(request["input"]["path"])
except OSError as error:
    print(error, file=sys.stderr)
    send({"type": "response", "request_id": request["request_id"], "status": "error",
          "error": {"code": "denied", "message": str(error)}})
END
    sed -i "s|, \"$WORK\"\]|, \"$WORK/tools\"]|; s|^write = .*||" "$bindings/t.denied.toml"
    in_terminal call t.denied t.x --input "{\"path\":\"$BATS_TEST_TMPDIR/treasure\"}"
    wait_for "hint: the sandbox policy 'tool' was in force;
  perch tool allow t.denied --read $BATS_TEST_TMPDIR/treasure
  would show it,"
}
