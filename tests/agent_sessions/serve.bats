#!/usr/bin/env bats
# perch agent serve: turns as lines of JSON in, events out.

# shellcheck disable=SC2154 # what agents_open sets
# shellcheck disable=SC2016,SC2119,SC2120 # scripts in quotes; profiles of few lines or none
load agents

setup() { agents_open; }
teardown() { agents_close; }

# serve [OPTION…] < LINES: everything to its end.
serve() {
    timeout 60 "$perch" agent serve "$@" >events 2>errors
}

# is_event JQ-LIKE…: python does the asking; `events` are the lines.
ask() {
    python3 - "$@" <<'END'
import json, sys
events = [json.loads(line) for line in open("events")]
of = lambda id: [e for e in events if e.get("id") == id]
names = lambda id: " ".join(e["event"] for e in of(id))
end = lambda id: next(e for e in events if e.get("id") == id and e["event"] == "end")
error = lambda id: next(e for e in events if e.get("id") == id and e["event"] == "error")
for claim in sys.argv[1:]:
    if not eval(claim):
        print("not so:", claim)
        print(open("events").read())
        sys.exit(1)
END
}

echoing() {
    agent echo "$@" <<'END'
echo "AGENT_SESSION:after-$AGENT_MESSAGE"
echo 'AGENT_PARTIAL:"thinking"'
echo "$AGENT_MESSAGE from $AGENT_FROM_USER in $AGENT_SESSION_NAME behind ${AGENT_SESSION_ID:-nothing}"
END
}

@test "a turn: its events, in order, with its id" {
    echoing
    serve --profile echo.yaml <<'END'
{"id":"t1","message":"hello","from":"ann","session_name":"work"}
END
    [ ! -s errors ]
    ask 'names("t1") == "start session partial reply end"' \
        'of("t1")[0] == {"event":"start","id":"t1","protocol":"0.1","session_id":"","session_name":"work"}' \
        'of("t1")[3]["text"] == "hello from ann in work behind nothing"' \
        'end("t1")["success"] and end("t1")["exit_code"] == 0 and end("t1")["session_id"] == "after-hello"' \
        'set(end("t1")) >= {"signal","timed_out","duration_ms","sandbox","reach"}'
    [ "$(stored)" = "ann|work|after-hello|1" ]
}

@test "turns of a session follow each other; a new one begins afresh" {
    echoing
    serve -p echo.yaml <<'END'
{"id":"1","message":"a"}
{"id":"2","message":"b"}
{"id":"3","message":"c","new":true}
{"id":"4","message":"d"}
END
    ask '[e["text"][-7:] for e in events if e["event"] == "reply"] == ["nothing","after-a","nothing","after-c"]' \
        '[e["id"] for e in events if e["event"] == "end"] == ["1","2","3","4"]'
    [ "$(stored)" = "|default|after-d|4" ]
}

@test "the profile may stand in the line, and is read again when it changes" {
    agent one <<<'echo one'
    agent two <<<'echo two'
    serve_open events agent serve
    echo '{"id":"1","message":"x","profile":"one.yaml"}' >&7
    echo '{"id":"2","message":"x","profile":"two.yaml"}' >&7
    wait_until grep -q '"end","id":"1"' events
    wait_until grep -q '"end","id":"2"' events
    cat two.yaml >one.yaml
    echo '{"id":"3","message":"x","profile":"one.yaml"}' >&7
    exec 7>&-
    wait $!
    ask '{e["id"]: e["text"] for e in events if e["event"] == "reply"} == {"1":"one","2":"two","3":"two"}'
}

