#!/usr/bin/env bats
# The conformance kit for ACP: our client and our agent keep every rule, the example agent of the
# official SDK and an agent of ours too; each of the wrong ones breaks those it should, by number.

# shellcheck disable=SC2030,SC2031 # what run sets
load ../foreign/foreign

setup() {
    perch="$PERCH_BUILD/perch"
    python=$(python3 -c 'import sys; print(sys.executable)')
    cd "$BATS_TEST_TMPDIR" || return 1
}

# keeps WORD…: no case is broken, none is skipped, and there are 40 of them.
keeps() {
    run "$perch" conformance --protocol acp "$@"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *" passed, 0 failed, 0 skipped" ]]
    [ "${lines[-1]%% *}" -ge 40 ]
}

@test "clients: perch keeps every rule" { keeps --host "$perch"; }

@test "agents: perch acp keeps every rule" {
    keeps --plugin "$perch" -- acp --no-store --agent "$PERCH_SOURCE/examples/agents/echo.yaml"
}

@test "agents: a small one of ours keeps every rule" {
    keeps --plugin "$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py"
}

@test "agents: that of a profile, whose words come before those of the command line" {
    printf '%s\n' 'command: "{{PROFILE_DIR}}/bot one"' 'protocol: acp' 'env: {OWN: two}' >bot.yaml
    printf '%s\n' '#!/bin/sh' "echo \"\$*\" \"\$OWN\" >'$PWD/said'" \
        "exec '$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py'" >bot
    chmod +x bot
    run "$perch" conformance --plugin bot.yaml --protocol acp --case CP-1 -- three
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *" passed, 0 failed, 0 skipped" ]]
    [ "$(cat said)" = 'one three two' ]
    rm said
    run "$perch" conformance --plugin bot.yaml --case CP-1 # the profile says what it speaks
    [ "$status" -eq 0 ]
    [ "$(cat said)" = 'one two' ]
    run "$perch" conformance --plugin "$PERCH_SOURCE/examples/agents/echo.yaml" --protocol acp
    [ "$status" -eq 64 ]
    [[ "$output" == *"is not of an agent that speaks ACP"*"--plugin PROGRAM --protocol acp -- ARGUMENTS"* ]]
}

# breaks WRONG CASE: this agent breaks the case, which a right one keeps (above). Most wait for a line that never comes.
breaks() {
    run "$perch" conformance --protocol acp --within 1.5 --case "$2" \
        --plugin "$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py" -- "$1"
    echo "$1: $output"
    [ "$status" -eq 1 ]
    [[ "${lines[-1]}" == "0 passed, 1 failed, 0 skipped; broken: $2" ]]
}

@test "agents: each that is wrong breaks the rule that it should" {
    breaks ids CP-1.2
    breaks codes CP-1.4
    breaks silent CP-1.5
    breaks fragile CP-1.7
    breaks version CP-1.1
    breaks yes-man CP-2.2
    breaks lax CP-2.3
    breaks nameless CP-3.1
    breaks loader CP-3.4
    breaks reason CP-4.1
    breaks mute CP-4.2
    breaks hospitable CP-4.3
    breaks picky CP-4.6
    breaks quitter CP-5.1
    breaks exits CP-6.2
    breaks stays CP-6.3
}

# client WRONG CASES…: these cases with a small client that is wrong in one way.
client() {
    local wrong=$1 words=() case
    shift
    for case in "$@"; do words+=(--case "$case"); done
    run "$perch" conformance --protocol acp --within "${within:-3}" "${words[@]}" \
        --host "$python $PERCH_SOURCE/tests/conformance/wrong_acp_client.py $wrong {program} {message}"
    echo "$wrong: $output"
}

@test "clients: each that is wrong breaks the rule that it should" {
    local wrong case
    within=20 client nothing C-1.1 C-1.3 C-2.1 C-2.2 C-3.1 C-3.2 C-4.3 C-4.6 C-4.7 C-5.1 C-6.1 C-6.5
    [ "$status" -eq 0 ]
    while read -r wrong case; do
        client "$wrong" "$case"
        [ "$status" -eq 1 ]
        [[ "${lines[-1]}" == *"; broken: $case" ]]
    done <<'END'
fragile C-1.1
deaf C-1.3
shapeless C-2.1
yes-man C-2.2
relative C-3.1
blurts C-4.3
gullible C-4.6
cheerful C-4.7
trusting C-5.1
rude C-6.5
END
    client clings C-6.1
    [ "$status" -eq 1 ]
    [[ "${lines[-1]}" == *"broken: "*C-6.1* ]]
}

# Its prompts take five seconds each: some cases are enough. It says yes to a mode of any session.
@test "agents: the example of the official SDK" {
    need_foreign node acp-npm
    run "$perch" conformance --protocol acp --case CP-1 --case CP-2 --case CP-3.1 --case CP-3.2 --case CP-3.3 --case CP-3.4 --case CP-3.5 --case CP-3.6 --case CP-3.7 --case CP-4.3 --case CP-4.4 \
        --case CP-5.1 --case CP-6.1 --case CP-6.2 --plugin "$(foreign_node)" -- \
        "$(foreign_path acp-npm)/node_modules/sdk-with-examples/dist/examples/agent.js"
    echo "$output"
    [[ "${lines[-1]}" == *", 1 failed, 0 skipped; broken: CP-3.6" ]]
}
