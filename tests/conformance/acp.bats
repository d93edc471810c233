#!/usr/bin/env bats
# The conformance kit for ACP: our client and our agent keep every rule, and so does an agent of ours for tests.

# shellcheck disable=SC2030,SC2031,SC2154 # what run and kit_open set
load ../foreign/foreign
load ../acp/acp
load beside

setup() { kit_open; }

# keeps C|CP WORD…: all cases there are, which are 40 at least.
keeps() {
    local of=$1
    shift
    beside "$of-1" "$of-2" "$of-3" "$of-4" "$of-5" "$of-6" -- "$@"
    echo "$passed"
    [ "$passed" -ge 40 ]
}

@test "clients: perch keeps every rule" { keeps C --host "$perch"; }

@test "agents: perch acp keeps every rule" {
    keeps CP --plugin "$perch" -- acp --no-store --agent "$PERCH_SOURCE/examples/agents/echo.yaml"
}

@test "agents: a small one of ours keeps every rule" {
    keeps CP --plugin "$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py"
}

@test "agents: that of a profile, whose words come before those of the command line" {
    printf '%s\n' 'command: "{{PROFILE_DIR}}/bot one"' 'protocol: acp' 'env: {OWN: two}' >bot.yaml
    printf '%s\n' '#!/bin/sh' "echo \"\$*\" \"\$OWN\" >'$PWD/said'" \
        "exec '$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py'" >bot
    chmod +x bot
    run "$perch" conformance --plugin bot.yaml --protocol acp --case CP-1.1 -- three
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *" passed, 0 failed, 0 skipped" ]]
    [ "$(cat said)" = 'one three two' ]
    rm said
    run "$perch" conformance --plugin bot.yaml --case CP-1.1 # the profile says what it speaks
    [ "$status" -eq 0 ]
    [ "$(cat said)" = 'one two' ]
    run "$perch" conformance --plugin "$PERCH_SOURCE/examples/agents/echo.yaml" --protocol acp
    [ "$status" -eq 64 ]
    [[ "$output" == *"is not of an agent that speaks ACP"*"--plugin PROGRAM --protocol acp -- ARGUMENTS"* ]]
}

@test "every message that perch has sent is valid by the schema" { judged 180; }
