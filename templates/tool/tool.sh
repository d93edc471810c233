#!/bin/sh
# @NAME@: a tool. Two lines come in (perch's hello, one request), two go out (the handshake, one
# response). What it writes to stderr is for people.
read -r _
echo '{"type":"handshake","manifest":{"plugin_id":"@NAME@","plugin_version":"0.1.0",' \
    '"protocol_version":"rterm.plugin.v1","exposed_tools":["@NAME@.greet"]}}'
read -r request || exit 0 # only the handshake was wanted

# The schema in rterm-plugin.json lets no quote into a name: no JSON parser is needed here.
id=$(printf '%s\n' "$request" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
name=$(printf '%s\n' "$request" | sed -n 's/.*"input":{"name":"\([^"\\]*\)".*/\1/p')
printf '{"type":"response","request_id":"%s","status":"ok","output":{"greeting":"Hello, %s!"}}\n' \
    "$id" "$name"
