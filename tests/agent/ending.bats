#!/usr/bin/env bats
# How a turn ends, and what is left of it: section 4 of the contract.

# shellcheck disable=SC2154,SC2030,SC2031 # what agent_open and turn set
load agents

setup() { agent_open; }
teardown() { agent_close; }

@test "timeout 1 s, grace 1 s, a sleeping child: 124, nobody left, session kept" {
    agent 'timeout_secs: 1' 'kill_grace_secs: 1' <<'END'
trap '' TERM
echo AGENT_SESSION:kept
echo 'AGENT_PARTIAL:"so far"'
(trap '' TERM; exec sleep 30) &
echo $! >"$WORK/sleeper"
while :; do sleep 30; done
END
    turn --json
    expect_status 124
    [ "$(field session_id)" = kept ]
    [ "$(field timed_out)" = True ]
    [ "$(field signal)" = 9 ]
    has "$output" '"text":"so far"'
    has "$output" '"code":"timeout","message":"the agent took longer than 1 second'
    wait_until gone "$(cat "$WORK/sleeper")"
    # The clock and the grace, and not the 30 seconds of the sleeper.
    ms=$(field duration_ms)
    [ "$ms" -ge 1900 ]
    [ "$ms" -lt 20000 ]
}

@test "output during the grace is read, and exit 0 in it is a timeout all the same" {
    agent 'timeout_secs: 1' 'kill_grace_secs: 60' <<'END'
trap 'echo "AGENT_PARTIAL:\"bye\""; echo AGENT_SESSION:late; exit 0' TERM
while :; do sleep 0.02; done
END
    turn --json
    expect_status 124
    has "$output" '"text":"bye"'
    [ "$(field session_id)" = late ]
    [ "$(field status)" = 0 ]
}

@test "a stopped agent is woken to die" {
    agent 'timeout_secs: 0.3' 'kill_grace_secs: 60' <<'END'
kill -STOP $$
END
    turn --json
    expect_status 124
    [ "$(field signal)" = 15 ]
}

@test "--timeout instead of the profile's; 0 is none" {
    agent 'timeout_secs: 60' 'kill_grace_secs: 0' <<'END'
sleep 30
END
    turn --timeout 0.2
    expect_status 124
    agent 'timeout_secs: 0.2' <<'END'
sleep 0.6; echo done
END
    turn --timeout 0
    expect 'done'
}

@test "idle_timeout_secs: silence ends the turn, output does not" {
    agent 'idle_timeout_secs: 2' 'kill_grace_secs: 0' <<'END'
for i in 1 2 3 4 5 6 7 8 9 10; do echo x >&2; sleep 0.3; done; echo done
END
    turn
    expect 'done'
    agent 'idle_timeout_secs: 0.3' 'kill_grace_secs: 0' <<'END'
sleep 30
END
    turn
    expect_status 124
    has "$errors" 'said nothing for 0.3 seconds'
}

@test "a background child does not hold the turn, and is gone" {
    agent <<'END'
sleep 3600 &
echo $! >"$WORK/sleeper"
echo hi
END
    turn
    expect_status 0
    expect hi
    wait_until gone "$(cat "$WORK/sleeper")"
}

@test "the exit code is the agent's; the body is not sent" {
    agent <<'END'
echo body; exit 7
END
    turn
    expect_status 7
    expect ''
    has "$errors" 'error: the agent failed with exit status 7'
    echo 'send_error_reply: false' >>"$profile"
    turn --json
    expect_status 7
    lacks "$output" '"event":"error"'
    [ "$(field exit_code)" = 7 ]
}

@test "death by a signal is 128 and its number" {
    agent <<'END'
kill -SEGV $$
END
    turn --json
    expect_status 139
    [ "$(field signal)" = 11 ]
    [ "$(field status)" = None ]
}

@test "send_error_reply: false does not hide an AGENT_ERROR, but a timeout" {
    agent 'send_error_reply: false' <<'END'
echo 'AGENT_ERROR:"mine"'; exit 9
END
    turn
    expect_status 1
    has "$errors" 'error: mine'
    agent 'send_error_reply: false' 'timeout_secs: 0.2' 'kill_grace_secs: 0' <<'END'
sleep 30
END
    turn --json
    expect_status 124
    lacks "$output" '"event":"error"'
}

@test "empty output and exit 0 is a success with nothing to send" {
    agent <<<'true'
    turn --json
    expect_status 0
    lacks "$output" '"event":"reply"'
    [ "$(field success)" = True ]
}

@test "include_stderr_in_reply: the last 4 KiB, in a reply and in an error" {
    agent 'include_stderr_in_reply: true' <<'END'
head -c 5000 /dev/zero | tr '\0' a >&2
printf 'the end\n' >&2
echo body
END
    turn
    [ "${#output}" -eq $((4 + 2 + 4096 - 1)) ]
    has "$output" 'the end'
    agent 'include_stderr_in_reply: true' <<'END'
echo why >&2; exit 2
END
    turn
    expect_status 2
    has "$errors" 'why'
    agent <<'END'
echo aside >&2; echo body
END
    turn
    expect body
    lacks "$errors" aside
    turn --verbose
    has "$errors" aside
}

