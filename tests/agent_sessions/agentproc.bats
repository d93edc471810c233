#!/usr/bin/env bats
# perch, called by the name agentproc.

# shellcheck disable=SC2154 # what agents_open sets
# shellcheck disable=SC2016,SC2119,SC2120 # scripts in quotes; profiles of few lines or none
load agents

setup() {
    agents_open
    ln -s "$perch" agentproc
    # Beside the link there is no helper.
    export PERCH_GUARD="$PERCH_BUILD/perch-guard"
}
teardown() { agents_close; }

call() {
    status=0
    ./agentproc "$@" >out 2>err || status=$?
}

@test "body on stdout; partials, session and error on stderr" {
    agent two 'protocol: "0.1"' <<'END'
printf '%s\n' 'AGENT_PARTIAL:"one \u00e9\n"'
echo 'AGENT_SESSION:s-1'
echo "line one"
echo 'AGENT_PARTIAL:"two"'
printf 'line two'
END
    call --profile two.yaml --prompt hi
    [ "$status" -eq 0 ]
    printf 'line one\nline two\n' | diff - out
    printf '%s\n' 'AGENT_PARTIAL:"one é\n"' AGENT_SESSION:s-1 'AGENT_PARTIAL:"two"' agentproc:session:s-1 | diff - err
    call -p two.yaml --prompt hi --quiet
    echo agentproc:session:s-1 | diff - err
    call -p two.yaml --prompt hi --no-stream
    printf '%s\n' AGENT_SESSION:s-1 agentproc:session:s-1 | diff - err
    [ "$(wc -l <out)" -eq 2 ]
    call -p two.yaml --prompt hi --raw
    [ ! -s err ]
    [ "$(wc -l <out)" -eq 2 ]
}

@test "an error, an exit status, a timeout, no such command: the turn's exit code" {
    agent bad 'protocol: "0.1"' <<'END'
echo 'AGENT_SESSION:kept'
printf '%s\n' 'AGENT_ERROR:"first\nsecond"'
echo body
END
    call -p bad.yaml --prompt hi
    [ "$status" -eq 1 ]
    [ ! -s out ]
    printf '%s\n' AGENT_SESSION:kept 'AGENT_ERROR:"first\nsecond"' agentproc:session:kept \
        'agentproc:error:first second' | diff - err
    agent status <<<'exit 9'
    call -p status.yaml --prompt hi
    [ "$status" -eq 9 ]
    grep -q '^agentproc:error:' err
    agent slow <<<'exec sleep 30'
    call -p slow.yaml --prompt hi --timeout 0.2
    [ "$status" -eq 124 ]
    grep -q '^agentproc:error:' err
    echo 'command: /no/such/agent' >none.yaml
    call -p none.yaml --prompt hi
    [ "$status" -eq 127 ]
    grep -q '^agentproc:error:.*/no/such/agent' err
    call -p missing.yaml --prompt hi
    [ "$status" -eq 125 ]
    grep -q '^agentproc:error:.*missing.yaml' err
}

@test "session, name, stdin, cwd and env reach the agent; nothing is stored" {
    agent all 'protocol: "0.1"' <<<'echo "$AGENT_MESSAGE|$AGENT_SESSION_ID|$AGENT_SESSION_NAME|$(basename "$PWD")|$EXTRA"'
    mkdir there
    printf 'from stdin' >message
    call -p all.yaml --stdin --session s-9 --session-name work --cwd there --env EXTRA=x <message
    [ "$(cat out)" = "from stdin|s-9|work|there|x" ]
    call -p all.yaml --prompt again --session-name work
    [ "$(cut -d '|' -f 2 out)" = "" ]
    [ ! -e "$XDG_STATE_HOME/perch/sessions.db" ]
}

@test "dialect 0.4: the events themselves on stderr" {
    agent new 'protocol: "0.4"' <<'END'
read -r turn
echo '{"type":"partial","text":"p","session_id":"s-4"}'
echo '{"type":"result","text":"unsent"}'
END
    call -p new.yaml --prompt hi
    [ "$status" -eq 0 ]
    printf '%s\n' '{"type":"session","id":"s-4"}' '{"type":"partial","text":"p","session_id":"s-4"}' \
        agentproc:session:s-4 | diff - err
    [ ! -s out ]
    agent bad <<'END'
read -r turn
echo '{"type":"error","message":"no"}'
END
    call -p bad.yaml --prompt hi
    [ "$status" -eq 1 ]
    printf '%s\n' '{"type":"error","message":"no"}' agentproc:error:no | diff - err
}

