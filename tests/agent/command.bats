#!/usr/bin/env bats
# perch agent run and check as commands: options, mistakes, both kinds of output.

# shellcheck disable=SC2154,SC2016 # what agent_open and turn set
load agents

setup() { agent_open; }
teardown() { agent_close; }

usage() {
    perch_alone agent "$@"
    expect_status 64
    expect ''
}

@test "usage errors say what is missing" {
    agent <<<'true'
    usage
    usage rnu
    has "$errors" 'did you mean: perch agent run'
    usage run
    has "$errors" '--profile'
    usage run --profile "$profile"
    has "$errors" '--prompt'
    usage run --profile "$profile" --prompt a --stdin
    usage run --profile "$profile" --prompt a --session x --new
    usage run --profile "$profile" --prompt a --env novalue
    usage run --profile "$profile" --prompt a --env =x
    usage run --profile "$profile" --prompt a --timeout soon
    usage run --profile "$profile" --prompt a --timeout -1
    usage run --profile "$profile" --prompt a --line-limit 5
    usage run --profile "$profile" --prompt a --session 'a b'
    has "$errors" 'without blanks'
    usage run --profile "$profile" --prompt a --session $'\xff'
    usage run --profile "$profile" --prompt a extra
    usage run --profile "$profile" --promt a
    has "$errors" '--prompt'
    usage check
    usage check a b
}

@test "help fits a screen and has an example" {
    for word in agent 'agent run' 'agent check'; do
        # shellcheck disable=SC2086
        run "$perch" $word --help
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -le 24 ]
        has "$output" 'example:'
    done
}

@test "human output: partials, then the body on a line of its own; the rest on stderr" {
    agent 'colour: red' <<'END'
echo 'AGENT_PARTIAL:"one "'
echo 'AGENT_PARTIAL:"two"'
echo body
END
    turn
    expect 'one two
body'
    has "$errors" "warning: $BATS_TEST_TMPDIR/bot.yaml:3: unknown key 'colour' is ignored"
    turn --quiet
    expect 'one two
body'
    [ -z "$errors" ]
}

@test "a profile's warnings come before its agent, also one that cannot start" {
    agent 'colour: red' <<'END'
echo 'said by the agent' >&2
END
    turn --verbose
    has "$(head -n 1 <<<"$errors")" "unknown key 'colour'"
    profile_of 'command: no-such-thing' 'colour: red'
    turn
    expect_status 127
    has "$(head -n 1 <<<"$errors")" "unknown key 'colour'"
    has "$errors" "error: no such command"
}

@test "the session is stored and continued; --new, --session and --no-store" {
    agent <<'END'
echo "AGENT_SESSION:s-${AGENT_SESSION_ID:-first}"
echo "was:$AGENT_SESSION_ID"
END
    stored() { "$perch" agent run --profile "$profile" --prompt hi "$@"; }
    [ "$(stored)" = was: ]
    [ "$(stored)" = was:s-first ]
    [ "$(stored --no-store)" = was: ]
    [ "$(stored --session-name other)" = was: ]
    [ "$(stored --from ann)" = was: ]
    [ "$(stored)" = was:s-s-first ]
    [ "$(stored --new)" = was: ]
    [ "$(stored)" = was:s-first ]
    [ "$(stored --session mine)" = was:mine ]
    [ "$(stored)" = was:s-mine ]
}

@test "a session id is kept when the turn fails" {
    agent <<'END'
echo "was:$AGENT_SESSION_ID"
[ -n "$AGENT_SESSION_ID" ] && exit 0
echo AGENT_SESSION:kept
exit 3
END
    run "$perch" agent run --profile "$profile" --prompt hi
    [ "$status" -eq 3 ]
    run "$perch" agent run --profile "$profile" --prompt hi
    [ "$output" = was:kept ]
}

@test "--trace records both directions" {
    agent 'stdin: message' <<'END'
cat; echo
END
    turn --trace "$WORK/trace" --prompt hello
    has "$(cat "$WORK/trace")" '"dir":"in","line":"hello"'
    has "$(cat "$WORK/trace")" '"dir":"out","line":"hello"'
}

