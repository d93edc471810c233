#!/usr/bin/env bats
# Questions in a real terminal.

load terminal

setup() { terminal_open; }
teardown() { terminal_close; }

@test "prompt: default shown, taken by Enter; one line stays" {
    start default staging prompt "Deploy target:" prompt "Again:"
    wait_for "? Deploy target: [staging]"
    wait_cursor "27,0,1"
    keys Enter
    wait_for "? Again:"
    [ "$(line 1)" = "? Deploy target: staging" ]
    [ "$(line 2)" = "? Again:" ]
    keys one Space two Enter
    wait_over
    [ "$(line 2)" = "? Again: one two" ]
    [ "$(line 3)" = "[over 0]" ]
    expect_answers "text <staging>" "text <one two>"
}

@test "prompt: Tab takes the default to edit it" {
    start default staging prompt "Where:"
    wait_for "[staging]"
    keys Tab
    wait_for "[staging] staging"
    keys BSpace X Enter
    wait_over
    expect_answers "text <staginX>"
}

@test "prompt: a validator asks again and keeps the text" {
    start validator integer prompt "How many:" validator url prompt "Where:" validator non_empty prompt "Who:" validator path_exists prompt "File:"
    wait_for "How many:"
    keys 12x Enter
    wait_for "please enter a whole number"
    [ "$(line 2)" = "  ✗ please enter a whole number" ]
    wait_cursor "15,0,1"
    keys BSpace
    wait_gone "please enter"
    keys Enter
    wait_for "Where:"
    keys "ftp://x" Enter
    wait_for "please enter a web address"
    keys C-u "https://example.org/" Enter
    wait_for "Who:"
    keys Space Enter
    wait_for "please enter something"
    keys me Enter
    wait_for "File:"
    keys /no/such Enter
    wait_for "there is no such file"
    keys C-u / Enter
    wait_over
    expect_answers "text <12>" "text <https://example.org/>" "text < me>" "text </>"
}

@test "prompt: the keys of an editor" {
    start prompt "Edit:" prompt "Next:"
    wait_for "Edit:"
    keys "world" Home "hello " End "!" Left Left Left DC
    wait_for "? Edit: hello word!"
    keys C-a C-k
    wait_gone "hello"
    keys C-y C-e M-b M-b M-d
    wait_for "? Edit:  word!"
    wait_cursor "8,0,1"
    keys C-f C-w x C-Right y C-Left z
    wait_for "? Edit: zxwordy!"
    wait_cursor "9,0,1"
    keys C-b C-d C-f C-t
    wait_for "? Edit: wxordy!"
    keys Enter
    wait_for "Next:"
    keys "abc def" C-w "ghi" M-BSpace "jkl"
    wait_for "? Next: abc jkl"
    keys C-u C-y C-b C-t Enter
    wait_over
    expect_answers "text <wxordy!>" "text <abc jlk>"
}

@test "prompt: wide and combined characters" {
    start prompt "名前:"
    wait_for "? 名前:"
    wait_cursor "8,0,1"
    bytes "日本語é"
    wait_cursor "15,0,1"
    keys Left
    wait_cursor "14,0,1"
    keys Left
    wait_cursor "12,0,1"
    keys BSpace
    wait_for "日語é"
    bytes $'e\xcc\x81'
    wait_cursor "11,0,1"
    keys Left
    wait_cursor "10,0,1"
    keys Right BSpace Enter
    wait_over
    expect_answers "text <日語é>"
}

@test "prompt: a line longer than the terminal scrolls" {
    columns=40
    start prompt "Long:"
    wait_for "Long:"
    keys "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    wait_for "UVWXYZ"
    [ "$(screen | grep -c .)" -eq 1 ]
    [[ "$(line 1)" != *abc* ]]
    keys Home
    wait_for "? Long: abcdefghijk"
    [[ "$(line 1)" != *XYZ* ]]
    keys "<" End ">" Enter
    wait_over
    expect_answers "text <<abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ>>"
}

