#!/usr/bin/env bats
# The programs of docs/embedding.md, compiled and run as the page says.

# shellcheck disable=SC2154 # what fledge_open sets
load plugins

setup() {
    fledge_open
    cp -r "$PERCH_SOURCE/examples" "$WORK/examples"
}
teardown() { fledge_close; }

# build NAME: $WORK/NAME from the block of the page that is NAME.c.
build() {
    sed -n "/^<!-- file: $1.c -->\$/,/^\`\`\`\$/p" "$PERCH_SOURCE/docs/embedding.md" |
        sed '/^<!--/d; /^```/d' >"$WORK/$1.c"
    [ -s "$WORK/$1.c" ]
    cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$PERCH_SOURCE/include" "$WORK/$1.c" \
        "$PERCH_BUILD/src/libperch.a" -o "$WORK/$1"
}

@test "embedding: every program of the page is built here" {
    run sed -n 's/^<!-- file: \(.*\) -->$/\1/p' "$PERCH_SOURCE/docs/embedding.md"
    [ "$output" = "child.c
plugin.c
tool.c
agent.c" ]
}

@test "embedding: a child" {
    build child
    run "$WORK/child"
    [ "$status" -eq 0 ]
    [ "$output" = hello ]
}

@test "embedding: a plugin asks, shows, ends" {
    build plugin
    plugin greet <<'END'
#!/bin/sh
read -r init
echo '{"type":"prompt","id":"1","message":"Who are you?"}'
read -r answer
printf '%s\n' '{"type":"output","text":"Hello, you\n"}'
exit 3
END
    run "$WORK/plugin" greet <<<me
    [ "$status" -eq 3 ]
    [[ "$output" == *"Who are you?
Hello, you"* ]]
    [[ "$output" == *"error: Plugin 'fledge-greet' exited with code 3"* ]]
    run "$WORK/plugin" greet </dev/null
    [ "$status" -eq 130 ]
    run "$WORK/plugin" nothing
    [ "$status" -eq 1 ]
    [[ "$output" == *"nothing"* ]]
}

@test "embedding: a tool" {
    build tool
    cp "$PERCH_BUILD/examples/tool-count" "$WORK/examples/tools/c/count"
    run "$WORK/tool" "$WORK/examples/tools/c/count.toml" count.echo '[1.50, "x"]'
    [ "$status" -eq 0 ]
    [ "$output" = '{"bytes":10,"echo":[1.50,"x"]}' ]
    run "$WORK/tool" "$WORK/examples/tools/c/count.toml" count.nothing '{}'
    [ "$status" -eq 7 ]
}

@test "embedding: an agent" {
    build agent
    cp "$PERCH_BUILD/examples/agent-count" "$WORK/examples/agents/count"
    run "$WORK/agent" "$WORK/examples/agents/count.yaml" "two words"
    [ "$status" -eq 0 ]
    [ "$output" = "2 words in turn 1
session 1" ]
}
