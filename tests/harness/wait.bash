# shellcheck shell=bash
# Waiting for what will happen, in bats files: a minute at most.

wait_until() {
    for _ in $(seq 1200); do
        "$@" && return 0
        sleep 0.05
    done
    echo "never happened: $*"
    return 1
}
