#!/usr/bin/env bats
# perch tour on a terminal: every command waits for Enter, q leaves.

load terminal

setup() {
    terminal_open
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir "$TMPDIR"
}

teardown() {
    terminal_close
}

# tour [VARIABLE=value…]
tour() {
    # shellcheck disable=SC2016
    between_looks "$BATS_TEST_TMPDIR" env "$@" \
        sh -c 'echo $$ >"$0"; exec "$1" tour' "$answers.pid" "$PERCH_BUILD/perch"
}

gone() {
    [ -z "$(find "$TMPDIR" -name 'perch-tour*')" ]
}

# step COMMAND: it is shown, and Enter runs it.
step() {
    wait_for "\$ $1"
    wait_for "Enter runs it, q leaves"
    keys Enter
}

@test "to its end, with a name of one's own" {
    tour
    step "perch plugins install ./greeter --yes"
    step "perch run greet"
    wait_for "? Your name:"
    keys Grace Enter
    wait_for "Hello, Grace."
    wait_for "And a second time:"
    step "perch run greet"
    wait_for "Welcome back, Grace."
    step "perch tool add ./diary --yes"
    step "perch tool call tour.diary diary.read"
    wait_for "error: unreadable"
    step "perch tool allow tour.diary --read diary.txt"
    wait_for "is allowed"
    step "perch tool call"
    wait_for '"Today a bird'
    step "perch agent run -p teller/teller.yaml --prompt 'Good morning!'"
    wait_for "turn 1."
    step "perch agent run -p teller/teller.yaml --prompt 'Still there?'"
    wait_for "turn 2."
    step "cat ~/.ssh/id_ed25519"
    step "perch plugins install ./thief --yes"
    step "perch run count"
    wait_for "found none"
    step "perch plugins allow thief --sandbox off"
    wait_for "all your rights"
    step "perch run count"
    wait_for "I have stolen your key"
    wait_over 0
    gone
}

@test "q leaves, and so do Ctrl+D and Ctrl+C" {
    tour
    wait_for "Enter runs it, q leaves"
    keys q
    wait_over 0
    gone
    terminal_close
    tour
    wait_for "Enter runs it, q leaves"
    keys C-d
    wait_over 0
    gone
    terminal_close
    tour
    wait_for "Enter runs it, q leaves"
    keys C-c
    wait_over 130
    gone
}

@test "Ctrl+C at the question of a plugin leaves the tour" {
    tour
    step "perch plugins install ./greeter --yes"
    step "perch run greet"
    wait_for "? Your name:"
    keys C-c
    wait_over 130
    gone
}

@test "SIGTERM while it waits, and while a plugin asks: the terminal is as it was" {
    tour
    wait_for "Enter runs it, q leaves"
    signal TERM
    wait_over 143
    gone
    terminal_close
    tour
    step "perch plugins install ./greeter --yes"
    step "perch run greet"
    wait_for "? Your name:"
    signal TERM
    wait_over 143
    gone
}

@test "keys that mean nothing are passed over" {
    tour
    wait_for "Enter runs it, q leaves"
    keys Up x y
    keys Enter
    wait_for "installed greeter 0.1.0"
    wait_for "Enter runs it, q leaves"
    keys Q
    wait_over 0
}

@test "on a dumb terminal, without colours" {
    tour TERM=dumb LC_ALL=C
    wait_for "Enter runs it, q leaves"
    keys Enter
    wait_for "\$ perch run greet"
    keys Enter
    wait_for "? Your name: [stranger]"
    keys Ada Enter
    wait_for "Hello, Ada."
    wait_for "And a second time:"
    keys q
    wait_over 0
    gone
}

@test "on a narrow terminal its words are not broken" {
    columns=40
    rows=40
    tour
    wait_for "Enter runs it, q leaves"
    screen_has "perch hosts programs that live in their"
    screen_has "own process and talk in lines. Every"
    keys q
    wait_over
    gone
}
