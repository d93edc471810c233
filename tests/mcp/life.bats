#!/usr/bin/env bats
# How perch mcp and its client end, and what they bear: with a client of our own (client.py). Every
# message that was sent is judged by the schema of its era.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load ../tool/tools
load mcp

setup() {
    tool_open
    mcp_open
}

teardown() { tool_close; }

# scene NAME: and what it said is valid.
scene() {
    timeout 120 "$python" "$PERCH_SOURCE/tests/mcp/scenes.py" "$1"
    judge_tape
}

@test "a call that is cancelled ends, without an answer" {
    slow
    scene cancel
}

@test "the client hears of a new tool" {
    later
    scene changes
}

@test "the end of stdin ends it, and what it runs" {
    slow
    scene end
}

@test "signals end it, and a run that waits for an answer" {
    slow
    expose 'plugins = ["*"]'
    example deploy deploy-python
    scene signal
}

@test "the death of its parent ends it while somebody holds its stdin" {
    slow
    scene parent
}

@test "a reader that goes away ends it" {
    slow
    scene reader
}

@test "nonsense, a line of 9 MiB, and two eras in one process" { scene nonsense; }

@test "a crowd of requests that nobody reads the answers of" { scene crowd; }

