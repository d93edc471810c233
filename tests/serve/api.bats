#!/usr/bin/env bats
# perch serve: its own API, with a client of our own (gateway.py).

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "turns: accepted, told, kept; warnings; a failure" { scene api.py turns; }

@test "events go on behind any of them, also after a restart" { scene api.py resume; }

@test "one stream of all jobs" { scene api.py multiplexed; }

@test "events of a stream come together where that is asked for" { scene api.py gathered; }

@test "turns of a session run in order, others beside them" { scene api.py order; }

@test "cancelling: one that runs, one that waits" { scene api.py cancel; }

@test "bad input: the right status, one error, nothing started" { scene api.py bad; }

@test "attachments: data is a private file while the job runs, files cannot be named" {
    scene api.py attachments
}

@test "an Idempotency-Key gives the same job, to the same token" { scene api.py idempotency; }

@test "users see and use their own; unknown and forbidden are alike" { scene api.py users; }

@test "sessions and their transcripts" { scene api.py sessions; }

@test "a full queue: 429" { scene api.py full_queue; }

@test "a queue that asks for much: 429" { scene api.py full_memory; }

@test "metrics" { scene api.py metrics; }

@test "--check says what is offered to whom" { scene api.py check; }

@test "SIGHUP reads the configuration again" { scene api.py reload; }

@test "--agent FILE alone is enough" { scene api.py agent_file; }

@test "--log-json: one object a line" { scene api.py log_json; }

@test "a unix socket: private, and a token is needed there, too" { scene api.py socket; }
