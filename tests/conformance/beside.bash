# shellcheck shell=bash disable=SC2034,SC2154
# The conformance kit for ACP, many cases at a time: most of them wait.

kit_open() {
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
