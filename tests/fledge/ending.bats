#!/usr/bin/env bats
# How a run ends: interrupted in every situation, by every kind of plugin, and
# what is left behind when perch itself is killed.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

# How a plugin behaves: OBEYS leaves when cancelled, IGNORES has to be killed,
# FAMILY has children that have to be killed as well.
# shellcheck disable=SC2016
behaviour='
def end():
    if "obeys" in args:
        sys.exit(0)
    while True:
        time.sleep(60)
if "obeys" not in args:
    signal.signal(signal.SIGTERM, lambda *_: open(os.environ["WORK"] + "/asked", "w").close())
if "family" in args:
    deaf = ["sh", "-c", "trap \"\" TERM INT; echo $$ >> $WORK/family; while :; do sleep 1; done"]
    subprocess.Popen(deaf, stdin=subprocess.DEVNULL)
    subprocess.Popen(deaf, stdout=subprocess.DEVNULL)
    while not os.path.exists(os.environ["WORK"] + "/family") or \
            len(open(os.environ["WORK"] + "/family").readlines()) < 2:
        time.sleep(0.01)
'

# interrupt COMMAND BEHAVIOUR LINE…: Ctrl+C at the plugin's point, three times
# when the plugin does not obey; LINE… is what it was sent. Two signals that come together
# are one: the third is sent when the second has come to the plugin.
interrupt() {
    local command=$1 kind=$2
    shift 2
    rm -f "$SEEN" "$READY" "$WORK/family" "$WORK/asked"
    start run "$command" "$kind"
    wait_ready
    kill -INT "$host"
    if [ "$kind" != obeys ]; then
        wait_until grep -qs cancel "$SEEN"
        kill -INT "$host"
        wait_until test -e "$WORK/asked"
        kill -INT "$host"
    fi
    finish
    expect_status 130
    lacks "$errors" "exited with code"
    seen "$@"
    if [ "$kind" = family ]; then
        while read -r pid; do wait_until gone "$pid"; done <"$WORK/family"
    fi
}

@test "Ctrl+C during exec" {
    { echo "$behaviour" && cat; } <<'END' | py -c exec executing
send("exec", id="e", command="echo $$ > $WORK/pid; echo x > $READY; trap '' TERM; sleep 30 & wait; sleep 30")
send("exec", id="f", command="sleep 30")
recv()
recv()
end()
END
    for kind in obeys ignores family; do
        rm -f "$WORK/pid"
        interrupt executing "$kind" '{"type":"cancel","id":"e","reason":"user_interrupt"}' \
            '{"type":"cancel","id":"f","reason":"user_interrupt"}'
        wait_until gone "$(cat "$WORK/pid")"
    done
}

@test "Ctrl+C during progress" {
    { echo "$behaviour" && cat; } <<'END' | py moving
send("progress", message="Uploading", current=3, total=10)
ready()
recv()
end()
END
    for kind in obeys ignores family; do
        interrupt moving "$kind" '{"type":"cancel","reason":"user_interrupt"}'
    done
}

@test "Ctrl+C in between" {
    { echo "$behaviour" && cat; } <<'END' | py -c store between
send("store", key="k", value="v")
value("confirm", id="c", message="m")
ready()
recv()
# What is asked after a cancel is cancelled too; what is said is heard, and nothing is kept.
send("store", key="saved", value="on the way out")
assert ask("confirm", id="late", message="m")["reason"] == "user_interrupt"
end()
END
    for kind in obeys ignores family; do
        interrupt between "$kind" '{"type":"response","id":"c","value":false}' \
            '{"type":"cancel","reason":"user_interrupt"}' \
            '{"type":"cancel","id":"late","reason":"user_interrupt"}'
    done
    lacks "$(cat "$cfg/plugins/fledge-between/state.json")" "on the way out"
    has "$errors" "store rejected: the run was cancelled ('saved')"
}