@test "lines that are wrong are answered, and harm nobody" {
    echoing
    {
        echo 'not json'
        echo '[]'
        echo '{"message":"no id"}'
        echo '{"id":7,"message":"x"}'
        echo '{"id":"","message":"x"}'
        echo '{"id":"m"}'
        echo '{"id":"t","message":7}'
        echo '{"id":"p","message":"x","profile":"missing.yaml"}'
        echo '{"id":"s","message":"x","session_name":"a\u0000b"}'
        echo '{"id":"a","message":"x","attachments":[{"type":"moon","url":"u"}]}'
        echo '{"id":"n","message":"x\u0000y"}'
        echo '{"id":"e","message":""}'
        echo '{"cancel":"nobody"}'
        echo '{"cancel":7}'
        echo ''
        echo '{"id":"u","message":"fine","sesion_name":"typo"}'
        printf '{"id":"last","message":"no-newline"}'
    } >lines
    serve -p echo.yaml <lines
    ask '[e["message"][:7] for e in events if e["event"] == "error" and "id" not in e] == ["line 1:","line 2:","line 3:","line 4:","line 5:","line 14"]' \
        'all(names(id) == "error end" and not end(id)["success"] for id in "mtpsane")' \
        'all(error(id)["code"] == "bad_request" for id in "mtsa")' \
        'error("p")["code"] == "profile" and "missing.yaml" in error("p")["message"]' \
        'names("nobody") == "warning"' \
        'names("u") == "warning start session partial reply end" and "sesion_name" in of("u")[0]["message"]' \
        'names("last") == "start session partial reply end"'
}

@test "a line of more than 8 MiB is refused, the next one is taken" {
    echoing 'stdin: message'
    {
        head -c 9000000 /dev/zero | tr '\0' x
        echo
        echo '{"id":"t","message":"ok"}'
    } >lines
    serve -p echo.yaml <lines
    ask 'events[0]["event"] == "error" and "8 MiB" in events[0]["message"]' 'end("t")["success"]'
}

@test "attachments reach the agent" {
    agent files <<<'echo "$AGENT_IMAGE_URL $AGENT_ATTACHMENTS"'
    serve -p files.yaml <<'END'
{"id":"t","message":"x","attachments":[{"type":"image","url":"http://x/a.png"},{"type":"file","url":"f:/b","name":"b"}]}
END
    ask 'of("t")[1]["text"].startswith("http://x/a.png [")' '"f:/b" in of("t")[1]["text"]'
}

# Waits for a line in its own file; says that it is there.
waiting() {
    agent wait "$@" <<'END'
echo "AGENT_SESSION:$AGENT_MESSAGE"
echo $$ >"$WORK/$AGENT_MESSAGE.pid"
while [ ! -e "$WORK/$AGENT_MESSAGE.go" ]; do sleep 0.05; done
echo "$AGENT_MESSAGE behind $AGENT_SESSION_ID"
END
}

@test "no more than --max-turns run, --queue wait, the rest is told busy at once" {
    waiting
    serve_open events agent serve -p wait.yaml --max-turns 2 --queue 1
    for i in 1 2 3 4; do echo '{"id":"'$i'","message":"m'$i'","session_name":"'$i'"}' >&7; done
    wait_until test -e m1.pid
    wait_until test -e m2.pid
    wait_until grep -q '"end","id":"4"' events
    ask 'names("4") == "error end" and error("4")["code"] == "busy"' 'names("3") == ""'
    [ ! -e m3.pid ]
    touch m1.go
    wait_until test -e m3.pid
    # The second in a session waits although there is a place to run.
    touch m2.go
    wait_until grep -q '"end","id":"2"' events
    echo '{"id":"5","message":"m5","session_name":"3"}' >&7
    echo '{"id":"6","message":"m6","session_name":"3"}' >&7
    wait_until grep -q '"end","id":"6"' events
    ask 'error("6")["code"] == "busy"' 'names("5") == ""'
    touch m3.go m5.go
    exec 7>&-
    wait $!
    ask 'all(end(id)["success"] for id in "1235")' 'of("5")[-2]["text"] == "m5 behind m3"'
}

