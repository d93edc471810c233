#!/usr/bin/env bats
# The lines of perch mcp, as a client may bend them. The engine alone is tested from strings in
# unit/wire-mcp and its sisters; this is the whole program.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load mcp

setup() {
    tool_open
    mcp_open
}

teardown() { tool_close; }

wire() { timeout 120 "$python" "$PERCH_SOURCE/tests/mcp/wire.py" "$1"; }

@test "every error code, both eras mixed" { wire codes; }

@test "ids: texts, fractions, twice; what is cancelled late, twice or never was" {
    slow
    wire ids
}

@test "batches are of 2025-03-26 alone" { wire batches; }

@test "a requestState is good once, as it is, for its own call; eight runs wait" {
    expose 'plugins = ["*"]'
    example deploy deploy-python
    wire states
}

@test "10,000 requests of a client that stops reading: all are answered, in bounded memory" {
    wire thousands
}

@test "the audit log has the era and the traceparent" {
    wire trace
    has "$(last_audit)" '(MCP 2026-07-28) 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"'
}
