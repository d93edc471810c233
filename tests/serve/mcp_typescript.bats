#!/usr/bin/env bats
# /mcp of perch serve, and the official TypeScript clients and the Inspector over HTTP, in every mode that they have.

load mcp_clients

setup() { mcp_clients_open; }

teardown() { mcp_clients_close; }

typescript() {
    need_foreign node mcp-npm
    MODULES="$(foreign_path mcp-npm)/node_modules" PATH="$(dirname "$(foreign_node)"):$PATH" \
        timeout 120 node "$PERCH_SOURCE/tests/${script:-mcp/talk.mjs}" "$@"
}

@test "TypeScript 1.x" { typescript 1 legacy; }

@test "TypeScript 1.x and 2.x: a call goes on behind the loss of its connection" {
    script=serve/mcp_resume.mjs
    typescript 1
    typescript 2
}

@test "TypeScript 2.x as a legacy client" { typescript 2 legacy; }

@test "TypeScript 2.x, which finds out the era" { typescript 2 auto; }

@test "TypeScript 2.x, modern alone" { typescript 2 2026-07-28; }

@test "the Inspector: strict, a call, a load; both eras" {
    need_foreign node inspector
    local era
    inspector() {
        PATH="$(dirname "$(foreign_node)"):$PATH" timeout 120 node \
            "$(foreign_path inspector)/node_modules/.bin/mcp-inspector" --cli "$MCP_URL" \
            --transport http --header "Authorization: Bearer $MCP_TOKEN" --format json "$@"
    }
    for era in legacy modern; do
        inspector --protocol-era "$era" --method tools/list --strict >"$WORK/list" 2>"$WORK/advice"
        [ ! -s "$WORK/advice" ] || { cat "$WORK/advice"; return 1; }
        grep -q '"example_hello_hello_greet"' "$WORK/list"
        inspector --protocol-era "$era" --method tools/call \
            --tool-name example_hello_hello_greet --tool-arg name=you >"$WORK/called"
        grep -q 'Hello, you!' "$WORK/called"
        inspector --protocol-era "$era" --method tools/call --tool-name example_hello_hello_greet \
            --load --load-requests 40 --load-concurrency 8 >"$WORK/load"
        [ "$(jq '[.. | .errors? // .errorCount? // .failed? | numbers] | add' "$WORK/load")" = 0 ]
    done
}
