# shellcheck shell=bash
# A browser for the page of perch serve. To be loaded by bats files, which play all scenes of a file of theirs at
# once, in one browser, and ask each test for one of them.

# shellcheck disable=SC2154 # what bats sets
load ../serve/serve
load ../foreign/foreign

# page_open FILE: plays its scenes.
page_open() {
    need_foreign page node
    [ -x /usr/bin/chromium ] || skip "chromium is not installed"
    export BATS_TEST_TMPDIR="$BATS_FILE_TMPDIR"
    serve_open
    export python perch
    PERCH_PAGE_PACKAGES=$(foreign_path page)
    PERCH_PAGE_PICTURES=$PERCH_BUILD/page-pictures
    export PERCH_PAGE_PACKAGES PERCH_PAGE_PICTURES PERCH_PAGE_PYTHON="$prefix"
    mkdir -p "$PERCH_PAGE_PICTURES"
    timeout "${PATIENCE_OF_SCENES:-280}" "$(foreign_node)" "$PERCH_SOURCE/tests/page/$1.mjs" "$BATS_FILE_TMPDIR/scenes"
}

page_close() { serve_close; }

# played NAME: this scene was, and well.
played() {
    cat "$BATS_FILE_TMPDIR/scenes/$1.log"
    [ -e "$BATS_FILE_TMPDIR/scenes/$1.ok" ]
}
