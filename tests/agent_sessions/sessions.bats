#!/usr/bin/env bats
# Stored sessions: across turns, across processes, across kills, and on the command line.

# shellcheck disable=SC2154 # what agents_open sets
# shellcheck disable=SC2016,SC2119,SC2120 # scripts in quotes; profiles of few lines or none
load agents

setup() { agents_open; }
teardown() { agents_close; }

run_turn() {
    "$perch" agent run --profile "$1" --prompt "${@:2}"
}

# start_turn MESSAGE: a process of its own, $pid; its reply is in MESSAGE.out.
start_turn() {
    "$perch" agent run --profile wait.yaml --prompt "$1" >"$1.out" 2>"$1.err" &
    pid=$!
}

echoing() {
    agent echo "$@" <<'END'
echo "AGENT_SESSION:after-$AGENT_MESSAGE"
echo "$AGENT_MESSAGE behind ${AGENT_SESSION_ID:-nothing}"
END
}

# Begins, says its id, and ends when it is told to.
waiting() {
    agent wait "$@" <<'END'
echo "AGENT_SESSION:$AGENT_MESSAGE"
echo "$AGENT_MESSAGE begins" >>"$WORK/log"
while [ ! -e "$WORK/$AGENT_MESSAGE.go" ]; do sleep 0.05; done
echo "$AGENT_MESSAGE ends" >>"$WORK/log"
echo "$AGENT_MESSAGE behind $AGENT_SESSION_ID"
END
}

has_begun() {
    grep -qx "$1 begins" log
}

@test "the next turn continues the session; --session, --new and --no-store as they say" {
    echoing
    [ "$(run_turn echo.yaml a)" = "a behind nothing" ]
    [ "$(run_turn echo.yaml b)" = "b behind after-a" ]
    [ "$(run_turn echo.yaml c --session given)" = "c behind given" ]
    [ "$(run_turn echo.yaml d)" = "d behind after-c" ]
    [ "$(run_turn echo.yaml e --no-store)" = "e behind nothing" ]
    [ "$(run_turn echo.yaml f)" = "f behind after-d" ]
    [ "$(run_turn echo.yaml g --new)" = "g behind nothing" ]
    [ "$(stored)" = "|default|after-g|6" ]
}

