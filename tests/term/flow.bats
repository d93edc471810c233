#!/usr/bin/env bats
# Output, messages and progress in a real terminal, and without one.

load terminal

setup() { terminal_open; }
teardown() { terminal_close; }

@test "output and messages are printed above an open question" {
    start prompt "Name:" during output $'first\nsecond\n' during log warn "careful" during output $'third\n'
    wait_for "? Name:"
    keys "typed"
    wait_for "? Name: typed"
    signal USR1
    wait_for "second"
    signal USR1
    wait_for "careful"
    signal USR1
    wait_for "third"
    wait_until eval '[ "$(line 5)" = "? Name: typed" ]'
    [ "$(line 1)" = "first" ]
    [ "$(line 2)" = "second" ]
    [ "$(line 3)" = "WARN [tester] careful" ]
    [ "$(line 4)" = "third" ]
    wait_cursor "13,4,1"
    keys "!" Enter
    wait_over
    expect_answers "text <typed!>"
}

@test "unfinished output is not drawn over, and goes on where it ended" {
    start output "Working" prompt "Name:" during output " on" during output $' it\n' during output "end"
    wait_for "? Name:"
    [ "$(line 1)" = "Working" ]
    [ "$(line 2)" = "? Name:" ]
    signal USR1
    wait_for "Working on"
    [ "$(line 2)" = "? Name:" ]
    signal USR1
    wait_for "Working on it"
    signal USR1
    wait_for "end"
    wait_until eval '[ "$(line 3)" = "? Name:" ]'
    [ "$(line 1)" = "Working on it" ]
    [ "$(line 2)" = "end" ]
    keys x Enter
    wait_over
    [ "$(line 3)" = "? Name: x" ]
}

@test "a bar: drawn, changed, cleared" {
    start progress "Uploading artifacts" 3/10 wait progress "Uploading artifacts" 10/10 wait cleared output $'done\n'
    wait_for "▶ Uploading artifacts [======>             ] 3/10"
    signal USR1
    wait_for "▶ Uploading artifacts [====================] 10/10"
    signal USR1
    wait_over
    [ "$(line 1)" = "done" ]
    [ "$(line 2)" = "[over 0]" ]
}

@test "a spinner turns by itself and becomes a bar" {
    start spin "Thinking" wait progress "Counting" 1/2 wait
    wait_for "Thinking"
    first="$(line 1)"
    wait_until eval '[ "$(line 1)" != "$first" ]'
    [[ "$(line 1)" == ?" Thinking" ]]
    signal USR1
    wait_for "▶ Counting ["
    signal USR1
    wait_over
    [ "$(line 1)" = "[over 0]" ]
}

@test "messages and output pass above progress; a question below it" {
    start progress "Busy" 1/4 log info "one" output $'two\n' select "Pick:" a,b during log error "three" cleared
    wait_for "❯ a"
    [ "$(line 1)" = "INFO [tester] one" ]
    [ "$(line 2)" = "two" ]
    [[ "$(line 3)" == "▶ Busy ["*"1/4" ]]
    [ "$(line 5)" = "❯ a" ]
    signal USR1
    wait_for "three"
    wait_until eval '[ "$(line 6)" = "❯ a" ]'
    keys Enter
    wait_over
    [ "$(line 4)" = "? Pick: a" ]
    [ "$(line 5)" = "[over 0]" ]
}

@test "ten thousand progress messages: few are drawn, the last one is" {
    start many 10000 wait
    wait_for "10000/10000"
    signal USR1
    wait_over
    TERM=xterm script -qec "'$ask' '$answers' many 10000" /dev/null < /dev/null > "$BATS_TEST_TMPDIR/bytes"
    [ "$(stat -c %s "$BATS_TEST_TMPDIR/bytes")" -lt 20000 ]
}

@test "levels have their colours; debug needs -v; others are shown as given" {
    start COLOR=1 log debug d log info i log warn w log error e log custom c warning host
    wait_over
    run tmux -L "$socket" capture-pane -p -e
    [[ "$output" == *$'\033[32mINFO'*' [tester] i'* ]]
    [[ "$output" == *$'\033[33mWARN'*' [tester] w'* ]]
    [[ "$output" == *$'\033[31mERROR'*' [tester] e'* ]]
    [[ "$output" == *$'custom [tester] c'* ]]
    [[ "$output" == *$'\033[33mwarning'*': host'* ]]
    [[ "$output" != *DEBUG* ]]
}

@test "-v shows debug messages, -q hides info and progress" {
    run env VERBOSE=1 "$ask" "$answers" log debug hidden log info shown
    [ "$output" = $'DEBUG [tester] hidden\nINFO [tester] shown' ]
    run env QUIET=1 "$ask" "$answers" log info hidden log error shown output $'text\n'
    [[ "$output" == *"ERROR [tester] shown"* && "$output" == *text* && "$output" != *hidden* ]]
}

