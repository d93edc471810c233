# shellcheck shell=bash
# A browser for the page of perch serve. To be loaded by bats files.

# shellcheck disable=SC2154 # what bats sets
load ../serve/serve
load ../foreign/foreign

page_open() {
    need_foreign page node
    [ -x /usr/bin/chromium ] || skip "chromium is not installed"
    serve_open
    PERCH_PAGE_PACKAGES=$(foreign_path page)
    PERCH_PAGE_PICTURES=$PERCH_BUILD/page-pictures
    export PERCH_PAGE_PACKAGES PERCH_PAGE_PICTURES PERCH_PAGE_PYTHON="$prefix"
    mkdir -p "$PERCH_PAGE_PICTURES"
}

page_close() { serve_close; }

# play FILE NAME
play() {
    timeout "${PATIENCE_OF_SCENES:-300}" "$(foreign_node)" "$PERCH_SOURCE/tests/page/$1.mjs" "$2"
}
