#!/usr/bin/env bats
# The conformance kit for ACP: each agent and each client that is wrong breaks the rules it should, by number.

# shellcheck disable=SC2030,SC2031,SC2154 # what run and kit_open set
load ../foreign/foreign
load ../acp/acp
load beside

setup() { kit_open; }

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
