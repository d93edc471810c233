#!/usr/bin/env bats
# How perch acp ends, and what it bears: with an editor of our own (life.py).

# shellcheck disable=SC2154 # what acp_open sets
load ../agent/agents
load ../foreign/foreign
load acp

setup() { acp_open; }

teardown() { agent_close; }

scene() {
    timeout 120 "$python" "$PERCH_SOURCE/tests/acp/life.py" "$1"
    wait_until nothing_left
}

@test "signals end it, and the turn that runs" { scene signal; }

@test "a reader that goes away ends it" { scene reader; }

@test "the death of its parent ends it while somebody holds its stdin" { scene parent; }

@test "nonsense, and a line of 33 MiB" { scene nonsense; }

@test "a recording is in its file, and stdout has messages alone" { scene trace; }

@test "sessions that are closed while they are loaded" { scene hurry; }

@test "a crowd of prompts whose answers are read late" { scene crowd; }

@test "what it is told wrong, it says" {
    run "$perch" acp
    [ "$status" -eq 64 ]
    [[ "$output" == *'perch acp --agent NAME'* ]]
    run "$perch" acp --agent a --agents b,c
    [ "$status" -eq 64 ]
    run "$perch" acp --agent nobody
    [ "$status" -eq 125 ]
    [[ "$output" == *"there is no agent 'nobody'"* ]]
    echo 'command: [' >"$WORK/bad.yaml"
    run "$perch" acp --agent "$WORK/bad.yaml"
    [ "$status" -eq 125 ]
    [[ "$output" == *bad.yaml* ]]
}

@test "every message that perch has sent is valid by the schema" { judged 300; }
