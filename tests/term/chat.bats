#!/usr/bin/env bats
# perch agent chat in a real terminal.

# shellcheck disable=SC2154 # what terminal_open and agents_open set
load terminal
load ../agent_sessions/agents
load chat

setup() {
    terminal_open
    agents_open
}

teardown() {
    terminal_close
    agents_close
}

@test "what the agent says streams in above the line one types in" {
    stepping
    chat
    keys "hello" Enter
    wait_for "one"
    wait_until typing "❯"
    keys "next"
    wait_until typing "❯ next"
    touch two
    wait_for "one two"
    wait_until typing "❯ next"
    touch three
    wait_for "one two three"
    wait_for "reply to hello behind nothing"
    wait_until typing "❯ next"
    [ "$(line 2)" = "❯ hello" ]
    [ "$(line 3)" = "one two three" ]
    [ "$(line 4)" = "reply to hello behind nothing" ]
    keys Enter
    wait_for "reply to next behind s-hello"
    keys C-d
    wait_over
}

@test "Ctrl+C stops the turn, not the conversation; what was typed stays" {
    stepping
    chat
    keys "hello" Enter
    wait_for "one"
    keys "half a l"
    wait_until typing "❯ half a l"
    keys C-c
    wait_for "(stopped)"
    wait_until typing "❯ half a l"
    touch two three
    keys "ine" Enter
    wait_for "reply to half a line behind s-hello"
    keys C-d
    wait_over
}

@test "Ctrl+C without a turn: empties the line, warns, leaves" {
    echoing
    chat
    keys "some text"
    wait_until typing "❯ some text"
    keys C-c
    wait_until typing "❯"
    keys C-c
    wait_for "Ctrl+C again"
    keys "x" Enter
    wait_for "[x] behind"
    keys C-c
    wait_until typing "❯"
    keys C-c
    wait_over
}

@test "first it is said how to leave, and whether the conversation goes on" {
    echoing
    chat
    [ "$(line 1)" = "Ctrl+D leaves, /help lists the commands" ]
    [ "$(line 2)" = "❯" ]
    keys "a" Enter
    wait_for "[a] behind nothing"
    keys "/exit" Enter
    wait_over
    terminal_anew
    rm before after
    chat
    [ "$(line 2)" = "the conversation goes on; /new begins another" ]
    [ "$(line 3)" = "❯" ]
    keys "b" Enter
    wait_for "[b] behind s-a"
    keys C-d
    wait_over
    for option in --new --session-name=other --from=ann; do
        terminal_anew
        rm before after
        chat "$option"
        wait_for "❯"
        screen_lacks "goes on"
        keys C-d
        wait_over
    done
    terminal_anew
    rm before after
    chat --quiet
    [ "$(line 1)" = "❯" ]
    keys C-d
    wait_over
}

@test "up and down bring back what was said, also in another chat" {
    echoing
    chat
    keys "first" Enter
    wait_for "[first]"
    keys "second" Enter
    wait_for "[second]"
    keys "draft" Up
    wait_until typing "❯ second"
    keys Up Up Up
    wait_until typing "❯ first"
    keys Down Down
    wait_until typing "❯ draft"
    keys C-u Up "!" Enter
    wait_for "[second!] behind s-second"
    keys "/quit" Enter
    wait_over
    [ "$(stat -c %a "$XDG_STATE_HOME/perch/history")" = 600 ]
    printf '%s\n' first second second! /quit | diff - "$XDG_STATE_HOME/perch/history"
    tmux -L "$socket" kill-server
    rm before after
    chat
    keys Up Up
    wait_until typing "❯ second!"
    keys C-c
    wait_until typing "❯"
    keys C-d
    wait_over
}

@test "sessions: another one by name, a new one, both stay apart" {
    echoing
    chat
    keys "a" Enter
    wait_for "[a] behind nothing in default"
    keys "/session work" Enter
    wait_until typing "work ❯"
    keys "b" Enter
    wait_for "[b] behind nothing in work"
    keys "/session default" Enter
    wait_until typing "❯"
    keys "c" Enter
    wait_for "[c] behind s-a in default"
    keys "/new" Enter
    wait_for "begins a new session"
    keys "d" Enter
    wait_for "[d] behind nothing in default"
    keys "/sesion" Enter
    wait_for "did you mean /session"
    keys "/stop" Enter
    wait_for "nothing is under way"
    keys "/help" Enter
    wait_for "/quit         leave"
    keys "//x" Enter
    wait_for "[/x] behind s-d"
    keys C-d
    wait_over
    [ "$(stored)" = $'|default|s-d|4\n|work|s-b|1' ]
}

@test "messages typed ahead wait for their turns; Ctrl+C and /stop stop the one that runs" {
    stepping
    chat
    keys "first" Enter
    wait_for "one"
    keys "second" Enter
    wait_for "❯ second"
    keys "third" Enter
    wait_for "❯ third"
    keys C-c
    wait_until eval '[ "$(screen | grep -c "^one")" -eq 2 ]'
    [ "$(screen | grep -c "(stopped)")" -eq 1 ]
    keys "/stop" Enter
    wait_until eval '[ "$(screen | grep -c "^one")" -eq 3 ]'
    [ "$(screen | grep -c "(stopped)")" -eq 2 ]
    touch two three
    wait_for "reply to third behind s-second"
    [ "$(screen | grep -c "(stopped)")" -eq 2 ]
    keys C-d
    wait_over
}

