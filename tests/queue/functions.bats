#!/usr/bin/env bats
# The functions of the queue (src/queue/lua), by redis-cli alone.
# shellcheck disable=SC2154 # what redis.bash sets

load redis

setup() {
    redis_begin
    load_functions
    do_it open
    do_it register w1 1 host here 'agent:bot#*' 'tool:upper#aa'
    do_it register w2 1 host there 'agent:bot#bb'
}

teardown() { redis_end; }

# put ID LANE [NEED [RETRY [KEY]]]
put() {
    do_it enqueue "$1" "$2" "${3:-agent:bot#bb}" "${4:-0}" 100 "${5:-}" kind turn name bot \
        request "{\"of\":\"$1\"}"
}

# claim WORKER [LEASE]: the id of a job, or nothing.
claim() {
    do_it claim "$1" "${2:-15000}" | awk 'found { print; exit } $0 == "id" { found = 1 }'
}

fence_of() { ask HGET "$shard:job:$1" fence; }

finish() { do_it finish "$1" "$2" "${3:-done}" 3600 '{"success":true}' '{"event":"end"}' "${4:-}"; }

state_of() { ask HGET "$shard:job:$1" state; }

@test "jobs of one session run one at a time in the order they were accepted" {
    for i in 1 2 3; do put "j$i" one; done
    [ "$(claim w1)" = j1 ]
    [ -z "$(claim w2)" ]
    put other two
    [ "$(claim w2)" = other ]
    finish j1 "$(fence_of j1)"
    [ "$(claim w2)" = j2 ]
    [ -z "$(claim w1)" ]
    finish j2 "$(fence_of j2)" failed
    [ "$(claim w1)" = j3 ]
}

@test "a job is claimed where it can run: its hash, its label, the oldest first" {
    put j1 a 'agent:bot#cc'
    put j2 b 'tool:upper#aa'
    put j3 c 'tool:upper#dd'
    put j4 d 'agent:bot#bb@gpu'
    [ -z "$(claim w2)" ]
    [ "$(claim w1)" = j1 ] # any hash will do
    [ "$(claim w1)" = j2 ]
    [ -z "$(claim w1)" ]
    do_it register w2 1 host there 'agent:bot#bb' 'agent:bot#bb@gpu'
    [ "$(claim w2)" = j4 ]
    do_it status | grep -A2 -x 'tool:upper#dd' | tail -1 | grep -qx 0
}

@test "an idle worker that can do it is rung for, and no other" {
    [ -z "$(claim w2)" ]
    [ -z "$(claim w1)" ]
    put j1 a 'tool:upper#aa'
    [ "$(ask LPOP "$shard:bell:w1")" = work ]
    [ "$(ask LLEN "$shard:bell:w2")" = 0 ]
    put j2 b
    [ "$(ask LPOP "$shard:bell:w2")" = work ]
    put j3 c
    [ "$(ask LLEN "$shard:bell:w1")" = 0 ] # it claims until there is nothing
}

@test "the fence: who was stopped past its lease adds no event, renews and ends nothing" {
    put j1 a agent:bot#bb 1
    [ "$(claim w1 1)" = j1 ]
    old=$(fence_of j1)
    [ "$(do_it begin j1 "$old" 1)" = ok ]
    [ "$(do_it publish j1 "$old" 1 first)" = ok ]
    is_reaped() { do_it reap 100 600000 3600 | grep -q waiting; }
    wait_until is_reaped
    [ "$(claim w2)" = j1 ]
    new=$(fence_of j1)
    [ "$new" -gt "$old" ]
    [ "$(do_it publish j1 "$old" 2 late)" = fenced ]
    [ "$(do_it begin j1 "$old" 15000)" = fenced ]
    [ "$(do_it renew w1 15000 1 '' j1 "$old" | tail -1)" = fenced ]
    [ "$(finish j1 "$old")" = fenced ]
    [ "$(do_it begin j1 "$new" 15000)" = ok ]
    [ "$(finish j1 "$new")" = ok ]
    [ "$(finish j1 "$old")" = fenced ]
    run ask XRANGE "$shard:events:j1" - +
    [[ $output = *first* && $output != *late* ]]
}

@test "fences and numbers are new even where Redis has lost its last second" {
    put j1 a
    claim w1
    before=$(fence_of j1)
    ask DEL "$shard:fence" "$shard:number"
    put j2 b
    claim w1
    [ "$(fence_of j2)" -gt "$before" ]
    ask SET "$shard:fence" 9000000000000000
    put j3 c
    claim w1
    [ "$(fence_of j3)" = 9000000000000016 ]
}

