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

@test "no call sees what another has left in a room, no room is used by two, and none stays" { right reuse; }

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

@test "found: rooms that are not looked into before they are used again" {
    found unseen-process "a process of a call is there with the next one"
    found unseen-orphan "a process of a call is there with the next one"
    found unseen-file "what a call has left in /tmp is seen by the next one"
    found unseen-time "what a call has left in /tmp is seen by the next one"
    found unseen-cover "a call sees what is hidden from it"
    found unseen-change "a call sees what is hidden from it"
    found unseen-move "a call sees what is hidden from it"
    found dead-init "a call is given a room that is dead"
}

@test "found: rooms of two" {
    found two-in-a-room "a room can be used by two at a time"
    found pool-of-a-fork "a room"
    found rooms-of-a-fork "a fork of the host ends a room of the host"
}

@test "found: rooms that are used again although something else was asked for" {
    found old-mounts "a call does not see what was mounted outside"
    found old-paths "a call sees other files than its paths lead to"
    found any-policy "a call is given the sandbox of another policy"
}

@test "found: policies that are remembered although something has changed" {
    found unseen-name "a call"
    found unseen-loss "a call"
    found unseen-mount "a policy that would not be made any more"
    found unproven-policy "a policy that would not be made any more"
    found old-policy "a policy that would not be made any more"
    found unwatched-room "a call sees what is hidden from it"
}

@test "found: rooms that stay" {
    found room-for-ever "a room stays although nobody calls"
    found room-left-open "a room stays behind its host for ever"
}
