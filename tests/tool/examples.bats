#!/usr/bin/env bats
# The example tools, in C, Python and Bash.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    cp -r "$PERCH_SOURCE/examples/tools" "$WORK/examples"
}
teardown() { tool_close; }

@test "bash: greets" {
    perch_tool add "$WORK/examples/bash" --yes
    expect_status 0
    perch_tool call example.hello hello.greet --input '{"name":"you"}'
    expect '{"greeting":"Hello, you!"}'
    perch_tool call example.hello hello.greet
    expect '{"greeting":"Hello, stranger!"}'
    perch_tool call example.hello hello.greet --input '{"name":"\""}'
    expect_status 64
}

@test "python: counts words" {
    perch_tool add "$WORK/examples/python" --grant tool.execute --read "$prefix"
    expect_status 0
    perch_tool call example.words words.count --input '{"text":"to be or not to be"}'
    expect '{"total":6,"words":{"to":2,"be":2,"or":1,"not":1}}'
    perch_tool call example.words words.count --input '{}'
    expect_status 64
    has "$errors" '$.text: is required and missing'
}

@test "c: a binding written by hand" {
    cp "$PERCH_BUILD/examples/tool-count" "$WORK/examples/c/count"
    perch_tool call --binding "$WORK/examples/c/count.toml" count.echo --input '[1.50, "x"]'
    expect_status 0
    expect '{"bytes":10,"echo":[1.50,"x"]}'
    perch_tool check --binding "$WORK/examples/c/count.toml"
    expect_status 0
    has "$output" "tool.execute  allowed"
}

@test "create: a tool in every language works at once" {
    cd "$BATS_TEST_TMPDIR"
    for lang in sh python javascript c; do
        perch_tool create "my-$lang" --lang "$lang" --description 'says "it"'
        expect_status 0
        has "$output" "perch tool add ."
        [ "$lang" != c ] || make -s -C my-c
        perch_tool add "./my-$lang" --yes --read "$prefix" # an interpreter below the home is hidden
        expect_status 0
        perch_tool call "my-$lang" "my-$lang.greet" --input '{"name":"Zoë"}'
        expect_status 0
        greeting=$("$python" -c 'import json, sys; print(json.load(sys.stdin)["greeting"])' <<<"$output")
        [ "$greeting" = 'Hello, Zoë!' ]
        perch_tool call "my-$lang" "my-$lang.greet" --input '{}'
        has "$errors" "is required and missing"
    done
    perch_tool create my-sh
    expect_status 1
    has "$errors" 'there is a ./my-sh already'
    perch_tool create other --lang perl
    expect_status 64
    has "$errors" 'the language is sh, python, javascript or c, not `perl`'
    perch_tool create json --json
    has "$output" '"files_created":["rterm-plugin.json","json.sh"]'
}
