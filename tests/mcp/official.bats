#!/usr/bin/env bats
# /mcp of perch serve before the judges: the official conformance suite.

# shellcheck disable=SC2154 # what tool_open and official_open set
load official

setup() { official_open; }

teardown() { official_close; }

# everything [OPTION…]: the everything server of the Python SDK is bound, and may ask its client whatever it likes.
everything() {
    need_foreign mcp-pip-2 everything
    local site server
    site=$(foreign_path mcp-pip-2)
    server="$(foreign_path everything)/examples/servers/everything-server"
    # What Python has compiled stays beside it: in the sandbox nothing can be written.
    foreign_python mcp-pip-2 "$PERCH_SOURCE/tests/mcp/everything.py" "$server" </dev/null
    printf 'PYTHONPATH=%s\n' "$site" >"$WORK/keys"
    chmod 600 "$WORK/keys"
    perch_tool add --mcp everything --yes --elicitation client --sampling client --roots client \
        --env TEST_MARK --secrets "$WORK/keys" --read "$prefix" --read "$site" --read "$server" \
        --read "$PERCH_SOURCE/tests/mcp" "$@" -- "$python" "$PERCH_SOURCE/tests/mcp/everything.py" "$server"
    expect_status 0
}

# all_conform REVISION NUMBER: every scenario that it requires passes, and there are so many.
all_conform() {
    local names
    mapfile -t names < <(required "$1" server)
    [ ${#names[@]} -eq "$2" ]
    judge "$1"
    conforms "$1" "${names[@]}"
}

@test "2025-11-25: 30 of 30, with the everything server behind the gateway" {
    # Or each of the sessions, one for a scenario, would start a server of its own.
    everything --lifetime shared
    gateway
    all_conform 2025-11-25 30
    conforms 2025-11-25 server-session-lifecycle json-schema-2020-12
}

@test "2026-07-28: 37 of 37, with the everything server behind the gateway" {
    everything
    gateway
    all_conform 2026-07-28 37
    conforms 2026-07-28 json-schema-2020-12 http-header-validation
}
