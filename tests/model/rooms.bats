#!/usr/bin/env bats
# Rooms that are used again: nothing is wrong in the tree, and bugs that were put back into it are
# found.

load worlds

@test "no call sees what another has left in a room, no room is used by two, and none stays" { right reuse; }

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

@test "found: rooms that stay" {
    found room-for-ever "a room stays although nobody calls"
    found room-left-open "a room stays behind its host for ever"
}
