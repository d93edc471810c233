#!/usr/bin/env bats
# perch mcp, and the official Python clients in every mode that they have: talk.py.
# What we said is judged by the schema of its era, beside the client's own judgement.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load ../foreign/foreign
load mcp

setup() { clients_open; }

teardown() { tool_close; }

pythonic() {
    need_foreign "mcp-pip-$1"
    foreign_python "mcp-pip-$1" "$PERCH_SOURCE/tests/mcp/talk.py" "$@"
    judge_tape
}

@test "Python 1.x" { pythonic 1 legacy; }

@test "Python 2.x as a legacy client" { pythonic 2 legacy; }

@test "Python 2.x, which finds out the era" { pythonic 2 auto; }

@test "Python 2.x, modern alone" { pythonic 2 2026-07-28; }
