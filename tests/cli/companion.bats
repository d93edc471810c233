#!/usr/bin/env bats
# Commands that are programs of their own: perch finds them in the tree that it is installed in.

setup() {
    tree="$BATS_TEST_TMPDIR/tree"
    companion="$tree/libexec/perch/perch-conformance"
    mkdir -p "$tree/bin" "$tree/libexec/perch"
    cp "$PERCH_BUILD/perch" "$tree/bin/perch"
    perch="$tree/bin/perch"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# write_program PATH: a program that says who it is, and its words.
write_program() {
    # shellcheck disable=SC2016 # words of the program
    printf '#!/bin/sh\necho "%s:"\nfor word; do echo "<$word>"; done\nexit 7\n' "$1" >"$1"
    chmod +x "$1"
}

@test "perch becomes the program of its own tree, with all its words" {
    write_program "$companion"
    run "$perch" --json conformance 'two words' '' -- --list
    [ "$status" -eq 7 ]
    [ "$output" = "$companion:
<--json>
<conformance>
<two words>
<>
<-->
<--list>" ]
}

@test "a companion has the help and the completions of its command" {
    write_program "$companion"
    run "$perch" help conformance
    [ "$output" = "$companion:
<help>
<conformance>" ]
    run "$perch" conformance --help
    [[ "$output" == *"<--help>" ]]
    run "$perch" __complete conformance --h
    [[ "$output" == *"<__complete>"*"<--h>" ]]
    "$PERCH_BUILD/perch" __complete conformance --h | grep -q '^--host'
    "$PERCH_BUILD/perch" help conformance | grep -q '^usage: perch conformance'
}

@test "one that is missing is told with its package and its place" {
    for words in 'conformance --list' 'help conformance' '--json conformance'; do
        # shellcheck disable=SC2086 # words
        run "$perch" $words
        [ "$status" -eq 127 ]
        [[ "$output" == *"perch conformance is a program of its own, and it is not installed"* ]]
        [[ "$output" == *"the package perch-conformance has it; its place is $companion"* ]]
    done
    "$perch" help | grep -q '  conformance  *check a host'
}

@test "one that cannot be executed is told" {
    write_program "$companion"
    chmod -x "$companion"
    run "$perch" conformance
    [ "$status" -eq 126 ]
    [[ "$output" == *"$companion: permission denied"* ]] || [[ "$output" == *"$companion: Permission denied"* ]]
}

@test "PATH, the directory and the environment choose no companion" {
    mkdir -p other/libexec/perch
    write_program "$BATS_TEST_TMPDIR/other/perch-conformance"
    write_program "$BATS_TEST_TMPDIR/other/libexec/perch/perch-conformance"
    cd other
    run env PATH="$PWD:$PATH" PERCH_LIBEXEC="$PWD" PERCH_PREFIX="$PWD" \
        PERCH_GUARD="$PWD/perch-guard" "$perch" conformance --list
    [ "$status" -eq 127 ]
    ln -s "$perch" perch
    run ./perch conformance --list
    [ "$status" -eq 127 ]
}

@test "a link to perch leads to the tree that perch is in" {
    write_program "$companion"
    ln -s "$perch" link
    run ./link conformance
    [ "$status" -eq 7 ]
}

@test "in a bin without a tree it lies beside perch" {
    rm -r "$tree/libexec"
    write_program "$tree/bin/perch-conformance"
    run "$perch" conformance
    [ "$status" -eq 7 ]
}

@test "every companion of the table has a program, a page and a package" {
    names=$(sed -n 's/.*COMPANION(.*"\([a-z]*\)", GROUP.*/\1/p' "$PERCH_SOURCE/src/cli/main.c")
    [ -n "$names" ]
    for name in $names; do
        [ -x "$PERCH_BUILD/perch-$name" ]
        [ -f "$PERCH_SOURCE/man/perch-$name.1" ]
        grep -qx "Package: perch-$name" "$PERCH_SOURCE/debian/control"
        grep -qx "usr/lib/perch/perch-$name" "$PERCH_SOURCE/debian/perch-$name.install"
    done
    [ "$(grep -c '^	COMPANION(' "$PERCH_SOURCE/src/cli/main.c")" -eq "$(echo "$names" | wc -l)" ]
}
