#!/usr/bin/env bats
# Queues that will not do: a clear word about each, and nobody hangs.
# shellcheck disable=SC2154 # what redis.bash and tools.bash set

load queue
load redis

setup() { queue_open; }
teardown() {
    redis_end
    queue_close
}

# refused WORDS COMMAND…: it ends with an error that has these words.
refused() {
    local words=$1
    shift
    run timeout 60 "$perch" "$@"
    echo "$output"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    [[ $output = *"$words"* ]]
}

# refused_by_all WORDS OPTION…
refused_by_all() {
    local words=$1
    shift
    refused "$words" worker "$@"
    refused "$words" serve --listen 127.0.0.1:0 "$@"
    refused "$words" queue status "$@"
}

# status_works OPTION…
status_works() { timeout 60 "$perch" queue status "$@"; }

@test "addresses that are none, and TLS" {
    for url in http://x redis:// redis://:1 redis://h:0x1 redis://h:70000 redis://h/x 'redis://[::1' unix: ''; do
        refused "queue" worker --queue "$url"
    done
    refused "unix: needs the path" worker --queue unix:
    refused_by_all "stunnel" --queue rediss://127.0.0.1
}

@test "a password in the address is refused before anybody reads it" {
    refused_by_all "PERCH_QUEUE_PASSWORD" --queue redis://user:secret@127.0.0.1
}

@test "another machine's Redis without a password, or without a key" {
    refused_by_all "needs a password" --queue redis://192.0.2.1
    export PERCH_QUEUE_PASSWORD=secret
    refused "needs --key-file" worker --queue redis://192.0.2.1
    refused "needs --key-file" serve --listen 127.0.0.1:0 --queue redis://192.0.2.1
}

@test "a wrong password, none where one is needed, the right one by file, variable and user" {
    redis_begin --requirepass secret
    url="redis://127.0.0.1:$redis_port"
    refused_by_all "asks for a password" --queue "$url"
    echo wrong >"$WORK/wrong"
    refused_by_all "does not take the password" --queue "$url" --password-file "$WORK/wrong"
    echo secret >"$WORK/right"
    status_works --queue "$url" --password-file "$WORK/right"
    PERCH_QUEUE_PASSWORD=secret status_works --queue "$url"
    redis-cli -p "$redis_port" -a secret ACL SETUSER ada on '>lovelace' '~{perch:*' '&{perch:*' +@all
    PERCH_QUEUE_PASSWORD=lovelace status_works --queue "redis://ada@127.0.0.1:$redis_port"
    PERCH_QUEUE_PASSWORD=secret refused "of the user ada" queue status \
        --queue "redis://ada@127.0.0.1:$redis_port"
    PERCH_QUEUE_PASSWORD=secret status_works --queue "unix:$redis_dir/socket"
    PERCH_QUEUE="$url" PERCH_QUEUE_PASSWORD=secret status_works
}

@test "a password is not in ps, nor in what is started" {
    redis_begin --requirepass open-sesame
    url="redis://127.0.0.1:$redis_port"
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    printf '[expose.http]\nagents=["*"]\n[expose.worker]\nagents=["*"]\n' >"$XDG_CONFIG_HOME/perch/config.toml"
    printf '#!/bin/sh\nenv >"%s/env"\necho hi\n' "$WORK" >"$WORK/bot.sh"
    chmod +x "$WORK/bot.sh"
    printf 'command: %s/bot.sh\nsandbox: false\n' "$WORK" >"$XDG_CONFIG_HOME/perch/agents/bot.yaml"
    PERCH_QUEUE_PASSWORD=open-sesame "$perch" worker --any-profile --queue "$url" 3>&- &
    worker=$!
    do_it() { redis-cli -p "$redis_port" -a open-sesame FCALL "perch1_$1" 1 "$shard" "${@:2}" 2>/dev/null; }
    is_there() { do_it workers | grep -q machine; }
    wait_until is_there
    do_it enqueue j0123456789abcdef0123 '' 'agent:bot#00' 0 10 '' kind turn name bot owner me session s request '{"message":"m"}'
    wait_until test -s "$WORK/env"
    run ps axwwe
    kill "$worker"
    wait "$worker" || true
    [[ $output = *"worker --any-profile"* ]]
    [ "$(grep "worker.*--any-profile" <<<"$output" | grep -c open-sesame)" = 0 ]
    run cat "$WORK/env"
    [[ $output != *open-sesame* ]]
}

@test "a Redis that evicts" {
    redis_begin --maxmemory 100mb --maxmemory-policy allkeys-lru
    refused_by_all "set noeviction" --queue "redis://127.0.0.1:$redis_port"
}

@test "a Redis that is a cluster" {
    redis_begin --cluster-enabled yes
    refused_by_all "cluster" --queue "redis://127.0.0.1:$redis_port"
}

