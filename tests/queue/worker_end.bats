#!/usr/bin/env bats
# The ends of jobs and of workers: cancelled, killed, drained.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "cancelling a job that waits, and one that runs" { scene worker.py cancel; }

@test "the last worker is killed: the gateway ends its jobs" { scene worker.py last; }

@test "SIGTERM drains" { scene worker.py drain; }

@test "what is not done in the time to drain is left to others" { scene worker.py patience; }
