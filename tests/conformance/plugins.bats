#!/usr/bin/env bats
# The conformance kit against plugins, tools and agents: the examples keep every rule,
# and each of the wrong ones breaks those it should, by number.

setup() {
    perch="$PERCH_BUILD/perch"
    python=$(python3 -c 'import sys; print(sys.executable)')
    PATH="$(dirname "$python"):$PATH" # the interpreter that bundles name
    examples="$PERCH_SOURCE/examples"
    built="$PERCH_BUILD/examples"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# passes NUMBER WORD…: that many cases at least, none failed, none skipped.
passes() {
    local least=$1
    shift
    run "$perch" conformance --plugin "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *" passed, 0 failed, 0 skipped" ]]
    [ "${lines[-1]%% *}" -ge "$least" ]
}

# breaks PROTOCOL CASES [WORD…] < PROGRAM: the cases that the program breaks, of all
# there are; `a, b` for several.
breaks() {
    local protocol=$1 cases=$2
    shift 2
    cat >wrong
    chmod +x wrong
    run "$perch" conformance --plugin ./wrong --protocol "$protocol" --within 5 "$@"
    echo "$protocol $cases: $output"
    [ "$status" -eq 1 ]
    [[ "${lines[-1]}" == *"; broken: $cases" ]]
}

# hangs PROTOCOL CASES < PROGRAM: these wait for it in vain, and need not do so for long; all others,
# which may take their time, pass.
hangs() {
    local protocol=$1 cases=$2 case hung=() others=()
    cat >wrong
    chmod +x wrong
    for case in $("$perch" conformance --list --protocol "$protocol" | awk '$2 == "plugin" { print $1 }'); do
        if [[ ", $cases," == *", $case,"* ]]; then hung+=(--case "$case"); else others+=(--case "$case"); fi
    done
    run "$perch" conformance --plugin ./wrong --protocol "$protocol" --within 60 "${others[@]}"
    echo "$protocol but $cases: $output"
    [ "$status" -eq 0 ]
    run "$perch" conformance --plugin ./wrong --protocol "$protocol" --within 1 "${hung[@]}"
    echo "$protocol $cases: $output"
    [ "$status" -eq 1 ]
    [[ "${lines[-1]}" == *"; broken: $cases" ]]
}

@test "the plugins of the SDK, in Bash and in Python keep every rule" {
    passes 9 "$built/sdk-deploy" --protocol fledge
    passes 9 "$examples/plugins/deploy-bash"
    passes 9 "$examples/plugins/deploy-python"
}

@test "the tools of the SDK, in Bash and in Python keep every rule" {
    passes 8 "$built/sdk-words" --protocol tool --input $'{\n"text": "a b"}'
    passes 8 "$built/sdk-words" --protocol tool --tool words.count
    passes 8 "$examples/tools/bash"
    passes 8 "$examples/tools/python" --input '{"text":"a b"}'
    cp "$built/tool-count" count
    cp "$examples/tools/c/count.toml" .
    passes 8 count.toml
}

@test "the agents of the SDK, in shell and in Python keep every rule" {
    passes 8 "$built/sdk-parrot" --protocol agent
    passes 8 "$examples/agents/echo.yaml"
    passes 8 "$examples/agents/stream.yaml"
}

# readme_block BEGIN END: the lines of the README from the one that begins so to the one before END.
readme_block() {
    awk -v begin="$1" -v end="$2" 'index($0, end) == 1 { on = 0 } index($0, begin) == 1 { on = 1 } on' \
        "$PERCH_SOURCE/README.md" | sh
}

@test "the examples of the README keep every rule" {
    readme_block "mkdir hello" "perch plugins install"
    passes 9 hello
    readme_block "cat > upper" "perch tool add"
    passes 8 ./upper --protocol tool --tool upper.case --input '{"text":"x"}'
    readme_block "cat > parrot.sh" "perch agent run"
    passes 8 parrot.yaml
}

@test "what perch tool create and perch agent create make keeps every rule" {
    for language in sh python javascript c; do
        "$perch" tool create "tool-$language" --lang "$language" >/dev/null
        "$perch" agent create "agent-$language" --lang "$language" >/dev/null
        [ "$language" != c ] || { make -s -C tool-c && make -s -C agent-c; }
        passes 8 "tool-$language" --tool "tool-$language.greet" --input '{"name":"x"}'
        passes 8 "agent-$language/agent-$language.yaml"
    done
}

@test "what perch plugins create makes keeps every rule" {
    for language in bash python node; do
        "$perch" plugins create "fledge-$language" --lang "$language" >/dev/null
        passes 9 "fledge-$language"
    done
}

@test "a plugin that says what is no message" {
    breaks fledge "FP-3.1, FP-3.2, FP-3.3, FP-4.1, FP-4.2, FP-5.1, FP-9.2, FP-9.3" <<'END'
#!/bin/sh
read -r _ && echo "hello there"
END
    [[ "$output" == *"hello there"* || "$output" == *JSON* ]]
}

@test "a plugin that sends a field of the wrong type" {
    breaks fledge "FP-3.1, FP-3.2, FP-3.3, FP-4.1, FP-4.2, FP-5.1, FP-9.2, FP-9.3" <<'END'
#!/bin/sh
read -r _ && echo '{"type":"output","text":7}'
END
    [[ "$output" == *'text'?' must be a string'* ]]
}

@test "a plugin that does not end when its input does" {
    hangs fledge "FP-9.1, FP-9.2" <<'END'
#!/bin/sh
IFS= read -r init || exec sleep 60
echo '{"type":"confirm","id":"1","message":"?"}'
IFS= read -r answer || exec sleep 60
END
}

@test "a plugin that does not heed a cancel" {
    hangs fledge "FP-5.1, FP-9.3" <<'END'
#!/bin/sh
IFS= read -r init || exit 0
echo '{"type":"confirm","id":"1","message":"?"}'
while IFS= read -r answer; do
    case $answer in
    *cancel*) exec sleep 60 ;;
    *response*) exit 0 ;;
    esac
