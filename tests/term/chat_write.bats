#!/usr/bin/env bats
# perch agent chat as one writes to a model: lines, the editor, commands, what is drawn.

# shellcheck disable=SC2154 # what terminal_open and agents_open set
# shellcheck disable=SC2016 # scripts of agents
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

# Says the message as it came, a line end as |.
showing() {
    profile=show.yaml
    agent show "$@" <<'END'
printf 'got '
printf %s "$AGENT_MESSAGE" | tr '\n' '|'
echo " in $AGENT_SESSION_NAME"
END
}

paste() {
    printf %s "$1" >text
    tmux -L "$socket" load-buffer text
    tmux -L "$socket" paste-buffer -p
}

@test "a pasted text is one message; Alt+Enter, Ctrl+J and a backslash begin a new line" {
    for size in '80 24' '40 10'; do
        read -r columns rows <<<"$size"
        terminal_anew
        showing
        chat
        paste $'one\ntwo\n'
        wait_until typing "❯ one␤two␤"
        keys Enter
        wait_for "got one|two in default"
        keys "a" M-Enter "b" C-j "c\\" Enter "d" Enter
        wait_for "got a|b|c|d in default"
        keys Up
        wait_until typing "❯ a␤b␤c␤d"
        keys Enter
        wait_until seen_times 2 "got a|b|c|d"
        keys C-d
        wait_over
    done
}

seen_times() { [ "$(screen | grep -cF "$2")" -eq "$1" ]; }

@test "Ctrl+X Ctrl+E: the message in the user's editor, also while a turn runs" {
    stepping
    printf '#!/bin/sh\ncat "$1" >seen\nprintf "from the\\neditor\\n" >"$1"\ntouch edited\nwhile [ ! -e done ]; do sleep 0.05; done\n' >edit
    chmod +x edit
    export VISUAL="$BATS_TEST_TMPDIR/edit"
    chat
    keys "hello" Enter
    wait_for "one"
    keys "draft" C-x C-e
    wait_until test -e edited
    [ "$(cat seen)" = draft ]
    touch two three "done"
    wait_until typing "❯ from the␤editor"
    wait_for "reply to hello"
    [ -z "$(ls "${TMPDIR:-/tmp}"/perch-message.* 2>/dev/null)" ]
    keys C-u C-d
    wait_over
    terminal_anew
    export VISUAL=/no/such/editor
    chat
    keys "kept" C-x C-e
    wait_for "the editor failed"
    wait_until typing "❯ kept"
    keys C-u C-d
    wait_over
}

@test "/retry, /edit, /attach, /sessions, /usage, /copy" {
    profile=all.yaml
    echo x >picture.png
    agent all <<'END'
read -r turn
files=$(printf %s "$turn" | jq -r '.attachments | map(.kind + ":" + .name) | join(",")')
message=$(printf %s "$turn" | jq -r .message)
printf '{"type":"result","text":"got %s [%s]","session_id":"s","usage":{"input_tokens":10,"note":"x"}}\n' "$message" "$files"
END
    echo 'protocol: "0.4"' >>all.yaml
    chat
    keys "/retry" Enter
    wait_for "nothing was said yet"
    keys "/attach picture.png" Enter
    wait_for "attached to the next message: $(realpath picture.png | head -c 40)"
    keys "first" Enter
    wait_for "got first [image:picture.png]"
    keys "/retry" Enter
    wait_until seen_times 2 "got first [image:picture.png]"
    keys "/edit" Enter
    wait_until typing "❯ first"
    screen_has "what was attached to it is attached again"
    keys " more" Enter
    wait_for "got first more [image:picture.png]"
    keys "next" Enter
    wait_for "got next []"
    keys "/usage" Enter
    wait_for "this session: 40 tokens (40 in, 0 out)"
    keys "/sessions" Enter
    wait_for "* default  (4 turns)"
    tmux -L "$socket" set-option -s set-clipboard on
    keys "/copy" Enter
    wait_for "copied"
    [ "$(tmux -L "$socket" show-buffer)" = "got next []" ] # as the terminal has it
    keys "/attach nothing.txt" Enter
    wait_for "nothing.txt: No such file"
    "$perch" agent run --profile all.yaml --prompt x --session-name $'bad\e[2Jname' >/dev/null
    keys "/sessions" Enter
    wait_for "bad"
    wait_for "name  (1 turn)"
    screen_has "got next []"
    "$perch" agent run --profile all.yaml --prompt x --session-name mine >/dev/null
    "$perch" agent run --profile all.yaml --prompt x --from ada --session-name of-ada >/dev/null
    keys "/sessions" Enter
    wait_for "mine  (1 turn)"
    [[ "$(screen)" != *of-ada* ]]
    keys C-d
    wait_over
}

@test "/now stops the turn that runs, and comes before those that wait" {
    stepping
    chat
    keys "slow" Enter
    wait_for "one"
    keys "waiting" Enter
    keys "/now quick" Enter
    wait_for "(stopped)"
    touch two three
    wait_for "reply to quick"
    wait_for "reply to waiting"
    [ "$(screen | grep -n 'reply to quick' | cut -d: -f1)" -lt "$(screen | grep -n 'reply to waiting' | cut -d: -f1)" ]
    [ "$(screen | grep -c '(stopped)')" -eq 1 ]
    keys C-d
    wait_over
}