@test "a profile without protocol is 0.4; the published echo agent says it; attachments" {
    agent echo <<'END'
read -r turn
printf '{"type":"result","text":%s}\n' "$(printf %s "$turn" | jq -c '(.message + " " + (.attachments | map(.kind + "=" + .url) | join(" ")))')"
END
    call -p echo.yaml --prompt hi --image-url http://x/i.png --file-url http://x/f
    [ "$status" -eq 0 ]
    [ "$(cat out)" = "hi image=http://x/i.png file=http://x/f" ]
    [ ! -s err ]
    call -p echo.yaml --prompt hi --protocol 0.1
    [ "$status" -eq 0 ]
    grep -q '^{"type":"result"' out
}

@test "a relative --cwd starts at the profile" {
    mkdir -p here bots/there
    printf '%s\n' 'command: pwd' 'protocol: "0.1"' >bots/dir.yaml
    (cd here && "$OLDPWD/agentproc" -p ../bots/dir.yaml --prompt hi --cwd there >../out)
    [ "$(cat out)" = "$(realpath bots/there)" ]
}

@test "hub: the catalogue, and a directory of profiles" {
    export XDG_CACHE_HOME="$PWD/cache"
    mkdir -p hub/echo hub/_shared
    printf '%s\n' 'name: echo' 'description: says it again' 'tested: official' 'agentproc:' \
        '  command: sh' '  args: ["{{PROFILE_DIR}}/bridge.sh"]' >hub/echo/profile.yaml
    printf '%s\n' 'read -r turn' 'message=$(printf %s "$turn" | jq .message)' \
        'printf "{\"type\":\"result\",\"text\":%s}\n" "$message"' >hub/echo/bridge.sh
    echo '# Echo' >hub/echo/README.md
    echo shared >hub/_shared/part
    call hub list
    [ "$status" -eq 0 ]
    grep -q '^ollama ' out
    call hub list --hub hub
    grep -q '^echo *official  *says it again' out
    call hub show echo --hub hub
    [ "$(cat out)" = '# Echo' ]
    call hub show llm
    grep -q '^command: "{{PERCH_DIR}}/perch-translate"' out
    AGENTPROC_HUB=hub call hub run echo -p 'hello'
    [ "$status" -eq 0 ]
    [ "$(cat out)" = hello ]
    mkdir new
    (cd new && AGENTPROC_HUB=../hub ../agentproc hub install echo 2>../err)
    [[ "$(cat err)" != *--cwd* ]] # it would be the profile's directory
    [ -f new/echo/bridge.sh ]
    [ -f new/_shared/part ]
    call --profile new/echo/profile.yaml --prompt again
    [ "$(cat out)" = again ]
    call hub install copilot
    [ "$status" -eq 0 ]
    grep -q '^cli: copilot' copilot/profile.yaml
    call hub install copilot
    [ "$status" -eq 1 ]
    call hub run nothing -p hi
    [ "$status" -eq 2 ]
    call hub run ../echo -p hi --hub hub
    [ "$status" -eq 2 ]
}

@test "help, version and usage errors" {
    run ./agentproc --help
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "usage: agentproc "* ]]
    [[ "$output" == *'124 for a timeout'* ]]
    run ./agentproc --version
    [[ "$output" == "agentproc 0.4 (perch "* ]]
    run ./agentproc
    [ "$status" -eq 2 ]
    [[ "${lines[0]}" == "usage: agentproc "* ]]
    run ./agentproc --prompt hi
    [ "$status" -eq 2 ]
    run ./agentproc -p x.yaml --prompt hi --nonsense
    [ "$status" -eq 2 ]
    [[ "$output" == *'see: agentproc --help'* ]]
    [[ "$output" != *'perch agent'* ]]
    echo 'command: echo' >x.yaml
    for words in '--prompt hi' '-p x.yaml' '-p x.yaml --prompt hi --stdin' '-p x.yaml --prompt hi more' 'hub list more' 'hub run'; do
        # shellcheck disable=SC2086 # words
        run ./agentproc $words
        [ "$status" -eq 2 ]
        [[ "$output" == *agentproc* || "$output" == *--stdin* ]]
        [[ "$output" != *perch* ]]
    done
}

@test "hub list: a thousand of a directory, and that there are more is said" {
    mkdir -p hub/a
    echo 'command: echo' >hub/a/profile.yaml
    (cd hub && for i in $(seq 1000); do mkdir "n$i" && ln a/profile.yaml "n$i"; done)
    call hub list --hub hub
    [ "$status" -eq 0 ]
    grep -q "more profiles than the thousand that are listed" err
    [ "$(grep -c '^n[0-9]\|^a ' out)" = 1000 ]
}
