#!/usr/bin/env bats
# The help as a whole, over the tables of commands: it can be read on a small screen,
# it names every option there is and none that there is not, and a slip of the pen
# is answered with what was probably meant.

setup() {
    # shellcheck source=tests/cli/help.sh
    . "$PERCH_SOURCE/tests/cli/help.sh"
    cd "$BATS_TEST_TMPDIR" || return
}

# Every name and letter in an option table of the command line, whoever has it.
all_options() {
    grep -ohE '"[a-z-]+"( : NULL)?, (0|'"'.'"'), OPTION_' -r "$PERCH_SOURCE/src/cli" |
        sed -E "s/^\"([a-z-]+)\", '(.)'.*/--\1\n-\2/; s/^\"([a-z-]+)\".*/--\1/"
    sed -n 's/^\t*"\([a-z-]*\)", 0, OPTION_.*/--\1/p' "$PERCH_SOURCE"/src/cli/*.h "$PERCH_SOURCE"/src/cli/*/*.h
}

# taken_by COMMAND…: of the options on stdin, those that it takes. In a shell of its
# own: bats looks at every command that it runs itself.
taken_by() {
    sh -euc '. "$PERCH_SOURCE/tests/cli/help.sh" && accepted_options "$@"' sh "$@"
}

@test "every command and word explains itself on a screen of 80×24, with an example" {
    [ "$(command_lines | wc -l)" -gt 30 ]
    { echo options && command_lines; } | while read -r words; do
        # shellcheck disable=SC2086
        text=$("$perch" help $words) || { echo "perch help $words fails" && false; }
        [ "$(wc -l <<<"$text")" -le 24 ] || { echo "$words: too many lines" && false; }
        wide=$(grep -E '.{81}' <<<"$text") && { echo "$words: too wide: $wide" && false; }
        grep -qx 'example:' <<<"$text" || { echo "$words: no example" && false; }
        [ "$words" != options ] || continue
        # shellcheck disable=SC2086
        [ "$("$perch" $words --help)" = "$text" ] || { echo "$words --help differs" && false; }
    done
}

@test "the overview names every command" {
    for name in $("$perch" __complete '' | cut -f 1); do
        "$perch" help | grep -q "^ .*\b$name\b" || { echo "$name is missing" && false; }
    done
}

@test "every option that exists is in the help, and the other way round" {
    all_options | sort -u >options
    [ "$(wc -l <options)" -gt 60 ]
    help_options options >global
    leaf_lines | while read -r words; do
        # shellcheck disable=SC2086
        { help_options $words && borrowed_options $words; } | sort -u >helped
        # shellcheck disable=SC2086
        grep -vxF -f global options | sort -u - helped | taken_by $words >accepted
        grep -vxF -f helped accepted >secret || true
        [ ! -s secret ] || { echo "perch $words has, and does not tell:" && cat secret && false; }
        grep -vxF -f accepted helped | grep -vxE -e '--help|-h' >invented || true
        [ ! -s invented ] || { echo "perch $words tells, and has not:" && cat invented && false; }
    done
}

@test "what every command takes is in perch help options, and nothing else" {
    all_options | sort -u | taken_by >accepted
    help_options options | diff - accepted
}

@test "a slip in a command or word suggests the nearest" {
    command_lines | while read -r words; do
        for slip in "${words}x" "${words%?}z"; do
            # shellcheck disable=SC2086
            said=$("$perch" $slip 2>&1 </dev/null) && { echo "$slip: was taken" && false; }
            [[ "$said" == *"did you mean: perch $words"* ]] || { echo "$slip: $said" && false; }
            # shellcheck disable=SC2086
            said=$("$perch" help $slip 2>&1) && { echo "help $slip: was taken" && false; }
            [[ "$said" == *"did you mean: perch $words"* ]] || { echo "help $slip: $said" && false; }
        done
    done
}

@test "a slip in an option suggests the nearest, everywhere" {
    leaf_lines | while read -r words; do
        # shellcheck disable=SC2086
        for slip in $(help_options $words | sed -n 's/....*/&x/p'); do
            said=$("$perch" $words "$slip" 2>&1 </dev/null) && { echo "$words $slip: was taken" && false; }
            [[ "$said" == *"did you mean --"* ]] || { echo "$words $slip: $said" && false; }
        done
    done
}

@test "--help that comes late says where it belongs" {
    run "$perch" tool call acme.echo --help
    [ "$status" -eq 64 ]
    [[ "$output" == *"directly behind the command"* ]]
}
