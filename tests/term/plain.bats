#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031 # each test has its own locale
# What is printed for people on terminals that can do little: 80 columns, no colours, no
# UTF-8. Questions and progress on such terminals: questions.bats, fledge.bats, chat.bats.

setup() {
    perch="$PERCH_BUILD/perch"
    export HOME="$BATS_TEST_TMPDIR/home" TERM=xterm
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME NO_COLOR
    mkdir "$HOME"
    cd "$PERCH_SOURCE/examples/tour" || return 1
    "$perch" plugins install ./greeter ./thief --yes
    "$perch" tool add ./diary --yes
}

# on_terminal WORD…: perch on a terminal of 80 columns; every byte it wrote is in $output.
on_terminal() {
    local words
    printf -v words '%q ' "$perch" "$@"
    run env SHELL=/bin/bash script -qc "stty cols 80 rows 24; $words" /dev/null
    output=${output//$'\r'/}
}

# What people look at, a line each.
views() {
    cat <<'END'
help
help plugins
help tool
help agent
help run
help tour
plugins install --help
plugins list
plugins audit
tool list
tool show tour.diary
agent check teller/teller.yaml
agent sessions list
sandbox check
doctor
END
}

is_ascii() {
    LC_ALL=C
    [[ "$output" != *[$'\x80'-$'\xff']* ]]
}

# The tests run where paths are long: a word that is one does not count.
fits() {
    sed -E 's|/[^ ,]+|/path|g' <<<"$output" | awk 'length > 80 { print; wide = 1 } END { exit wide }'
}

@test "80 columns: words are kept together, and nothing is cut off" {
    while read -ra words; do
        [[ "${words[0]}" != help && "${words[*]}" != *--help ]] || continue
        on_terminal "${words[@]}"
        fits
    done < <(views)
    on_terminal sandbox check
    [[ "$output" == *"made,"$'\n'"                              renamed or removed"* ]]
    # In a pipe a line stays a line.
    run "$perch" sandbox check
    [[ "$output" == *"written, made, renamed or removed"$'\n'* ]]
}

@test "without UTF-8 every view is ASCII" {
    export LC_ALL=C
    while read -ra words; do
        on_terminal "${words[@]}"
        [ -n "$output" ]
        is_ascii
    done < <(views)
    NO_COLOR=1 on_terminal help plugins
    [[ "$output" == "usage: perch plugins WORD ..."* ]]
}

@test "without UTF-8 the names of sessions are ASCII, too" {
    "$perch" agent run --profile teller/teller.yaml --prompt hi --session-name 'käfer'
    for words in 'list' 'show käfer'; do
        # shellcheck disable=SC2086 # two words
        LC_ALL=C on_terminal agent sessions $words
        [[ "$output" == *'k?fer'* ]]
        is_ascii
    done
}

@test "an ISO-8859-1 terminal gets no UTF-8 either" {
    if ! localedef -i en_US -f ISO-8859-1 "$BATS_TEST_TMPDIR/en_US.ISO-8859-1"; then
        skip "there is no localedef"
    fi
    export LOCPATH="$BATS_TEST_TMPDIR" LC_ALL=en_US.ISO-8859-1
    NO_COLOR=1 on_terminal help plugins
    [[ "$output" == "usage: perch plugins WORD ..."* ]]
    is_ascii
}

@test "errors are ASCII there too, and whole" {
    export NO_COLOR=1
    LC_ALL=C on_terminal run 'käfer'
    [ "$output" = "error: there is no command 'k?fer'; perch plugins list shows what is installed" ]
    LC_ALL=C on_terminal tool call tour.diary 'x…'
    [ "$output" = 'error: tool_not_exposed: the plugin does not expose a tool "x..."
  there are: diary.read' ]
    LC_ALL=C on_terminal 'käfer…'
    [ "$output" = "error: there is no command 'k?fer...'
  perch help lists them all" ]
}

@test "a command to be copied has a line of its own behind ': '" {
    export NO_COLOR=1
    on_terminal plugins test nothing
    [ "$output" = 'error: cannot use the directory nothing: No such file or directory
  name the directory of a plugin:
  perch plugins test ./my-plugin' ]
    # In a pipe a line stays a line.
    run "$perch" plugins test nothing
    [ "${lines[1]}" = '  name the directory of a plugin: perch plugins test ./my-plugin' ]
}

@test "with UTF-8, and in a pipe, they are as they were written" {
    NO_COLOR=1 LC_ALL=C.UTF-8 on_terminal 'käfer…'
    [ "${lines[0]}" = $'error: there is no command \'käfer…\'\r' ]
    LC_ALL=C run "$perch" help plugins
    [[ "$output" == "usage: perch plugins WORD …"* ]]
}

@test "no colours with NO_COLOR, on a dumb terminal and in a pipe; some otherwise" {
    while read -ra words; do
        NO_COLOR=1 on_terminal "${words[@]}"
        [[ "$output" != *$'\033['* ]]
        TERM=dumb on_terminal "${words[@]}"
        [[ "$output" != *$'\033['* ]]
    done < <(views)
    on_terminal doctor
    [[ "$output" == *$'\033[32m'* ]]
    on_terminal sandbox check
    [[ "$output" == *$'\033[32m'* ]]
}
