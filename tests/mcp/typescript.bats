#!/usr/bin/env bats
# perch mcp, and the official TypeScript clients in every mode that they have: talk.mjs.
# What we said is judged by the schema of its era, beside the client's own judgement.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load ../foreign/foreign
load mcp

setup() { clients_open; }

teardown() { tool_close; }

typescript() {
    need_foreign node mcp-npm
    MODULES="$(foreign_path mcp-npm)/node_modules" PATH="$(dirname "$(foreign_node)"):$PATH" \
        timeout 120 node "$PERCH_SOURCE/tests/mcp/talk.mjs" "$@"
    judge_tape
}

@test "TypeScript 1.x" { typescript 1 legacy; }

@test "TypeScript 2.x as a legacy client" { typescript 2 legacy; }

@test "TypeScript 2.x, which finds out the era" { typescript 2 auto; }

@test "TypeScript 2.x, modern alone" { typescript 2 2026-07-28; }