@test "/now: those that wait keep their session and what is attached to them" {
    profile=step.yaml
    agent step <<'END'
echo 'AGENT_PARTIAL:"one "'
while [ ! -e "$WORK/two" ]; do sleep 0.05; done
names=$(printf %s "${AGENT_ATTACHMENTS:-[]}" | jq -r 'map(.type + ":" + .name) | join(",")')
echo "$AGENT_MESSAGE in $AGENT_SESSION_NAME with [$names]"
END
    echo x >'a#b.txt'
    chat
    keys "slow" Enter
    wait_for "one"
    keys "/attach https://host.example/PIC.JPG" Enter
    wait_for "attached to the next message: https://host.example/PIC.JPG"
    keys "waiting" Enter
    keys "/session other" Enter
    keys "/attach a#b.txt" Enter
    wait_for "attached to the next message: $(realpath 'a#b.txt' | head -c 40)"
    keys "second" Enter
    keys "/session third" Enter
    keys "/now quick" Enter
    touch two
    wait_for "quick in third with []"
    wait_for "waiting in default with [image:PIC.JPG]"
    wait_for "second in other with [file:a#b.txt]"
    keys C-d
    wait_over
}

@test "options as in run; a warning of the profile once" {
    showing 'colour: red' 'env_allowlist: [EXTRA]' 'env: {S: "${NOPE}"}'
    printf '#!/bin/sh\necho "$EXTRA $(basename "$PWD") $AGENT_SESSION_NAME"; echo gossip >&2\n' >show.sh
    mkdir there
    chat --env EXTRA=extra --cwd there --session-name work --no-store -v
    keys "one" Enter
    wait_for "extra there work"
    wait_for "gossip"
    keys "two" Enter
    wait_until seen_times 2 "extra there work"
    [ "$(screen | grep -c "'colour' is ignored")" -eq 1 ]
    [ "$(screen | grep -c 'NOPE} is empty')" -eq 1 ] # which each turn warns of
    [ ! -e "$XDG_STATE_HOME/perch/sessions.db" ] || [ "$("$perch" agent sessions list --json | jq '.sessions | length')" -eq 0 ]
    keys C-d
    wait_over
}

@test "Markdown is drawn, modestly; raw with --plain and in a pipe; colours of the agent stay" {
    profile=mark.yaml
    agent mark <<'END'
printf '# Title\nsome **bold** and `code`\n- item\n\033[31mred\033[0m\033[2J\n'
END
    for size in '80 24' '40 10'; do
        read -r columns rows <<<"$size"
        terminal_anew
        chat
        keys "x" Enter
        wait_for "• item"
        wait_for "some bold and code"
        screen_styles | grep -q $'\x1b\[1m.*Title'
        screen_styles | grep -q $'\x1b\[36mcode'
        screen_styles | grep -q $'\x1b\[31mred'
        [ "$(screen | grep -c '# Title')" -eq 0 ]
        keys C-d
        wait_over
    done
    terminal_anew
    chat --plain
    keys "x" Enter
    wait_for "# Title"
    wait_for "some **bold** and \`code\`"
    wait_for "- item"
    keys C-d
    wait_over
    "$perch" agent run mark.yaml x --no-store >out
    printf '# Title\nsome **bold** and `code`\n- item\nred\033[2J\n' | diff - out
    echo x | "$perch" agent chat mark.yaml --no-store >out
    grep -qx '# Title' out
    grep -qx $'red\x1b\[2J' out
}

screen_styles() { tmux -L "$socket" capture-pane -e -p; }

# Thinks, waits, thinks again between the words of its reply.
thinking() {
    profile=think.yaml
    agent think 'protocol: "0.4"' 'env: {WORK: "${WORK}"}' <<'END'
read -r turn
echo '{"type":"partial","role":"thinking","text":"a secret thought"}'
while [ ! -e "$WORK/two" ]; do sleep 0.05; done
echo '{"type":"partial","text":"the reply"}'
echo '{"type":"partial","role":"thinking","text":"another thought"}'
while [ ! -e "$WORK/three" ]; do sleep 0.05; done
echo '{"type":"result","text":"","usage":{"input_tokens":7}}'
END
}

@test "thinking is one line while it lasts, or shown, or hidden; -v tells the usage" {
    for size in '80 24' '40 10'; do
        read -r columns rows <<<"$size"
        rm -f two three
        terminal_anew
        thinking
        chat -v
        keys "hi" Enter
        wait_for "thinking"
        touch two
        wait_for "the reply"
        wait_for "thinking"
        touch three
        wait_for "usage: 7 tokens (7 in, 0 out)"
        screen_lacks "thinking"
        screen_lacks "thought"
        keys C-d
        wait_over
        terminal_anew
        chat --thinking show
        keys "hi" Enter
        wait_for "another thought"
        wait_for "a secret thought"
        wait_for "the reply"
        keys C-d
        wait_over
    done
}
