#!/usr/bin/env bats
# /mcp of perch serve: sessions, headers, streams, users.

load serve
load ../mcp/mcp

setup() {
    serve_open
    mcp_open
    example deploy deploy-python
    # shellcheck disable=SC2154 # what tool_open sets
    tool asks '[[tools]]' 'name = "t.x"' 'ask = true' <<<'respond(greet(), {"done": True})'
    slow
    later
    plugin flood <<'END'
#!/bin/sh
read -r init
: >"${TEST_MARK#perch-test-}/work/ready"
while :; do printf '{"type":"progress","message":"%01000d"}\n' 7; done
END
}
teardown() { serve_close; }

@test "tools are listed and called in both eras, counted and audited" { scene mcp.py calls; }

@test "--mcp-prefix" { scene mcp.py prefix; }

@test "legacy sessions: a stream that broke goes on" {
    plugin steps <<'END'
#!/bin/sh
read -r init
work="${TEST_MARK#perch-test-}/work"
until [ -e "$work/first" ]; do sleep 0.02; done
printf '{"type":"progress","message":"one"}\n'
until [ -e "$work/second" ]; do sleep 0.02; done
printf '{"type":"progress","message":"two"}\n{"type":"output","text":"done\\n"}\n'
END
    scene mcp.py resume
}

@test "legacy sessions: GET, DELETE, another's" { scene mcp.py sessions; }

@test "sessions have a number and a time" { scene mcp.py limits; }

@test "modern requests: headers are compared with the body" { scene mcp.py modern; }

@test "modern calls: arguments that stand in headers, too" {
    tool marked '[[tools]]' 'name = "t.x"' "input_schema = '''{\"type\":\"object\",\"properties\":{
        \"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}, \"on\":{\"type\":\"boolean\",\"x-mcp-header\":\"On\"},
        \"deep\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"}}}}}'''" \
        <<<'respond(greet(), {"done": True})'
    scene mcp.py params
}

@test "types, tokens, Host and Origin" { scene mcp.py types; }

@test "each token has its list, and its sessions of agents" { scene mcp.py users; }

@test "MCP servers: one for each session, which ends with it and with the gateway" {
    export SERVER_LOG="$WORK/log"
    : >"$SERVER_LOG"
    # shellcheck disable=SC2154 # what tool_open sets
    perch_tool add --mcp full --yes --read "$prefix" --read "$PERCH_SOURCE/tests/tool" --write "$SERVER_LOG" --env TEST_MARK \
        -- "$python" "$PERCH_SOURCE/tests/tool/full_server.py" full "$SERVER_LOG"
    expect_status 0
    : >"$SERVER_LOG"
    scene mcp.py servers
}

@test "resources: a user's own sessions, traces for admins" { scene mcp.py resources; }

@test "questions of a plugin, in both eras" { scene mcp.py questions; }

@test "a call that must be approved is a job, and who calls cannot approve" { scene mcp.py approval; }

@test "closing the stream cancels, or does not; the end of the server" { scene mcp.py cancel; }

@test "subscriptions/listen" { scene mcp.py listen; }

@test "two things of one name" { scene mcp.py names; }

@test "a client that does not read" { scene mcp.py slow_reader; }
