#!/usr/bin/env bats
# The audit log, as calls leave it behind.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    tool echo <<'END'
request = greet()
respond(request, request["input"])
END
}
teardown() { tool_close; }

@test "every call leaves one line, and no input" {
    perch_tool call t.echo t.x --input '{"password":"hunter2"}'
    perch_tool call t.echo t.none
    perch_tool call t.echo t.x --input nonsense
    perch_tool call t.nobody t.x
    [ "$(wc -l <"$audit")" -eq 4 ]
    [ "$(stat -c %a "$audit")" = 600 ]
    lacks "$(cat "$audit")" hunter2
    "$python" - "$audit" <<'END'
import hashlib, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [line["verdict"] for line in lines] == ["ok", "tool_not_exposed", "invalid_request", "invalid_request"]
first = lines[0]
assert first["tool"] == "t.x" and first["plugin_id"] == "t.echo" and first["plugin_version"] == "1.0"
assert first["binding"] == "t.echo" and first["exit_status"] == 0 and first["duration_ms"] >= 0
assert first["input_sha256"] == hashlib.sha256(b'{"password":"hunter2"}').hexdigest()
assert first["input_bytes"] == 22 and first["output_bytes"] > 0 and first["approval"] == "binding"
assert lines[3]["approval"] == "none"
END
}

@test "calls of serve are in it, too" {
    printf '%s\n' '{"id":1,"name":"t.echo","tool":"t.x"}' '{"id":2,"name":"t.echo","tool":"t.x"}' |
        "$perch" tool serve >/dev/null
    [ "$(grep -c '"verdict":"ok"' "$audit")" -eq 2 ]
}

@test "it is turned over at 10 MiB" {
    mkdir -p "$(dirname "$audit")"
    head -c 10485760 /dev/zero | tr '\0' '\n' >"$audit"
    perch_tool call t.echo t.x
    [ "$(wc -l <"$audit")" -eq 1 ]
    [ "$(stat -c %s "$audit.1")" -eq 10485760 ]
}

@test "approval: whoever is asked at the terminal" {
    binding echo '[[tools]]' 'name = "t.x"' 'ask = true'
    printf 'y\n' | script -qec "'$perch' tool call t.echo t.x" /dev/null >"$WORK/said"
    grep -q 'Call t.x of t.echo?' "$WORK/said"
    has "$(last_audit)" '"approval":"terminal"'
    printf 'n\n' | script -qec "'$perch' tool call t.echo t.x" /dev/null >"$WORK/said" || true
    has "$(last_audit)" '"verdict":"invalid_request"'
}

@test "a failed write warns; when the log is required, nothing is called" {
    mkdir -p "$audit"
    perch_tool call t.echo t.x
    expect_status 0
    expect '{}'
    has "$errors" "warning: the call is not in the audit log"
    mkdir -p "$XDG_CONFIG_HOME/perch"
    echo 'audit = "required"' >"$XDG_CONFIG_HOME/perch/config.toml"
    perch_tool call t.echo t.x
    expect_status 2
    expect ""
    has "$errors" "the audit log is required"
    run "$perch" tool serve <<<'{"id":1,"name":"t.echo","tool":"t.x"}'
    has "$output" '"code":"launch_failed"'
    rmdir "$audit"
    perch_tool call t.echo t.x
    expect_status 0
    echo 'audit = "requird"' >"$XDG_CONFIG_HOME/perch/config.toml"
    perch_tool call t.echo t.x
    expect_status 125
    has "$errors" 'config.toml:1:9: `audit` must be'
}
