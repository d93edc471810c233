#!/usr/bin/env bats
# --json: a program is the user.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

@test "events: every message is one event" {
    py -c exec,store,metadata all <<'END'
send("output", text="text\n")
send("log", level="warn", message="careful\u001b")
send("progress", message="Up", current=1, total=4)
send("progress", message="Spin")
send("progress", done=True)
send("store", key="k", value="hidden")
value("load", key="k")
run("exit 3")
value("metadata", keys=["env", "git_log"])
raw("stray\n")
sys.exit(3)
END
    python3 - <<'END'
from user import *
run = Run("all")
assert run.end() == 3
end = run.events[-1]
assert end["signal"] is None and end["duration_ms"] >= 0 and end["reach"], end
assert [e["event"] for e in run.events] == [
    "output", "log", "progress", "progress", "progress", "store", "load", "exec", "metadata",
    "warning", "error", "end"], run.events
e = run.events
assert e[0] == {"event": "output", "text": "text\n"}
assert e[1]["level"] == "warn" and e[1]["message"].startswith("careful"), e[1]
assert e[2] == {"event": "progress", "message": "Up", "current": 1, "total": 4}, e[2]
assert e[4]["done"] is True
assert e[5]["key"] == "k" and "hidden" not in json.dumps(e)
assert e[7]["command"] == "exit 3"
assert e[8]["keys"] == ["env", "git_log"]
END
}

@test "events: questions carry numbers, answers come on stdin" {
    py ask <<'END'
for kind, fields in [("prompt", dict(default="d", validate="non_empty")), ("confirm", dict(default=True)),
                     ("select", dict(options=["red", "blue"], default=1)),
                     ("multi_select", dict(options=["x", "y", "z"], defaults=[0, 2]))]:
    say(json.dumps(value(kind, message="Q", **fields)))
END
    python3 - <<'END'
from user import *
run = Run("ask")
e = run.next()
assert e.pop("ask") >= 0 and e == {"event": "prompt", "message": "Q", "default": "d", "validate": "non_empty"}, e
run = Run("ask")
numbers = []
for name, answer in [("prompt", "ä"), ("confirm", False), ("select", "red"), ("multi_select", ["z", "y"])]:
    e = run.next(name)
    numbers.append(e["ask"])
    run.answer(e, answer)
assert run.end() == 0
assert len(set(numbers)) == 4
assert run.texts() == '"\\u00e4"\nfalse\n"red"\n["y", "z"]\n', run.texts()
assert run.events[-1]["success"] is True
END
}

@test "events: several questions at once are asked one after the other" {
    py three <<'END'
for n in range(3):
    send("prompt", id="1", message=str(n))
say([recv()["value"] for _ in range(3)])
END
    python3 - <<'END'
from user import *
run = Run("three")
for n in range(3):
    e = run.next("prompt")
    assert e["message"] == str(n), e
    run.answer(e, "answer %d" % n)
assert run.end() == 0
assert run.texts() == "['answer 0', 'answer 1', 'answer 2']\n"
END
}

@test "events: answers that do not fit leave the question open" {
    py strict <<'END'
say(value("prompt", message="Q", validate="integer"))
say(value("select", message="Q", options=["a"]))
END
    python3 - <<'END'
from user import *
run = Run("strict")
e = run.next("prompt")
for wrong in ["x", 5, None, ["1"]]:
    run.answer(e, wrong)
    assert "still open" in run.next("warning")["message"]
run.write("not json\n")
run.next("warning")
run.write('{"ask":%d,"value":"5"}\n' % (e["ask"] + 100000))
run.write('{"value":"5"}\n')
run.next("warning")
run.answer(e, "5")
s = run.next("select")
run.answer(e, "again")
assert "not open" in run.next("warning")["message"]
run.answer(s, "b")
run.next("warning")
run.answer(s, "a")
assert run.end() == 0
assert run.texts() == "5\na\n"
END
}

@test "events: declining interrupts the run" {
    py asks <<'END'
answer = ask("prompt", message="Q")
say(json.dumps(answer))
END
    python3 - <<'END'
from user import *
run = Run("asks")
run.cancel(run.next("prompt"))
assert run.end() == 130
assert run.texts() == '{"type": "cancel", "id": "1", "reason": "user_interrupt"}\n', run.texts()
END
}

@test "events: the end of stdin makes it non-interactive" {
    py asks <<'END'
say(value("confirm", message="first", default=True))
say(value("select", message="second", options=["a", "b"]))
say(ask("prompt", message="third").get("reason"))
END
    python3 - <<'END'
from user import *
run = Run("asks")
run.next("confirm")
run.leave()
assert run.end() == 1
assert run.texts() == "True\na\nnon_interactive\n", run.texts()
assert any(e["event"] == "error" and "third" in e["message"] for e in run.events)
assert not any(e["event"] == "select" for e in run.events)
END
    run "$perch" --json run asks </dev/null
    [ "$status" -eq 1 ]
    lacks "$output" '"event":"confirm"'
}

@test "events: answers that were there before the question" {
    py asks <<'END'
say(value("prompt", message="Q"))
END
    # Numbers are ours: learn the first one.
    number=$(python3 -c '
from user import *
run = Run("asks")
print(run.next("prompt")["ask"])
run.leave()
run.end()')
    run "$perch" --json run asks <<<"{\"ask\":$number,\"value\":\"early\"}"
    [ "$status" -eq 0 ]
    has "$output" '"text":"early\n"'
}

@test "events: failures of the host end with an end too" {
    run "$perch" --json run nothing </dev/null
    [ "$status" -eq 127 ]
    has "${lines[0]}" '"event":"error"'
    has "${lines[1]}" '"event":"end","success":false,"exit_code":127'
    py -p fledge-v9 newer </dev/null
    run "$perch" --json run newer </dev/null
    [ "$status" -eq 125 ]
    has "${lines[0]}" 'fledge-v9'
    has "${lines[1]}" '"exit_code":125'
}

@test "events: a signal is in the end" {
    py dies <<'END'
os.kill(os.getpid(), signal.SIGKILL)
END
    run "$perch" --json run dies </dev/null
    [ "$status" -eq 137 ]
    has "$output" '"event":"end","success":false,"exit_code":137,"signal":9'
}

@test "events: -v adds debug" {
    py future <<'END'
send("hologram")
END
    run "$perch" --json run future </dev/null
    lacks "$output" debug
    run "$perch" --json -v run future </dev/null
    has "$output" '"event":"debug"'
}

@test "events: a flood arrives whole" {
    py flood <<'END'
raw('{"type":"output","text":"0123456789\\n"}\n' * 20000)
END
    run bash -c "'$perch' --json run flood </dev/null | grep -c '\"event\":\"output\"'"
    [ "$output" -eq 20000 ]
}