@test "an id that is in use is refused without an end of its own" {
    waiting
    serve_open events agent serve -p wait.yaml
    echo '{"id":"t","message":"m1"}' >&7
    wait_until test -e m1.pid
    echo '{"id":"t","message":"m2"}' >&7
    wait_until grep -q duplicate_id events
    touch m1.go
    wait_until grep -q '"end"' events
    touch m2.go
    echo '{"id":"t","message":"m2"}' >&7
    exec 7>&-
    wait $!
    ask 'names("t") == "start session error reply end start session reply end"'
}

@test "cancel: a turn that runs, and one that waits" {
    waiting
    serve_open events agent serve -p wait.yaml
    for i in 1 2 3; do echo '{"id":"'$i'","message":"m'$i'"}' >&7; done
    wait_until test -e m1.pid
    echo '{"cancel":"2"}' >&7
    wait_until grep -q '"end","id":"2"' events
    echo '{"cancel":"1"}' >&7
    wait_until test -e m3.pid
    touch m3.go
    exec 7>&-
    wait $!
    [ ! -e m2.pid ]
    ask 'names("2") == "error end" and end("2")["cancelled"] and end("2")["exit_code"] == 130' \
        'end("1")["cancelled"] and end("1")["exit_code"] == 130' \
        'of("3")[-2]["text"] == "m3 behind m1"'
    [ "$(stored)" = "|default|m3|2" ]
}

@test "the end of the input finishes what is under way and what waits" {
    waiting
    printf '%s\n' '{"id":"1","message":"m1"}' '{"id":"2","message":"m2"}' >lines
    "$perch" agent serve -p wait.yaml <lines >events &
    wait_until test -e m1.pid
    touch m1.go
    wait_until test -e m2.pid
    kill -0 $!
    touch m2.go
    wait $!
    ask 'end("1")["success"] and end("2")["success"]'
}

@test "SIGTERM cancels everything, each turn still ends, nothing stays behind" {
    waiting
    serve_open events agent serve -p wait.yaml
    for i in 1 2 3; do echo '{"id":"'$i'","message":"m'$i'"}' >&7; done
    echo '{"id":"4","message":"m4","session_name":"other"}' >&7
    wait_until test -e m1.pid
    wait_until test -e m4.pid
    kill -TERM $!
    status=0
    wait $! || status=$?
    exec 7>&-
    [ "$status" -eq 143 ]
    ask 'all(end(id)["cancelled"] and end(id)["exit_code"] == 143 for id in "1234")'
    [ ! -e m2.pid ]
    wait_until nothing_left
}

@test "SIGKILL leaves no agent behind, and the sessions usable" {
    waiting
    serve_open events agent serve -p wait.yaml
    for i in 1 2; do echo '{"id":"'$i'","message":"m'$i'"}' >&7; done
    wait_until grep -q '"session","id":"1"' events
    kill -KILL $!
    wait $! || true
    exec 7>&-
    wait_until nothing_left
    touch m3.go
    serve -p wait.yaml <<<'{"id":"3","message":"m3"}'
    ask 'of("3")[-2]["text"] == "m3 behind m1"'
}

@test "nobody reads the events any more: it ends, and so do the agents" {
    waiting
    mkfifo in out
    "$perch" agent serve -p wait.yaml <in >out &
    exec 7>in 8<out
    echo '{"id":"1","message":"m1"}' >&7
    wait_until test -e m1.pid
    exec 8<&-
    echo '{"id":"2"}' >&7
    status=0
    wait $! || status=$?
    exec 7>&-
    [ "$status" -eq 1 ]
    wait_until nothing_left
}

@test "options that are wrong" {
    run "$perch" agent serve --max-turns 0
    [ "$status" -eq 64 ]
    run "$perch" agent serve --queue many
    [ "$status" -eq 64 ]
    run "$perch" agent serve --profile profile.yaml another.yaml
    [ "$status" -eq 64 ]
}

