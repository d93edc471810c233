#!/usr/bin/env bats
# /mcp of perch serve, and the official Python clients over HTTP, in every mode that they have.

# shellcheck disable=SC2154 # what tool_open sets
load mcp_clients

setup() { mcp_clients_open; }

teardown() { mcp_clients_close; }

pythonic() {
    need_foreign "mcp-pip-$1"
    foreign_python "mcp-pip-$1" "$PERCH_SOURCE/tests/mcp/talk.py" "$@"
}

@test "Python 1.x" { pythonic 1 legacy; }

@test "Python 2.x as a legacy client" { pythonic 2 legacy; }

@test "Python 2.x, which finds out the era" { pythonic 2 auto; }

@test "Python 2.x, modern alone" { pythonic 2 2026-07-28; }
