#!/usr/bin/env bats
# perch serve as ASan and UBSan see it.

# shellcheck disable=SC2154 # what serve_open sets
load serve

setup() {
    serve_open
    local asan="$PERCH_RELEASE-asan"
    [ -x "$asan/perch-serve" ] || skip "there is no build with ASan"
    export PERCH="$asan/perch" ASAN_OPTIONS=exitcode=99
}
teardown() { serve_close; }

# clean FILE NAME: the scene, and no sanitizer had a word to say.
clean() {
    scene "$1" "$2"
    run grep -E 'Sanitizer|runtime error' "$WORK/serve.log"
    [ "$status" = 1 ]
}

@test "asan: turns, and their failure" { clean api.py turns; }

@test "asan: bad input" { clean api.py bad; }

@test "asan: sessions and transcripts" { clean api.py sessions; }

@test "asan: cookies" { clean gate.py cookie; }

@test "asan: framing" { clean gate.py framing; }

@test "asan: killed" { clean life.py killed; }

@test "asan: OpenAI's clients: sessions, failures, aborts" {
    clean surface.py sessions
    rm -r "$XDG_STATE_HOME"
    clean surface.py failure
    rm -r "$XDG_STATE_HOME"
    clean surface.py abort
}

@test "asan: a client that goes while its turn waits" { clean surface.py abort_waiting; }
