#!/usr/bin/env bats
# The example programs that embed libperch.

setup() {
    export PERCH_GUARD="$PERCH_BUILD/perch-guard"
    poll="$PERCH_BUILD/examples/embed-poll"
    libuv="$PERCH_BUILD/examples/embed-libuv"
}

@test "poll: lines come numbered, the exit code is the program's" {
    run "$poll" sh -c 'echo one; echo two; exit 3' < /dev/null
    [ "$status" -eq 3 ]
    [ "$output" = "   1 | one
   2 | two" ]
}

@test "poll: what is typed goes to the program" {
    run "$poll" cat <<< hello
    [ "$status" -eq 0 ]
    [ "$output" = "   1 | hello" ]
}

@test "poll: a program that is not there" {
    run "$poll" perch-no-such-program < /dev/null
    [ "$status" -eq 125 ]
    [[ "$output" == "error: no such command"* ]]
}

@test "libuv: both loops run, and the child is stopped after three ticks" {
    run "$libuv" sh -c 'while :; do echo working; sleep 0.1; done'
    [ "$status" -eq 143 ]
    [[ "$output" == *"child: working"* ]]
    [[ "$output" == *"tick 3"* ]]
    [ "${lines[-1]}" = "ended: exit code -1, signal 15" ]
}

@test "python: a plugin, a tool and an agent through ctypes" {
    command -v python3 >/dev/null || skip "no python3"
    PERCH_LIBRARY="$PERCH_BUILD/src/libperch.so" run python3 \
        "$PERCH_SOURCE/examples/embed/everything.py" production
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "plugin asks: Deploy target:" ]
    [ "${lines[1]}" = "plugin asks: Deploy to production?" ]
    [[ "${lines[2]}" == "plugin: "*" Deployed to production in "* ]]
    [ "${lines[3]}" = 'tool: ok {"greeting":"Hello, Python!"}' ]
    [[ "$output" == *"agent …  Python"* ]]
}

@test "libuv: a child that ends by itself" {
    run "$libuv" sh -c 'echo hi; exit 7'
    [ "$status" -eq 7 ]
}
