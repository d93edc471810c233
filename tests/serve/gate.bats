#!/usr/bin/env bats
# perch serve: who may ask, and how.

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "every request needs a token; it is kept as a hash" { scene gate.py tokens; }

@test "a revoked token's streams end" { scene gate.py revoke; }

@test "an expired token's streams end, and --anonymous with it" { scene gate.py expiry; }

@test "after ten wrong tokens: 429, but a right one passes" { scene gate.py wrong_tokens; }

@test "--anonymous: a request without a token is that token's" { scene gate.py anonymous; }

@test "Host" { scene gate.py host; }

@test "Origin" { scene gate.py origin; }

@test "cookies: never the token, our own pages alone, end with the token" { scene gate.py cookie; }

@test "the link that works once" { scene gate.py once; }

@test "invalid framing is refused, pipelines are answered in order" { scene gate.py framing; }

@test "behind a trusted proxy" { scene gate.py proxy; }

@test "behind a trusted proxy, --anonymous is for clients of this machine alone" {
    scene gate.py proxy_anonymous
}

@test "no token is called as the page's own user" { scene gate.py local_name; }

@test "refusals are in the audit log" { scene gate.py audit; }

@test "no token reaches a log" { scene gate.py own_token; }

@test "a wrong command line" { scene gate.py words; }

@test "one perch serve at a time" { scene gate.py two; }

@test "a socket from systemd" { scene gate.py activation; }
