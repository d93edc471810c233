#!/usr/bin/env bats
# Recorded runs of plugins: what the trace says the host did, and the same again.

# shellcheck disable=SC2154 # what trace_open and of_trace set
load traces

setup() { trace_open; }
teardown() { trace_close; }

# Everything a plugin can ask for.
asking() {
    py -c store,exec asker <<'END'
send("store", key="colour", value="secret-blue")
assert value("load", key="colour") == "secret-blue"
assert value("load", key="none") is None
assert run("echo loud")["stdout"] == "loud\n"
assert value("metadata", keys=["env"]) == {}
value("confirm", message="go on?", default=True)
value("prompt", message="name?", default="nobody")
value("select", message="which?", options=["a", "b"], default=1)
value("multi_select", message="all?", options=["a", "b"], defaults=[0])
ask("nonsense")
raw(b"not \xff text\n")
say("done")
END
}

@test "a run without a user: shown with what the host did, and replayed" {
    asking
    record asker one
    expect_status 0
    of_trace show "$trace"
    expect_status 0
    has "$output" "asker one"
    has "$output" '· starts '
    has "$output" '→ init '
    has "$output" '← store        [masked] key="colour" value="***********"'
    has "$output" "· stores 'colour'"
    has "$output" "· looks up 'colour' in the store"
    has "$output" '→ response     [masked] id="1" value="***********"'
    has "$output" "· runs: sh -c 'echo loud'"
    has "$output" '· metadata capability not granted'
    has "$output" '· nobody is asked: answered by its default'
    has "$output" "there is no message type 'nonsense': answered by cancel"
    has "$output" '→ cancel       id="1" reason="unsupported"'
    has "$output" '[10 bytes, not UTF-8] not'
    has "$output" 'is not JSON and was skipped'
    has "$output" '· the plugin exited with status 0'
    has "$output" '· the run ends with exit code 0'
    lacks "$(cat "$trace")" secret-blue
    same
    has "$output" "2 results of store and metadata, 1 of commands; none was run"
    has "$output" "records with masked values: 3, from line"
}

@test "answers given in advance are used again, and say so" {
    py ask <<'END'
value("prompt", message="name?")
value("confirm", message="sure?")
END
    record --answer 'name?=Ada' --answer 'sure?=yes' ask
    expect_status 0
    of_trace show "$trace" --only host
    has "$output" "an answer to this was given in advance"
    lacks "$output" "→"
    same
}

@test "a user's answers of each kind are played again" {
    py ask <<'END'
value("prompt", message="name?")
value("confirm", message="sure?")
value("select", message="which?", options=["a", "b"])
value("multi_select", message="all?", options=["a", "b"])
END
    "$python" - <<'END'
from user import *
run = Run("ask", options=["--trace", os.environ["trace"]])
for value in ("Ada", True, "b", ["a", "b"]):
    run.answer(run.next("prompt", "confirm", "select", "multi_select"), value)
assert run.end() == 0
END
    of_trace show "$trace"
    has "$output" '· asks the user'
    has "$output" '· the user has answered'
    has "$output" '→ response     id="1" value=["a","b"]'
    same
    # Another answer of the user is another response.
    edit 'lines[event("answer")]["facts"]["text"] = "Eve"'
    differs "$(sent Ada)"
    has "$output" '"value":"Ada"'
    has "$output" '"value":"Eve"'
}

# user PYTHON: a user of `perch run ask`, recorded.
user() {
    "$python" -c "from user import *
def ask(*options):
    return Run('ask', options=[*options, '--trace', os.environ['trace']])
$1"
}

@test "a user who declines, one who leaves, one who takes too long" {
    py ask <<'END'
ask("prompt", message="name?")
END
    user '
run = ask()
run.cancel(run.next("prompt"))
assert run.end() == 130'
    of_trace show "$trace"
    has "$output" "· the user does not want to answer"
    has "$output" 'reason="user_interrupt"'
    same
    user '
run = ask()
run.next("prompt")
run.leave()
assert run.end() == 1'
    of_trace show "$trace"
    has "$output" "· nobody can be asked any more"
    has "$output" 'reason="non_interactive"'
    same
    user '
run = ask("--prompt-timeout", "1")
run.next("prompt")
assert run.end() == 1'
    of_trace show "$trace"
    has "$output" "· a question was open for too long"
    has "$output" 'reason="timeout"'
    same
}