@test "lines of a message: further ones are indented, control characters gone" {
    run "$ask" "$answers" log info $'one\nerror: two\n\033[31mred\a' warning $'x\x7fy'
    [ "${lines[0]}" = "INFO [tester] one" ]
    [ "${lines[1]}" = "  error: two" ]
    [ "${lines[2]}" = "  [31mred" ]
    [ "${lines[3]}" = "warning: xy" ]
}

@test "without a terminal: output verbatim, messages plain, nothing drawn" {
    "$ask" "$answers" progress Up 1/2 output $'a\033[1mb\0c' spin x log info hello cleared output $'end\n' \
        > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" < /dev/null
    [ "$(cat "$BATS_TEST_TMPDIR/out")" = $'a\033[1mbend' ]
    [ "$(cat "$BATS_TEST_TMPDIR/err")" = "INFO [tester] hello" ]
}

@test "without a terminal a question is cancelled, from the loop" {
    run "$ask" "$answers" prompt "Name:" < /dev/null
    [ "$status" -eq 0 ]
    expect_answers cancelled
}

@test "output into a pipe leaves the screen alone" {
    columns=60
    run_in_terminal "bash -c \"'$ask' '$answers' output text progress Busy 1/2 output more wait | cat > '$BATS_TEST_TMPDIR/piped'; echo '[over 0]'; exec cat\""
    wait_for "▶ Busy"
    [ "$(cat "$BATS_TEST_TMPDIR/piped")" = "textmore" ]
    [[ "$(line 1)" == "▶ Busy"* ]]
    signal USR1
    wait_for "[over 0]"
    [ "$(line 1)" = "[over 0]" ]
}

@test "a full disk and a reader gone are reported, not fatal" {
    run bash -c "'$ask' '$answers' output text flush output more log info after > /dev/full"
    [ "$status" -eq 3 ]
    [[ "$output" == *"after"* ]]
}

@test "a slow reader who does not block gets everything" {
    python3 - "$ask" "$answers" <<'END'
import os, subprocess, sys
read, write = os.pipe()
os.set_blocking(write, False)
text = "0123456789abcde\n" * 8000
child = subprocess.Popen([sys.argv[1], sys.argv[2], "output", text, "output", text], stdout=write)
os.close(write)
data = b""
while chunk := os.read(read, 1000):
    data += chunk
assert child.wait() == 0
assert data.decode() == text * 2, len(data)
END
}

@test "resize: the question is drawn again in the new width" {
    start log info above prompt "A question that takes some room on the line:" during output $'more\n'
    wait_for "room on the line:"
    keys "with an answer"
    wait_for "with an answer"
    # tmux itself moves the lines above into its history.
    tmux -L "$socket" resize-window -x 40 -y 20
    wait_for "? A question that takes some room on"
    wait_for "  the line: with an answer"
    wait_until eval '[ "$(history | grep -c .)" -eq 3 ]'
    [[ "$(history | head -1)" == "INFO [tester] above"* ]]
    signal USR1
    wait_for more
    tmux -L "$socket" resize-window -x 100 -y 30
    wait_for "? A question that takes some room on the line: with an answer"
    wait_until eval '[ "$(history | grep -c .)" -eq 3 ]'
    keys Enter
    wait_over
    expect_answers "text <with an answer>"
}

@test "resize: a menu fits again, however small" {
    start select "Pick:" "100*"
    wait_for "1–11 of 100"
    keys NPage
    wait_for "❯ item 12"
    tmux -L "$socket" resize-window -x 30 -y 8
    wait_for "❯ item 12"
    wait_for "of 100"
    wait_until eval '[ "$(screen | grep -c item)" -ge 3 ]'
    tmux -L "$socket" resize-window -x 4 -y 1
    keys Down
    tmux -L "$socket" resize-window -x 60 -y 12
    wait_for "❯ item 13"
    keys Enter
    wait_over
    expect_answers "chosen <item 13>"
}

@test "a very long message is not drawn in full, a question is" {
    head -c 100000 /dev/zero | tr '\0' x > "$BATS_TEST_TMPDIR/long"
    long="$(cat "$BATS_TEST_TMPDIR/long")"
    start log info "$long" progress "$long" 1/2 select "$long" "$long,b"
    wait_for "❯ x"
    local lines
    lines=$(history | grep -c .)
    [ "$lines" -gt 1290 ]
    [ "$lines" -lt 1420 ]
    keys Down Enter
    wait_over
    expect_answers "chosen <b>"
}