@test "prompt: a long question and its default are shown whole, and leave room to type" {
    columns=60
    long="$(printf 'very %.0s' $(seq 40))"
    start default "${long}much" prompt "${long}long" prompt "Next:"
    wait_for "much]"
    [[ "$(screen)" == "? very "*"very long [very"* ]]
    [[ "$(screen)" != *…* ]]
    keys hello
    wait_for "much] hello"
    keys Enter
    wait_for "Next:"
    screen | grep -q "very long$"
    screen | grep -qx "  hello"
    keys Enter
    wait_over
}

@test "confirm: all of a question is shown, wrapped at words" {
    start confirm "This removes the caches, the backups of the last seven days and all logs of the web server, and then deletes the whole production database. Go on?" prompt "Next:"
    wait_for "[y/N]"
    [ "$(line 1)" = "? This removes the caches, the backups of the last seven days and all logs of" ]
    [ "$(line 2)" = "  the web server, and then deletes the whole production database. Go on? [y/N]" ]
    keys y
    wait_for "Next:"
    screen | grep -q "production database. Go on? yes"
    keys Enter
    wait_over
    expect_answers "yes" "text <>"
}

@test "confirm: a question longer than the screen scrolls by; Enter does not answer it" {
    rows=6
    columns=40
    start default yes confirm "$(printf 'number%d ' $(seq 60))and then deletes everything?" prompt "Next:"
    wait_for "? (above) [y/n]"
    screen | grep -q "deletes everything?"
    tmux -L "$socket" capture-pane -p -S - | grep -q "? number1 number2"
    [ "$(tmux -L "$socket" capture-pane -p -S - | grep -o "number[0-9]*" | sort -u | wc -l)" -eq 60 ]
    keys Enter
    wait_for "please type y or n"
    keys n
    wait_for "Next:"
    screen | grep -q "? (above) no"
    keys Enter
    wait_over
    expect_answers "no" "text <>"
}

@test "confirm: a screen that becomes too small for the question is told it" {
    columns=80
    start default yes confirm "$(printf 'number%d ' $(seq 60))and then deletes everything?"
    wait_for "deletes everything? [Y/n]"
    tmux -L "$socket" resize-window -x 40 -y 6
    wait_for "? (above) [y/n]"
    keys Enter
    wait_for "please type y or n"
    keys y
    wait_over
    expect_answers "yes"
}

@test "paste: two lines answer two prompts, and no key inside it acts" {
    start prompt "One:" prompt "Two:" prompt "Three:"
    wait_for "One:"
    printf 'first\tx\nsec\033[Aond\nrest' > "$BATS_TEST_TMPDIR/text"
    tmux -L "$socket" load-buffer "$BATS_TEST_TMPDIR/text"
    tmux -L "$socket" paste-buffer -p
    wait_for "? Three: rest"
    keys " typed" Enter
    wait_over
    expect_answers "text <first x>" "text <sec[Aond>" "text <rest typed>"
}

@test "what is typed before a question is kept for it" {
    start wait prompt "One:" confirm "Sure?" prompt "Two:"
    wait_until test -s "$answers.pid"
    keys "early" Enter "y" Enter "late"
    wait_for "late"
    signal USR1
    wait_for "? Two: late"
    keys Enter
    wait_over
    expect_answers "text <early>" "yes" "text <late>"
}

@test "confirm: y, n, and Enter for the default" {
    start confirm "A?" confirm "B?" confirm "C?" default yes confirm "D?" default yes confirm "E?"
    wait_for "? A? [y/N]"
    wait_cursor "11,0,1"
    keys x y
    wait_for "? B? [y/N]"
    [ "$(line 1)" = "? A? yes" ]
    keys N
    wait_for "? C? [y/N]"
    keys Enter
    wait_for "? D? [Y/n]"
    keys Enter
    wait_for "? E? [Y/n]"
    keys n
    wait_over
    expect_answers yes no no yes no
}

