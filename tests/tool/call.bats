#!/usr/bin/env bats
# perch tool call: inputs, contexts, every exit code, with real tools.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() { tool_open; }
teardown() { tool_close; }

echo_tool() {
    tool echo "$@" <<'END'
request = greet()
respond(request, {"input": request["input"], "context": request["context"], "tool": request["tool_name"]})
END
}

@test "0: the output is printed as JSON" {
    echo_tool
    perch_tool call t.echo t.x --input '{"a":[1,2]}'
    expect_status 0
    expect '{"input": {"a": [1, 2]}, "context": {}, "tool": "t.x"}'
    [ -z "$errors" ]
}

@test "0: --json prints one result object" {
    echo_tool
    perch_tool call --json t.echo t.x
    expect_status 0
    field_is ok true
    field_is code '"ok"'
    field_is plugin_id '"t.echo"'
    field_is plugin_version '"1.0"'
    field_is tool '"t.x"'
    field_is exit_status 0
    field_is signal null
    field_is extra_bytes 0
    [ "$(wc -l <"$WORK/out")" -eq 1 ]
    "$perch" --json tool call t.echo t.x | grep -q '"ok":true'
}

@test "the input comes from a word, a file or stdin; without one it is {}" {
    echo_tool
    echo '{"from":"file"}' >"$WORK/input.json"
    perch_tool call t.echo t.x --input "@$WORK/input.json"
    has "$output" '"input": {"from": "file"}'
    run "$perch" tool call t.echo t.x --input - <<<'{"from":"stdin"}'
    has "$output" '"input": {"from": "stdin"}'
    perch_tool call t.echo t.x
    has "$output" '"input": {}'
    perch_tool call t.echo t.x --input "@$WORK/none.json"
    expect_status 64
    has "$errors" "none.json"
}

@test "big numbers pass through both ways digit for digit" {
    tool raw <<'END'
receive()
send(manifest())
line = sys.stdin.readline()
number = line.split('"input":')[1].rstrip()[:-1]
request = json.loads(line)
print('{"type":"response","request_id":"%s","status":"ok","output":%s}' % (request["request_id"], number), flush=True)
END
    perch_tool call t.raw t.x --input '123456789012345678901234567890.10'
    expect '123456789012345678901234567890.10'
}

@test "--context sets the five members and no others" {
    echo_tool
    perch_tool call t.echo t.x --context workspace_id=ws-1 --context repo_root=/a=b
    has "$output" '"context": {"workspace_id": "ws-1", "repo_root": "/a=b"}'
    perch_tool call t.echo t.x --context workspace=1
    expect_status 64
    has "$errors" "a context has no 'workspace'"
    perch_tool call t.echo t.x --context rol_id=1
    has "$errors" "did you mean: role_id"
    perch_tool call t.echo t.x --context nothing
    expect_status 64
}

@test "1: the plugin's own error, with its code and message" {
    tool odd <<'END'
request = greet()
respond(request, None, status="error", error={"code": "E7", "message": "no such file\x1b[31m"})
END
    ends 1 execution_error
    expect ""
    has "$errors" "error: E7: no such file"
    lacks "$errors" $'\x1b'
    perch_tool call t.odd t.x --json
    has "$output" '"error":{"code":"E7","message":"no such file'
}

@test "2: launch_failed" {
    binding odd
    ends 2 launch_failed
    has "$errors" "error: launch_failed: "
    has "$errors" "$WORK/tools/odd"
}

@test "3: handshake_failed" {
    tool odd <<'END'
request = greet(plugin_id="t.other")
END
    ends 3 handshake_failed
}

@test "4: timeout, of the whole call and of the handshake" {
    tool odd <<'END'
receive()
time.sleep(600)
END
    ends 4 timeout --timeout 0.3
    ends 4 timeout --handshake-timeout 0.3 --timeout 60
    tool odd '[timeouts]' 'invocation = 0.3' <<'END'
time.sleep(600)
END
    ends 4 timeout
}

@test "5: crashed, with what it said last" {
    tool odd <<'END'
print("\x1b]0;gone\x07 I give up", file=sys.stderr)
sys.exit(3)
END
    ends 5 crashed
    has "$errors" "| "
    has "$errors" "I give up"
    lacks "$errors" $'\x1b'
    perch_tool call t.odd t.x --json
    field_is exit_status 3
}

