#!/usr/bin/env bats
# perch serve under load and faults, the short form; the long one is ./dev chaos serve.

load serve

setup() {
    serve_open
    ulimit -n "$(ulimit -Hn)"
}
teardown() { serve_close; }

# chaos NAME: what it has measured is worth a line of the report.
chaos() {
    PATIENCE_OF_SCENES=3600 scene chaos.py "$1" >"$WORK/measured" || return
    cat "$WORK/measured" >>"${CHAOS_REPORT:-/dev/null}"
}

@test "idle streams cost little, and hear what they should" { chaos streams; }

@test "who does not read stops nobody" { chaos slow_readers; }

@test "turns whose clients go leave no process" { chaos aborted; }

@test "kill -9 at random moments: no accepted job is lost, none runs twice" { chaos kills; }

@test "memory and descriptors do not grow with the turns" { chaos flat; }
