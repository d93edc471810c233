#!/usr/bin/env bats
# perch serve: OpenAI's surface, with a client of our own.

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "models" { scene surface.py models; }

@test "a stateless client's history leads to its session" { scene surface.py sessions; }

@test "a session of another user's ends no conversation" { scene surface.py other_users; }

@test "the name of a session is short, and has no NUL" { scene surface.py session_names; }

@test "a message with a NUL is refused" { scene surface.py nul; }

@test "what an agent cannot do is refused in words, the rest is ignored" { scene surface.py refused; }

@test "a failure has a status, and in the middle of a stream an error" { scene surface.py failure; }

@test "an abort cancels the turn" { scene surface.py abort; }

@test "an abort of a turn that waits for its place" { scene surface.py abort_waiting; }

@test "a client that gave up waiting comes again" { scene surface.py patience; }

@test "a client that gave up waiting and never comes again" { scene surface.py patience_ends; }

@test "what an agent thinks" { scene surface.py thinking; }

@test "a repeated request joins its job" { scene surface.py retries; }

@test "what of an answer was forgotten is not left out in silence" { scene surface.py forgotten; }

@test "images become attachments" { scene surface.py images; }
