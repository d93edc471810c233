#!/usr/bin/env bats
# perch serve: clients that are slow, silent or many.

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "a head has its time: slow-loris, and a client that says nothing" { scene limits.py head; }

@test "a body has its time" { scene limits.py body; }

@test "a body must not come too slowly" { scene limits.py floor; }

@test "a connection between requests has its time" { scene limits.py idle; }

@test "SIGHUP changes the time of those that are connected" { scene limits.py reread; }

@test "a client that does not read has its time" { scene limits.py writer; }

@test "all connections together hold a limited number of bytes" { scene limits.py together; }

@test "a body without a token is short" { scene limits.py strange_bodies; }

@test "clients leave descriptors for jobs" { scene limits.py descriptors; }

@test "connections are limited" { scene limits.py connections; }

@test "connections without a token are limited for each address" {
    # shellcheck disable=SC2154 # what tool_open sets
    PYTHONPATH="$PERCH_SOURCE/tests/serve" timeout 240 unshare --user --map-root-user --net \
        "$python" "$PERCH_SOURCE/tests/serve/limits.py" strangers
}