@test "check: what would be started" {
    agent 'env: {MY_KEY: "${NOT_SET_ANYWHERE}"}' 'cwd: /' <<<'true'
    sed -i "s|agent.sh'\]|agent.sh', '{{MESSAGE}}', '{{SESSION_ID}}']|" "$profile"
    run "$perch" agent check "$profile"
    [ "$status" -eq 0 ]
    has "$output" "command    sh $BATS_TEST_TMPDIR/agent.sh {{MESSAGE}} {{SESSION_ID}}"
    has "$output" 'cwd        /'
    has "$output" 'env        MY_KEY'
    has "$output" 'warning: env MY_KEY: ${NOT_SET_ANYWHERE} is not set'
    run "$perch" agent check --json "$profile"
    [ "$status" -eq 0 ]
    has "$output" '"healthy":true'
    has "$output" '"{{MESSAGE}}","{{SESSION_ID}}"]'
    has "$output" '"AGENT_MESSAGE"'
    lacks "$output" "$HOME"
}

@test "check: a placeholder that is none is a warning" {
    profile_of 'command: sh' 'args: ["{{PROFIL_DIR}}/bot"]'
    run "$perch" agent check "$profile"
    [ "$status" -eq 0 ]
    has "$output" 'warning: there is no placeholder {{PROFIL_DIR}}'
    has "$output" 'did you mean {{PROFILE_DIR}}?'
}

@test "check: what is missing" {
    profile_of 'command: no-such-agent-anywhere'
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" 'no-such-agent-anywhere'
    profile_of 'command: ./nothing'
    run "$perch" agent check "$profile" --json
    [ "$status" -eq 1 ]
    has "$output" '"healthy":false'
    has "$output" 'there is no such file'
    : >"$BATS_TEST_TMPDIR/plain"
    profile_of "command: '{{PROFILE_DIR}}/plain'"
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" "it is not executable (chmod +x $BATS_TEST_TMPDIR/plain)"
    profile_of 'command: "true"' 'cwd: gone'
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" '/gone'
    profile_of 'command: sh' 'args: [-c, "{{MESSAGE}}"]'
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" 'refused'
    profile_of 'command: [1'
    run "$perch" agent check "$profile"
    [ "$status" -eq 125 ]
    has "$output" 'bot.yaml:2:'
}

@test "check: a missing program is told besides a missing directory" {
    profile_of 'command: no-such-agent-anywhere' 'cwd: /no/such/place'
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" "the agent's directory cannot be used: /no/such/place"
    has "$output" "no such command on PATH: 'no-such-agent-anywhere'"
}

@test "check: a program that could not be executed" {
    printf '#!/no/such/interpreter\n' >"$BATS_TEST_TMPDIR/script"
    chmod +x "$BATS_TEST_TMPDIR/script"
    profile_of "command: '{{PROFILE_DIR}}/script'"
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" "its interpreter '/no/such/interpreter' (first line) does not exist"
    profile_of "command: '{{PROFILE_DIR}}/.'"
    run "$perch" agent check "$profile"
    [ "$status" -eq 1 ]
    has "$output" 'it is a directory'
}

@test "check: what its sandbox hides is missing" {
    mkdir -p "$HOME/.ssh" "$BATS_TEST_TMPDIR/box"
    printf '#!/bin/sh\necho hi\n' >"$HOME/.ssh/agent"
    cp "$(command -v sh)" "$HOME/.ssh/interpreter"
    printf '#!%s\necho hi\n' "$HOME/.ssh/interpreter" >"$BATS_TEST_TMPDIR/box/script"
    chmod +x "$HOME/.ssh/agent" "$BATS_TEST_TMPDIR/box/script"
    for case in "$HOME/.ssh/agent $HOME/.ssh/agent" "./script $HOME/.ssh/interpreter"; do
        profile_of "command: ${case% *}" 'cwd: box' 'sandbox: {net: none}'
        turn
        [ "$status" -eq 127 ] || [ "$status" -eq 126 ]
        run "$perch" agent check "$profile"
        [ "$status" -eq 1 ]
        has "$output" "perch agent allow $profile --read ${case#* } shows it"
        profile_of "command: ${case% *}" 'cwd: box' "sandbox: {read: ['${case#* }']}"
        "$perch" agent allow "$profile" --profile
        turn
        expect_status 0
        run "$perch" agent check "$profile"
        [ "$status" -eq 0 ]
    done
}