@test "many sessions with failures, timeouts and cancels: in order, each ends once" {
    agent storm 'timeout_secs: 2' 'kill_grace_secs: 1' <<'END'
set -- $AGENT_MESSAGE
echo "AGENT_SESSION:$1"
case $2 in
ok) echo "behind $AGENT_SESSION_ID" ;;
fail) exit 3 ;;
die) kill -KILL $$ ;;
*) exec sleep 30 ;;
esac
END
    if [ -n "${PERCH_SOAK:-}" ]; then
        python3 "$PERCH_SOURCE/tests/agent_sessions/drive.py" "$perch" storm.yaml 200 20 32 "$RANDOM"
    else
        python3 "$PERCH_SOURCE/tests/agent_sessions/drive.py" "$perch" storm.yaml 60 8 32 1
    fi
}

@test "the limit of open files is the hard one for the host, and what it was for agents" {
    agent together <<'END'
: >"here.$AGENT_MESSAGE"
while [ "$(ls here.* | wc -l)" -lt 12 ]; do sleep 0.05; done
ulimit -Sn
END
    ulimit -Sn 40
    for i in $(seq 12); do printf '{"id":"%d","message":"%d","session_name":"%d"}\n' "$i" "$i" "$i"; done >lines
    serve -p together.yaml <lines
    ask 'all(end(str(n + 1))["success"] for n in range(12))' \
        '[e["text"] for e in events if e["event"] == "reply"] == ["40"] * 12'
}

@test "nobody reads the events any more, and no turn is under way: it ends as well" {
    echoing
    mkfifo in out
    timeout 60 "$perch" agent serve -p echo.yaml <in >out &
    exec 7>in 8<out
    exec 8<&-
    echo 'nonsense' >&7
    status=0
    wait $! || status=$?
    exec 7>&-
    [ "$status" -eq 1 ]
}

@test "every line that was meant as a turn is answered with an error and an end" {
    echoing
    long=$(printf 'x%.0s' {1..300})
    serve -p echo.yaml <<END
{"id":"7","message":"echo hi","cancel":"zz"}
{"id":"$long","message":"x"}
{"id":"${long:0:255}é","message":"x"}
{"id":"a\u0000b","message":"x"}
{"message":"x","cancel":"zz"}
{"id":"fine\u0001","message":"x"}
END
    ask 'names("7") == "error end" and error("7")["code"] == "bad_request" and "alone" in error("7")["message"]' \
        'names("zz") == ""' \
        'names("x" * 256) == "error end" and "too long" in error("x" * 256)["message"]' \
        'names("x" * 255) == "error end" and names("a\ufffdb") == "error end"' \
        'events[8]["event"] == "error" and "id" not in events[8]' \
        'names("fine\u0001") == "start session partial reply end"'
}

@test "a turn that never ran ends with the id that its session has" {
    waiting
    agent unfit 'cwd: /nonexistent' <<<':'
    serve_open events agent serve -p wait.yaml
    for i in 1 2 3; do echo '{"id":"'$i'","message":"m'$i'"}' >&7; done
    wait_until grep -q '"session","id":"1"' events
    echo '{"cancel":"2"}' >&7
    wait_until grep -q '"end","id":"2"' events
    cp unfit.yaml wait.yaml
    echo '{"id":"4","message":"m4","new":true}' >&7
    touch m1.go m3.go
    exec 7>&-
    wait $!
    ask 'end("2")["session_id"] == "m1"' \
        'names("4") == "error end" and end("4")["session_id"] == "m3"'
    [ "$(stored)" = "|default|m3|2" ]
}