done
END
}

@test "a plugin that takes whatever comes for its answer" {
    breaks fledge "FP-4.1" <<'END'
#!/bin/sh
IFS= read -r init || exit 0
echo '{"type":"confirm","id":"1","message":"?"}'
IFS= read -r answer || exit 0
case $answer in
*'"type":"response"'* | *'"type":"cancel"'*) ;;
*) exit 3 ;;
esac
END
    [[ "$output" == *"the exit code must be 0, but is 3"* ]]
}

@test "a plugin that cannot do without a project" {
    breaks fledge "FP-3.3" <<'END'
#!/bin/sh
IFS= read -r init || exit 0
case $init in
*'"project":null'*) kill -SEGV $$ ;;
esac
END
    [[ "$output" == *"signal 11"* ]]
}

@test "a plugin that asks for nothing: what cannot be seen is skipped, not passed" {
    printf '#!/bin/sh\nread -r init\n' >quiet
    chmod +x quiet
    run "$perch" conformance --plugin quiet --protocol fledge
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == "7 passed, 0 failed, 2 skipped" ]]
    [[ "$output" == *"skipped  FP-9.2"*"it ended before this could be seen"* ]]
}

hello='{"type":"handshake","manifest":{"plugin_id":"a","plugin_version":"1","protocol_version":"rterm.plugin.v1","exposed_tools":["a.b"]}}'

@test "a tool that answers another request" {
    breaks tool "TP-1.2, TP-1.3, TP-1.4, TP-1.6" <<END
#!/bin/sh
read -r handshake || exit 0
echo '$hello'
read -r request || exit 0
echo '{"type":"response","request_id":"1","status":"ok","output":{}}'
END
    [[ "$output" == *'it.request_id must be "plugin_req_00000000000000a1", but is "1"'* ]]
}

@test "a tool that answers twice" {
    breaks tool "TP-1.2, TP-1.3, TP-1.4, TP-1.5, TP-1.6" <<END
#!/bin/bash
read -r handshake || exit 0
echo '$hello'
read -r request || exit 0
id=\$(sed 's/.*"request_id":"\([^"]*\)".*/\1/' <<<"\$request")
echo "{\"type\":\"response\",\"request_id\":\"\$id\",\"status\":\"ok\",\"output\":{}}"
echo "{\"type\":\"response\",\"request_id\":\"\$id\",\"status\":\"ok\",\"output\":{}}"
END
}

