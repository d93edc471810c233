#!/usr/bin/env bats
# perch plugins create: a plugin that runs at once.

# shellcheck disable=SC2154,SC2016 # what the helpers set; `words` in what is expected
load author

setup() { author_open; }
teardown() { author_close; }

# runs LANGUAGE: created, valid, its cases pass, and it greets.
runs() {
    plugins create "fledge-hi" --lang "$1"
    expect_status 0
    [ "$1" != c ] || make -s -C fledge-hi
    plugins validate --strict fledge-hi
    expect_status 0
    expect "fledge-hi is fine"
    plugins test fledge-hi
    expect_status 0
    has "$output" "5 passed, 0 failed"
    [ -x fledge-hi/bin/fledge-hi ]
    [ -s fledge-hi/README.md ]
    run grep -r '@[A-Z]' fledge-hi --include='*.toml' --include='*.md' --include=Makefile
    expect_status 1
    cp -r fledge-hi "$cfg/plugins"
    ln -s ../fledge-hi/bin/fledge-hi "$cfg/plugins/bin/fledge-hi"
    register fledge-hi hi store
    call --ni hi Ada
    expect "Hello, Ada!"
    grep -qx state.json fledge-hi/.gitignore
    grep -qx state.json.lock fledge-hi/.gitignore
    call --ni hi
    expect "Hello, Ada!"
}

@test "create: bash" { runs bash; }
@test "create: python" { runs python; }
@test "create: node" { runs node; }
@test "create: c" { runs c; }

@test "create: bash is what one gets without --lang" {
    plugins create hi
    expect_status 0
    head -1 hi/bin/fledge-hi | grep -q bash
    has "$output" "cd hi && perch plugins test"
    has "$output" "perch plugins install . && perch run hi"
    has "$output" "perch-test.toml: change them with the plugin"
    plugins create hi-c --lang c
    has "$output" "it needs make and a C compiler"
}

@test "create: what was made, for programs" {
    plugins create fledge-hi --lang c --description 'Says "hi" \ Ä' --json
    expect_status 0
    answer_has 'import os
assert list(d) == ["schema_version", "action", "path", "name", "description", "files_created"]
assert d["action"] == "create" and d["name"] == "fledge-hi"
assert d["path"] == os.getcwd() + "/fledge-hi" and d["description"] == "Says \"hi\" \\ Ä"
made = sorted(os.path.relpath(os.path.join(top, f), d["path"])
              for top, _, files in os.walk(d["path"]) for f in files)
assert made == sorted(d["files_created"]), made'
    grep -q 'Says "hi" \\ Ä' fledge-hi/README.md
    plugins validate fledge-hi
    expect_status 0
}

@test "create: what is there already is not touched" {
    mkdir hi
    echo precious >hi/file
    plugins create hi
    expect_status 1
    has "$errors" "there is a ./hi already"
    [ "$(ls hi)" = file ]
    ln -s nowhere link
    plugins create link
    expect_status 1
    [ ! -e nowhere ]
}

@test "create: a name that cannot be one is refused, and nothing is made" {
    for name in bin .x -- -x 'a b' a/b ../x '' fledge- 'a"b' 'a$b' "$(printf 'x%.0s' {1..65})"; do
        plugins create -- "$name"
        expect_status 64
        has "$errors" "error: "
        [ -z "$(ls -A)" ]
    done
}

@test "create: mistakes of the call" {
    plugins create
    expect_status 64
    plugins create a b
    expect_status 64
    plugins create a --lang cobol
    expect_status 64
    has "$errors" "bash, python, node or c"
    plugins create a --description $'two\nlines'
    expect_status 64
    plugins create a --langg c
    expect_status 64
    has "$errors" "did you mean --lang"
    [ -z "$(ls -A)" ]
}

@test "create: where nothing can be written it says so and leaves nothing" {
    cd /proc
    plugins create hi
    expect_status 1
    has "$errors" "cannot be made"
}

@test "create: the templates are clean" {
    shellcheck "$PERCH_SOURCE/templates/bash/program"
    plugins create hi --lang c
    cc -std=c11 -Wall -Wextra -Wconversion -Wshadow -Werror -o "$WORK/hi" hi/main.c
}

@test "create: a name with a letter beyond ASCII is refused with the rule" {
    plugins create grüße
    expect_status 64
    has "$errors" 'may have a to z, A to Z, digits, - _ and . in it'
    [ ! -e grüße ]
}