@test "new forgets the id once the agent was started, whatever it says and however it ends" {
    agent quiet <<'END'
case $AGENT_MESSAGE in say*) echo "AGENT_SESSION:$AGENT_MESSAGE" ;; fail) exit 3 ;; esac
echo "behind ${AGENT_SESSION_ID:-nothing}"
END
    serve -p quiet.yaml <<'END'
{"id":"1","message":"say-one"}
{"id":"2","message":"x","new":true}
{"id":"3","message":"x"}
{"id":"4","message":"say-two"}
{"id":"5","message":"fail","new":true}
{"id":"6","message":"x"}
{"id":"7","message":"say-three","new":true}
{"id":"8","message":"x"}
END
    ask '[e["text"][7:] for e in events if e["event"] == "reply"] == ["nothing","nothing","nothing","nothing","nothing","nothing","say-three"]' \
        '[end(id)["session_id"] for id in "12345678"] == ["say-one","","","say-two","","","say-three","say-three"]'
    [ "$(stored)" = "|default|say-three|8" ]
}

@test "--profile is the profile of all turns, unless --any-profile" {
    echoing
    cp echo.yaml other.yaml
    ln -s echo.yaml link.yaml
    lines() {
        echo '{"id":"1","message":"x"}'
        echo '{"id":"2","message":"x","profile":"other.yaml"}'
        echo '{"id":"3","message":"x","profile":"./link.yaml"}'
        echo '{"id":"4","message":"x","profile":"/nowhere"}'
    }
    lines | serve --profile echo.yaml
    ask 'end("1")["success"] and end("3")["success"]' 'names("2") == "error end"' \
        'error("2")["code"] == "profile" and "--any-profile" in error("2")["message"]' \
        '"--any-profile" in error("4")["message"]'
    lines | serve --profile echo.yaml --any-profile
    ask 'end("1")["success"] and end("2")["success"] and end("3")["success"]'
}

@test "a profile is called by its name, behind the command and in a turn" {
    echoing
    cp echo.yaml other.yaml
    export XDG_CONFIG_HOME="$PWD/config"
    "$perch" agent add bot echo.yaml
    "$perch" agent add second other.yaml
    lines() {
        echo '{"id":"1","message":"x"}'
        echo '{"id":"2","message":"x","profile":"bot"}'
        echo '{"id":"3","message":"x","profile":"second"}'
        echo '{"id":"4","message":"x","profile":"nobody"}'
    }
    lines | serve bot
    ask 'end("1")["success"] and end("2")["success"]' 'error("3")["code"] == "profile"' \
        '"perch agent list" in error("4")["message"]'
    lines | serve --any-profile
    ask 'error("1")["code"] == "bad_request"' 'end("2")["success"] and end("3")["success"]'
    run "$perch" agent serve bot second </dev/null
    [ "$status" -eq 64 ]
}

@test "a turn says its session id, clock, variables, directory and streaming; what is unknown is told" {
    mkdir -p there
    agent odd <<'AGENT'
echo 'AGENT_PARTIAL:"piece"'
echo "$AGENT_SESSION_ID $COLOUR $(basename "$PWD") $AGENT_STREAMING $AGENT_ATTACHMENTS"
[ "$AGENT_MESSAGE" != slow ] || sleep 30
AGENT
    serve --profile odd.yaml <<LINES
{"id":"1","message":"m","session_id":"given","env":{"COLOUR":"blue"},"cwd":"$PWD/there","streaming":false,"colour":1,"attachments":[{"kind":"image","url":"u","filename":"n","bytes":3}],"size":2}
{"id":"2","message":"slow","session_name":"b","timeout":0.2}
{"id":"3","message":"m","session_name":"c","session_id":"a/b"}
LINES
    ask 'names("1") == "warning warning warning start reply end"' \
        'of("1")[4]["text"].startswith("given blue there 0 ")' \
        '"\"name\":\"n\"" in of("1")[4]["text"] and "\"type\":\"image\"" in of("1")[4]["text"]' \
        'of("1")[2]["message"] == "\"attachments.bytes\" means nothing in a turn"' \
        'of("1")[0]["message"] == "\"colour\" means nothing in a turn"' \
        'of("1")[1]["message"] == "\"size\" means nothing in a turn"' \
        'end("2")["timed_out"] and end("2")["exit_code"] == 124' \
        'error("3")["code"] == "session_id"'
}

