#!/usr/bin/env bats
# Workers that die, a Redis that is away, full, silent or another than it was.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "a worker is killed: interrupted, or again, then dead; retry and drop" { scene worker.py death; }

@test "a worker that was stopped past its lease adds nothing and gives its job up" {
    scene worker.py stopped
}

@test "redis is killed while jobs run: nothing is lost, nothing runs twice" { scene worker.py away; }

@test "redis is away for good: who is to end does not wait for it without end" {
    scene worker.py away_for_good
}

@test "a job that kills its worker is dead in the end, and everybody else goes on" {
    scene worker.py poison
}

@test "redis is full: nothing is accepted, what runs ends when there is room" { scene worker.py full; }

@test "events that wait for redis have a limit: then the job is held" { scene worker.py held; }

@test "READONLY, LOADING and lost functions pass: nothing is lost, nothing runs twice" {
    scene worker.py moods
}

@test "a later revision of the functions, and an earlier one, while workers run" { scene worker.py upgrade; }

@test "scripts where functions may not be loaded, and scripts that are gone" { scene worker.py scripts; }

@test "a Redis that takes no more connections: who comes then waits" { scene worker.py crowd; }

@test "a node of a cluster is told by its MOVED" { scene worker.py moved; }
