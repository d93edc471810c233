#!/usr/bin/env bats
# Every order of events in small worlds of real code: nothing is wrong in the tree, and bugs that
# were put back into it are found.

found() {
    run "$PERCH_BUILD/tests/model/bug-$1"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 1 ]
    [[ "$output" == *"$2"* ]]
}

right() {
    run "$PERCH_BUILD/tests/model/model-$1"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 0 ]
}

@test "a host that is killed leaves no child, and no room" { right birth; }

@test "no call is given to a spare that is dying" { right spare; }

@test "turns of a session run one at a time, in order, and end when that is recorded" { right order; }

@test "found: an init that holds its own lifeline" {
    found room-lifeline "the init of a room stays behind its host for ever"
}

@test "found: a child that enters the guard's table too late" {
    found late-entry "a child stays behind its host for ever"
}

@test "found: a spare that was once ready" { found dying-spare "given to a spare that is dying"; }

@test "found: a spare whose end was not heard yet" { found unheard-end "given to a spare that is dying"; }

@test "found: a spare that is not asked" { found retiring-spare "given to a spare that"; }

@test "found: an end that is told before it is recorded" {
    found early-end "told before it is recorded"
}

@test "found: turns that do not wait for each other" { found no-queue "two turns of a session run at a time"; }
