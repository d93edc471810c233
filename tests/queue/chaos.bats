#!/usr/bin/env bats
# Workers, gateways and Redis under load and faults, the short form; the long one is ./dev chaos worker.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "kills, stops, a cut network: nothing is lost, out of order, or told behind a fence" {
    PATIENCE_OF_SCENES=7200 scene chaos.py chaos >&2
}

@test "the same with sessions in several shards, in the short form alone" {
    [ "${CHAOS:-}" = long ] || scene chaos.py shards >&2
}

@test "ten more seeds, in the long form alone" {
    [ "${CHAOS:-}" != long ] || PATIENCE_OF_SCENES=7200 scene chaos.py seeds >&2
}