@test "what was sent twice happens once: a job, an event, an end" {
    put j1 a
    put j1 a
    [ "$(ask LLEN "$shard:lane:a")" = 1 ]
    claim w1
    do_it begin j1 "$(fence_of j1)" 15000
    do_it begin j1 "$(fence_of j1)" 15000
    [ "$(ask HGET "$shard:job:j1" tries)" = 1 ]
    do_it publish j1 "$(fence_of j1)" 1 one two
    do_it publish j1 "$(fence_of j1)" 1 one two
    do_it publish j1 "$(fence_of j1)" 2 two three
    [ "$(finish j1 "$(fence_of j1)")" = ok ]
    [ "$(finish j1 "$(fence_of j1)")" = ok ]
    [ "$(ask XRANGE "$shard:events:j1" - + | grep -c -e one -e two -e three)" = 3 ]
    [ "$(ask XLEN "$shard:events:j1")" = 4 ]
}

@test "an idempotency key is one job, whoever asks" {
    [ "$(put j1 a agent:bot#bb 0 k | head -1)" = ok ]
    [ "$(put j2 a agent:bot#bb 0 k | tr '\n' ' ')" = "known j1 " ]
    [ "$(state_of j2)" = "" ]
    [ "$(ask TTL "$shard:key:k")" -gt 86000 ]
}

@test "a worker that died: not begun runs again, begun is interrupted, with retry again, then dead" {
    put j1 a
    put j2 b
    put j3 c agent:bot#bb 1
    for _ in 1 2 3; do claim w1 1; done
    do_it begin j2 "$(fence_of j2)" 1
    do_it begin j3 "$(fence_of j3)" 1
    all_are_reaped() {
        do_it reap 100 600000 3600
        [ "$(state_of j1) $(state_of j2) $(state_of j3)" = "waiting interrupted waiting" ]
    }
    wait_until all_are_reaped
    claim w1 1
    claim w1 1
    do_it begin j3 "$(ask HGET "$shard:job:j3" fence)" 1
    now_dead() {
        do_it reap 100 600000 3600
        [ "$(state_of j3)" = dead ]
    }
    wait_until now_dead
    [ "$(ask LRANGE "$shard:dead" 0 -1)" = j3 ]
    [ "$(do_it retry j3)" = ok ]
    [ "$(state_of j3) $(ask LLEN "$shard:dead")" = "waiting 0" ]
    [ "$(do_it retry j3)" = none ]
}

@test "a job that kills whoever claims it is not handed out for ever" {
    put j1 a
    killed() {
        claim w1 1 >&2
        do_it reap 100 600000 3600
        [ "$(state_of j1)" = dead ]
    }
    wait_until killed
    [ "$(ask HGET "$shard:job:j1" claims)" = 8 ]
    [ "$(do_it drop j1)" = ok ]
    [ "$(state_of j1)" = "" ]
}

@test "cancelling: who waits is over and the next goes on, who runs is told by bell and renewal" {
    put j1 a
    put j2 a
    put j3 a
    claim w1
    [ "$(do_it cancel j2 3600)" = ok ]
    [ "$(state_of j2)" = cancelled ]
    [ "$(do_it cancel j1 3600)" = ok ]
    [ "$(ask LPOP "$shard:bell:w1")" = "cancel j1" ]
    [ "$(do_it renew w1 15000 1 '' j1 "$(fence_of j1)" | tail -1)" = cancel ]
    [ "$(finish j1 "$(fence_of j1)" cancelled)" = ok ]
    [ "$(do_it cancel j1 3600)" = over ]
    [ "$(do_it cancel nothing 3600)" = none ]
    [ "$(claim w1)" = j3 ]
    put j4 b
    [ "$(do_it cancel j4 3600)" = ok ]
    [ -z "$(claim w1)" ]
}

@test "what nobody offers ends when patience does, and those behind it go on" {
    put j1 a 'agent:none#bb'
    put j2 a
    do_it reap 100 600000 3600
    [ "$(state_of j1)" = waiting ]
    [[ $(do_it reap 100 0 3600) = *failed* ]]
    [ "$(state_of j1)" = failed ]
    ask XRANGE "$shard:events:j1" - + | grep -q '"code":"nobody"'
    [ "$(claim w1)" = j2 ]
}

@test "the agent's id of a session travels with it" {
    put j1 a
    put j2 a
    claim w1
    finish j1 "$(fence_of j1)" 'done' my-session
    [ "$(do_it claim w2 15000 | sed -n 2p)" = my-session ]
}

@test "a full queue takes no more, and says how long it is" {
    for i in 1 2; do put "j$i" "$i"; done
    [ "$(do_it enqueue j3 c agent:bot#bb 0 2 '' | tr '\n' ' ')" = "busy 2 " ]
}