@test "5: crashed after it answered: the answer is not thrown away" {
    tool odd <<'END'
respond(greet(), {"done": 1})
sys.exit(9)
END
    ends 5 crashed
    expect ""
    has "$errors" "it had answered before; --json shows the answer"
    perch_tool call t.odd t.x --json
    field_is responded true
    field_is output '{"done": 1}'
}

@test "6: malformed_response" {
    tool odd <<'END'
print("Welcome!", flush=True)
END
    ends 6 malformed_response
}

@test "6: what comes behind the response is a warning, with --strict an error" {
    tool odd <<'END'
respond(greet(), 1)
print("goodbye", flush=True)
END
    perch_tool call t.odd t.x
    expect_status 0
    expect 1
    has "$errors" "warning: the plugin wrote 8 more bytes after its response"
    ends 6 malformed_response --strict
}

@test "7: tool_not_exposed" {
    tool odd <<'END'
greet(exposed_tools=["t.y"])
END
    ends 7 tool_not_exposed
}

@test "8: protocol_version_mismatch" {
    tool odd <<'END'
greet(protocol_version="rterm.plugin.v2")
END
    ends 8 protocol_version_mismatch
}

@test "9: capability_not_declared" {
    tool odd 'capabilities = ["a"]' <<'END'
greet()
END
    ends 9 capability_not_declared
}

@test "10: capability_not_allowed" {
    tool odd 'capabilities = ["a"]' <<'END'
greet(capabilities=["a", "b"])
END
    ends 10 capability_not_allowed
}

@test "64: invalid_request, and no process is started" {
    tool odd <<'END'
open(os.environ["TMPDIR"] + "/../started", "w")
END
    ends 64 invalid_request --input '{"text":"a","text":"b"}'
    ends 64 invalid_request --input '{"a":'
    has "$errors" "error: invalid_request: "
    ends 64 invalid_request --input ''
    binding odd 'capabilities = ["a", "a"]'
    ends 64 invalid_request
    has "$errors" "listed twice"
    printf 'name = "t.odd"\ncomand = "x"\n' >"$bindings/t.odd.toml"
    ends 64 invalid_request
    has "$errors" "t.odd.toml:2:1: there is no key \`comand\` here; did you mean \`command\`?"
    perch_tool call t.ood t.x --json
    expect_status 64
    has "$output" "no tool is bound as 't.ood'; did you mean 't.odd'?"
}

@test "64: an input that its schema does not allow, with the path" {
    echo_tool '[[tools]]' 'name = "t.x"' \
        "input_schema = '{\"properties\":{\"items\":{\"items\":{\"required\":[\"name\"]}}}}'"
    perch_tool call t.echo t.x --input '{"items":[{"name":1},{}]}'
    expect_status 64
    has "$errors" '$.items[1].name: is required and missing'
    perch_tool call t.echo t.x --input '{"items":[{"name":1}]}'
    expect_status 0
}

@test "64: usage" {
    for words in "call" "call t.echo" "call a b c" "call a b --inptu x" "call a b --timeout 0" \
        "call --binding f a b" "check" "check a b" "show" "remove" "add" "list x" "serve x" \
        "serve --jobs 0" "serve --jobs 999" "frob" ""; do
        # shellcheck disable=SC2086
        perch_tool $words
        expect_status 64
        has "$errors" "error: "
    done
    perch_tool cal
    has "$errors" "did you mean: perch tool call"
}

@test "130: an interrupt cancels" {
    tool odd <<'END'
greet()
open(os.environ["READY"], "w").write("1")
time.sleep(600)
END
    sed -i "s|^TEST_MARK|READY = \"$READY\"\nTEST_MARK|" "$bindings/t.odd.toml"
    for signal in INT TERM; do
        rm -f "$READY"
        start tool call t.odd t.x --json --timeout 60
        wait_ready
        kill -s "$signal" "$host"
        finish
        expect_status 130
        field_is code '"cancelled"'
    done
}