@test "what cannot be started: 127, 126, 125, and what and why" {
    profile_of 'command: no-such-agent-anywhere'
    turn
    expect_status 127
    has "$errors" no-such-agent-anywhere
    profile_of 'command: /etc/passwd'
    turn
    expect_status 126
    printf '#!/no/such/interpreter\n' >"$WORK/script"
    chmod +x "$WORK/script"
    profile_of "command: $WORK/script"
    turn
    expect_status 126
    has "$errors" '/no/such/interpreter'
    profile_of 'command: [a]'
    turn --json
    expect_status 125
    has "$output" 'bot.yaml:1:10: command must be a string'
    [ "$(field exit_code)" = 125 ]
    rm "$profile"
    turn
    expect_status 125
}

# cancel SIGNAL CODE: the turn ends so, its session is kept, nobody is left.
cancel() {
    rm -f "$READY"
    start agent run --profile "$profile" --no-store --prompt hi --json
    wait_ready
    kill "-$1" "$host"
    finish
    expect_status "$2"
    has "$output" '"event":"error","code":"cancelled"'
    [ "$(field session_id)" = kept ]
    [ "$(field cancelled)" = True ]
}

@test "SIGINT and SIGTERM cancel the turn" {
    agent 'kill_grace_secs: 60' <<'END'
echo AGENT_SESSION:kept
echo x >"$READY"
exec sleep 30
END
    cancel INT 130
    cancel TERM 143
}

@test "the second SIGINT does not wait for the grace" {
    agent 'kill_grace_secs: 3600' <<'END'
trap 'echo y >>"$READY"' TERM
echo x >"$READY"
while :; do sleep 0.05; done
END
    start agent run --profile "$profile" --no-store --prompt hi --json
    wait_ready
    kill -INT "$host"
    wait_until grep -qs y "$READY"
    kill -INT "$host"
    finish
    expect_status 130
    [ "$(field signal)" = 9 ]
}

@test "a bridge that is killed leaves nothing" {
    agent <<'END'
trap '' TERM HUP
sleep 3600 &
echo "$! $$" >"$READY"
while :; do sleep 60; done
END
    start agent run --profile "$profile" --no-store --prompt hi
    wait_ready
    kill -KILL "$host"
    finish
    read -r sleeper agent <"$READY"
    wait_until gone "$sleeper"
    wait_until gone "$agent"
    wait_until nothing_left
}

@test "a reader that goes away ends nothing but the output" {
    agent <<'END'
i=0; while [ $i -lt 2000 ]; do printf 'AGENT_PARTIAL:"line %s\\n"\n' $i; i=$((i + 1)); done
echo x >"$READY"
END
    "$perch" agent run --profile "$profile" --no-store --prompt hi 2>"$WORK/err" | head -n 1 >"$WORK/out"
    [ "$(cat "$WORK/out")" = "line 0" ]
    wait_ready
}

@test "a host that cannot wait says so: 125" {
    agent <<'END'
sleep 60
END
    for option in --verbose --json; do
        status=0
        "$PERCH_BUILD/tests/no_wait" "$perch" agent run --profile "$profile" --no-store \
            --prompt hi "$option" >"$WORK/out" 2>"$WORK/err" || status=$?
        expect_status 125
        has "$(cat "$WORK/out" "$WORK/err")" 'waiting failed: Input/output error'
    done
    has "$(cat "$WORK/out")" '"code":"host"'
    [ "$(field exit_code)" = 125 ]
}

@test "a failing agent tells why: the last lines of its stderr" {
    agent <<'AGENT'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "line $i" >&2; done
exit 3
AGENT
    turn
    expect_status 3
    has "$errors" "error: the agent failed with exit status 3"
    has "$errors" "stderr: line 3
stderr: line 4"
    has "$errors" "stderr: line 12"
    lacks "$errors" "stderr: line 2
"
    turn --json
    [ "$(field stderr_tail | grep . | tail -n 1)" = "line 12" ]
    keep "$perch" agent chat --profile "$profile" <<<"hi"
    has "$errors" "stderr: line 12"
    # Shown as it comes; not twice.
    turn -v
    lacks "$errors" "stderr: line 12"
    agent <<<"echo noise >&2; echo fine"
    turn
    lacks "$errors" noise
}

@test "an agent that says nothing and exits with 0 is told of" {
    agent <<<":"
    turn
    expect_status 0
    has "$errors" "warning: the agent has said nothing, and exited as if all was well"
    agent <<<"echo trouble >&2"
    turn
    expect_status 0
    has "$errors" "stderr: trouble"
    keep "$perch" agent chat --profile "$profile" --no-store <<<hi
    has "$errors" "stderr: trouble"
    agent <<<"echo 'AGENT_PARTIAL:\"word\"'; echo gossip >&2"
    turn
    lacks "$errors" warning
    lacks "$errors" gossip
}