@test "select: arrows, round the ends, and the default" {
    start select "Colour:" red,green,blue default 1 select "Again:" red,green,blue
    wait_for "❯ red"
    wait_cursor "*,*,0"
    [ "$(line 3)" = "  green" ]
    keys Up
    wait_for "❯ blue"
    keys Down Down
    wait_for "❯ green"
    keys Enter
    wait_for "Again:"
    [ "$(line 1)" = "? Colour: green" ]
    wait_for "❯ green"
    keys Home
    wait_for "❯ red"
    keys End
    wait_for "❯ blue"
    keys Enter
    wait_over
    [ "$(line 2)" = "? Again: blue" ]
    expect_answers "chosen <green>" "chosen <blue>"
}

@test "select: typing filters, Backspace widens, Escape clears, then cancels" {
    start select "Fruit:" Apple,Banana,Cherry,Jackfruit select "Two:" a,b
    wait_for "❯ Apple"
    keys "an"
    wait_for "❯ Banana"
    wait_gone Apple
    keys BSpace BSpace j k
    wait_for "nothing matches"
    keys Enter BSpace
    wait_for "❯ Jackfruit"
    wait_gone Cherry
    keys Escape
    wait_for "❯ Jackfruit"
    wait_for Cherry
    keys "CHERRY" Enter
    wait_for "Two:"
    keys Escape
    wait_over
    [ "$(line 2)" = "? Two: (cancelled)" ]
    expect_answers "chosen <Cherry>" "cancelled"
}

@test "select: more options than rows scroll" {
    start log info before select "Many:" "300*"
    wait_for "1–11 of 300" # half the screen
    keys PPage End
    wait_for "❯ item 300"
    wait_for "290–300 of 300"
    keys PPage PPage
    wait_for "❯ item 278"
    keys Home NPage Down
    wait_for "❯ item 13"
    keys Enter
    wait_over
    expect_answers "chosen <item 13>"
    [[ "$(history | head -1)" == "INFO [tester] before"* ]]
    [ "$(history | grep -c 'item')" -eq 1 ]
}

@test "select: a hundred thousand options" {
    start select "Huge:" "100000*"
    wait_for "of 100000"
    keys "99999"
    wait_for "❯ item 99999"
    keys Enter
    wait_over
    expect_answers "chosen <item 99999>"
}

@test "multi_select: space marks, ctrl+a marks all that match, defaults are marked" {
    start default 0,2 multi "Pick:" red,green,blue multi "All:" one,two,three multi "None:" a,b
    wait_for "◉ red"
    [ "$(line 2)" = "❯ ◉ red" ]
    [ "$(line 3)" = "  ○ green" ]
    [ "$(line 4)" = "  ◉ blue" ]
    keys Space Down Space
    wait_for "❯ ◉ green"
    keys Enter
    wait_for "All:"
    [ "$(line 1)" = "? Pick: green, blue" ]
    keys t C-a Escape
    wait_for "○ one"
    keys Enter
    wait_for "None:"
    keys Enter
    wait_over
    expect_answers "chosen <green> <blue>" "chosen <two> <three>" "chosen"
}

@test "Ctrl+C and Ctrl+D cancel, and the terminal is as it was" {
    start prompt "A:" prompt "B:" confirm "C?" select "D:" x,y multi "E:" x,y
    wait_for "? A:"
    keys abc C-c
    wait_for "? B:"
    [ "$(line 1)" = "? A: (cancelled)" ]
    keys x C-d BSpace C-d
    wait_for "? C?"
    keys C-c
    wait_for "? D:"
    keys C-c
    wait_for "? E:"
    keys C-d
    wait_over
    expect_answers cancelled cancelled cancelled cancelled cancelled
}

@test "a question that is withdrawn disappears; the next is asked as ever" {
    start select "Gone:" a,b,c during withdraw prompt "Next:"
    wait_for "❯ a"
    signal USR1
    wait_for "? Next:"
    [ "$(line 1)" = "? Next:" ]
    [ "$(screen | grep -c .)" -eq 1 ]
    keys ok Enter
    wait_over
    expect_answers withdrawn "text <ok>"
}

