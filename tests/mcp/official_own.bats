#!/usr/bin/env bats
# What perch hosts itself, without any MCP server, before the judges of /mcp: the official conformance suite.

# shellcheck disable=SC2154 # what tool_open and official_open set
load official

setup() { official_open; }

teardown() { official_close; }

# own NAME < PYTHON: a command of a plugin, of which clients are told something.
own() {
    py "$1"
    sed -i '/^binary/a description = "What the judges call."\nargs = [{name = "message", type = "string"}]' \
        "$cfg/plugins/fledge-$1/plugin.toml"
}

# What perch hosts itself: a tool, and commands of plugins. The names are those that the judges know.
own_things() {
    tool test_error_handling '[[tools]]' 'name = "test_error_handling"' 'description = "Fails."' <<'END'
request = greet(exposed_tools=["test_error_handling"])
send({"type": "response", "request_id": request["request_id"], "status": "error",
      "error": {"code": "execution_error", "message": "This tool intentionally returns an error for testing"}})
END
    own test_simple_text <<<'say("This is a simple text response for testing.")'
    for name in test_tool_with_logging test_logging_tool; do
        own "$name" <<<'for text in "begun", "at work", "done": send("log", level="info", message=text)'
    done
    own test_tool_with_progress <<<'for done in 0, 50, 100: send("progress", message="works", current=done, total=100)'
    for name in test_elicitation test_streaming_elicitation test_input_required_result_elicitation \
        test_input_required_result_tampered_state; do
        own "$name" <<<'say("Hello, " + value("prompt", message="What is your name?"))'
    done
}

@test "perch's own tools and plugins, without any server: all that applies to them" {
    own_things
    gateway
    judge 2025-11-25
    conforms 2025-11-25 server-initialize logging-set-level ping tools-list tools-call-simple-text tools-call-error \
        tools-call-with-logging tools-call-with-progress tools-call-elicitation server-sse-multiple-streams resources-list \
        dns-rebinding-protection server-session-lifecycle
    judge 2026-07-28
    conforms 2026-07-28 tools-list tools-call-simple-text tools-call-error tools-call-with-progress \
        server-sse-multiple-streams resources-list sep-2164-resource-not-found dns-rebinding-protection \
        input-required-result-missing-input-response input-required-result-result-type \
        input-required-result-unsupported-methods input-required-result-tampered-state \
        input-required-result-ignore-extra-params input-required-result-validate-input http-header-validation
    # No plugin needs sampling, so none can be refused to a client without; the other 26 checks pass.
    excuse sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400
    conforms 2026-07-28 server-stateless
}