# An index says where in the log a page is. That of another log would lead astray.
@test "a database and a log that were put back are read as they are, whatever their index was" {
    echoing
    run_turn echo.yaml a >/dev/null
    mkdir before
    cp "$XDG_STATE_HOME"/perch/sessions.db "$XDG_STATE_HOME"/perch/sessions.db-wal before
    for message in b c d; do run_turn echo.yaml $message >/dev/null; done
    [ -s "$XDG_STATE_HOME/perch/sessions.db-shm" ]
    cp before/* "$XDG_STATE_HOME/perch"
    [ "$(run_turn echo.yaml e)" = "e behind after-a" ]
    [ "$(stored)" = "|default|after-e|2" ]
}

@test "profile, sender and name are apart; the same profile by another path is the same" {
    echoing
    mkdir sub
    ln -s ../echo.yaml sub/link.yaml
    run_turn echo.yaml a >/dev/null
    run_turn echo.yaml b --from ann >/dev/null
    run_turn echo.yaml c --session-name work >/dev/null
    [ "$(run_turn ./sub/../sub/link.yaml d)" = "d behind after-a" ]
    [ "$(stored)" = $'|default|after-d|2\n|work|after-c|1\nann|default|after-b|1' ]
}

@test "an agent without a session line keeps the id; a failing one keeps what it said" {
    agent quiet <<'END'
[ "$AGENT_MESSAGE" = first ] && echo "AGENT_SESSION:one"
[ "$AGENT_MESSAGE" = failing ] && echo "AGENT_SESSION:two" && exit 3
echo "behind $AGENT_SESSION_ID"
END
    run_turn quiet.yaml first >/dev/null
    [ "$(run_turn quiet.yaml second)" = "behind one" ]
    run run_turn quiet.yaml failing
    [ "$status" -eq 3 ]
    [ "$(run_turn quiet.yaml fourth)" = "behind two" ]
}

@test "two processes in the same session: one after the other, in order, no id lost" {
    waiting
    start_turn one
    wait_until has_begun one
    "$perch" agent serve -p wait.yaml >out.serve <<<'{"id":"t","message":"two"}' &
    wait_until eval '[ "$(tickets)" = 2 ]'
    start_turn three
    wait_until eval '[ "$(tickets)" = 3 ]'
    touch two.go three.go
    [ "$(cat log)" = "one begins" ]
    touch one.go
    wait
    [ "$(tr '\n' ' ' <log)" = "one begins one ends two begins two ends three begins three ends " ]
    [ "$(cat three.out)" = "three behind two" ]
    grep -q '"text":"two behind one"' out.serve
    [ "$(stored)" = "|default|three|3" ]
}

# How many turns are in the queues.
tickets() {
    python3 -c 'import os, sqlite3
print(*sqlite3.connect(os.environ["XDG_STATE_HOME"] + "/perch/sessions.db").execute("select count(*) from ticket").fetchone())'
}

@test "kill -9 between the session line and the exit: the next turn continues the session" {
    waiting
    start_turn one
    first=$pid
    wait_until eval 'has_begun one && [ "$(stored)" = "|default|one|0" ]'
    start_turn two
    second=$pid
    wait_until eval '[ "$(tickets)" = 2 ]'
    kill -KILL "$first"
    wait "$first" || true
    touch two.go
    wait "$second"
    [ "$(cat two.out)" = "two behind one" ]
    [ "$(grep -c "one ends" log)" -eq 0 ]
}

@test "a waiter that is killed, or interrupted, lets the others pass" {
    waiting
    start_turn one
    first=$pid
    wait_until has_begun one
    start_turn two
    killed=$pid
    wait_until eval '[ "$(tickets)" = 2 ]'
    start_turn three
    interrupted=$pid
    wait_until eval '[ "$(tickets)" = 3 ]'
    start_turn four
    last=$pid
    wait_until eval '[ "$(tickets)" = 4 ]'
    kill -KILL "$killed"
    kill -TERM "$interrupted"
    status=0
    wait "$interrupted" || status=$?
    [ "$status" -eq 143 ]
    touch one.go four.go
    wait "$first"
    wait "$last"
    [ "$(cat four.out)" = "four behind one" ]
    [ "$(tickets)" = 0 ]
}

@test "sessions: list, show, rm" {
    echoing
    run "$perch" agent sessions
    [ "$status" -eq 0 ]
    [ "$output" = "no sessions" ]
    run_turn echo.yaml a >/dev/null
    run_turn echo.yaml b --session-name work --from ann >/dev/null
    run_turn echo.yaml c --session-name work --from bob >/dev/null
    run "$perch" agent sessions list
    [ "${#lines[@]}" -eq 4 ]
    [[ "$output" == *"work "*"ann "*"$BATS_TEST_TMPDIR/echo.yaml"* ]]
    run "$perch" agent sessions show work --from ann
    [[ "$output" == *"session id   after-b"*"turns        1"* ]]
    [ "$("$perch" agent sessions list --json | python3 -c 'import json, sys
print(sorted((s["from"], s["session_name"], s["session_id"], s["turns"]) for s in json.load(sys.stdin)["sessions"]))')" = \
        "[('', 'default', 'after-a', 1), ('ann', 'work', 'after-b', 1), ('bob', 'work', 'after-c', 1)]" ]
    run "$perch" agent sessions rm work --from ann -p sub/../echo.yaml
    [ "$status" -eq 1 ]
    run "$perch" agent sessions rm work --from ann -p ./echo.yaml
    [ "$output" = "removed 1 session" ]
    [ "$(run_turn echo.yaml d --session-name work --from ann)" = "d behind nothing" ]
    [ "$("$perch" agent sessions rm --from bob --json | python3 -c 'import json, sys
print([s["session_id"] for s in json.load(sys.stdin)["removed"]])')" = "['after-c']" ]
    run "$perch" agent sessions rm nothing
    [ "$status" -eq 1 ]
    run "$perch" agent sessions rm
    [ "$status" -eq 64 ]
    run "$perch" agent sessions show
    [ "$status" -eq 64 ]
    run "$perch" agent sessions shw x
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean: show"* ]]
    run "$perch" agent sessions rm --all
    [ "$output" = "removed 2 sessions" ]
    [ -z "$(stored)" ]
}

@test "what is stored cannot move a cursor" {
    echoing
    run_turn echo.yaml a --from $'x\033[2J\ny' >/dev/null
    run "$perch" agent sessions list
    [ "${#lines[@]}" -eq 2 ]
    [[ "$output" != *$'\033'* ]]
}

@test "a database that cannot be used: what, where, what to do; --no-store works without" {
    echoing
    mkdir -p state/perch
    head -c 5000 /dev/urandom >state/perch/sessions.db
    run run_turn echo.yaml a
    [ "$status" -eq 125 ]
    [[ "$output" == *"sessions.db"*"doctor --fix"* ]]
    [ "$(run_turn echo.yaml a --no-store)" = "a behind nothing" ]
    run "$perch" doctor
    [ "$status" -eq 1 ]
    [[ "$output" == *"sessions.db"* ]]
    run "$perch" doctor --fix
    [ "$status" -eq 0 ]
    [[ "$output" == *"sessions.db.corrupt-1"* ]]
    [ "$(stat -c %s state/perch/sessions.db.corrupt-1)" -eq 5000 ]
    [ "$(run_turn echo.yaml b)" = "b behind nothing" ]
    run "$perch" doctor --fix
    [ "$status" -eq 0 ]
    [ "$(run_turn echo.yaml c)" = "c behind after-b" ]
}

@test "--new forgets the id once the agent was started; one that cannot start changes nothing" {
    agent quiet <<'END'
[ "$AGENT_MESSAGE" = say ] && echo "AGENT_SESSION:one"
echo "behind ${AGENT_SESSION_ID:-nothing}"
END
    run_turn quiet.yaml say >/dev/null
    chmod -x quiet.sh
    run run_turn quiet.yaml x --new --json
    [ "$status" -eq 126 ]
    [[ "${lines[-1]}" == *'"session_id":"one"'* ]]
    chmod +x quiet.sh
    [ "$(run_turn quiet.yaml x)" = "behind one" ]
    [ "$(run_turn quiet.yaml x --new)" = "behind nothing" ]
    [ "$(run_turn quiet.yaml x)" = "behind nothing" ]
    [ "$(stored)" = "|default||4" ]
}

@test "a turn that is cancelled while it waits ends with the id that its session has" {
    waiting
    start_turn one
    wait_until eval '[ "$(stored)" = "|default|one|0" ]'
    env --default-signal=INT "$perch" agent run -p wait.yaml --prompt two --json >two.out &
    second=$!
    wait_until eval '[ "$(tickets)" = 2 ]'
    kill -INT "$second"
    status=0
    wait "$second" || status=$?
    [ "$status" -eq 130 ]
    grep -q '"event":"end".*"cancelled":true,"session_id":"one"' two.out
    touch one.go
    wait "$pid"
}

# fails_with CODE ARGUMENT…: what it says is in out and err.
fails_with() {
    local code=0
    "$perch" agent "${@:2}" >out 2>err || code=$?
    [ "$code" -eq "$1" ]
}

# sessions_fail CODE ARGUMENT…: stdout is one object with an error, stderr is empty.
sessions_fail() {
    fails_with "$1" sessions "${@:2}" --json
    [ ! -s err ]
    [ "$(wc -l <out)" -eq 1 ]
    grep -q '^{"schema_version":1,"error":".*"}$' out
}

@test "with --json errors are JSON as well" {
    sessions_fail 1 show nope
    sessions_fail 1 rm nope
    sessions_fail 64 rm
    echoing
    fails_with 64 run -p echo.yaml --prompt x --session=-x --json
    [ ! -s err ]
    [[ "$(sed -n 1p out)" == '{"event":"error","code":"start","message":"--session '* ]]
    [[ "$(sed -n 2p out)" == '{"event":"end","success":false,"exit_code":64,'*'"session_id":""}' ]]
    fails_with 64 run -p echo.yaml --prompt x --session=$'\xff/' --json
    python3 -c 'import json; [json.loads(line) for line in open("out")]'
    rm "$XDG_STATE_HOME"/perch/sessions.db*
    echo damaged >"$XDG_STATE_HOME/perch/sessions.db"
    sessions_fail 125 list
    printf '%s\n' '{"id":"1","message":"x"}' '{"cancel":"2"}' nonsense >asked
    fails_with 125 serve -p echo.yaml <asked
    grep -q '^error: .*sessions.db' err
    [[ "$(sed -n 1p out)" == '{"event":"error","id":"1","code":"session","message":"'*sessions.db* ]]
    [[ "$(sed -n 2p out)" == '{"event":"end","id":"1","success":false,"exit_code":125,'* ]]
    [[ "$(sed -n 3p out)" == '{"event":"warning","id":"2",'* ]]
    [[ "$(sed -n 4p out)" == *bad_request* ]]
}

@test "where nothing can be stored, --no-store is named, and helps" {
    echo 'command: echo hi' >plain.yaml
    export XDG_STATE_HOME=/proc/nowhere
    keep "$perch" agent run plain.yaml hello
    expect_status 125
    has "$errors" "--no-store goes on without stored sessions"
    keep "$perch" agent chat plain.yaml
    has "$errors" "--no-store"
    keep "$perch" agent run plain.yaml hello --no-store
    expect_status 0
    has "$output" hi
}
