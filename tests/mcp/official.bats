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
    # What Python has compiled stays beside it, once and for all: in the sandbox nothing can be written.
    [ -d "$server/mcp_everything_server/__pycache__" ] ||
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

# Of the old revision each scenario is a session: if the server were not shared, thirty would be started.
@test "30 of 30 of 2025-11-25 and 37 of 37 of 2026-07-28, with the everything server behind the gateway" {
    everything --lifetime shared
    gateway
    all_conform 2025-11-25 30
    conforms 2025-11-25 server-session-lifecycle json-schema-2020-12
    all_conform 2026-07-28 37
    conforms 2026-07-28 json-schema-2020-12 http-header-validation
}
