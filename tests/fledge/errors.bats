#!/usr/bin/env bats
# Every row of the table "Error Cases" of fledge-v1, with a real plugin each.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

@test "error case: unsupported protocol" {
    py -p fledge-v2 newer <<'END'
say("must not run")
END
    call newer
    expect_status 125
    expect ""
    has "$errors" "fledge-v2"
    has "$errors" "supports only fledge-v1"
    has "$errors" "upgrade"
    [ ! -e "$SEEN" ]
}

@test "error case: malformed JSON" {
    py stray <<'END'
print("Hello from println!", flush=True)
say("after")
END
    call stray
    expect_status 0
    expect "after"
    [ "$errors" = "warning: line 1 of the plugin is not JSON and was skipped: Hello from println!" ]
}

@test "what was meant as a message is told where it is broken, and that it may wait" {
    py broken <<'END'
print('{"type":"output","text":"x",}', flush=True)
print("{'type':'prompt','id':'1','message':'?'}", flush=True)
END
    call broken
    has "$errors" "column 29 of line 1: expected the name of a member in double quotes behind ',', found '}'
"
    has "$errors" "column 2 of line 2: expected '}' or the name of a member in double quotes, found '''; it may be waiting for an answer to the line that was skipped"
}

@test "error case: unknown message type" {
    py future <<'END'
send("table", rows=[["a"]])
say("after")
END
    call future
    expect_status 0
    expect "after"
    [ -z "$errors" ]
    "$perch" -v run future 2>"$WORK/err"
    has "$(cat "$WORK/err")" "there is no message type 'table': ignored"
}

@test "error case: a mistyped message type that waits for its answer" {
    py mood <<'END'
for i in range(3):
    assert ask("selct", id="1", message="?", options=["a"])["reason"] == "unsupported"
for i in range(100):
    assert ask("no-%d" % i, id="1")["reason"] == "unsupported"
END
    call mood
    expect_status 0
    has "$errors" "warning: line 1 of the plugin: there is no message type 'selct'\
 (did you mean 'select'?): answered by cancel"
    # Each once, and no more of them than a screen holds.
    [ "$(grep -c selct <<<"$errors")" -eq 1 ]
    [ "$(wc -l <<<"$errors")" -eq 8 ]
}

@test "error case: missing id" {
    py -c exec,store,metadata careless <<'END'
send("prompt", message="a?")
send("confirm", message="b?")
send("select", message="c?", options=["x"])
send("multi_select", message="d?", options=["x"])
send("load", key="k")
send("exec", command="touch $WORK/ran")
send("metadata", keys=["env"])
send("exec", id=None, command="touch $WORK/ran")
send("exec", id={"a": 1}, command="touch $WORK/ran")
say("after")
END
    call careless
    expect_status 0
    expect "after"
    [ "$(grep -c 'missing id' "$WORK/err")" -eq 9 ]
    has "$errors" "line 1 of the plugin: \`prompt\`: missing id"
    [ ! -e "$WORK/ran" ]
}

@test "error case: orphaned response" {
    py orphan <<'END'
send("response", id="99", value="nobody asked")
send("cancel", reason="whim")
say(value("confirm", message="sure?", default=True))
END
    call orphan
    expect_status 0
    expect "True"
    has "$errors" "\`response\` answers nothing that was asked; ignored"
    has "$errors" "\`cancel\` answers nothing"
    [ "$(wc -l <"$SEEN")" -eq 2 ]
}

@test "error case: exec timeout" {
    py -c exec late <<'END'
result = run("echo before; echo oops >&2; trap '' INT; sleep 60 & echo $! > $WORK/pid; wait", timeout=1.5)
assert result["code"] == 124, result
assert result["stdout"] == "before\n", result
assert result["stderr"] == "oops\ncommand timed out after 1.5s", result
result = run("trap '' TERM; while :; do sleep 0.1; done", timeout=0.1)
assert result == {"code": 124, "stderr": "command timed out after 0.1s", "stdout": ""}, result
result = run("sleep 60", timeout=1)
assert result["stderr"] == "command timed out after 1s", result
say("answered")
END
    call late
    expect_status 0
    expect "answered"
    wait_until gone "$(cat "$WORK/pid")"
}

