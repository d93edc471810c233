#!/usr/bin/env bats
# perch as a client before the judges: servers of the official conformance suite, bound, and all that they offer used.

# shellcheck disable=SC2154 # what tool_open and official_open set
load official

setup() {
    official_open
    export PERCH="$perch" TAPE="$WORK/tape" PYTHONPATH="$PERCH_SOURCE/tests/mcp"
}

teardown() { official_close; }

# without_oauth REVISION NUMBER [SCENARIO…]: all scenarios that it requires of a client, but those of OAuth: so many. And
# some that it does not count.
without_oauth() {
    official_words=(client --command "$python $PERCH_SOURCE/tests/mcp/official_client.py")
    local names
    mapfile -t names < <(required "$1" client | grep -v '^auth/')
    [ ${#names[@]} -eq "$2" ]
    for name in "${names[@]}" "${@:3}"; do
        official "${official_words[@]}" --scenario "$name" --spec-version "$1"
    done
    conforms "$1" "${names[@]}" "${@:3}"
}

@test "2025-11-25: 4 of 4" { without_oauth 2025-11-25 4 json-schema-2020-12-preservation; }

@test "2026-07-28: 7 of 7" { without_oauth 2026-07-28 7 json-schema-2020-12-preservation; }
