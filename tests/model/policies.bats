#!/usr/bin/env bats
# Rooms that the wrong call would get, and policies that are remembered: bugs that were put back into
# the tree are found.

load worlds

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