@test "error case: exec path escape" {
    mkdir inside
    mkdir "$WORK/project-beside"
    ln -s / inside/out
    ln -s "$WORK/project-beside" inside/sideways
    py -c exec wander <<'END'
for cwd in ["..", "/", "/tmp", "inside/../..", "inside/out", "inside/sideways",
            os.environ["WORK"] + "/project-beside", init["plugin"]["dir"] + "/..", "inside/out/etc"]:
    result = run("touch $WORK/ran; pwd", cwd=cwd)
    assert result == {"code": 1, "stdout": "",
                      "stderr": "exec cwd escapes project and plugin directory"}, (cwd, result)
for cwd in ["no/such", "/no/such", "inside/\0/x"]:
    result = run("touch $WORK/ran", cwd=cwd)
    assert result["code"] == 1 and "does not exist or is not accessible" in result["stderr"], result
assert run("true", cwd="no/such")["stderr"] == \
    "exec cwd 'no/such' does not exist or is not accessible"
root = init["project"]["root"]
for cwd, where in [(".", root), ("inside", root + "/inside"), ("inside/..", root), (root, root),
                   (root + "/inside", root + "/inside"),
                   (init["plugin"]["dir"], os.path.realpath(init["plugin"]["dir"])),
                   (None, root), ("", root)]:
    result = run("pwd", cwd=cwd)
    assert result["stdout"] == where + "\n", (cwd, result)
say("kept in")
END
    call wander
    expect_status 0
    expect "kept in"
    [ ! -e "$WORK/ran" ]
}

@test "error case: prompt timeout" {
    py wait <<'END'
send("prompt", id="p", message="Who?", default="me")
send("confirm", id="c", message="Sure?")
assert recv() == {"type": "cancel", "id": "p", "reason": "timeout"}
assert recv() == {"type": "cancel", "id": "c", "reason": "timeout"}
say("told")
END
    python3 - <<'END'
from user import *
run = Run("wait", options=["--prompt-timeout", "0.2"])
assert run.next("prompt")["message"] == "Who?"
assert run.end() == 1
assert run.texts() == "told\n", run.events
assert any(e["event"] == "error" and "Who?" in e["message"] for e in run.events)
assert not any(e["event"] == "confirm" for e in run.events)
END
}

@test "error case: plugin hang" {
    py hang <<'END'
signal.signal(signal.SIGTERM, lambda *_: open(os.environ["WORK"] + "/term", "w").close())
child = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"])
with open(os.environ["WORK"] + "/child", "w") as file:
    file.write(str(child.pid))
ready(time.monotonic())
while True:
    time.sleep(60)
END
    start run hang
    wait_ready
    kill -TERM "$host"
    finish
    ended=$(python3 -c 'import time; print(time.monotonic())')
    expect_status 143
    [ -e "$WORK/term" ]
    wait_until gone "$(cat "$WORK/child")"
    python3 -c "assert $ended - $(cat "$READY") > 9.9"
}

@test "error case: exec capability denied" {
    py -c store,metadata denied <<'END'
raw('{"type":"exec","id":"1","command":"touch $WORK/ran"}\n')
recv()
END
    call denied
    expect_status 0
    seen '{"type":"response","id":"1","value":{"code":126,"stderr":"exec capability not granted","stdout":""}}'
    has "$errors" "warning: exec capability not granted"
    [ ! -e "$WORK/ran" ]
}

@test "error case: store capability denied" {
    py -c exec,metadata denied <<'END'
raw('{"type":"store","key":"k","value":"v"}\n{"type":"load","id":"1","key":"k"}\n')
recv()
raw('{"type":"store","id":"2","key":"k","value":"v"}\n')
recv()
END
    call denied
    expect_status 0
    seen '{"type":"response","id":"1","value":null}' '{"type":"response","id":"2","value":null}'
    [ -z "$errors" ]
    [ ! -e "$cfg/plugins/fledge-denied/state.json" ]
    [ ! -e "$cfg/plugins/fledge-denied/state.json.lock" ]
}

@test "error case: metadata capability denied" {
    py -c exec,store denied <<'END'
raw('{"type":"metadata","id":"1","keys":["env","git_tags"]}\n')
recv()
END
    call denied
    expect_status 0
    seen '{"type":"response","id":"1","value":{}}'
    has "$errors" "warning: metadata capability not granted"
}

# keeps_back COMMAND: a plugin whose words stay in its own memory until the file $WORK/told
# is there.
keeps_back() {
    plugin "$1" <<END
#!$python
import json, os, sys, time
sys.stdin.readline()
print(json.dumps({"type": "output", "text": "at last\\n"}))
while not os.path.exists("$WORK/told"):
    time.sleep(0.05)
END
}

@test "error case: a Python plugin that keeps back what it prints is told so, once" {
    unset PYTHONUNBUFFERED
    keeps_back silent
    start run silent
    wait_until grep -q 'flush stdout' "$WORK/err"
    touch "$WORK/told"
    finish
    expect_status 0
    expect "at last"
    [ "$errors" = "warning: the plugin has sent nothing yet: a Python program must flush stdout:\
 print(..., flush=True), or python3 -u" ]
    rm "$WORK/told"
    start --json run silent
    wait_until grep -q 'flush stdout' "$WORK/out"
    touch "$WORK/told"
    finish
    has "$output" '"message":"the plugin has sent nothing yet: a Python program must flush stdout'
}
