#!/usr/bin/env bats
# What docs/plugins.md shows runs, and what it names is there.

# shellcheck disable=SC2154 # what manage_open and plugins set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

@test "docs: the examples of docs/plugins.md run, in their order" {
    mkdir names
    ln -s "$perch" names/perch
    sed -n '/^```sh$/,/^```$/p' "$PERCH_SOURCE/docs/plugins.md" | sed '/^```/d' >examples
    [ "$(wc -l <examples)" -gt 10 ]
    PATH="$WORK/names:$PATH" run sh -e examples </dev/null
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    has "$output" "Ada"
    has "$output" "refused with 125"
    has "$output" "approved: fledge-v1"
    has "$output" "  read     $WORK/data"
    has "$output" "its hooks are not run: exec is not granted"
    has "$output" "removed fledge-hello"
}

@test "docs: every subcommand and every option of docs/plugins.md is known" {
    local word
    for word in $("$perch" plugins help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -v perch); do
        grep -q "\`[^\`]*\b$word\b" "$PERCH_SOURCE/docs/plugins.md" || { echo "$word is not mentioned"; return 1; }
        "$perch" plugins "$word" --help >>help
    done
    while read -r word; do
        case $word in
        --json | --ni | --fix | --lang | --answer | -- | ---*) continue ;;
        esac
        grep -q -- "$word" help || { echo "$word is not known"; return 1; }
    done < <(grep -o -- '--[a-z-]*' "$PERCH_SOURCE/docs/plugins.md" | sort -u)
}