@test "a permission is answered by a line, or denied when no answer comes" {
    agent asks 'protocol: "0.4"' 'permission: true' <<'AGENT'
read -r turn
echo '{"type":"permission_request","request_id":"r1","tool_name":"rm","description":"clean up","input":{"path":"x"}}'
read -r answer
echo "{\"type\":\"result\",\"text\":\"$(echo "$answer" | tr '"' ' ')\"}"
AGENT
    (cat asks.yaml && echo 'permission_timeout_secs: 0.3') >hasty.yaml
    mkfifo lines
    timeout 60 "$perch" agent serve --profile asks.yaml --any-profile <lines >events 2>errors &
    exec 9>lines
    echo '{"id":"1","message":"m"}' >&9
    wait_until grep -q '"event":"permission"' events
    echo '{"permit":"1","request_id":"r1","option":"perhaps"}' >&9
    echo '{"permit":"1","request_id":"r2","allow":true}' >&9
    echo '{"permit":"1","request_id":"r1","allow":true,"message":"go on"}' >&9
    wait_until grep -q '"event":"end"' events
    echo '{"id":"2","message":"m","profile":"hasty.yaml"}' >&9
    wait_until grep -q '"event":"end","id":"2"' events
    echo '{"id":"4","message":"m","session_name":"d"}' >&9
    wait_until grep -q '"event":"permission","id":"4"' events
    echo '{"permit":"4","request_id":"r1","option":"session"}' >&9
    wait_until grep -q '"event":"end","id":"4"' events
    echo '{"id":"5","message":"m","session_name":"d"}' >&9
    wait_until grep -q '"event":"end","id":"5"' events
    echo '{"id":"3","message":"m","session_name":"c"}' >&9
    exec 9>&-
    wait
    ask 'names("1").split() == ["start", "permission", "warning", "warning", "reply", "end"]' \
        '[o["id"] for o in of("1")[1]["options"]] == ["yes", "session", "always", "no"]' \
        'of("1")[2]["message"] == "that question has no option '"'perhaps'"'"' \
        'names("5").split() == ["start", "reply", "end"]' \
        '"behavior : allow" in [e for e in of("5") if e["event"] == "reply"][0]["text"]' \
        '[e for e in of("1") if e["event"] == "permission"][0]["description"] == "clean up"' \
        '[e for e in of("1") if e["event"] == "permission"][0]["input"] == {"path": "x"}' \
        '"behavior : allow , message : go on" in [e for e in of("1") if e["event"] == "reply"][0]["text"]' \
        '[e for e in of("2") if e["event"] == "warning"][0]["message"] == "the permission '"'r1'"' is denied: no answer came within 0.3 seconds"' \
        '"behavior : deny" in [e for e in of("2") if e["event"] == "reply"][0]["text"]' \
        '[e for e in of("3") if e["event"] == "warning"][0]["message"] == "the permission '"'r1'"' is denied: the input has ended, and with it all answers"' \
        '"behavior : deny" in [e for e in of("3") if e["event"] == "reply"][0]["text"]'
}

@test "the end of a failing turn has the last of its stderr" {
    agent fails <<'AGENT'
echo "it was the lamp" >&2
exit 3
AGENT
    agent quiet <<<'echo fine'
    printf '%s\n' '{"id":"1","message":"m","profile":"fails.yaml"}' '{"id":"2","message":"m","profile":"quiet.yaml"}' |
        timeout 60 "$perch" agent serve --any-profile >events
    ask 'end("1")["exit_code"] == 3' 'end("1")["stderr_tail"] == "it was the lamp\n"' \
        'end("2")["exit_code"] == 0' '"stderr_tail" not in end("2")'
}

@test "a profile is warned of once" {
    echoing 'colour: blue'
    serve --profile echo.yaml <<'LINES'
{"id":"1","message":"a"}
{"id":"2","message":"b"}
{"id":"3","message":"c","session_name":"other"}
LINES
    [ "$(grep -c 'colour' events)" = 1 ]
}