@test "--binding FILE instead of a name; a relative command is beside it" {
    program near <<'END'
respond(greet(), "near")
END
    printf 'name = "t.near"\ncommand = "near"\n[sandbox]\nread = ["%s"]\n' "$prefix" \
        >"$WORK/tools/near.toml"
    cd /
    perch_tool call --binding "$WORK/tools/near.toml" t.x
    expect_status 0
    expect '"near"'
}

@test "the child gets what section 2 says and nothing else" {
    tool env 'args = ["one", ""]' <<'END'
respond(greet(), {"names": sorted(os.environ), "args": sys.argv[1:],
    "home": os.environ["HOME"] == os.environ["TMPDIR"], "lang": os.environ["LANG"]})
END
    sed -i 's|^read =|env = ["KEPT"]\nread =|' "$bindings/t.env.toml"
    KEPT=1 SECRET=2 perch_tool call t.env t.x --json
    expect_status 0
    has "$output" '"args": ["one", ""]'
    has "$output" '"home": true'
    has "$output" '"lang": "C.UTF-8"'
    has "$output" '"HOME", "KEPT", "LANG"'
    lacks "$output" SECRET
}

@test "--stderr shows what the plugin says as it comes" {
    tool odd <<'END'
print("working", file=sys.stderr, flush=True)
respond(greet(), 1)
END
    perch_tool call t.odd t.x
    [ -z "$errors" ]
    perch_tool call t.odd t.x --stderr
    has "$errors" "working"
    expect 1
}

@test "--trace records every line" {
    echo_tool
    perch_tool call t.echo t.x --trace "$WORK/trace"
    expect_status 0
    [ "$(grep -c '"dir":"in"' "$WORK/trace")" -eq 2 ]
    [ "$(grep -c '"dir":"out"' "$WORK/trace")" -eq 2 ]
    has "$(head -n 1 "$WORK/trace")" '"command":"t.echo"'
}

@test "a tool that asks before each call needs --yes" {
    echo_tool '[[tools]]' 'name = "t.x"' 'ask = true'
    perch_tool call t.echo t.x
    expect_status 64
    has "$errors" "nobody said yes"
    perch_tool call t.echo t.x --yes
    expect_status 0
    has "$(last_audit)" '"approval":"--yes"'
}

@test "a tool that the binding does not list asks where a listed one does" {
    echo_tool '[[tools]]' 'name = "t.other"' 'ask = true'
    perch_tool call t.echo t.x
    expect_status 64
    has "$errors" "nobody said yes"
    perch_tool call t.echo t.x --yes
    expect_status 0
}

@test "a Python tool that keeps back what it prints is told so" {
    tool odd <<'END'
receive()
print(json.dumps(manifest()))
receive()
END
    perch_tool call t.odd t.x --timeout 1
    expect_status 4
    has "$errors" 'hint: a Python program must flush stdout'
    perch_tool check t.odd --timeout 1 --json
    expect_status 4
    has "$(field hint)" 'python3 -u'
    # Not where it has spoken, nor of another language.
    tool odd <<'END'
greet()
receive()
END
    perch_tool call t.odd t.x --timeout 5
    expect_status 4
    lacks "$errors" Python
    printf '#!/bin/sh\nsleep 60\n' >"$WORK/tools/odd"
    perch_tool call t.odd t.x --timeout 1
    expect_status 4
    lacks "$errors" Python
}

@test "what a tool starts ends with the call, without a sandbox too" {
    tool leaver <<'PY'
import subprocess
nap = subprocess.Popen(["sleep", "611"], env={}, start_new_session=True, stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
respond(greet(), {"pid": nap.pid})
PY
    perch_tool allow t.leaver --sandbox off
    expect_status 0
    perch_tool call t.leaver t.x --json
    expect_status 0
    field_is reach '"tree"'
    field_is background_ended 1
    run grep '^State:.[^ZX]' "/proc/$(field output | jq .pid)/status"
    [ "$status" -ne 0 ]
}

@test "the devices of a sandbox are mounted while its policy is made" {
    "$perch" sandbox check | grep -q 'layers:.* namespaces' || skip "no namespaces here"
    tool devices <<'END'
request = greet()
lines = [line.split() for line in open("/proc/self/mountinfo")]
respond(request, [line[3] for line in lines if line[4] == "/dev"][-1])
END
    perch_tool call t.devices t.x
    expect '"/early-0"'
}
