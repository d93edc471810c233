#!/usr/bin/env bats
# Which jobs a worker claims, and what it and a gateway take for no job, no id and no event.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "an Idempotency-Key is one job on two gateways at once" { scene worker.py key_of_two; }

@test "a job is claimed where it can run: label, hash, patterns, what is exposed" {
    scene worker.py where
}

@test "jobs that are not signed with the worker's key are not run" { scene worker.py keys; }

@test "an id that is none leads neither a worker nor a gateway anywhere" { scene worker.py ids; }

@test "what is no event ends neither a stream nor a job" { scene worker.py events; }

@test "a job over the limit of the queue is refused" { scene worker.py large; }

@test "metrics of the queue on the gateway" { scene worker.py metrics; }