@test "Ctrl+C during a question that a program has to answer" {
    { echo "$behaviour" && cat; } <<'END' | py asking
send("prompt", id="p", message="Who?")
send("select", id="s", message="What?", options=["a"])
recv()
recv()
end()
END
    for kind in obeys ignores family; do
        rm -f "$SEEN" "$WORK/family" "$WORK/asked"
        KIND=$kind python3 - <<'END'
import signal, time
from user import *
run = Run("asking", os.environ["KIND"])
run.next("prompt")
run.process.send_signal(signal.SIGINT)
if os.environ["KIND"] != "obeys":
    while open(os.environ["SEEN"]).read().count("cancel") < 2:
        time.sleep(0.01)
    run.process.send_signal(signal.SIGINT)
    while not os.path.exists(os.environ["WORK"] + "/asked"):
        time.sleep(0.01)
    run.process.send_signal(signal.SIGINT)
assert run.end() == 130
END
        seen '{"type":"cancel","id":"p","reason":"user_interrupt"}' \
            '{"type":"cancel","id":"s","reason":"user_interrupt"}'
        if [ "$kind" = family ]; then
            while read -r pid; do wait_until gone "$pid"; done <"$WORK/family"
        fi
    done
}

@test "a second Ctrl+C is SIGTERM at once, a third SIGKILL" {
    py steps <<'END'
signal.signal(signal.SIGTERM, lambda *_: open(os.environ["WORK"] + "/term", "w").close())
ready()
recv()
while True:
    time.sleep(60)
END
    start run steps
    wait_ready
    kill -INT "$host"
    wait_until grep -qs cancel "$SEEN"
    [ ! -e "$WORK/term" ]
    SECONDS=0
    kill -INT "$host"
    wait_until test -e "$WORK/term"
    kill -INT "$host"
    finish
    expect_status 130
    [ "$SECONDS" -lt 5 ]
    has "$errors" "SIGTERM is sent to the plugin; Ctrl+C again kills it"
    has "$errors" "SIGKILL is sent to the plugin"
}

@test "who waits for a cancelled plugin is told what a second Ctrl+C does" {
    py slow <<'END'
ready()
recv()
time.sleep(60)
END
    start run slow
    wait_ready
    kill -INT "$host"
    wait_until grep -qs "SIGTERM in 4 seconds, or with Ctrl+C now" "$WORK/err"
    kill -INT "$host"
    finish
    expect_status 130
}

# A plugin that takes a cancel for an empty answer, as published ones do.
# shellcheck disable=SC2016
trusting='
def path():
    return ask("prompt", message="Database path:").get("value", "")
send("store", key="before", value="kept")
answer = path()
send("store", key="path", value=answer)
send("store", id="s", key="path", value=answer)
recv()
say("stored")
'

@test "a cancelled run stores nothing: Ctrl+C, timeout, nobody to ask, declined" {
    echo "$trusting" | py -c store trusting
    state="$cfg/plugins/fledge-trusting/state.json"
    for how in interrupt timeout nobody decline; do
        printf '{"path":"/good"}' >"$state"
        rm -f "$SEEN"
        HOW=$how python3 - <<'END' >"$WORK/events"
import signal
from user import *
how = os.environ["HOW"]
options = {"timeout": ["--prompt-timeout", "0.1"], "nobody": ["--ni"]}.get(how, [])
run = Run("trusting", options=options)
if how != "nobody":
    question = run.next("prompt")
if how == "interrupt":
    run.process.send_signal(signal.SIGINT)
if how == "decline":
    run.cancel(question)
assert run.end() == (130 if how in ("interrupt", "decline") else 1)
assert run.texts() == "stored\n", run.texts()
print("\n".join(e["message"] for e in run.events if e["event"] == "warning"))
END
        cat "$WORK/events"
        [ "$(grep -c "store rejected: the run was cancelled" "$WORK/events")" -eq 2 ]
        [ "$(jq -r .path "$state")" = /good ]
        [ "$(jq -r .before "$state")" = kept ]
        [ "$(grep -c '"id":"s"' "$SEEN")" -eq 1 ]
    done
}

@test "a plugin that has stopped itself is woken up to end" {
    py stopped <<'END'
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
ready()
os.kill(os.getpid(), signal.SIGSTOP)
while True:
    time.sleep(60)
END
    start run stopped
    wait_ready
    kill -INT "$host"
    kill -INT "$host"
    finish
    expect_status 130
}

