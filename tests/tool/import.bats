#!/usr/bin/env bats
# perch tool import: the MCP servers of clients, bound one by one; their secrets in a file of mode 600.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    state="$WORK/state" log="$WORK/log" file="$WORK/mcp.json"
    secrets="$XDG_CONFIG_HOME/perch/secrets"
    # Seen by every sandbox: nothing has to be granted.
    server="/usr/bin/python3"
    : >"$log"
    cat >"$WORK/echo.py" <<'END'
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    result = {"tools": [{"name": "show", "inputSchema": {"type": "object"}}]}
    if request["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "e", "version": "1"}}
    if request["method"] == "tools/call":
        shown = sys.argv[1:] + sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("T_"))
        result = {"content": [{"type": "text", "text": " ".join(shown)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
END
    code=$("$python" -c 'import json, sys; print(json.dumps("exec(" + repr(open(sys.argv[1]).read()) + ")"))' "$WORK/echo.py")
}

teardown() { tool_close; }

# entry ARGS ENV: a server as clients write it.
entry() { printf '{"command": "%s", "args": ["-c", %s%s], "env": {%s}}' "$server" "$code" "$1" "$2"; }

# shows NAME TEXT: what the server was given.
shows() {
    perch_tool call "$1" show
    expect "\"$2\""
}

@test "Cursor, Claude: variables and --api-key go into a file of mode 600, the client's file stays" {
    printf '{"mcpServers": {"my notes": %s}, "other": 1}' \
        "$(entry ', "--api-key", "k3y", "--token=t0k", "plain"' '"T_SECRET": "s3cret"')" >"$file"
    cp "$file" "$WORK/before"
    perch_tool import "$file" --yes
    expect_status 0
    cmp "$file" "$WORK/before"
    [ "$(stat -c %a "$secrets/my-notes")" = 600 ]
    lacks "$(cat "$bindings/my-notes.toml")" k3y
    lacks "$(cat "$bindings/my-notes.toml")" t0k
    lacks "$(cat "$bindings/my-notes.toml")" s3cret
    shows my-notes "--api-key k3y --token=t0k plain T_SECRET=s3cret"
    perch_tool remove my-notes
    [ ! -e "$secrets/my-notes" ]
}

@test "VS Code: comments and commas behind the last; its settings.json" {
    printf '// mine\n{"servers": {"one": %s, /* "two" */ },}' "$(entry '' '')" >"$file"
    perch_tool import "$file" --yes
    expect_status 0
    shows one ""
    printf '{"mcp": {"servers": {"two": %s}}}' "$(entry '' '')" >"$file"
    perch_tool import "$file" --yes
    expect_status 0
    shows two ""
}

@test "Codex writes TOML" {
    printf '[mcp_servers.dex]\ncommand = "%s"\nargs = ["-c", %s, "x"]\n[mcp_servers.dex.env]\nT_A = "b"\n' \
        "$server" "$code" >"$WORK/config.toml"
    perch_tool import "$WORK/config.toml" --yes
    expect_status 0
    shows dex "x T_A=b"
}

@test "--server chooses; what is disabled is not imported; what is bound is not overwritten" {
    printf '{"mcpServers": {"a": %s, "b": %s, "c": {"command": "x", "disabled": true}}}' \
        "$(entry '' '"T_A": "1"')" "$(entry '' '')" >"$file"
    perch_tool import "$file" --yes --server a
    expect_status 0
    [ -e "$bindings/a.toml" ]
    [ ! -e "$bindings/b.toml" ]
    perch_tool import "$file" --yes
    expect_status 2
    has "$errors" "--replace overwrites it"
    has "$errors" "c: not imported: it is disabled there"
    [ -e "$bindings/b.toml" ]
    shows a "T_A=1"
}

@test "--replace that is refused leaves the approved binding with its secrets" {
    printf '{"mcpServers": {"a": %s}}' "$(entry '' '"T_A": "1"')" >"$file"
    perch_tool import "$file" --yes
    expect_status 0
    printf '{"mcpServers": {"a": %s}}' "$(entry '' '"T_A": "2"')" >"$file"
    perch_tool import "$file" --replace
    expect_status 2
    shows a "T_A=1"
    [ "$(ls "$secrets")" = a ]
    perch_tool import "$file" --replace --yes
    expect_status 0
    shows a "T_A=2"
    [ "$(ls "$secrets")" = a ]
}

@test "a placeholder is asked for: the variable that it names, or it is not imported" {
    printf '{"mcpServers": {"a": %s}}' "$(entry '' '"T_KEY": "${env:T_MINE}"')" >"$file"
    perch_tool import "$file" --yes
    expect_status 2
    has "$errors" "the value of T_KEY is a placeholder: set T_MINE"
    [ ! -e "$secrets/a" ]
    [ ! -e "$bindings/a.toml" ]
    export T_MINE=m1ne
    perch_tool import "$file" --yes
    expect_status 0
    shows a "T_KEY=m1ne"
}

@test "a file in a project is a stranger's: --yes is not enough, and it chooses no variable" {
    mkdir "$WORK/repo" "$WORK/repo/.git"
    export T_OURS=m1ne
    printf '{"mcpServers": {"a": %s, "b": %s}}' "$(entry '' '"T_KEY": "${T_OURS}"')" "$(entry '' '')" \
        >"$WORK/repo/.mcp.json"
    perch_tool import "$WORK/repo/.mcp.json" --yes
    expect_status 64
    has "$errors" "--trust"
    [ ! -e "$bindings/b.toml" ]
    perch_tool import "$WORK/repo/.mcp.json" --yes --trust
    expect_status 2
    has "$errors" "the value of T_KEY is a placeholder"
    [ ! -e "$bindings/a.toml" ]
    [ -e "$bindings/b.toml" ]
    for name in NODE_OPTIONS PYTHONPATH BASH_ENV PATH; do
        printf '{"mcpServers": {"c": %s}}' "$(entry '' "\"$name\": \"/tmp/x\"")" >"$WORK/repo/.mcp.json"
        perch_tool import "$WORK/repo/.mcp.json" --yes --trust
        expect_status 2
        has "$errors" "it sets $name, which puts other code into the program"
        [ ! -e "$bindings/c.toml" ]
    done
}

@test "code is shown before the start, and so are the names of variables; LD_ is refused" {
    printf '{"mcpServers": {"a": {"command": "%s", "args": ["-ctoken=1;exit()", "--token=h1dden"], "env": {"T_NAMED": "v4lue"}}}}' "$server" >"$file"
    perch_tool import "$file"
    expect_status 2
    has "$errors" "-ctoken=1;exit()"
    has "$errors" "T_NAMED"
    lacks "$errors" h1dden
    lacks "$errors" v4lue
    printf '{"mcpServers": {"a": %s}}' "$(entry '' '"LD_PRELOAD": "/tmp/x.so"')" >"$file"
    perch_tool import "$file" --yes
    expect_status 2
    has "$errors" "it sets LD_PRELOAD"
    [ ! -e "$bindings/a.toml" ]
}

@test "what is no configuration, a remote server without TLS, a server without a command" {
    local text
    for text in '' '[]' '{"a"' '{"mcpServers": 7}' '{}'; do
        printf '%s' "$text" >"$file"
        perch_tool import "$file" --yes
        expect_status 64
        has "$errors" "mcp.json"
    done
    printf '{"mcpServers": {"r": {"url": "http://x.example"}, "n": {"args": []}}}' >"$file"
    perch_tool import "$file" --yes
    expect_status 2
    has "$errors" "write https://"
    has "$errors" "n: not imported: it has no command"
    perch_tool import "$WORK/nowhere.json" --yes
    expect_status 64
}

@test "nobody is there: nothing is started, and no secret is left" {
    printf '{"mcpServers": {"a": %s}}' "$(entry '' '"T_A": "1"')" >"$file"
    perch_tool import "$file"
    expect_status 2
    [ ! -e "$secrets/a" ]
    [ ! -e "$bindings/a.toml" ]
}
