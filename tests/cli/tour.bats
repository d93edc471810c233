#!/usr/bin/env bats
# perch tour without a terminal: the whole story, and nothing behind it. On a terminal:
# tests/term/tour.bats.

setup() {
    perch="$PERCH_BUILD/perch"
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir "$TMPDIR"
}

# The tour has removed its directory, and the user's own were never made.
leaves_nothing() {
    [ -z "$(find "$TMPDIR" -mindepth 1 -name 'perch-tour*')" ]
    [ -z "$(find "$HOME" -mindepth 1)" ]
}

# said TEXT…: these stand in $output, in this order.
said() {
    local rest=$output
    for text; do
        [[ "$rest" == *"$text"* ]] || {
            echo "missing: $text"
            return 1
        }
        rest=${rest#*"$text"}
    done
}

@test "in a pipe it runs by itself and every command ends as told" {
    run "$perch" tour </dev/null
    [ "$status" -eq 0 ]
    said "1/4 A plugin asks, and remembers" \
        "\$ perch run --answer 'Your name:=Ada' greet" "Hello, Ada. I will remember that." \
        "\$ perch run greet" "Welcome back, Ada. I did not have to ask." \
        "2/4 A tool is refused, and then allowed" \
        "this ends in an error, as it should" \
        "\$ perch tool call tour.diary diary.read" "error: unreadable:" \
        "perch tool allow tour.diary --read" "\$ perch tool allow tour.diary --read diary.txt" \
        "\$ perch tool call tour.diary diary.read" '{"line":"Today a bird sat on the fence."}' \
        "3/4 An agent streams its answer" "This is turn 1. You said:" "Good morning!" \
        "This is turn 2. You said:" "Still there?" \
        "4/4 A sandbox stops a theft" "\$ cat ~/.ssh/id_ed25519" "not-a-real-key" \
        "\$ perch run count" "I looked for your private key too, and found none." \
        "\$ perch plugins allow thief --sandbox off" \
        "perch tells that as an error" \
        "\$ perch run count" "I have stolen your key: not-a-real-key" "exited with code 1" \
        "perch tour --keep DIR"
    [[ "$output" != *"was expected"* && "$output" != *$'\033'* && "$output" != *warning* ]]
    leaves_nothing
}

@test "two tours say the same, but for where they were" {
    told() { "$perch" tour </dev/null 2>&1 | sed 's/perch-tour-[A-Za-z0-9]*/WHERE/g'; }
    diff <(told) <(told)
}

@test "a theft that the sandbox does not stop is told, and what is missing" {
    PERCH_SANDBOX_NO_ROOM=1 PERCH_LANDLOCK_ABI_MAX=0 run "$perch" tour </dev/null
    [ "$status" -eq 1 ]
    said "warning: not enforced here: hidden paths" "I have stolen your key" \
        "(That ended with 1; 0 was expected.)" "perch doctor"
    leaves_nothing
}

@test "without namespaces the theft is still stopped, and what is not enforced is said" {
    PERCH_SANDBOX_NO_ROOM=1 run "$perch" tour </dev/null
    [ "$status" -eq 0 ]
    said "warning: not enforced here:" "I looked for your private key too, and found none."
    leaves_nothing
}

@test "--keep leaves a directory in which every command can be typed again" {
    run "$perch" tour --keep "$BATS_TEST_TMPDIR/a b" </dev/null
    [ "$status" -eq 0 ]
    said "cd '$(realpath "$BATS_TEST_TMPDIR")/a b/work' && . ../env"
    [ -z "$(find "$TMPDIR" -name 'perch-tour*')" ]
    cd "$BATS_TEST_TMPDIR/a b/work"
    # shellcheck source=/dev/null # made by the tour
    . ../env
    run perch run greet
    [ "$output" = "Welcome back, Ada. I did not have to ask." ]
    run perch tool call tour.diary diary.read
    [ "$output" = '{"line":"Today a bird sat on the fence."}' ]
}

@test "--keep touches nothing that is there" {
    mkdir "$BATS_TEST_TMPDIR/there"
    run "$perch" tour --keep "$BATS_TEST_TMPDIR/there"
    [ "$status" -eq 125 ]
    [[ "$output" == *"is there already: name a new directory"* ]]
    run "$perch" tour --keep /proc/no/such
    [ "$status" -eq 125 ]
    leaves_nothing
}

@test "--keep where no path leads leaves nothing either" {
    # A working directory whose own path is longer than any that can be named.
    run python3 - "$perch" "$BATS_TEST_TMPDIR" <<'END'
import os, subprocess, sys
perch, top = sys.argv[1:]
os.chdir(top)
for _ in range(17):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
code = subprocess.run([perch, "tour", "--keep", "kept"], stdin=subprocess.DEVNULL).returncode
print(code, os.listdir("."))
END
    [[ "$output" == *"kept cannot be made: File name too long"* ]]
    [ "${lines[-1]}" = "125 []" ]
    leaves_nothing
}

@test "the user's directories are never those of the tour" {
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config" XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache" FLEDGE_NON_INTERACTIVE=1
    run "$perch" tour </dev/null
    [ "$status" -eq 0 ]
    [ ! -e "$XDG_CONFIG_HOME" ]
    [ ! -e "$XDG_STATE_HOME" ]
    [ ! -e "$XDG_CACHE_HOME" ]
}

@test "killed by a signal, it leaves nothing" {
    for signal in TERM INT HUP; do
        mkfifo "$BATS_TEST_TMPDIR/pipe-$signal"
        env --default-signal "$perch" tour </dev/null >"$BATS_TEST_TMPDIR/pipe-$signal" &
        pid=$!
        exec 7<"$BATS_TEST_TMPDIR/pipe-$signal"
        while read -r line <&7 && [[ "$line" != *"This is turn 1"* ]]; do :; done
        kill "-$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        exec 7<&-
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        leaves_nothing
    done
}

@test "a program that is linked from elsewhere finds itself" {
    ln -s "$perch" "$BATS_TEST_TMPDIR/perch"
    cd /
    run env -i PATH="$BATS_TEST_TMPDIR:/usr/bin:/bin" TMPDIR="$TMPDIR" HOME="$HOME" perch tour </dev/null
    [ "$status" -eq 0 ]
    leaves_nothing
}

@test "where the shell does not find perch, it says what would help" {
    # All that the system has but a perch that is installed there. A sandbox hides these links, so
    # that scenes miss programs: what is told behind them is what counts.
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -sf -t "$BATS_TEST_TMPDIR/bin" /usr/bin/* /bin/*
    rm -f "$BATS_TEST_TMPDIR/bin/perch"
    run env PATH="$BATS_TEST_TMPDIR/bin" "$perch" tour </dev/null
    said "That was it." "export PATH=\"$(realpath "$PERCH_BUILD"):\$PATH\"" "perch help"
    run env PATH="$PERCH_BUILD:/usr/bin:/bin" "$perch" tour </dev/null
    [ "$status" -eq 0 ]
    [[ "$output" != *"export PATH"* ]]
}

@test "its own lines fit 80 columns" {
    "$perch" tour </dev/null >"$BATS_TEST_TMPDIR/told"
    run awk '/^([A-Z]|perch )/ && length > 80' "$BATS_TEST_TMPDIR/told"
    [ -z "$output" ]
}

@test "words it does not know" {
    run "$perch" tour around
    [ "$status" -eq 64 ]
    run "$perch" tour --kep x
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean --keep"* ]]
}

@test "a reader that goes away ends it, and nothing is left" {
    run bash -c "set -o pipefail; '$perch' tour </dev/null | head -n 1"
    leaves_nothing
}