@test "check: what its sandbox hides of the program that cli names is missing" {
    mkdir -p "$HOME/.ssh"
    printf '#!/bin/sh\n' >"$HOME/.ssh/mine"
    chmod +x "$HOME/.ssh/mine"
    profile_of 'command: sh' 'args: [-c, "exec mine"]' 'sandbox: on' 'cli: mine'
    PATH="$HOME/.ssh:$PATH" keep "$perch" agent check "$profile"
    expect_status 1
    has "$errors" "perch agent allow $profile --read $HOME/.ssh/mine shows it"
    "$perch" agent allow "$profile" --read "$HOME/.ssh/mine"
    PATH="$HOME/.ssh:$PATH" keep "$perch" agent check "$profile"
    expect_status 0
}

@test "check: a profile that cannot be used is told as JSON as well" {
    profile_of 'command: a' 'command: b'
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for file in "$profile" "$BATS_TEST_TMPDIR/fifo" "$BATS_TEST_TMPDIR" /no/such/file; do
        run "$perch" agent check --json "$file"
        [ "$status" -eq 125 ]
        has "$output" "\"healthy\":false,\"profile\":\"$file\",\"problem\":\""
        has "$output" 'error: '
    done
}

@test "check: the script of an interpreter is looked for" {
    profile_of "command: python3 {{PROFILE_DIR}}/nope.py"
    keep "$perch" agent check "$profile"
    expect_status 1
    has "$output$errors" "it needs the file '$BATS_TEST_TMPDIR/nope.py', which is not there"
    echo 'print("hi")' >"$BATS_TEST_TMPDIR/nope.py"
    keep "$perch" agent check "$profile"
    expect_status 0
    profile_of "command: python3" "args: ['-u', 'gone.py']"
    keep "$perch" agent check "$profile"
    expect_status 1
    has "$output$errors" "it needs the file 'gone.py', which is not there"
}

@test "a file that is missing: which one may be meant, in check and behind a turn that failed" {
    local beside='{{PROFILE_DIR}}/bot.sh is the one beside the profile'
    printf '#!/bin/sh\necho hi\n' >"$BATS_TEST_TMPDIR/bot.sh"
    chmod +x "$BATS_TEST_TMPDIR/bot.sh"
    mkdir "$BATS_TEST_TMPDIR/elsewhere"
    cd "$BATS_TEST_TMPDIR/elsewhere" || exit 1
    for command in bot.sh ./bot.sh 'sh bot.sh' 'sh ./bot.sh'; do
        profile_of "command: $command"
        turn
        [ "$status" -ne 0 ]
        has "$errors" "$beside"
        keep "$perch" agent check "$profile"
        expect_status 1
        has "$errors" "$beside"
        keep "$perch" agent chat "$profile" --no-store <<<hi
        has "$errors" "$beside"
    done
    profile_of 'command: "{{PROFILE_DIR}}/bot.sh"' 'cwd: nowhere'
    keep "$perch" agent check "$profile"
    expect_status 1
    has "$errors" 'a relative cwd starts where the profile is'
    profile_of 'command: sh -e' 'protocol: "0.4"'
    turn
    expect_status 127
    has "$errors" 'AgentProc 0.4 does not split a command: write its arguments as a list'
    profile_of 'command: sh' 'args: ["{{PROFILE_DIR}}/bot.sh"]'
    echo 'echo "type result message"; exit 3' >"$BATS_TEST_TMPDIR/bot.sh"
    turn
    expect_status 3
    has "$errors" 'hint: '
    has "$errors" 'bot.sh looks like an agent of AgentProc 0.4'
    echo 'exit 3' >"$BATS_TEST_TMPDIR/bot.sh"
    turn
    lacks "$errors" 'hint: '
}

@test "check: DOS line endings, also behind env" {
    profile_of 'command: "{{PROFILE_DIR}}/bot"'
    for first in '/bin/sh' '/usr/bin/env sh'; do
        printf '#!%s\r\necho hi\r\n' "$first" >"$BATS_TEST_TMPDIR/bot"
        chmod +x "$BATS_TEST_TMPDIR/bot"
        keep "$perch" agent check "$profile"
        expect_status 1
        has "$errors" 'the file has DOS line endings: convert it'
        turn
        has "$errors" 'the file has DOS line endings: convert it'
    done
}
