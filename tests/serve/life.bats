#!/usr/bin/env bats
# perch serve: what survives a kill, a full disk, a drain.

# shellcheck disable=SC2154 # what serve_open sets

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "killed: what waited runs, what ran is interrupted, events go on" { scene life.py killed; }

@test "killed: a profile with retry is tried again, then dead" { scene life.py retry; }

@test "SIGTERM drains: no new jobs, running ones end, waiting ones wait" { scene life.py drain; }

@test "SIGTERM: what takes too long is cancelled" { scene life.py drain_over; }

# In a mount namespace: nobody else sees the small disk.
full() {
    mkdir -p "$XDG_STATE_HOME/perch"
    mount -t tmpfs -o size=4m none "$XDG_STATE_HOME/perch"
    scene life.py disk_full
}

@test "a full disk: 507, nothing half written" {
    export -f full scene
    export python WORK
    unshare --mount --map-root-user bash -euc full
}

@test "--no-store" { scene life.py no_store; }

@test "old jobs are forgotten" { scene life.py keep; }

@test "more than keep_bytes is forgotten" { scene life.py keep_bytes; }

@test "old transcripts are forgotten" { scene life.py keep_transcripts; }

@test "--durable" { scene life.py durable; }

@test "killed: no child stays" { scene life.py abandoned; }
