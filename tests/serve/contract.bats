#!/usr/bin/env bats
# perch serve: what it promises in passing.

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "HEAD, OPTIONS, Expect, chunks, HTTP/1.0" { scene contract.py http; }

@test "no event waits in the kernel for an acknowledgement" { scene contract.py at_once; }

@test "what belongs to another user is not there, permissions are answered by their own" {
    scene contract.py users
}

@test "a job outlives its connection, has a time, and is on record" { scene contract.py jobs; }

@test "where the audit log is required, nothing runs that it cannot tell" {
    scene contract.py audit_required
}

@test "a silent stream says that it is alive" { scene contract.py heartbeat; }

@test "perch token: create, list, revoke" { scene contract.py tokens; }
