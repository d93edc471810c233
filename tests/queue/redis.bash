# shellcheck shell=bash
# A redis-server of a test's own: on a free port of the loopback, with AOF in the test's directory.
# To be loaded by bats files.

load ../harness/wait

# shellcheck disable=SC2034 # for who loads this
shard='{perch:0}'

redis_free_port() {
    # A cluster listens 10,000 above it as well.
    python3 -c 'import socket
port = 65535
while port > 55535:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
print(port)'
}

# redis_begin [OPTION…]: on the port that it has had before, if it has had one.
redis_begin() {
    redis_dir="$BATS_TEST_TMPDIR/redis"
    mkdir -p "$redis_dir"
    redis_port=${redis_port:-$(redis_free_port)}
    redis-server --bind 127.0.0.1 --port "$redis_port" --dir "$redis_dir" --appendonly yes \
        --save '' --unixsocket "$redis_dir/socket" "$@" >>"$redis_dir/log" 2>&1 3>&- &
    redis_pid=$!
    wait_until redis_is_ready
}

redis_is_ready() {
    kill -0 "$redis_pid" || { cat "$redis_dir/log"; exit 1; }
    [ "$(ask PING 2>&1)" = PONG ] || ask PING 2>&1 | grep -q NOAUTH
}

# redis_end [SIGNAL]
redis_end() {
    [ -n "${redis_pid:-}" ] || return 0
    kill "-${1:-TERM}" "$redis_pid" 2>/dev/null || true
    wait "$redis_pid" || true
    redis_pid=
}

# A command of Redis's; an error is one here too.
ask() { redis-cli -p "$redis_port" -e "$@"; }

# do_it FUNCTION ARGUMENT…: one of ours.
do_it() {
    local name=$1
    shift
    ask FCALL "perch1_$name" 1 "$shard" "$@"
}

load_functions() { ask -x FUNCTION LOAD REPLACE <"$PERCH_BUILD/src/perch.lua"; }