@test "what is typed behind Ctrl+C counts, also when it comes at once" {
    stepping
    chat
    keys "hello" Enter
    wait_for "one"
    touch two three
    keys C-c "hello after" Enter
    wait_for "reply to hello after"
    rm two three
    keys "again" Enter
    wait_until eval '[ "$(screen | grep -c "^one")" -eq 3 ]'
    keys C-c C-d
    wait_over
}

@test "a failing agent is told of, the conversation goes on" {
    profile=fail.yaml
    agent fail <<'END'
[ "$AGENT_MESSAGE" = ok ] && echo fine && exit
echo 'AGENT_ERROR:"no such thing"'
END
    chat
    keys "bad" Enter
    wait_for "error: no such thing"
    keys "ok" Enter
    wait_for "fine"
    keys C-d
    wait_over
}

@test "text cannot move the cursor or pose as perch" {
    profile=evil.yaml
    agent evil <<'END'
printf '\033[2J\033[Hgone\rback\a\n'
END
    chat
    keys "go" Enter
    wait_for "[2J[Hgone"
    [ "$(line 2)" = "❯ go" ]
    keys C-d
    wait_over
}

@test "resize: the line is drawn again in the new width, streaming goes on" {
    stepping
    chat
    keys "hello" Enter
    wait_for "one"
    keys "a line that is being typed while the terminal changes"
    wait_until typing "❯ a line that is being typed while the terminal changes"
    tmux -L "$socket" resize-window -x 40 -y 12
    wait_until typing "❯ ing typed while the terminal changes"
    touch two
    wait_for "two"
    tmux -L "$socket" resize-window -x 100 -y 30
    wait_until typing "❯ a line that is being typed while the terminal changes"
    touch three
    wait_for "reply to hello"
    keys C-c
    wait_until typing "❯"
    keys C-d
    wait_over
}

@test "Ctrl+Z stops the chat as a job; it goes on when it is continued" {
    echoing
    shell_in_terminal "$BATS_TEST_TMPDIR"
    keys "'$perch' agent chat -p echo.yaml" Enter
    wait_for "❯"
    keys "half"
    wait_for "❯ half"
    keys C-z
    wait_for "Stopped"
    keys "fg" Enter
    wait_until typing "❯ half"
    keys Enter
    wait_for "[half] behind nothing"
    keys C-d
    wait_until typing "%>"
    keys "exit" Enter
}

@test "a permission is asked for in between" {
    profile=ask.yaml
    agent ask 'protocol: "0.4"' 'permission: true' <<'END'
read -r turn
echo '{"type":"permission_request","request_id":"1","tool_name":"rm","input":{"path":"/"}}'
read -r answer
case $answer in *allow*) text=allowed ;; *) text=denied ;; esac
echo '{"type":"result","text":"'$text'"}'
END
    chat
    keys "go" Enter
    wait_for "May the agent use rm?"
    wait_until typing "  Type yes, no, session or always [no]:"
    keys "yes" Enter
    wait_for "allowed"
    wait_until typing "❯"
    keys "again" Enter
    wait_until typing "  Type yes, no, session or always [no]:"
    keys "n" Enter
    wait_for "denied"
    keys C-d
    wait_over
}

@test "a permission that was given for the session, or for the profile, is not asked for again" {
    profile=ask.yaml
    agent ask 'protocol: "0.4"' 'permission: true' <<'END'
read -r turn
message=$(printf %s "$turn" | jq -r .message)
echo '{"type":"permission_request","request_id":"1","tool_name":"'"${message% *}"'","input":{}}'
read -r answer
case $answer in *allow*) text=allowed ;; *) text=denied ;; esac
echo '{"type":"result","text":"'"$message $text"'","session_id":"s"}'
END
    # says MESSAGE ANSWER WORD: the question comes, unless the answer is none, and then the reply.
    local mark="❯"
    says() {
        wait_until typing "$mark"
        keys "$1" Enter
        if [ -n "$2" ]; then
            wait_until typing "  Type yes, no, session or always [no]:"
            keys "$2" Enter
        fi
        wait_for "$1 $3"
    }
    chat
    says "ls 1" session allowed
    says "ls 2" "" allowed
    says "rm 3" always allowed
    wait_until typing "❯"
    keys "/session other" Enter
    mark="other ❯"
    says "ls 4" no denied
    says "rm 5" "" allowed
    keys C-d
    wait_over
}

