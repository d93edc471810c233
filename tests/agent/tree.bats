#!/usr/bin/env bats
# What an agent starts ends with its turn, wherever it has gone: without a sandbox.

# shellcheck disable=SC2154,SC2030,SC2031 # what agent_open and turn set
load agents

setup() {
    agent_open
    # An argument that nobody else's sleep has; daemons without an environment are known by it.
    nap="600.$BATS_TEST_NUMBER$$"
    export NAP=$nap
}

teardown() {
    # shellcheck disable=SC2046 # numbers
    nap_over || kill -KILL $(naps)
    agent_close
}

# The sleepers of this test that are alive.
naps() {
    env -u NAP grep -lszx "[6]${nap#6}" /proc/[0-9]*/cmdline | cut -d / -f 3
}

nap_over() { [ -z "$(naps)" ]; }

naps_are() { [ "$(naps | wc -l)" -eq "$1" ]; }

# Shell: four daemons, each in its own way; goes on when they are there.
# shellcheck disable=SC2016 # the agent's shell expands them
asleep='until_asleep() {
    while [ "$(grep -lszx "[6]${NAP#6}" /proc/[0-9]*/cmdline | wc -l)" -lt 4 ]; do sleep 0.01; done
}'
# shellcheck disable=SC2016
daemons="$asleep"'
sleep "$NAP" >/dev/null 2>&1 &
setsid sleep "$NAP" >/dev/null 2>&1 &
(setsid sh -c "sleep $NAP >/dev/null 2>&1 &")
(env -i setsid sleep "$NAP" >/dev/null 2>&1 &)
until_asleep'

@test "a turn that ends by itself: nobody is left, and the end says how many there were" {
    agent <<<"$daemons
echo done"
    turn --json
    expect_status 0
    nap_over
    has "$output" '"text":"done"'
    [ "$(field reach)" = tree ]
    [ "$(field background_ended)" = 4 ]
}

@test "a turn that fails, is too slow, is cancelled: nobody is left" {
    agent 'kill_grace_secs: 0.1' <<<"$daemons
exit 3"
    turn
    expect_status 3
    nap_over
    agent 'kill_grace_secs: 0.1' <<<"trap '' TERM
$daemons
while :; do sleep 30; done"
    turn --timeout 1.5
    expect_status 124
    nap_over
    "$perch" agent run --profile "$profile" --no-store --prompt hi &
    pid=$!
    wait_until naps_are 4
    kill -INT "$pid"
    wait "$pid" || true
    nap_over
}

@test "kill -9 of perch, at any moment: nobody is left" {
    agent <<<"$daemons
while :; do sleep 30; done"
    for i in $(seq "${PERCH_TREE_KILLS:-15}"); do
        "$perch" agent run --profile "$profile" --no-store --prompt hi &
        pid=$!
        sleep "0.0$((i * 37 % 100))"
        kill -KILL "$pid"
        wait "$pid" || true
    done
    wait_until nap_over
}

@test "background: keep: what the agent leaves lives on, what is stopped does not" {
    agent 'background: keep' <<<"$daemons
echo done"
    turn --json
    expect_status 0
    naps_are 4
    [ "$(field reach)" = group ]
    [ "$(field background_ended)" = 0 ]
    # shellcheck disable=SC2046 # numbers
    kill $(naps)
    agent 'background: maybe' <<<"echo"
    turn
    expect_status 125
    has "$errors" "background must be end or keep, not 'maybe'"
}

@test "a host in a host: the outer turn ends what the inner one has started" {
    agent <<<"$daemons
while :; do sleep 30; done"
    cp "$profile" "$BATS_TEST_TMPDIR/inner.yaml"
    cp "$BATS_TEST_TMPDIR/agent.sh" "$BATS_TEST_TMPDIR/inner.sh"
    sed -i s/agent.sh/inner.sh/ "$BATS_TEST_TMPDIR/inner.yaml"
    agent 'kill_grace_secs: 0' <<<"setsid '$perch' agent run --profile '$BATS_TEST_TMPDIR/inner.yaml' \
        --no-store --prompt hi >/dev/null 2>&1 &
$asleep
until_asleep"
    turn --json
    expect_status 0
    nap_over
    [ "$(field reach)" = tree ]
}

@test "what a legacy plugin starts ends with it, and its exit status is its own" {
    plugin -p none daemons <<<"#!/bin/sh
$daemons
exit 5"
    keep "$perch" run daemons
    expect_status 5
    nap_over
    keep "$perch" --json run daemons
    expect_status 5
    nap_over
    has "$output" '"reach":"tree","background_ended":4'
}