@test "Ctrl+Z stops it with the terminal restored; the question comes back" {
    run_in_terminal "env PS1='shell> ' bash --norc -i"
    wait_for "shell>"
    keys "stty -a > '$BATS_TEST_TMPDIR/before'; '$ask' '$answers' select Pick: a,b,c" Enter
    wait_for "❯ a"
    keys Down C-z
    wait_for "Stopped"
    wait_gone "❯"
    wait_cursor "*,*,1"
    keys "stty -a > '$BATS_TEST_TMPDIR/after'; echo 'still'' here'" Enter
    wait_for "still here"
    # The shell has settings of its own while it edits: both were taken inside a command.
    cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    keys "fg" Enter
    wait_for "❯ b"
    keys Enter
    wait_for "? Pick: b"
    keys "exit" Enter
    expect_answers "chosen <b>"
}

@test "a signal that kills leaves the terminal restored" {
    start select "Pick:" a,b,c
    wait_for "❯ a"
    signal TERM
    wait_over 143
}

@test "Ctrl+L clears the screen and draws the question again" {
    start log info above progress Busy 1/2 prompt "Name:"
    wait_for "? Name:"
    keys me C-l
    wait_gone above
    [[ "$(line 1)" == "▶ Busy"* ]]
    [ "$(line 2)" = "? Name: me" ]
    keys Enter
    wait_over
    expect_answers "text <me>"
}

@test "TERM=dumb: plain lines, numbers for choices" {
    start TERM=dumb default staging prompt "Where:" validator integer prompt "Count:" confirm "Sure?" \
        default 1 select "One:" red,green,blue multi "Many:" a,b,c log info "done"
    wait_for "? Where: [staging]"
    keys Enter
    wait_for "? Count:"
    keys x Enter
    wait_for "please enter a whole number"
    keys 7 Enter
    wait_for "? Sure? [y/N]"
    keys maybe Enter
    wait_for "please enter y or n"
    keys yes Enter
    wait_for "  3) blue"
    wait_for "? One: [2]"
    keys 9 Enter
    wait_for "please enter the number of an option"
    keys blue Enter
    wait_for "? Many:"
    keys "3, 1" Enter
    wait_over
    wait_for "INFO [tester] done"
    expect_answers "text <staging>" "text <7>" yes "chosen <blue>" "chosen <a> <c>"
}

@test "TERM=dumb: a message repeats the question, Ctrl+D cancels" {
    start TERM=dumb prompt "Where:" during log warn "careful" during output $'text\n' prompt "Next:"
    wait_for "? Where:"
    signal USR1
    wait_for "WARN [tester] careful"
    signal USR1
    wait_for "text"
    wait_until eval '[ "$(line 5)" = "? Where:" ]'
    [ "$(line 1)" = "? Where:" ]
    [ "$(line 2)" = "WARN [tester] careful" ]
    [ "$(line 4)" = "text" ]
    keys C-d
    wait_for "? Next:"
    keys fine Enter
    wait_over
    expect_answers cancelled "text <fine>"
}

@test "ASCII, where the terminal shows nothing else" {
    start ASCII=1 multi "Größe:" "schön,b" select "One:" a,b
    wait_for "> [ ] sch?n"
    [[ "$(line 1)" == "? Gr??e: "* ]]
    keys Space
    wait_for "> [x] sch?n"
    keys Enter
    wait_for "> a"
    keys Enter
    wait_over
    expect_answers "chosen <schön>" "chosen <a>"
}

@test "control characters in questions and options do not reach the terminal" {
    start prompt $'a\033[2Jb\nc\td\x9b31me' select $'x\ry' $'one\033[31m,tw\ao'
    wait_for "? a[2Jb c d"
    keys Enter
    wait_for "? x y"
    [ "$(line 3)" = "❯ one[31m" ]
    [ "$(line 4)" = "  two" ]
    keys Enter
    wait_over
}

@test "a terminal of one row and of few columns works" {
    columns=12
    rows=2
    start select "Pick one of these:" alpha,beta,gamma prompt "And a long text here:" multi "M:" aa,bb
    wait_for "❯ alpha"
    keys Down
    wait_for "❯ beta"
    keys Enter
    wait_for "here:"
    keys "0123456789abcdef" Enter
    wait_for "❯ ○ aa"
    keys Space Enter
    wait_over
    expect_answers "chosen <beta>" "text <0123456789abcdef>" "chosen <aa>"
}
