#!/usr/bin/env bats
# verdict = "response": what users of the command line see of it.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() { tool_open; }
teardown() { tool_close; }

# early [LINE…]: answers, waits for the file `go`, and leaves with status 3.
early() {
    tool early "$@" <<'END'
import os, sys, time
request = greet()
respond(request, {"pid": os.getpid()})
while not os.path.exists(os.environ["TEST_GO"]):
    time.sleep(0.01)
sys.exit(3)
END
    export TEST_GO="$WORK/go"
    sed -i "s|^env = .*||; s|^\[sandbox\]|[sandbox]\nenv = [\"TEST_GO\"]|" "$bindings/t.early.toml"
}

has_line() { [ -s "$1" ]; }

@test "call: the output is there before the process leaves; then its exit is a warning and a line of the log" {
    early 'verdict = "response"' '[timeouts]' 'teardown = 60' 'invocation = 60'
    "$perch" tool call t.early t.x >"$WORK/out" 2>"$WORK/err" &
    local caller=$!
    wait_until has_line "$WORK/out"
    grep -q '{"pid": ' "$WORK/out"
    kill -0 "$caller" # it waits for the exit
    [ "$(wc -l <"$audit")" -eq 1 ]
    touch "$TEST_GO"
    wait "$caller" # status 0
    [ "$(grep -c . "$WORK/err")" -eq 1 ]
    grep -q 't.early/t.x has given its answer, but then: the plugin exited with status 3' "$WORK/err"
    [ "$(wc -l <"$audit")" -eq 2 ]
    head -n 1 "$audit" | grep -q '"verdict":"ok".*"exit_status":null'
    tail -n 1 "$audit" | grep -q '"kind":"exit".*"verdict":"crashed".*"exit_status":3'
    perch_tool log --verdict crashed
    has "$output" 'behind its answer'
}

@test "call: without the key the same tool fails; a strict call waits, too" {
    early
    touch "$TEST_GO"
    perch_tool call t.early t.x
    expect_status 5
    sed -i 's/^command/verdict = "response"\ncommand/' "$bindings/t.early.toml"
    perch_tool call t.early t.x
    expect_status 0
    perch_tool call t.early t.x --strict
    expect_status 5
    perch_tool call t.early t.x --json
    expect_status 0
    field_is verdict '"response"'
    field_is exit_status null
    field_is stage '"response"'
}

@test "call: SIGTERM behind the answer ends the process; the answer stays" {
    early 'verdict = "response"' '[timeouts]' 'teardown = 60' 'invocation = 60'
    "$perch" tool call t.early t.x >"$WORK/out" 2>"$WORK/err" &
    local caller=$!
    wait_until has_line "$WORK/out"
    kill -TERM "$caller"
    wait "$caller"
    [ ! -s "$WORK/err" ]
    tail -n 1 "$audit" | grep -q '"kind":"exit".*"verdict":"cancelled"'
}

@test "serve: answers at once, and is not over before its processes are" {
    early 'verdict = "response"' '[timeouts]' 'teardown = 60' 'invocation = 60'
    printf '{"id":1,"name":"t.early","tool":"t.x"}\n{"id":2,"name":"t.early","tool":"t.x"}\n' |
        "$perch" tool serve >"$WORK/out" 2>"$WORK/err" &
    local host=$!
    wait_until two_lines "$WORK/out"
    kill -0 "$host"
    touch "$TEST_GO"
    wait "$host"
    [ "$(grep -c 'has given its answer' "$WORK/err")" -eq 1 ]
    [ "$(grep -c '"kind":"exit"' "$audit")" -eq 2 ]
}

two_lines() { [ "$(wc -l <"$1")" -eq 2 ]; }

@test "add, show and allow say which verdict is in force" {
    program plain <<'END'
respond(greet(), {})
END
    keep "$perch" tool add "$WORK/tools/plain" --yes --read "$prefix" --verdict response
    expect_status 0
    has "$output" 'verdict = response: an answer counts at once'
    grep -q '^verdict = "response"$' "$bindings/t.plain.toml"
    perch_tool show t.plain
    has "$output" 'verdict       response: an answer counts at once'
    perch_tool show t.plain --json
    field_is verdict '"response"'
    perch_tool allow t.plain --binding
    has "$output" 'answers before its exit is judged'
    sed -i '/^verdict/d' "$bindings/t.plain.toml"
    perch_tool show t.plain
    has "$output" 'verdict       exit: an answer counts once it has exited with status 0'
    sed -i 's/^command/verdict = "response"\ncommand/' "$bindings/t.plain.toml"
    perch_tool call t.plain t.x # what was approved may come back
    expect_status 0
}

@test "a binding that answers early behind its approval is refused until that is approved" {
    program plain <<'END'
respond(greet(), {})
END
    keep "$perch" tool add "$WORK/tools/plain" --yes --read "$prefix"
    expect_status 0
    sed -i 's/^command/verdict = "response"\ncommand/' "$bindings/t.plain.toml"
    perch_tool call t.plain t.x
    expect_status 64
    has "$errors" 'answers before its exit is judged'
    perch_tool allow t.plain --binding
    expect_status 0
    perch_tool call t.plain t.x
    expect_status 0
}

@test "what is no verdict, and who has none" {
    early 'verdict = "soon"'
    perch_tool call t.early t.x
    expect_status 64
    has "$errors" 'verdict'
    perch_tool add "$WORK/tools/early" --yes --verdict soon
    expect_status 64
    has "$errors" "the verdict is \"exit\" or \"response\", not 'soon'"
    perch_tool add --mcp x --yes --verdict response -- true
    expect_status 64
    has "$errors" '--verdict is for plugins'
}
