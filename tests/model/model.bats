#!/usr/bin/env bats
# Every order of events in small worlds of real code: nothing is wrong in the tree, and bugs that
# were put back into it are found.

load worlds

@test "a host that is killed leaves no child, and no room" { right birth; }

@test "no call is given to a spare that is dying" { right spare; }

@test "turns of a session run one at a time, in order, and end when that is recorded" { right order; }

@test "a doorkeeper bears whom its host knows, confined as they must be, and does not stay" { right door; }

@test "found: doorkeepers that are not looked after" {
    found unwatched-keeper "the host waits for ever"
    found forgotten-newborn "told before the child has left"
    found stale-order "a child gets the order of another"
    found left-newborn "a child is born that its host does not know of"
    found late-keeper "a doorkeeper stays behind its host for ever"
    found lasting-keeper "a doorkeeper stays behind its host for ever"
}

@test "found: children of a doorkeeper that have too many rights" {
    found open-seal "more rights than it may have"
    found no-domain "more rights than it may have"
}

@test "found: an init that holds its own lifeline" {
    found room-lifeline "the init of a room stays behind its host for ever"
    [[ "$output" == *"with a low descriptor"* && "$output" != *"forks"* ]]
}

@test "found: an init that waits for a lifeline alone" {
    found unwatched-host "the init of a room stays behind its host for ever"
    [[ "$output" == *"the host forks"* ]]
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