@test "a tool that logs on stdout, and one of another protocol" {
    breaks tool "TP-1.1, TP-1.2, TP-1.3, TP-1.4, TP-1.5, TP-1.6, TP-4.2" <<END
#!/bin/sh
read -r handshake || exit 0
echo "starting"
echo '$hello'
END
    [[ "$output" == *"it must be JSON, but is starting"* ]]
    breaks tool "TP-1.1, TP-1.2, TP-1.3, TP-1.4, TP-1.5, TP-1.6, TP-4.2" <<END
#!/bin/sh
read -r handshake || exit 0
echo '${hello/plugin.v1/plugin.v9}'
END
}

@test "a tool that fails when only the handshake is wanted, and one that stays" {
    breaks tool "TP-1.2, TP-1.3, TP-1.4, TP-1.5, TP-1.6, TP-4.2" <<END
#!/bin/sh
read -r handshake || exit 0
echo '$hello'
read -r request
exit 1
END
    hangs tool "TP-4.1" <<'END'
#!/usr/bin/env python3
import json, sys, time
if not sys.stdin.readline():
    time.sleep(60)
print(json.dumps({"type": "handshake", "manifest": {"plugin_id": "a", "plugin_version": "1",
    "protocol_version": "rterm.plugin.v1", "exposed_tools": ["a.b"]}}), flush=True)
line = sys.stdin.readline()
if line:
    print(json.dumps({"type": "response", "request_id": json.loads(line)["request_id"],
                      "status": "error", "error": {"code": "x", "message": "no"}}))
END
}

@test "an agent whose lines are not as they should be" {
    breaks agent "AP-3.1, AP-3.3, AP-3.4" <<'END'
#!/bin/sh
echo "AGENT_PARTIAL:not JSON"
echo ok
END
    breaks agent "AP-3.1, AP-3.3, AP-3.4" <<'END'
#!/bin/sh
echo "AGENT_SESSION:a/b"
echo ok
END
}

@test "an agent that says again what it was told, as a line of the protocol" {
    breaks agent "AP-3.5" <<'END'
#!/bin/sh
printf '%s\n' "$AGENT_MESSAGE"
END
}

@test "an agent that says nothing, one that crashes, one that never ends" {
    breaks agent "AP-3.2, AP-3.3" <<'END'
#!/bin/sh
END
    breaks agent "AP-3.4, AP-3.5, AP-4.1, AP-4.2, AP-4.3" <<'END'
#!/bin/sh
kill -SEGV $$
END
    breaks agent "AP-3.1" --case AP-3.1 --within 1 <<'END'
#!/bin/sh
sleep 60
END
    [[ "$output" == *"did not end within 1 second"* ]]
}

@test "what went into a session of its own ends with its case" {
    local pids
    cat >daemon <<END
#!/bin/bash
(
    exec </dev/null >/dev/null 2>&1
    setsid bash -c 'sleep 600 & echo \$! \$\$ >>"$PWD/pids"; wait' &
)
until [ -s "$PWD/pids" ]; do sleep 0.05; done
read -r _
echo hello
END
    chmod +x daemon
    for protocol in fledge tool agent; do
        rm -f pids
        run "$perch" conformance --plugin ./daemon --protocol "$protocol" --within 5
        read -ra pids <<<"$(tr '\n' ' ' <pids)"
        [ "${#pids[@]}" -ge 2 ]
        for pid in "${pids[@]}"; do
            [ ! -e "/proc/$pid" ]
        done
    done
}

@test "an agent whose profile has the keys of the published collection passes" {
    cat >bridge.py <<'END'
import json, sys
turn = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "text": "You said: " + turn["message"]}))
END
    printf '%s\n' 'name: echo-agent' 'description: says it' 'cli: none' 'cli_install: none' 'tested: official' \
        'maintainer: me' 'tags: [example]' 'notes: none' 'agentproc:' "  command: $python" \
        '  args: ["{{PROFILE_DIR}}/bridge.py"]' >profile.yaml
    passes 8 profile.yaml
}