@test "SIGTERM to perch: cancel, and 143 whatever the plugin returns" {
    py polite <<'END'
ready()
recv()
sys.exit(7)
END
    start run polite
    wait_ready
    kill -TERM "$host"
    finish
    expect_status 143
    seen '{"type":"cancel","reason":"user_interrupt"}'
}

@test "SIGHUP to perch: cancel, and 129" {
    py polite <<'END'
ready()
recv()
END
    start run polite
    wait_ready
    kill -HUP "$host"
    finish
    expect_status 129
}

@test "kill -9 of perch leaves no plugin and no command" {
    py -c exec orphan <<'END'
deaf = ["sh", "-c", "trap '' TERM INT HUP; echo $$ >> $WORK/pids; while :; do sleep 1; done"]
subprocess.Popen(deaf)
send("exec", id="1", command="trap '' TERM HUP; echo $$ >> $WORK/pids; sleep 300 & echo $! >> $WORK/pids; wait")
send("exec", id="2", command="sleep 300 & echo $! >> $WORK/pids")
while not os.path.exists(os.environ["WORK"] + "/pids") or len(open(os.environ["WORK"] + "/pids").readlines()) < 4:
    time.sleep(0.01)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready(os.getpid())
while True:
    time.sleep(60)
END
    start run orphan
    wait_ready
    kill -KILL "$host"
    finish
    expect_status 137
    wait_until gone "$(cat "$READY")"
    while read -r pid; do wait_until gone "$pid"; done <"$WORK/pids"
    wait_until nothing_left
}

@test "a run that ends leaves none of its commands, however they were started" {
    py -c exec leaver <<'END'
for n in range(20):
    result = run("sleep 300 & echo $! >> $WORK/pids; echo %d" % n)
    assert result == {"code": 0, "stderr": "", "stdout": "%d\n" % n}, result
send("exec", id="x", command="echo $$ >> $WORK/pids; touch $WORK/last; exec sleep 300")
while not os.path.exists(os.environ["WORK"] + "/last"):
    time.sleep(0.01)
END
    call leaver
    expect_status 0
    [ "$(wc -l <"$WORK/pids")" -eq 21 ]
    while read -r pid; do wait_until gone "$pid"; done <"$WORK/pids"
}

@test "the exit code is the plugin's, with one line about it" {
    py codes <<'END'
sys.exit(int(args[0]))
END
    for code in 1 2 64 125 126 127 130 255; do
        call codes "$code"
        expect_status "$code"
        [ "$errors" = "error: Plugin 'fledge-codes' exited with code $code" ]
    done
    call codes 0
    expect_status 0
    [ -z "$errors" ]
}

@test "exec: timeouts, signals, codes, the shell's own failures" {
    py -c exec results <<'END'
assert run("exit 3")["code"] == 3
assert run("kill -9 $$")["code"] == 137
assert run("no-such-program-at-all")["code"] == 127
assert run("cat")["stdout"] == ""                       # stdin is /dev/null
assert run("readlink /proc/self/fd/0")["stdout"] == "/dev/null\n"
assert run("echo a; echo b >&2") == {"code": 0, "stderr": "b\n", "stdout": "a\n"}
assert run("sleep 60 & echo started")["stdout"] == "started\n"
assert "NUL" in run("echo \0")["stderr"]
assert run("")["code"] == 0
assert run("ls /proc/self/fd | wc -l")["stdout"].strip() == "4"  # and the directory
say("fine")
END
    SECONDS=0
    call results
    expect_status 0
    expect "fine"
    [ "$SECONDS" -lt 30 ]
}

@test "exec: sixteen at a time, the rest wait" {
    py -c exec crowd <<'END'
work = os.environ["WORK"] + "/crowd"
os.mkdir(work)
for n in range(40):
    send("exec", id=n, command="touch %s/%d; while [ ! -e %s/go ]; do sleep 0.02; done" % (work, n, work))
while len(os.listdir(work)) < 16:
    time.sleep(0.01)
time.sleep(0.2)
assert len(os.listdir(work)) == 16, os.listdir(work)
open(work + "/go", "w").close()
assert [recv()["id"] for _ in range(40)] == list(range(40))
say("all")
END
    call crowd
    expect_status 0
    expect "all"
}