@test "an interrupted run" {
    py -c exec sleeper <<'END'
send("exec", id="1", command="sleep 1000")
ready()
assert recv()["type"] == "cancel"
send("load", id="2", key="late")
assert recv()["type"] == "cancel"
END
    start --trace "$trace" run sleeper
    wait_ready
    kill -INT "$host"
    finish
    expect_status 130
    of_trace show "$trace"
    has "$output" "· the user wants it to end: signal 2"
    has "$output" "· waits for its end; then SIGTERM, then SIGKILL"
    has "$(cat "$trace")" '"event":"end","facts":{"exit_code":130}'
    same
}

@test "without capabilities: denied again" {
    py bare <<'END'
run("echo never")
value("load", key="k")
send("store", key="k", value="v")
END
    record bare
    expect_status 0
    of_trace show "$trace"
    has "$output" "· exec capability not granted: \`echo never\` was not run"
    has "$output" "· store capability not granted: answered null"
    same
    # With the capability the host would not have said that.
    edit 'lines[event("start")]["facts"]["exec"] = True'
    differs "$(sent 'capability not granted')"
    has "$output" "the host says nothing now"
}

@test "parallel requests are answered in their order, as then" {
    py -c exec twice <<'END'
send("exec", id="a", command="while [ ! -e fast ]; do sleep 0.05; done; echo slow")
send("exec", id="b", command="touch fast; echo fast")
assert recv()["id"] == "a" and recv()["id"] == "b"
END
    record twice
    expect_status 0
    same
}

@test "one byte of an answer of the host: found and named" {
    asking
    record asker
    expect_status 0
    local number
    number=$(sent loud)
    sed -i "${number}s/loud/proud/" "$trace"
    differs "$number"
    has "$output" "the host says something else now, from byte "
    has "$output" '"stdout":"proud'
    has "$output" '"stdout":"loud'
    has "$output" "the difference may come from a masked value"
}

@test "a stored value does not get out by the words about a broken line" {
    py -c store broken <<'END'
raw('{"type":"store","key":"k","value":"secret-blue"\n')
raw('{"type":"store","key":"k","value":"secret-blue","id":[]}\n')
END
    record broken
    expect_status 0
    has "$errors" "is not JSON and was skipped"
    lacks "$(cat "$trace")" secret
    same
}

@test "with --trace-secrets nothing is masked, and nothing is said of it" {
    asking
    record --trace-secrets asker
    expect_status 0
    has "$(cat "$trace")" secret-blue
    same
    lacks "$output" masked
}

@test "an exec is not run by a replay" {
    py -c exec toucher <<'END'
run("echo x >>count")
END
    record toucher
    expect_status 0
    same
    [ "$(wc -l <count)" -eq 1 ]
}

@test "the end of the run counts" {
    py quitter <<'END'
sys.exit(3)
END
    record quitter
    expect_status 3
    same
    edit 'lines[event("end")]["facts"]["exit_code"] = 4'
    differs "$(event end)"
    has "$output" "(end)"
}

@test "the examples: deploy in Bash and in Python" {
    local name
    for name in deploy-bash:ship deploy-python:deploy; do
        "$perch" plugins install "$PERCH_SOURCE/examples/plugins/${name%:*}" --yes
        record --ni "${name#*:}"
        same
    done
}

@test "what another perch recorded says so" {
    py ask <<'END'
say("hello")
END
    record ask
    sed -i '1s/"perch":"[^"]*"/"perch":"9.9"/
        s/\(\\"name\\":\\"perch\\",\\"version\\":\\"\)[^\\]*/\19.9/' "$trace"
    has "$(sed -n 3p "$trace")" 9.9
    same
    has "$output" "recorded by perch 9.9"
}

@test "a legacy plugin has no exchange" {
    plugin -p none old <<'END'
#!/bin/sh
echo hi
END
    record old
    expect_status 0
    of_trace replay "$trace"
    expect_status 125
    has "$errors" "there is no exchange in it"
}
