# A real terminal for the tests: tmux with a server of its own.
# start STEP… runs tests/ask in it; keys, screen and wait_for talk to it.

load ../harness/wait

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

# start [VARIABLE=value…] STEP…
start() {
    local variables=()
    while [[ "$1" == [A-Z]*=* ]]; do
        variables+=("$1")
        shift
    done
    between_looks "$BATS_TEST_TMPDIR" env "${variables[@]}" "$ask" "$answers" "$@"
}

# between_looks DIRECTORY COMMAND…: in the terminal, which shows its exit code. What
# stty says before and after is kept, for wait_over. The words become a script, so
# that nothing is quoted twice.
between_looks() {
    local directory=$1 looks="${WORK:-$BATS_TEST_TMPDIR}"
    shift
    rm -f "$looks/after"
    {
        printf 'cd %q\nstty -g > %q\n' "$directory" "$looks/before"
        printf '%q ' "$@"
        printf '\necho "[over $?]"\nstty -g > %q\nexec cat\n' "$looks/after"
    } >"$looks/run"
    run_in_terminal "bash '$looks/run'"
}

# Another one; the old one may still be on its way out.
terminal_anew() {
    tmux -L "$socket" kill-server 2>/dev/null || true
    socket="${socket%+*}+$((${again:=0} + 1))"
    again=$((again + 1))
}

open_session() {
    LC_ALL=C.UTF-8 tmux -u -L "$socket" -f /dev/null new-session -d -x "$columns" -y "$rows" "$1"
}

# A server that is on its way out takes nobody any more.
run_in_terminal() {
    open_session "$1" || { terminal_anew && open_session "$1"; }
    tmux -L "$socket" set-option -g status off >/dev/null
    tmux -L "$socket" resize-window -x "$columns" -y "$rows" 2>/dev/null || true
}

# shell_in_terminal DIRECTORY: a shell with jobs; its prompt is "%>".
shell_in_terminal() {
    local rc="$BATS_TEST_TMPDIR/rc"
    printf 'PS1="%%> "\nunset PROMPT_COMMAND\ncd %q\nPATH=%q\n' "$1" "$PATH" >"$rc"
    run_in_terminal "bash --noprofile --rcfile '$rc' -i"
    wait_for "%>"
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

screen_has() { [[ "$(screen)" == *"$1"* ]]; }
screen_lacks() { [[ "$(screen)" != *"$1"* ]]; }
cursor_is() { [[ "$(cursor)" == $1 ]]; }

# wait_seeing COMMAND…: wait_until; shows the screen when it never happens.
wait_seeing() {
    wait_until "$@" && return
    screen
    echo "the cursor is at $(cursor)"
    return 1
}

wait_for() { wait_seeing screen_has "$1"; }
wait_gone() { wait_seeing screen_lacks "$1"; }
wait_cursor() { wait_seeing cursor_is "$1"; }

# The program has ended well and left the terminal as it was.
wait_over() {
    wait_for "[over ${1:-0}]"
    wait_until test -s "${WORK:-$BATS_TEST_TMPDIR}/after"
    cmp "${WORK:-$BATS_TEST_TMPDIR}/before" "${WORK:-$BATS_TEST_TMPDIR}/after"
    [[ "$(cursor)" == *,1 ]]
    [ "$(tmux -L "$socket" display-message -p '#{bracket_paste_flag}')" != 1 ]
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