@test "two permissions at a time are asked for one after the other" {
    profile=ask.yaml
    agent ask 'protocol: "0.4"' 'permission: true' <<'END'
read -r turn
echo '{"type":"permission_request","request_id":"1","tool_name":"one","input":{}}'
echo '{"type":"permission_request","request_id":"2","tool_name":"two","input":{}}'
read -r first
read -r second
echo '{"type":"result","text":"both are answered"}'
END
    chat
    keys "go" Enter
    wait_for "May the agent use one?"
    keys "y" Enter
    wait_for "May the agent use two?"
    keys "y" Enter
    wait_for "both are answered"
    keys C-d
    wait_over
}

# Asks for a permission when it is told to.
asking_on_command() {
    profile=ask.yaml
    agent ask 'protocol: "0.4"' 'permission: true' <<'END'
read -r turn
touch asks
while [ ! -e go ]; do sleep 0.05; done
echo '{"type":"permission_request","request_id":"1","tool_name":"rm","input":{"path":"/"}}'
read -r answer
case $answer in *allow*) text=allowed ;; *) text=denied ;; esac
echo '{"type":"result","text":"'$text'"}'
END
}

@test "who types on when a permission is asked for has not answered; the draft comes back" {
    asking_on_command
    chat
    keys "go" Enter
    wait_until test -e asks
    keys "a draft"
    wait_until typing "❯ a draft"
    touch go
    wait_until typing "  Type yes, no, session or always [no]:"
    keys " yes more text" Enter
    wait_for "please type yes, no, session or always"
    keys C-u "yes" Enter "!"
    wait_for "allowed"
    wait_until typing "❯ a draft!"
    keys Enter
    wait_for "❯ a draft!"
    wait_until typing "  Type yes, no, session or always [no]:"
    keys C-c
    wait_for "(stopped)"
    keys C-d
    wait_over
}

@test "a text pasted over a permission answers nothing and sends nothing" {
    asking_on_command
    touch go
    chat
    keys "go" Enter
    wait_until typing "  Type yes, no, session or always [no]:"
    printf 'yes this is pasted\nyes\n' >text
    tmux -L "$socket" load-buffer text
    tmux -L "$socket" paste-buffer -p
    wait_until typing "  Type yes, no, session or always [no]: yes this is pasted yes"
    keys C-u Enter
    wait_for "denied"
    wait_until typing "❯"
    screen_lacks "❯ yes"
    keys C-d
    wait_over
}

@test "a dumb terminal: the reply stays together, the prompt comes when the turn is over" {
    stepping
    prompt=">" TERM_OF_CHAT=dumb chat
    keys "hello" Enter
    wait_for "one"
    touch two
    wait_for "one two"
    touch three
    wait_for "reply to hello behind nothing"
    wait_until typing ">"
    [ "$(line 2)" = "> hello" ]
    [ "$(line 3)" = "one two three" ]
    [ "$(line 4)" = "reply to hello behind nothing" ]
    [ "$(line 5)" = ">" ]
    rm two three
    keys "again" Enter
    wait_until eval '[ "$(line 6)" = one ]'
    keys C-c
    wait_for "(stopped)"
    wait_until typing ">"
    keys C-d
    wait_over
}

@test "output that cannot be written ends a conversation, with 1" {
    echoing
    printf 'a\nb\nc\n' >lines
    run sh -c '"$1" agent chat -p echo.yaml <lines 2>&1 >/dev/full' - "$perch"
    [ "$status" -eq 1 ]
    [ "$(grep -c 'could not be written' <<<"$output")" -eq 1 ]
    [ "$(stored)" = '|default|s-a|1' ]
    OUTPUT_OF_CHAT=/dev/full chat --new
    keys "d" Enter
    wait_for "the output could not be written"
    wait_over 1
}

@test "nobody reads a conversation any more: what runs is cancelled, nothing else begins" {
    profile=gone.yaml
    agent gone <<'END'
echo "$AGENT_MESSAGE" >>"$WORK/begun"
echo 'AGENT_PARTIAL:"said\n"'
[ "$AGENT_MESSAGE" = a ] && exit
echo 'AGENT_PARTIAL:"again\n"'
touch "$WORK/said"
exec sleep 60
END
    mkfifo out
    {
        echo a
        wait_until test -e closed
        printf 'b\nc\nd\n'
    } | {
        code=0
        "$perch" agent chat -p gone.yaml >out || code=$?
        echo "$code" >code
    } &
    head -1 out
    touch closed
    wait
    [ "$(cat code)" -eq 1 ]
    [ "$(cat begun)" = $'a\nb' ]
}

@test "without a terminal every line is a message, one after the other" {
    echoing
    printf 'a\n\n/session w\nb\n/session default\nc' >lines
    run "$perch" agent chat -p echo.yaml <lines
    [ "$status" -eq 0 ]
    [ "$output" = $'[a] behind nothing in default\n[b] behind nothing in w\n[c] behind s-a in default' ]
    [ ! -e "$XDG_STATE_HOME/perch/history" ]
    agent fail <<<'exit 7'
    run "$perch" agent chat -p fail.yaml <lines
    [ "$status" -eq 7 ]
    run "$perch" agent chat -p missing.yaml <lines
    [ "$status" -eq 125 ]
    [[ "$output" == *missing.yaml* ]]
    run "$perch" agent chat
    [ "$status" -eq 64 ]
}
