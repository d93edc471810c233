#!/usr/bin/env bats
# The README, as somebody follows it who has never seen perch: its sections in order, in a
# fresh home.

setup() {
    readme="$PERCH_SOURCE/README.md"
    export HOME="$BATS_TEST_TMPDIR/home" PATH="$PERCH_BUILD:$PATH"
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME
    mkdir "$HOME" "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return 1
}

# section TITLE: the shell commands below this heading.
section() {
    awk -v title="## $1" '
        /^## / && !in_block { found = $0 == title }
        found && /^```/ { in_block = !in_block; next }
        found && in_block' "$readme"
}

# follow TITLE: typed into a shell; what it prints is in $output.
follow() {
    section "$1" >"$BATS_TEST_TMPDIR/typed"
    [ -s "$BATS_TEST_TMPDIR/typed" ]
    run sh -eu "$BATS_TEST_TMPDIR/typed" </dev/null
    [ "$status" -eq 0 ]
}

@test "a first plugin, tool and agent, one after the other" {
    follow "A first plugin"
    [ "${lines[-1]}" = "Hello, you!" ]
    follow "A first tool"
    [ "${lines[-1]}" = '"HELLO"' ]
    follow "A first agent"
    [[ "$output" == *"Polly wants a cracker "$'\n'"(turn 1)"* ]]
    [ "${lines[-1]}" = "(turn 2)" ]
    run perch run --answer 'Your name:=Ada' hello
    [ "$output" = "Hello, Ada!" ]
}

@test "the first plugin takes a cancel for no answer, the first agent no * for a pattern" {
    follow "A first plugin"
    run hello/hello.sh <<<$'{"type":"init"}\n{"type":"cancel","id":"1","reason":"user_interrupt"}'
    [ "$status" -eq 130 ]
    [[ "$output" != *Hello* ]]
    follow "A first agent"
    run perch agent run -p parrot.yaml --prompt '2 * 3'
    [ "${lines[0]}" = "2 * 3 " ]
}

@test "what it says of agents: all your rights, but for --sandbox" {
    grep -q "An agent has all your" "$readme"
    if ! unshare -rm true; then skip "there are no mount namespaces"; fi
    mkdir "$HOME/.ssh"
    echo key >"$HOME/.ssh/id_rsa"
    echo "command: cat $HOME/.ssh/id_rsa" >thief.yaml
    run perch agent run -p thief.yaml --prompt x
    [ "$output" = key ]
    run perch agent run -p thief.yaml --sandbox --prompt x
    [ "$status" -ne 0 ]
}

@test "they need nothing but a shell: ten lines of program each, or fewer" {
    for title in "A first plugin" "A first tool" "A first agent"; do
        [ "$(section "$title" | awk '/^END$/ { inside = 0 } inside; /<<.END.$/ { inside = 1 }' |
            wc -l)" -le 10 ]
    done
}

@test "every figure of the table stands in docs/performance.md" {
    # The second column; numbers with their unit, or ranges of them.
    sed -n '/^## What it does/,/^## Where/p' "$readme" | grep '^| ' | tail -n +2 |
        grep -oE '[0-9][0-9.,–]* ?(ns|µs|ms|MB)' | sort -u >figures
    [ "$(wc -l <figures)" -ge 8 ]
    while read -r figure; do
        grep -qF -- "$figure" "$PERCH_SOURCE/docs/performance.md" || {
            echo "docs/performance.md does not say: $figure"
            return 1
        }
    done <figures
}

@test "every suite and benchmark it names is there" {
    # The build lists them; whether they are built depends on what is tested.
    # shellcheck source=tests/lib.sh
    . "$PERCH_SOURCE/tests/lib.sh"
    suites=$(grep -oE '\./dev test [a-z/ _-]+' "$readme" | cut -d ' ' -f 3- | tr ' ' '\n' | grep .)
    for suite in $suites; do
        case $suite in
        unit/*) programs "$PERCH_BUILD" tests/test- | grep -qxF -- "${suite#unit/}" ;;
        */*) [ -f "$PERCH_SOURCE/tests/$suite.bats" ] ;;
        *) compgen -G "$PERCH_SOURCE/tests/$suite/*.bats" >/dev/null ;;
        esac || {
            echo "no suite: $suite"
            return 1
        }
    done
    while read -r _ _ name; do
        [ -f "$PERCH_SOURCE/bench/$name.c" ]
    done < <(grep -oE '\./dev bench [a-z]+' "$readme")
}

@test "the pictures are there, of the real terminal, without a path of this machine" {
    for picture in $(grep -oE '\(docs/pictures/[a-z]+\.svg\)' "$readme" | tr -d '()'); do
        grep -q 'prefers-color-scheme: dark' "$PERCH_SOURCE/$picture"
    done
    run grep -lE "[ >'](/tmp|/root|/work|/usr)/" "$PERCH_SOURCE"/docs/pictures/*.svg
    [ "$status" -eq 1 ]
}

@test "the pictures are what perch shows now" {
    if ! unshare -rm true; then skip "there are no mount namespaces"; fi
    run python3 "$PERCH_SOURCE/docs/pictures/make" --perch "$PERCH_BUILD/perch" --check
    [ "$status" -eq 0 ]
}

@test "what the pictures start is known to be a test's" {
    if ! unshare -rm true; then skip "there are no mount namespaces"; fi
    export PERCH_TEST_RUN="${PERCH_TEST_RUN:-nobody}"
    printf '#!/bin/sh\nenv >%s\nexit 1\n' "$BATS_TEST_TMPDIR/seen" >"$BATS_TEST_TMPDIR/perch"
    chmod +x "$BATS_TEST_TMPDIR/perch"
    cp "$PERCH_BUILD/perch-guard" "$BATS_TEST_TMPDIR"
    run python3 "$PERCH_SOURCE/docs/pictures/make" --perch "$BATS_TEST_TMPDIR/perch" --check
    [ "$status" -ne 0 ]
    grep -qxF "PERCH_TEST_RUN=$PERCH_TEST_RUN" "$BATS_TEST_TMPDIR/seen"
}
