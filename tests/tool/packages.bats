#!/usr/bin/env bats
# MCP servers from a registry: installed once, in a sandbox that writes their own directory alone,
# and run from there read-only.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    export XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
    place="$XDG_DATA_HOME/perch/mcp/demo"
    "$python" "$PERCH_SOURCE/tests/tool/registry.py" "$WORK/port" >/dev/null 2>"$WORK/registry" 3>&- &
    registry=$!
    wait_until test -s "$WORK/port"
    npm_config_registry="http://127.0.0.1:$(cat "$WORK/port")/"
    PIP_INDEX_URL="${npm_config_registry}simple"
    export npm_config_registry PIP_INDEX_URL
    unset PIP_FIND_LINKS
}

teardown() {
    kill "$registry"
    wait "$registry" || true
    tool_close
}

@test "npm: is installed without scripts, with its hashes, and runs read-only" {
    perch_tool add --mcp demo --yes --env TEST_MARK -- npm:@t/demo@1.2.3 one two
    expect_status 0
    [ -f "$place/package-lock.json" ]
    grep -q '"integrity": "sha512-' "$place/package-lock.json"
    [ -z "$(find "$place" -name postinstall-ran)" ]
    [ ! -e "$place.new" ]
    perch_tool call demo where
    expect "\"$place/node_modules/@t/demo one two\""
    perch_tool call demo write
    [[ "$output" =~ ^\"E(ROFS|ACCES|PERM)\"$ ]]
    perch_tool show demo
    has "$output" "network     none"
}

@test "without a version the newest is taken, and recorded" {
    perch_tool add --mcp demo --yes --env TEST_MARK -- npm:@t/demo
    expect_status 0
    has "$(cat "$place/package-lock.json")" '"version": "1.2.3"'
}

@test "pip: is installed with hashes, from wheels alone" {
    perch_tool add --mcp demo --yes --env TEST_MARK -- pip:t-demo==2.0
    expect_status 0
    grep -Eq '^t-demo==2.0 --hash=sha256:[0-9a-f]{64}$' "$place/requirements.txt"
    perch_tool call demo where
    expect "\"$place/site\""
}

@test "pip: a python3 that stands first on PATH is not asked" {
    mkdir "$WORK/venv"
    printf '#!/bin/sh\n: >"%s/ran"\nexec /usr/bin/python3 "$@"\n' "$WORK" >"$WORK/venv/python3"
    chmod +x "$WORK/venv/python3"
    PATH="$WORK/venv:$PATH" perch_tool add --mcp demo --yes --env TEST_MARK -- pip:t-demo==2.0
    expect_status 0
    [ ! -e "$WORK/ran" ]
    lacks "$(cat "$bindings/demo.toml")" "$WORK/venv"
}

@test "what cannot be had is told, and leaves nothing" {
    perch_tool add --mcp demo --yes -- npm:@t/none@1.0.0
    expect_status 2
    has "$errors" "the installation failed"
    has "$errors" "404"
    [ ! -e "$place" ]
    [ ! -e "$place.new" ]
    [ ! -e "$bindings/demo.toml" ]
    perch_tool add --mcp demo --yes -- pip:t-none==1.0
    expect_status 2
    has "$errors" "the installation failed"
    [ ! -e "$place" ]
    [ ! -e "$place.new" ]
}

@test "names that are none" {
    local name
    for name in 'npm:' 'npm:../x' 'npm:-x' 'npm:a b' 'npm:@t' 'npm:x@' 'npm:x@1;2' 'pip:' 'pip:x==' 'pip:x==$y' 'pip:../x'; do
        perch_tool add --mcp demo --yes -- "$name"
        expect_status 64
        has "$errors" "write npm:NAME@VERSION or pip:NAME==VERSION"
    done
}

@test "nobody is there: nothing is installed" {
    perch_tool add --mcp demo -- npm:@t/demo@1.2.3
    expect_status 64
    has "$errors" "scripts of packages are not run"
    [ ! -e "$XDG_DATA_HOME/perch" ]
}

@test "perch tool remove takes the installation along" {
    perch_tool add --mcp demo --yes --env TEST_MARK -- npm:@t/demo@1.2.3
    expect_status 0
    perch_tool remove demo
    expect_status 0
    [ ! -e "$place" ]
}
