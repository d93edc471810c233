# shellcheck shell=bash
# perch serve with all that the official MCP clients are to call: the conversations of tests/mcp, over
# HTTP.

# shellcheck disable=SC2154 # what tool_open sets
load serve
load ../foreign/foreign
load ../mcp/mcp

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
}

mcp_clients_close() {
    kill "$gateway" && wait "$gateway"
    serve_close
}
