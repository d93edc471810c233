#!/usr/bin/env bats
# Recorded calls of tools and turns of agents.

# shellcheck disable=SC2034,SC2154 # what trace_open and of_trace set
load ../tool/tools
load ../agent/agents
load traces
load ../harness/users

setup() {
    trace_open
    tool_open
    unset "${!AGENT_@}"
    profile="$BATS_TEST_TMPDIR/bot.yaml"
}
teardown() { trace_close; }

# call_tool NUMBER [WORD…]: records a call of t.odd that ends so.
call_tool() {
    local number=$1
    shift
    perch_tool call t.odd t.x --trace "$trace" "$@"
    expect_status "$number"
}

@test "a call that goes well" {
    tool odd <<'END'
respond(greet(), [1])
END
    call_tool 0 --input '{"n": 1.50}' --context role_id=r
    of_trace show "$trace"
    has "$output" '· starts t.odd'
    has "$output" '→ handshake '
    has "$output" '· the handshake is accepted; waits for the response'
    has "$output" '→ request '
    has "$output" '· the response is accepted; waits for the exit'
    has "$output" '· ok'
    same
    has "$output" "tool, 2 lines played"
    local number
    number=$(sent 1.50)
    sed -i "${number}s/1.50/1.51/" "$trace"
    differs "$number"
}

@test "a call that fails: the same verdict" {
    tool odd <<'END'
greet()
sys.stderr.write("sorry\n")
sys.exit(9)
END
    call_tool 5
    of_trace show "$trace" --only err
    has "$output" "! sorry"
    of_trace show "$trace"
    has "$output" "crashed: the plugin exited with status 9 without a response"
    same
    edit 'lines[event("verdict")]["facts"]["code"] = "ok"'
    differs "$(event verdict)"
    has "$output" '"code":"crashed"'
    has "$output" "(verdict)"
}

@test "a call that takes too long, one that is no tool, one that cannot be started" {
    tool odd <<'END'
greet()
time.sleep(1000)
END
    call_tool 4 --timeout 1
    of_trace show "$trace"
    has "$output" "· time is up: 1 s for the invocation"
    same
    program odd <<'END'
print("hello")
END
    call_tool 6
    same
    rm "$WORK/tools/odd"
    call_tool 2
    of_trace replay "$trace"
    expect_status 125
    has "$errors" "could not be started"
}

@test "several exchanges in one recording can be shown, not replayed" {
    tool odd <<'END'
respond(greet(), [1])
END
    call_tool 0
    tail -n +2 "$trace" >"$WORK/again"
    cat "$WORK/again" >>"$trace"
    of_trace show "$trace"
    expect_status 0
    of_trace replay "$trace"
    expect_status 125
    has "$errors" "a second exchange begins"
}

@test "a turn of an agent of 0.1" {
    agent 'stdin: message' <<'END'
echo AGENT_SESSION:s-1
echo 'AGENT_PARTIAL:"one"'
echo 'the reply: {"value": 1'
echo beside >&2
END
    turn --trace "$trace" --prompt hello
    expect_status 0
    of_trace show "$trace"
    has "$output" "· starts sh"
    has "$output" "· the session is s-1"
    has "$output" "! beside"
    has "$output" "· the turn ends with exit code 0"
    same
    has "$output" agentproc
    lacks "$output" masked
}

@test "a turn of an agent of 0.4, with a permission" {
    py_agent 'protocol_version: "0.4"' 'permission: true' <<'END'
import json, sys
turn = json.loads(sys.stdin.readline())
def tell(**event):
    print(json.dumps(event), flush=True)
tell(type="partial", text="wait", session_id="s-4")
tell(type="permission_request", request_id="p1", tool_name="rm", input={})
answer = json.loads(sys.stdin.readline())
tell(type="result", text=answer["behavior"])
END
    turn --trace "$trace" --prompt hello --file http://x/f
    expect_status 0
    of_trace show "$trace"
    has "$output" '→ turn         message="hello"'
    has "$output" '← permission_request '
    has "$output" '· it was denied'
    has "$output" '→ permission_response '
    same
    local number
    number=$(sent permission_response)
    sed -i "${number}s/deny/allow/" "$trace"
    differs "$number"
}

@test "a turn that fails, and one that takes too long" {
    agent 'include_stderr_in_reply: true' <<'END'
echo some text
echo because >&2
exit 3
END
    turn --trace "$trace"
    expect_status 3
    same
    edit 'lines[event("exit")]["facts"]["stderr"] = "else"'
    differs "$(event error)"
    agent <<'END'
echo some text
exec sleep 1000
END
    turn --trace "$trace" --timeout 1
    expect_status 124
    of_trace show "$trace"
    has "$output" "· time is up: 1 s"
    same
}

@test "the examples of agents and tools" {
    local name
    for name in echo calculator stream fail; do
        "$perch" agent run --profile "$PERCH_SOURCE/examples/agents/$name.yaml" --no-store \
            --trace "$trace" --prompt '1+1' || true
        same
    done
    cp -r "$PERCH_SOURCE/examples/tools" "$WORK/examples"
    perch_tool add "$WORK/examples/bash" --yes
    expect_status 0
    perch_tool call example.hello hello.greet --input '{"name":"Ada"}' --trace "$trace"
    expect_status 0
    same
}

trace_into_anothers_fifo() {
    set -euo pipefail
    export HOME="$1"
    cd "$1"
    printf 'command: echo hello\n' >bot.yaml
    local status=0
    exec 9<>trap/fifo
    said=$(perch agent run --no-store --trace trap/fifo bot.yaml hi 2>&1) || status=$?
    [[ "$said" == *"it belongs to another user"* && "$status" != 0 ]] || { echo "$status: $said"; return 1; }
}

@test "a FIFO that another user has left is not written to, by a normal user either" {
    users_prepare() {
        mkdir "$2/trap"
        mkfifo -m 666 "$2/trap/fifo"
        chown -R 65534 "$2/trap"
        chmod 777 "$2/trap"
    }
    [ "$(id -u)" = 0 ] || skip "needs root"
    users_bring
    export -f trace_into_anothers_fifo
    as_both trace_into_anothers_fifo
}
