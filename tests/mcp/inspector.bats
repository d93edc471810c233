#!/usr/bin/env bats
# perch mcp, and the official Inspector, by its command line.
# What we said is judged by the schema of its era, beside the client's own judgement.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load ../foreign/foreign
load mcp

setup() { clients_open; }

teardown() { tool_close; }

# It would take options of its server for its own.
inspector() {
    need_foreign node inspector
    printf '#!/bin/sh\nexec "%s" "%s" "%s" mcp --config "%s"\n' \
        "$TAPE_PROGRAM" "$TAPE" "$PERCH" "$CONFIG" >"$WORK/server"
    chmod +x "$WORK/server"
    PATH="$(dirname "$(foreign_node)"):$PATH" timeout 120 node \
        "$(foreign_path inspector)/node_modules/.bin/mcp-inspector" --cli "$WORK/server" \
        --format json "$@"
}

@test "the Inspector: strict, a call, a load; both eras" {
    local era
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
    judge_tape
}
