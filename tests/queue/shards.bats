#!/usr/bin/env bats
# A queue in several shards: gateways, workers and the operator's commands.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "a session is in one shard, sessions are in all; commands and metrics count them together" {
    scene shards.py spread
}

@test "jobs of the dead are found in every shard" { scene shards.py death; }

@test "cancelling a job that waits, and one that runs, through the other gateway" { scene shards.py cancel; }

@test "another number of shards is refused, with the one that is right" { scene shards.py mismatch; }

@test "who is rung for and has no room passes it on" { scene shards.py passed; }
