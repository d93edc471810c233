#!/usr/bin/env bats
# The page of perch serve in a real browser: plugins, tools, jobs, access, looks.

# shellcheck disable=SC2154 # what page_open sets
load page

setup_file() { page_open work; }
teardown_file() { page_close; }

@test "plugins run with their arguments, questions, progress, logs and colours, are cancelled and shown again" { played plugins; }
@test "tools are called by a form or by JSON, what is wrong is said, and an admin approves" { played tools; }
@test "what runs and waits is seen live and cancelled; a job is a line of time; the last hour is drawn" { played now; }
@test "admins see tokens and the audit log, users do not; a revoked token is signed out" { played access; }
@test "the link of a terminal signs in, once" { played once; }
@test "every view fits 360 and 2560 pixels, dark and light, and axe has no serious finding" { played looks; }
@test "everything is done by keyboard, and the focus is seen" { played keys; }

@test "the modules that touch no page" {
    timeout 240 "$(foreign_node)" --test --test-reporter=tap "$PERCH_SOURCE/tests/page/modules.mjs"
}

@test "the pictures of the README and docs/serve.md are what the page shows now" {
    timeout 240 "$python" "$PERCH_SOURCE/docs/pictures/make" --perch "$perch" --page --check
}
