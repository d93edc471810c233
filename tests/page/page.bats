#!/usr/bin/env bats
# The page of perch serve in a real browser.

# shellcheck disable=SC2030,SC2031,SC2154 # what serve_open sets

load ../serve/serve
load ../foreign/foreign

setup() {
    need_foreign page node
    [ -x /usr/bin/chromium ] || skip "chromium is not installed"
    serve_open
    PERCH_PAGE_PACKAGES=$(foreign_path page)
    PERCH_PAGE_PICTURES=$PERCH_BUILD/page-pictures
    export PERCH_PAGE_PACKAGES PERCH_PAGE_PICTURES
    mkdir -p "$PERCH_PAGE_PICTURES"
}

teardown() { serve_close; }

# play FILE NAME
play() {
    timeout "${PATIENCE_OF_SCENES:-300}" "$(foreign_node)" "$PERCH_SOURCE/tests/page/$1.mjs" "$2"
}

@test "one signs in by a token, which is kept nowhere, and signs out" { play chat door; }
@test "a reply is Markdown as it comes; it is asked again, edited, copied; a failure says why, also after a reload" { play chat talk; }
@test "conversations are searched, renamed and deleted" { play chat sessions; }
@test "what runs is stopped, what waits says where it stands" { play chat stop; }
@test "two tabs have one stream, and both see everything once" { play chat tabs; }
@test "a server that is killed in the middle of a stream and started again is told, and the page goes on" { play chat restart; }
@test "files are attached by button, by drop and by paste" { play chat attach; }
@test "nothing of a reply runs: known injections through an agent" { play chat injections; }
