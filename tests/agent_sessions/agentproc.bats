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
    agent two <<'END'
printf '%s\n' 'AGENT_PARTIAL:"one \u00e9\n"'
echo 'AGENT_SESSION:s-1'
echo "line one"
echo 'AGENT_PARTIAL:"two"'
printf 'line two'
END
    call --profile two.yaml --prompt hi
    [ "$status" -eq 0 ]
    printf 'line one\nline two\n' | diff - out
    printf '%s\n' 'AGENT_PARTIAL:"one é\n"' 'AGENT_PARTIAL:"two"' agentproc:session:s-1 | diff - err
    call -p two.yaml --prompt hi --quiet
    echo agentproc:session:s-1 | diff - err
    call -p two.yaml --prompt hi --no-stream
    echo agentproc:session:s-1 | diff - err
    [ "$(wc -l <out)" -eq 2 ]
}

@test "an error, an exit status, a timeout, no such command: the turn's exit code" {
    agent bad <<'END'
echo 'AGENT_SESSION:kept'
printf '%s\n' 'AGENT_ERROR:"first\nsecond"'
echo body
END
    call -p bad.yaml --prompt hi
    [ "$status" -eq 1 ]
    [ ! -s out ]
    printf '%s\n' agentproc:session:kept 'agentproc:error:first second' | diff - err
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
    agent all <<<'echo "$AGENT_MESSAGE|$AGENT_SESSION_ID|$AGENT_SESSION_NAME|$(basename "$PWD")|$EXTRA"'
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
    printf '%s\n' '{"type":"partial","text":"p","session_id":"s-4"}' agentproc:session:s-4 | diff - err
    [ ! -s out ]
}

@test "help, version and usage errors" {
    run ./agentproc --help
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "usage: agentproc "* ]]
    run ./agentproc --version
    [[ "$output" == "agentproc 0.4 (perch "* ]]
    run ./agentproc --prompt hi
    [ "$status" -eq 64 ]
    run ./agentproc -p x.yaml --prompt hi --nonsense
    [ "$status" -eq 64 ]
}
