#!/usr/bin/env bats
# Every message that the MCP engine sends in its unit tests, against the schema of its era.

@test "what the engine sends is valid by the schemas of the specification" {
    local specifications="${PERCH_TEST_DATA:-/nowhere}/../specs"
    [ -d "$specifications/mcp" ] || skip "the specifications are not there"
    export PERCH_MCP_TAPE="$BATS_TEST_TMPDIR/tape"
    for program in wire-mcp wire-mcp-ask wire-mcp-jobs wire-mcp-modern wire-mcp-parked; do
        "$PERCH_BUILD/tests/test-$program"
    done
    python3 "$PERCH_SOURCE/tests/wire/schema.py" "$specifications" "$PERCH_MCP_TAPE"
}

@test "a message that is not valid is found" {
    local specifications="${PERCH_TEST_DATA:-/nowhere}/../specs" tape="$BATS_TEST_TMPDIR/tape"
    [ -d "$specifications/mcp" ] || skip "the specifications are not there"
    printf '1 0 < %s\n1 0 > %s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' \
        '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":7}]}}' >"$tape"
    run python3 "$PERCH_SOURCE/tests/wire/schema.py" "$specifications" "$tape"
    [ "$status" -ne 0 ]
    [[ "$output" == *"name: 7 is not of type string"* ]]
    [[ "$output" == *"has no inputSchema"* ]]
}
