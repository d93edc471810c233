#!/usr/bin/env bats
# The conformance kit against hosts: ours keeps every rule, and each of the wrong ones
# breaks those it should, by number.

# What our own host is asked is mostly waited for: all three protocols at a time, while the other tests run.
setup_file() {
    local protocol
    for protocol in fledge tool agent; do
        mkdir -p "$BATS_FILE_TMPDIR/$protocol"
        (
            cd "$BATS_FILE_TMPDIR/$protocol" || exit
            code=0
            TMPDIR=$PWD "$PERCH_BUILD/perch" conformance --host "$PERCH_BUILD/perch" \
                --protocol "$protocol" >../"$protocol.said" 2>&1 || code=$?
            echo "$code" >../"$protocol.status.new"
            mv ../"$protocol.status.new" ../"$protocol.status"
        ) 3>&- &
    done
}

setup() {
    perch="$PERCH_BUILD/perch"
    python=$(python3 -c 'import sys; print(sys.executable)')
    host="$python $PERCH_SOURCE/tests/conformance/wrong_host.py"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# All that is broken is said by number, and nothing is left of it.
nothing_left() {
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'perch-conformance-*')" ]
}

# check PROTOCOL WRONG CASES…: the kit with these cases against a wrong host.
check() {
    local protocol=$1 wrong=$2 words case
    shift 2
    words=(--protocol "$protocol" --within 8)
    for case in "$@"; do
        words+=(--case "$case")
    done
    declare -A templates=(
        [fledge]='{command} {args}' [tool]='{program} {tool} {input}' [agent]='{profile} {message}')
    run "$perch" conformance --host "$host $protocol $wrong ${templates[$protocol]}" "${words[@]}"
}

# breaks PROTOCOL WRONG CASE: this one is broken, and its neighbours are not.
breaks() {
    check "$1" "$2" "$3" "${neighbours[@]}"
    echo "$1 $2: $output"
    [ "$status" -eq 1 ]
    [[ "${lines[-1]}" == *"; broken: $3" ]]
    [[ "$output" == *"FAILED   $3 "* ]]
}

# keeps_every_rule PROTOCOL: our own host, of all there are.
keeps_every_rule() {
    local TMPDIR="$BATS_FILE_TMPDIR/$1" # of that one
    until [ -e "$TMPDIR.status" ]; do sleep 0.1; done
    run cat "$BATS_FILE_TMPDIR/$1.said"
    echo "$output"
    [ "$(cat "$BATS_FILE_TMPDIR/$1.status")" -eq 0 ]
    [[ "${lines[-1]}" == *" passed, 0 failed, 0 skipped" ]]
    [ "$(grep -c '^ok ' <<<"$output")" -ge 25 ]
    nothing_left
}

@test "fledge: a small host that is right passes what it can" {
    check fledge nothing F-2.1 F-2.2 F-2.4 F-2.6 F-3.1 F-3.2 F-3.3 F-4.1 F-4.8 F-4.9 F-4.12 F-5.1 \
        F-5.7 F-7.2 F-9.1 F-9.2 F-9.7
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "17 passed, 0 failed, 0 skipped" ]
}

@test "fledge: every wrong host breaks its rule" {
    neighbours=(F-4.13)
    breaks fledge argv F-2.1
    breaks fledge directory F-2.2
    breaks fledge secrets F-2.4
    breaks fledge session F-2.6
    breaks fledge order F-3.1
    breaks fledge args F-3.2
    breaks fledge escapes F-3.3
    breaks fledge nonsense F-4.1
    breaks fledge id F-4.8
    breaks fledge twice F-4.9
    breaks fledge blanks F-4.12
    breaks fledge stdout F-5.7
    breaks fledge capability F-7.2
    breaks fledge exit F-9.1
    breaks fledge signal F-9.2
    neighbours=(F-4.2)
    breaks fledge leftover F-9.7
    [[ "$output" == *"outlives the host"* ]]
    neighbours=(F-3.4)
    breaks fledge default F-5.1
    nothing_left
}

@test "fledge: a host that hangs is ended, and so is what it started" {
    run "$perch" conformance --host "$host fledge deaf {command} {args}" --protocol fledge --case F-4.1 --within 1
    echo "$output"
    [ "$status" -eq 1 ]
    nothing_left
}

@test "tool: a small host that is right passes what it can" {
    check tool nothing T-1.1 T-1.2 T-1.3 T-1.4 T-1.7 T-1.8 T-4.11 T-4.13 T-4.15 T-4.20 T-4.23
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "tool: every wrong host breaks its rule" {
    neighbours=(T-1.9)
    breaks tool blanks T-1.1
    breaks tool id T-1.3
    breaks tool context T-1.2
    breaks tool numbers T-1.4
    breaks tool version T-4.11
    breaks tool name T-4.13
    breaks tool tool T-4.15
    breaks tool answer T-4.20
    breaks tool exit T-4.23
    neighbours=(T-4.20)
    breaks tool kill T-1.7
    nothing_left
}

@test "agent: a small host that is right passes what it can" {
    check agent nothing A-2.1 A-3.1 A-3.3 A-3.4 A-3.6 A-3.11 A-4.1 A-4.2
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "agent: every wrong host breaks its rule" {
    neighbours=(A-3.6)
    breaks agent name A-2.1
    breaks agent prefix A-3.3
    breaks agent partial A-3.4
    breaks agent error A-3.11
    breaks agent exit A-4.1
    breaks agent body A-4.1
    neighbours=(A-4.2)
    breaks agent strip A-3.3
    nothing_left
}

@test "a host beside us is found from where it is started" {
    ln -s "$perch" host
    run "$perch" conformance --host ./host --protocol agent --case A-3.1
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a host that cannot be started, or starts nothing, is told" {
    run "$perch" conformance --host /nonexistent/host --protocol agent --case A-3.1
    [ "$status" -eq 125 ]
    [[ "$output" == *"A-3.1"*"/nonexistent/host"* ]]
    run "$perch" conformance --host true --protocol agent --case A-3.1
    [ "$status" -eq 1 ]
    [[ "$output" == *"did not start it"* ]]
    nothing_left
}

@test "our own host keeps every rule of fledge-v1" { keeps_every_rule fledge; }
@test "our own host keeps every rule of tools" { keeps_every_rule tool; }
@test "our own host keeps every rule of agents" { keeps_every_rule agent; }
