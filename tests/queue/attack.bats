#!/usr/bin/env bats
# Who can write to Redis and has no key: what reaches clients, terminals and workers all the same.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "events and results of another program: clients get JSON, one line an event" { scene attack.py forged; }

@test "a user sees and ends nothing of another's through another gateway" { scene attack.py users; }

@test "texts of another program move no cursor of the operator's" { scene attack.py terminal; }

@test "what a worker does not offer it does not run, whatever Redis says" { scene attack.py needs; }

@test "wrong types in every key: nobody crashes, and what is right goes on behind it" { scene attack.py types; }

@test "a library of the same name that answers anything: nobody crashes, and ours comes back" {
    scene attack.py library
}