@test "keys of another program, or of another layout" {
    redis_begin
    ask HSET "$shard:meta" layout 99
    refused_by_all "another version of perch" --queue "redis://127.0.0.1:$redis_port"
    ask DEL "$shard:meta"
    ask SET "$shard:meta" mine
    refused_by_all "another program" --queue "redis://127.0.0.1:$redis_port"
    [ "$(ask GET "$shard:meta")" = mine ]
    status_works --queue "redis://127.0.0.1:$redis_port/3"
}

@test "nobody is there: the operator is told at once" {
    refused "refused" queue status --queue "redis://127.0.0.1:$(redis_free_port)"
    [[ $output = *"is redis-server running there?"* ]]
    refused "No such file" queue status --queue "unix:$WORK/none"
    echo x >"$WORK/x"
    refused "nowhere.invalid" queue status --queue redis://nowhere.invalid --password-file "$WORK/x"
}

@test "an earlier revision of the functions is replaced, a later one is left alone" {
    redis_begin
    old=$(sed 's/^local REVISION = .*/local REVISION = 0/' "$PERCH_BUILD/src/perch.lua")
    ask FUNCTION LOAD "$old"
    status_works --queue "redis://127.0.0.1:$redis_port"
    [ "$(ask FCALL perch1_open 1 "$shard" | tail -1)" = "$(sed -n 's/^local REVISION = //p' "$PERCH_BUILD/src/perch.lua")" ]
    ask FUNCTION LOAD REPLACE "$(sed 's/^local REVISION = .*/local REVISION = 99/' "$PERCH_BUILD/src/perch.lua")"
    status_works --queue "redis://127.0.0.1:$redis_port"
    [ "$(ask FCALL perch1_open 1 "$shard" | tail -1)" = 99 ]
    ask FUNCTION FLUSH
    status_works --queue "redis://127.0.0.1:$redis_port"
}

@test "who may not load functions gets the same as scripts" {
    redis_begin
    ask ACL SETUSER eve on '>pw' '~{perch:*' '&{perch:*' +@all -function -fcall
    PERCH_QUEUE_PASSWORD=pw status_works --queue "redis://eve@127.0.0.1:$redis_port"
    ask ACL SETUSER mallory on '>pw' '~{perch:*' '&{perch:*' +@all -function -fcall -script
    PERCH_QUEUE_PASSWORD=pw refused "neither functions nor scripts" queue status \
        --queue "redis://mallory@127.0.0.1:$redis_port"
}

# Each of these once made a gateway or a worker ask again and again, as fast as it could.
@test "a user who may not do what a queue needs is told so, once" {
    redis_begin
    for lacks in -evalsha -blpop resetchannels; do
        ask ACL SETUSER carol reset on '>pw' '~{perch:*' '&{perch:*' +@all -function -fcall $lacks
        who=worker
        [ $lacks != resetchannels ] || who='serve --listen 127.0.0.1:0'
        # shellcheck disable=SC2086 # several words
        PERCH_QUEUE_PASSWORD=pw refused NOPERM $who --queue "redis://carol@127.0.0.1:$redis_port"
        [ "$(grep -c NOPERM <<<"$output")" -eq 1 ]
    done
}

# Makes a user of Redis that lacks this.
lacks() {
    ask ACL SETUSER eve reset on '>pw' '~{perch:*' '&{perch:*' +@all "$@"
}

@test "a user who lacks keys, INFO or SUBSCRIBE: who needs it says so and ends" {
    redis_begin
    echo pw >"$WORK/pw"
    eve=(--queue "redis://eve@127.0.0.1:$redis_port" --password-file "$WORK/pw")
    lacks resetkeys '~other:*'
    refused_by_all "NOPERM" "${eve[@]}"
    lacks -info
    refused_by_all "INFO: NOPERM" "${eve[@]}"
    lacks -subscribe
    refused "NOPERM" serve --listen 127.0.0.1:0 "${eve[@]}"
    lacks
    status_works "${eve[@]}"
}

@test "a user without a password is the one that the address names" {
    redis_begin
    ask ACL SETUSER eve on nopass '~other:*' +@all
    refused "NOPERM" queue status --queue "redis://eve@127.0.0.1:$redis_port"
}

@test "a name that begins as a number of the loopback is another machine's" {
    for host in 127.0.0.1.example.org 127.example.org; do
        refused_by_all "needs a password" --queue "redis://$host"
    done
}

@test "names of users, labels and keys that will not do" {
    refused "letters, digits" worker --queue unix:x --label 'a b'
    refused "a number from" worker --queue unix:x --max-jobs 0
    refused "which queue" worker
    refused "which queue" queue status
    refused "there are: waiting" queue jobs nonsense --queue unix:x
    refused "did you mean 'running'?" queue jobs runing --queue unix:x
    printf short >"$WORK/key"
    chmod 600 "$WORK/key"
    refused "shorter than 32" worker --queue unix:x --key-file "$WORK/key"
}
