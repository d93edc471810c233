#!/usr/bin/env bats
# perch worker and perch serve --queue, with a redis-server of their own.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "a turn is run by a worker, its events reach the client, its result is kept" {
    scene worker.py turn
}
