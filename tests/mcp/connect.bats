#!/usr/bin/env bats
# perch mcp connect: the files of clients, in a home of their own.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools

setup() {
    tool_open
    unset XDG_CONFIG_HOME
    export HOME="$WORK/home"
    mkdir -p "$HOME"
}

teardown() { tool_close; }

# connect WORD…: with nobody to ask.
connect() { perch_alone mcp connect "$@"; }

# server FILE KEY: what it says of perch, by a reader that knows no comments.
server() {
    "$python" - "$1" "$2" <<'END'
import json, re, sys
text = re.sub(r'(?m)^\s*//.*$|,(?=\s*[}\]])', '', open(sys.argv[1]).read())
print(json.dumps(json.loads(text)[sys.argv[2]]["perch"]))
END
}

@test "each client has perch in its file, once" {
    local client file key
    while read -r client file key; do
        connect "$client" --yes
        expect_status 0
        has "$errors" "$HOME/$file"
        has "$(server "$HOME/$file" "$key")" '"args": ["mcp"]'
        has "$(server "$HOME/$file" "$key")" "\"command\": \"$(readlink -f "$perch")\""
        cp "$HOME/$file" "$WORK/before"
        connect "$client" --yes
        expect_status 0
        has "$errors" 'has it already'
        cmp "$HOME/$file" "$WORK/before"
    done <<'END'
claude-code .claude.json mcpServers
claude-desktop .config/Claude/claude_desktop_config.json mcpServers
cursor .cursor/mcp.json mcpServers
vscode .config/Code/User/mcp.json servers
gemini .gemini/settings.json mcpServers
zed .config/zed/settings.json context_servers
windsurf .codeium/windsurf/mcp_config.json mcpServers
END
    has "$(server "$HOME/.config/Code/User/mcp.json" servers)" '"type": "stdio"'
    has "$(server "$HOME/.config/zed/settings.json" context_servers)" '"source": "custom"'
}

@test "Codex has it in TOML" {
    mkdir "$HOME/.codex"
    printf '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o" # o\n' >"$HOME/.codex/config.toml"
    connect codex --yes
    expect_status 0
    head -n 5 "$HOME/.codex/config.toml" >"$WORK/kept"
    printf '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o" # o\n' | cmp - "$WORK/kept"
    grep -A 2 '^\[mcp_servers.perch\]' "$HOME/.codex/config.toml" | grep -q 'args = \["mcp"\]'
    connect codex --yes
    has "$errors" 'has it already'
}

@test "the rest of a file stays, with its comments, its mode and its link" {
    mkdir -p "$HOME/.config/zed" "$WORK/dotfiles"
    printf '// mine\n{\n\t"theme": "x", // dark\n\t"context_servers": {\n\t\t"a": {}, // a\n\t},\n}\n' \
        >"$WORK/dotfiles/zed.json"
    chmod 644 "$WORK/dotfiles/zed.json"
    ln -s "$WORK/dotfiles/zed.json" "$HOME/.config/zed/settings.json"
    connect zed --yes
    expect_status 0
    [ -L "$HOME/.config/zed/settings.json" ]
    [ "$(stat -c %a "$WORK/dotfiles/zed.json")" = 644 ]
    grep -v -e perch -e '"source"' -e '"command"' -e '"args"' -e '^		},$' "$WORK/dotfiles/zed.json" |
        cmp - <(printf '// mine\n{\n\t"theme": "x", // dark\n\t"context_servers": {\n\t\t"a": {}, // a\n\t},\n}\n')
    has "$errors" '+         "perch": {'
    [ "$(ls "$WORK/dotfiles")" = zed.json ]
}

@test "nobody who says yes: nothing is written; --print shows it" {
    connect cursor
    expect_status 125
    has "$errors" '--yes'
    [ ! -e "$HOME/.cursor/mcp.json" ]
    connect cursor --print
    expect_status 0
    has "$output" '"mcpServers"'
    [ ! -e "$HOME/.cursor/mcp.json" ]
}

@test "no client, or one that is unknown: those there are" {
    for words in '' nothing-like-it; do
        # shellcheck disable=SC2086 # perhaps none
        run "$perch" mcp connect $words
        [ "$status" -eq 64 ]
        [[ "$output" == *'there are: claude-code, claude-desktop, cursor, '* ]]
    done
    run "$perch" mcp connect claud-code
    [[ "$output" == *'did you mean: perch mcp connect claude-code'* ]]
}

@test "a file that cannot be read is left alone" {
    mkdir "$HOME/.cursor"
    printf '{"mcpServers": {"a": 1 "b": 2}}' >"$HOME/.cursor/mcp.json"
    connect cursor --yes
    expect_status 125
    has "$errors" "$HOME/.cursor/mcp.json: line 1, column 24"
    grep -q '"a": 1 "b"' "$HOME/.cursor/mcp.json"
    connect clod --yes
    expect_status 64
    connect
    expect_status 64
}

@test "a configuration elsewhere is named to the server" {
    export XDG_CONFIG_HOME="$WORK/elsewhere"
    connect cursor --yes
    expect_status 0
    has "$(server "$HOME/.cursor/mcp.json" mcpServers)" "[\"mcp\", \"--config\", \"$WORK/elsewhere\"]"
}
