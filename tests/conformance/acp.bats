#!/usr/bin/env bats
# The conformance kit for ACP: our client and our agent keep every rule, the example agent of the
# official SDK and an agent of ours too; each of the wrong ones breaks those it should, by number.

# shellcheck disable=SC2030,SC2031 # what run sets
load ../foreign/foreign
load ../acp/acp

setup() {
    perch="$PERCH_BUILD/perch"
    python=$(python3 -c 'import sys; print(sys.executable)')
    acp_tape
    cd "$BATS_TEST_TMPDIR" || return 1
}

# beside CASE… -- WORD…: the kit with these words, once for each of the cases, all at the same time; no case is broken
# and none is skipped. Sets passed.
beside() {
    local cases=() case
    while [ "$1" != -- ]; do cases+=("$1") && shift; done
    shift
    for case in "${cases[@]}"; do
        { "$perch" conformance --protocol acp --case "$case" "$@" && echo 0 || echo $?; } >"of-$case" 2>&1 &
    done
    wait
    passed=0
    for case in "${cases[@]}"; do
        echo "$case: $(cat "of-$case")"
        [ "$(tail -1 "of-$case")" = 0 ]
        [[ "$(tail -2 "of-$case" | head -1)" == *" passed, 0 failed, 0 skipped" ]]
        passed=$((passed + $(tail -2 "of-$case" | head -1 | cut -d ' ' -f 1)))
    done
}

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

# each WHO: WHO WRONG CASE for all rows of stdin at the same time, since most wait for a line that never comes;
# then each has ended with 1, and broken the case. What it said is in the file WRONG.
each() {
    local wrong case players=()
    cat >rows
    while read -r wrong case; do
        # shellcheck disable=SC2094 # the name is no file there
        { "$1" "$wrong" "$case" && echo 0 || echo $?; } >"$wrong" 2>&1 &
        players+=($!)
    done <rows
    wait "${players[@]}"
    while read -r wrong case; do
        echo "$wrong: $(cat "$wrong")"
        [ "$(tail -1 "$wrong")" = 1 ]
        [[ "$(tail -2 "$wrong" | head -1)" == "0 passed, 1 failed, 0 skipped; broken: $case" ]]
    done <rows
}

# wrong_agent WRONG CASE: this agent breaks the case, which a right one keeps (above).
wrong_agent() {
    "$perch" conformance --protocol acp --within 4 --case "$2" \
        --plugin "$PERCH_SOURCE/tests/conformance/wrong_acp_agent.py" -- "$1"
}

@test "agents: each that is wrong breaks the rule that it should" {
    each wrong_agent <<'END'
ids CP-1.2
codes CP-1.4
silent CP-1.5
fragile CP-1.7
version CP-1.1
yes-man CP-2.2
lax CP-2.3
nameless CP-3.1
loader CP-3.4
reason CP-4.1
mute CP-4.2
hospitable CP-4.3
picky CP-4.6
quitter CP-5.1
exits CP-6.2
stays CP-6.3
END
}

# wrong_client WRONG CASES…: these cases with a small client that is wrong in one way.
wrong_client() {
    local wrong=$1 words=() case
    shift
    for case in "$@"; do words+=(--case "$case"); done
    "$perch" conformance --protocol acp --within "${within:-6}" "${words[@]}" \
        --host "$python $PERCH_SOURCE/tests/conformance/wrong_acp_client.py $wrong {program} {message}"
}

@test "clients: each that is wrong breaks the rule that it should" {
    within=20 wrong_client nothing C-1.1 C-1.3 C-2.1 C-2.2 C-3.1 C-3.2 C-4.3 C-4.6 C-4.7 C-5.1 C-6.1 C-6.5 >right 2>&1 &
    local right=$!
    each wrong_client <<'END'
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
clings C-6.1
END
    wait "$right" || { cat right && false; }
}

# Its prompts take five seconds each: some cases are enough. It says yes to a mode of any session: the one case waits
# for a refusal that never comes.
@test "agents: the example of the official SDK" {
    need_foreign node acp-npm
    local agent=("$(foreign_node)" -- "$(foreign_path acp-npm)/node_modules/sdk-with-examples/dist/examples/agent.js")
    beside CP-1 CP-2 CP-3.{1,2,3,4,5,7} CP-4.3 CP-4.4 CP-5.1 CP-6.1 CP-6.2 -- --plugin "${agent[@]}"
    run "$perch" conformance --protocol acp --within 4 --case CP-3.6 --plugin "${agent[@]}"
    echo "$output"
    [ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped; broken: CP-3.6' ]
}

@test "every message that perch has sent is valid by the schema" { judged 180; }
