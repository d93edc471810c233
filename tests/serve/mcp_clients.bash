# shellcheck shell=bash
# perch serve with all that the official MCP clients are to call: the conversations of tests/mcp, over
# HTTP.

# shellcheck disable=SC2154 # what tool_open sets
load serve
load ../foreign/foreign
load ../mcp/mcp

# An admin that refuses whatever is to be approved, until the gateway is gone.
mcp_clients_refuse() {
    local admin=$1 jobs="${MCP_URL%/mcp}/api/jobs" path
    while curl -sf -H "Authorization: Bearer $admin" "$jobs?state=running" >"$WORK/running"; do
        jq -r '.jobs[] | select(.questions != []) | "\(.id)/answers/\(.questions[0].ask)"' "$WORK/running" |
            while read -r path; do curl -s -o "$WORK/refused" -H "Authorization: Bearer $admin" -d '{"allow":false}' "$jobs/$path"; done
        sleep 0.05
    done
}

mcp_clients_open() {
    serve_open
    clients_open
    sed -i 's/expose.mcp/expose.http/' "$XDG_CONFIG_HOME/perch/config.toml"
    MCP_TOKEN=$("$perch" token create client --role admin 2>/dev/null)
    "$perch" serve --listen 127.0.0.1:0 2>"$WORK/serve.log" &
    gateway=$!
    wait_until grep -q 'serves at' "$WORK/serve.log"
    MCP_URL="$(sed -n 's/.*serves at //p' "$WORK/serve.log")/mcp"
    export MCP_TOKEN MCP_URL
    mcp_clients_refuse "$("$perch" token create judge --role admin 2>/dev/null)" 3>&- &
    refuser=$!
}

mcp_clients_close() {
    kill "$gateway" && wait "$gateway"
    wait "$refuser" || true
    serve_close
}
