# A real terminal for the tests: tmux with a server of its own.
# start STEP… runs tests/ask in it; keys, screen and wait_for talk to it.

terminal_open() {
    ask="$PERCH_BUILD/tests/ask"
    socket="perch-test-$$-$BATS_TEST_NUMBER"
    answers="$BATS_TEST_TMPDIR/answers"
    columns=80
    rows=24
    unset TMUX
    export TMUX_TMPDIR="$BATS_TEST_TMPDIR"
}

terminal_close() {
    tmux -L "$socket" kill-server 2>/dev/null || true
    for _ in $(seq 600); do
        [ -f "$answers.pid" ] && kill -0 "$(cat "$answers.pid")" 2>/dev/null || return 0
        sleep 0.05
    done
    echo "the program is still there"
    return 1
}

# start [VARIABLE=value…] STEP…: the words become a script, so that nothing is
# quoted twice. What stty says before and after is kept.
start() {
    {
        while [[ "$1" == [A-Z]*=* ]]; do
            printf 'export %q\n' "$1"
            shift
        done
        printf 'cd %q\n' "$BATS_TEST_TMPDIR"
        printf 'stty -g > before\n'
        printf '%q ' "$ask" "$answers" "$@"
        printf '\necho "[over $?]"\n'
        printf 'stty -g > after\n'
        printf 'exec cat\n'
    } > "$BATS_TEST_TMPDIR/run"
    run_in_terminal "bash '$BATS_TEST_TMPDIR/run'"
}

run_in_terminal() {
    LC_ALL=C.UTF-8 tmux -u -L "$socket" -f /dev/null new-session -d -x "$columns" -y "$rows" "$1"
    tmux -L "$socket" set-option -g status off >/dev/null
    tmux -L "$socket" resize-window -x "$columns" -y "$rows" 2>/dev/null || true
}

keys() {
    tmux -L "$socket" send-keys "$@"
}

# Bytes as they are.
bytes() {
    tmux -L "$socket" send-keys -l "$1"
}

screen() {
    tmux -L "$socket" capture-pane -p
}

# Everything since the start, with what has scrolled away.
history() {
    tmux -L "$socket" capture-pane -p -S - -E -
}

cursor() {
    tmux -L "$socket" display-message -p '#{cursor_x},#{cursor_y},#{cursor_flag}'
}

# Waits until the screen holds this text; prints the screen when it never does.
wait_for() {
    for _ in $(seq 600); do
        [[ "$(screen)" == *"$1"* ]] && return 0
        sleep 0.05
    done
    echo "waited for: $1"
    screen
    return 1
}

wait_gone() {
    for _ in $(seq 600); do
        [[ "$(screen)" != *"$1"* ]] && return 0
        sleep 0.05
    done
    echo "still there: $1"
    screen
    return 1
}

wait_cursor() {
    for _ in $(seq 600); do
        [[ "$(cursor)" == $1 ]] && return 0
        sleep 0.05
    done
    echo "the cursor is at $(cursor), not $1"
    screen
    return 1
}

# The program has ended well and left the terminal as it was.
wait_over() {
    wait_for "[over ${1:-0}]"
    wait_until test -s "${WORK:-$BATS_TEST_TMPDIR}/after"
    cmp "${WORK:-$BATS_TEST_TMPDIR}/before" "${WORK:-$BATS_TEST_TMPDIR}/after"
    [[ "$(cursor)" == *,1 ]]
    [ "$(tmux -L "$socket" display-message -p '#{bracket_paste_flag}')" != 1 ]
}

wait_until() {
    for _ in $(seq 600); do
        "$@" && return 0
        sleep 0.05
    done
    echo "never happened: $*"
    return 1
}

signal() {
    wait_until test -s "$answers.pid"
    kill "-$1" "$(cat "$answers.pid")"
}

# A line of the screen, counted from 1, without blanks at its end.
line() {
    screen | sed -n "$1p" | sed 's/ *$//'
}

expect_answers() {
    diff <(printf '%s\n' "$@") "$answers"
}