@test "where memory is full no job is accepted, and what runs can end" {
    put j1 a
    put j2 b
    claim w1
    ask CONFIG SET maxmemory 1
    run put j3 c
    [ "$status" -ne 0 ]
    [[ $output = *OOM* ]]
    run do_it publish j1 "$(fence_of j1)" 1 text
    [[ $output = *OOM* ]]
    [ "$(do_it open | head -1)" = 1 ] # who begins again finds his way
    [ "$(do_it register w1 1 host here 'agent:bot#*')" = ok ]
    [ "$(do_it renew w1 15000 1 '' j1 "$(fence_of j1)" | tail -1)" = ok ]
    [ "$(finish j1 "$(fence_of j1)")" = ok ]
    ask CONFIG SET maxmemory 0
    [ "$(claim w1)" = j2 ]
}

@test "jobs that wait leave memory to those that run" {
    put j1 a
    ask EVAL "redis.call('SET', KEYS[1], string.rep('x', 50000000))" 1 ballast
    used=$(ask INFO memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
    ask CONFIG SET maxmemory $((used * 100 / 94))
    run put j2 b
    [ "$status" -ne 0 ]
    [[ $output = *OOM* ]]
    [ -z "$(state_of j2)" ]
    [ "$(claim w1)" = j1 ]
    [ "$(do_it publish j1 "$(fence_of j1)" 1 text)" = ok ]
    ask CONFIG SET maxmemory $((used * 100 / 50))
    put j2 b
}

@test "of a job that tells too much, the end is kept" {
    put j1 a
    claim w1
    head -c 1000000 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/much"
    for i in $(seq 1 40); do
        ask -x FCALL perch1_publish 1 "$shard" j1 "$(fence_of j1)" "$i" <"$BATS_TEST_TMPDIR/much"
    done
    do_it publish j1 "$(fence_of j1)" 41 last
    left=$(ask XLEN "$shard:events:j1")
    [ "$left" -ge 17 ]
    [ "$left" -le 34 ]
    ask XREVRANGE "$shard:events:j1" + - COUNT 1 | grep -qx last
}

@test "what has ended is kept as long as the gateway says that took it" {
    do_it enqueue j1 '' agent:bot#bb 0 100 '' kind turn name bot keep 7200
    claim w1
    finish j1 "$(fence_of j1)"
    [ "$(ask TTL "$shard:events:j1")" -gt 3600 ]
    [ "$(ask TTL "$shard:job:j1")" -gt 3600 ]
    for wrong in inf nan -1 1.5e300 x ''; do
        do_it enqueue "j$wrong" a agent:bot#bb 0 100 '' kind turn name bot keep "$wrong"
        claim w1
        [ "$(finish "j$wrong" "$(fence_of "j$wrong")")" = ok ]
        [ "$(ask TTL "$shard:job:j$wrong")" -le 3600 ]
    done
}

@test "a dead job that is dropped, or forgotten, is no longer counted" {
    put j1 a
    put j2 b
    for job in j1 j2; do ask HSET "$shard:job:$job" claims 7; done
    for _ in 1 2; do claim w1 1; done
    are_dead() {
        do_it reap 100 600000 3600
        [ "$(ask HGET "$shard:meta" dead)" = 2 ]
    }
    wait_until are_dead
    do_it drop j1
    [ "$(ask HGET "$shard:meta" dead)" = 1 ]
    [ "$(do_it jobs dead 10 | grep '^j')" = j2 ]
    ask ZADD "$shard:over" 1 j2
    do_it reap 100 600000 3600
    [ "$(ask HGET "$shard:meta" dead)" = 0 ]
}

@test "what has ended is forgotten, and every key has a time or an owner" {
    put j1 a
    put j2 b agent:bot#bb 0 k
    claim w1
    claim w1
    finish j1 "$(fence_of j1)"
    finish j2 "$(fence_of j2)"
    [ "$(ask TTL "$shard:job:j1")" -gt 3500 ]
    [ "$(ask TTL "$shard:job:j2")" -gt 80000 ]
    [ "$(ask TTL "$shard:events:j2")" -le 3600 ]
    do_it leave w1
    do_it leave w2
    ask ZADD "$shard:over" 1 j1 1 j2
    do_it reap 100 600000 3600
    run ask KEYS '*'
    for key in $output; do
        case $key in
        "$shard":meta | "$shard":fence | "$shard":number | "$shard":sequence | "$shard":key:k) ;;
        *) echo "left: $key" && false ;;
        esac
    done
}

@test "who has no room passes it on: others are rung for what is ready" {
    [ -z "$(claim w1)" ]
    put j1 a
    [ "$(ask LPOP "$shard:bell:w1")" = work ]
    [ "$(claim w2)" = j1 ] # it has room for one
    put j2 b
    do_it pass
    [ "$(ask LLEN "$shard:bell:w2")" = 0 ] # nobody waits
    ask ZADD "$shard:idle" 1 w2
    do_it pass
    [ "$(ask LPOP "$shard:bell:w2")" = work ]
    [ "$(ask ZCARD "$shard:idle")" = 0 ]
}

@test "how many shards there are is decided by who opens the queue first" {
    ask FLUSHDB
    [ "$(do_it open 0 | tr '\n' ' ')" = "1 $(do_it open 0 | sed -n 2p) 1 " ]
    [ -z "$(ask KEYS '*')" ] # who only looks decides nothing
    [ "$(do_it open 4 | tail -1)" = 4 ]
    [ "$(do_it open 0 | tail -1)" = 4 ]
    run do_it open 2
    [[ $output = *"SHARDS 4"* ]]
    run do_it open # a perch that knows of one alone
    [[ $output = *"SHARDS 4"* ]]
    ask HDEL "$shard:meta" shards # as such a perch has left it
    [ "$(do_it open | wc -l)" = 2 ]
    [ "$(do_it open 1 | tail -1)" = 1 ]
}

@test "numbers of shards are never the same" {
    for of in 0 3 15; do
        there="{perch:$of}"
        ask FCALL perch1_register 1 "$there" w1 1 host here 'agent:bot#*'
        ask FCALL perch1_enqueue 1 "$there" j1 a 'agent:bot#bb' 0 100 '' kind turn
        ask FCALL perch1_claim 1 "$there" w1 15000
        fence=$(ask HGET "$there:job:j1" fence)
        [ $((fence % 16)) = "$of" ]
        ask FCALL perch1_publish 1 "$there" j1 "$fence" 1 one two three
        [ "$(ask XLEN "$there:events:j1")" = 3 ]
        for number in $(ask XRANGE "$there:events:j1" - + | sed -n 's/-0$//p'); do
            [ $((number % 16)) = "$of" ]
        done
    done
}

@test "a later revision takes over while a job of an earlier one runs" {
    sed 's/^local REVISION = .*/local REVISION = 2/' "$PERCH_BUILD/src/perch.lua" | ask -x FUNCTION LOAD REPLACE
    [ "$(do_it open | tr '\n' ' ')" = "1 2 " ]
    put j1 a
    put j2 a
    claim w1
    fence=$(fence_of j1)
    [ "$(do_it begin j1 "$fence" 15000)" = ok ]
    [ "$(do_it publish j1 "$fence" 1 one)" = ok ]
    load_functions
    [ "$(do_it open | wc -l)" = 2 ] # what an earlier worker expects when it comes back
    [ "$(do_it publish j1 "$fence" 1 one two)" = ok ]
    [ "$(do_it renew w1 15000 1 working j1 "$fence" | tr '\n' ' ')" = "1 ok " ]
    [ "$(finish j1 "$fence")" = ok ]
    [ "$(ask XLEN "$shard:events:j1")" = 3 ]
    [ "$(claim w2)" = j2 ]
    [ "$(fence_of j2)" -gt "$fence" ]
}

@test "a foreign or older layout is refused" {
    ask HSET "$shard:meta" layout 0
    run do_it open
    [[ $output = *"LAYOUT 0"* ]]
    ask DEL "$shard:meta"
    ask SADD "$shard:meta" something
    run do_it open
    [[ $output = *LAYOUT* ]]
}

@test "the same text is a script for who may not load functions" {
    text="#!lua
$(tail -n +2 "$PERCH_BUILD/src/perch.lua")"
    sha=$(ask SCRIPT LOAD "$text")
    [ "$(ask EVALSHA "$sha" 1 "$shard" open | head -1)" = 1 ]
    ask EVALSHA "$sha" 1 "$shard" enqueue j9 a 'agent:bot#bb' 0 100 '' kind turn
    [ "$(claim w1)" = j9 ]
}

@test "jobs, workers and pages list what there is" {
    put j1 a
    put j2 b
    claim w1
    [ "$(do_it jobs '' 10 | grep -c '^j')" = 2 ]
    [ "$(do_it jobs running 10 | grep '^j')" = j1 ]
    [ "$(do_it workers | grep -c '^w')" = 2 ]
    [ "$(do_it page 0 1 | grep -c '^j')" = 1 ]
    [ "$(do_it page 0 10 | grep -c '^j')" = 2 ]
    # One that has told as much as may be is the last of its page.
    ask EVAL "for i = 1, 20000 do redis.call('XADD', KEYS[1], '*', 'e', 'x') end" 1 "$shard:events:j1"
    do_it page 0 10 >"$BATS_TEST_TMPDIR/page"
    [ "$(grep -c '^j' "$BATS_TEST_TMPDIR/page")" = 1 ]
    [ "$(do_it page "$(head -1 "$BATS_TEST_TMPDIR/page")" 10 | grep '^j')" = j2 ]
    do_it get j2 | grep -q '{"of":"j2"}'
}
