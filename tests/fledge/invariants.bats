#!/usr/bin/env bats
# Every row of the table "Invariants" of fledge-v1, with a real plugin each.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

@test "invariant 1: the protocol is opt-in" {
    py protocol <<'END'
say(init["protocol"])
END
    call protocol
    expect_status 0
    expect "fledge-v1"
    plugin -p none plain <<'END'
#!/bin/sh
IFS= read -r line || line='nothing'
echo "stdin: $line"
END
    call plain
    expect "stdin: nothing"
}

@test "invariant 2: without the protocol stdio is inherited" {
    plugin -p none plain <<'END'
#!/bin/sh
readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2
printf '{"type":"output","text":"not a message"}\n'
cat
exit 3
END
    echo "typed" >"$WORK/in"
    status=0
    "$perch" run plain <"$WORK/in" >"$WORK/out" 2>"$WORK/err" || status=$?
    output=$(cat "$WORK/out")
    expect_status 3
    expect "$WORK/in
$WORK/out
$WORK/err
{\"type\":\"output\",\"text\":\"not a message\"}
typed"
}

@test "invariant 3: every message with an id gets exactly one answer, in order" {
    py -c exec,store,metadata all <<'END'
requests = [
    dict(type="prompt", message="a", default="x"),
    dict(type="confirm", message="b"),
    dict(type="select", message="c", options=["p", "q"]),
    dict(type="multi_select", message="d", options=["p", "q"]),
    dict(type="exec", command="sleep 0.2; echo slow"),
    dict(type="load", key="k"),
    dict(type="metadata", keys=[]),
    dict(type="progress", message="one-way"),
    dict(type="log", level="info", message="one-way"),
    dict(type="output", text="one-way\n"),
    dict(type="store", key="k", value="v"),
    dict(type="load", key="k"),
    dict(type="of_the_future"),
    dict(type="select", message="no options", options=[]),
    dict(type="exec"),
    dict(),
]
for number, request in enumerate(requests):
    raw(json.dumps({**request, "id": "r%d" % number}) + "\n")
answers = [recv() for _ in requests]
assert [a["id"] for a in answers] == ["r%d" % n for n in range(len(requests))], answers
kinds = [a["type"] + ":" + str(a.get("reason")) for a in answers]
assert kinds[:12] == ["response:None"] * 12, kinds
assert kinds[12:] == ["cancel:unsupported"] + ["cancel:invalid_request"] * 3, kinds
values = [a.get("value") for a in answers]
assert values[:4] == ["x", False, "p", []], values
assert values[4]["stdout"] == "slow\n" and values[5:7] == [None, {}], values
assert values[7:12] == [None, None, None, None, "v"], values
# And not one more comes before the next.
assert ask("confirm", id="last", message="e")["id"] == "last"
say("done")
END
    call all
    expect_status 0
    expect "one-way
done"
}

@test "invariant 4: init is the first message" {
    git -c init.defaultBranch=main init -q .
    plugin -c exec early <<'END'
#!/usr/bin/env python3
# Asks before init can be there: git has to be waited for.
import json, os, sys
for n in range(50):
    os.write(1, b'{"type":"exec","id":%d,"command":"true"}\n' % n)
lines = [json.loads(sys.stdin.readline()) for _ in range(51)]
assert lines[0]["type"] == "init", lines[0]
assert [line["id"] for line in lines[1:]] == list(range(50)), lines
os.write(1, b'{"type":"output","text":"first\\n"}\n')
END
    call early
    expect_status 0
    expect "first"
}

@test "invariant 5: stderr is never captured" {
    py loud <<'END'
print(os.readlink("/proc/self/fd/2"), file=sys.stderr)
print('{"type":"output","text":"no"}', file=sys.stderr)
END
    call loud
    expect_status 0
    expect ""
    [ "$errors" = "$WORK/err
{\"type\":\"output\",\"text\":\"no\"}" ]
}

@test "invariant 6: storage is scoped to the plugin's state.json" {
    py -c store one <<'END'
send("store", key="colour", value="red")
say(value("load", key="colour"))
END
    py -c store two <<'END'
say(value("load", key="colour"))
send("store", key="../one/colour", value="blue")
END
    call one
    expect "red"
    call two
    expect "None"
    call one
    expect "red"
    [ "$(cat "$cfg/plugins/fledge-one/state.json")" = '{
  "colour": "red"
}' ]
    [ "$(cat "$cfg/plugins/fledge-two/state.json")" = '{
  "../one/colour": "blue"
}' ]
}

# jail [SANDBOX]: the plugin's grant shows it the whole of the test's directory, so that
# what it cannot see is what is hidden from it, and not the temporary files of others.
jail() {
    printf 'schema = 1\n[plugin.fledge-jail]\nread = ["%s"]\nsandbox = "%s"\n' \
        "$BATS_TEST_TMPDIR" "${1:-on}" >"$XDG_CONFIG_HOME/perch/grants.toml"
    call --json jail
    expect_status 0
    answers=$(jq -r 'select(.event == "output").text | rtrimstr("\n")' "$WORK/out")
    layers=$(jq -c 'select(.event == "end").sandbox' "$WORK/out")
}

# all RESULT [ROW…]: every answer is that, but for those of the rows. The project, the
# plugin's directory and its temporary one can always be written.
all() {
    local rest
    rest=$(grep -v '^may ' <<<"$answers")
    [ "$(grep -c '^may .*: done$' <<<"$answers")" -eq 3 ] || { echo "$answers" && return 1; }
    [ "$(wc -l <<<"$rest")" -eq 13 ]
    ! grep -v ": $1\$" <<<"$rest" | grep -v "^${2:-nothing}" || return 1
}

@test "invariant 7: exec is sandboxed to the project and the plugin's directory" {
    export HOME="$BATS_TEST_TMPDIR/home" CFG="$cfg" SEEN='' # it may not write there
    mkdir -p "$HOME/.ssh" "$BATS_TEST_TMPDIR/elsewhere"
    echo secret >"$HOME/.ssh/id_ed25519"
    git -c init.defaultBranch=main init -q .
    mkdir -p .git/hooks
    py -c store other <<<'send("store", key="colour", value="red")'
    call other
    py -c exec jail <<'END'
attempts = """
may write in the project| echo a >made && mkdir -p directory/below && mv made directory
may write in its directory| echo a >$CFG/plugins/fledge-jail/made
may write in its TMPDIR| echo a >$TMPDIR/perch-test-made && rm $TMPDIR/perch-test-made
write the home directory| echo a >$HOME/made
write the system| : >>/etc/passwd
write another directory| echo a >$WORK/../elsewhere/made
read the registry| grep . $CFG/plugins.toml
read another's state| grep . $CFG/plugins/fledge-other/state.json
write another's state| echo '{}' >$CFG/plugins/fledge-other/state.json
list the plugins| ls $CFG/plugins | grep fledge-other
read perch's grants| grep . $CFG/../perch/grants.toml
widen its own grant| echo >>$CFG/../perch/grants.toml
read a key| grep . $HOME/.ssh/id_ed25519
protected: a hook of git| echo a >.git/hooks/post-commit
protected: git's settings| echo >>.git/config
protected: its manifest| echo >>$CFG/plugins/fledge-jail/plugin.toml
"""
for attempt in attempts.strip().splitlines():
    name, command = attempt.split("|", 1)
    say("%s: %s" % (name, "done" if run(command)["code"] == 0 else "denied"))
END
    if "$perch" sandbox check | grep -q 'layers:.* namespaces'; then
        jail
        all denied
        has "$layers" '"namespaces"'
    else
        echo "# no namespaces here: without them only" >&3
    fi
    PERCH_SANDBOX_NO_ROOM=1 jail
    all denied protected
    has "$layers" '"landlock:'
    # And each of them is something that can be done.
    jail off
    all "done" "write the system"
    [ "$layers" = '[]' ]
}

@test "invariant 8: unknown types are ignored, in both directions" {
    py future <<'END'
send("hologram", colours=[1, 2], nested={"type": "output", "text": "no"})
send("output", text="known\n", style={"bold": True}, unheard=None)
assert ask("hologram", id="h")["reason"] == "unsupported"
say(value("confirm", message="sure?", default=True, animation="fade"))
END
    call future
    expect_status 0
    expect "known
True"
    [ "$errors" = "warning: line 3 of the plugin: there is no message type 'hologram':\
 answered by cancel" ]
}

@test "invariant 9: malformed JSON is logged and skipped" {
    py noisy <<'END'
raw('Starting up…\n{"type":"output","text":"a\\n"\n\n[1,2]\n"text"\n{"type":7}\n\x00\xff\n')
say("still here")
END
    call noisy
    expect_status 0
    expect "still here"
    has "$errors" "line 1 of the plugin is not JSON and was skipped: Starting up"
    has "$errors" "line 2 of the plugin is not JSON"
    has "$errors" "line 4 of the plugin is not a JSON object"
    has "$errors" "line 5 of the plugin is not a JSON object"
    has "$errors" "line 6 of the plugin: \`message\`: \`type\` must be a string"
    has "$errors" "line 7 of the plugin is not JSON"
}

@test "invariant 10: SIGTERM five seconds after cancel" {
    py slow <<'END'
def ended(*_):
    with open(os.environ["WORK"] + "/after", "w") as file:
        file.write("%.3f" % (time.monotonic() - cancelled))
    os._exit(0)
signal.signal(signal.SIGTERM, ended)
send("progress", message="working")
ready()
assert recv() == {"type": "cancel", "reason": "user_interrupt"}
cancelled = time.monotonic()
while True:
    signal.pause()
END
    start run slow
    wait_ready
    kill -INT "$host"
    finish
    expect_status 130
    python3 -c "assert 4.9 < $(cat "$WORK/after") < 9.9, $(cat "$WORK/after")"
}

@test "invariant 11: capabilities default to false" {
    py bare <<'END'
say(json.dumps(init["capabilities"]))
END
    cat >"$cfg/plugins/fledge-bare/plugin.toml" <<'END'
[plugin]
name = "fledge-bare"
version = "0.1.0"
protocol = "fledge-v1"
END
    printf '[[plugins]]\nname = "fledge-bare"\ncommands = ["bare"]\n' >"$cfg/plugins.toml"
    call bare
    expect_status 0
    expect '{"exec": false, "store": false, "metadata": false}'
    # What the manifest wishes for is not what was granted.
    printf '[capabilities]\nexec = true\nstore = true\nmetadata = true\n' \
        >>"$cfg/plugins/fledge-bare/plugin.toml"
    call bare
    expect '{"exec": false, "store": false, "metadata": false}'
}

@test "invariant 12: exec, store, load and metadata need their capability" {
    cat >"$WORK/script" <<'END'
ran = os.environ["WORK"] + "/ran-" + init["command"]
say(run("touch " + ran)["code"])
send("store", key="k", value="v")
say(value("load", key="k"))
say(sorted(value("metadata", keys=["env", "git_log"])))
END
    py nothing <"$WORK/script"
    py -c exec only-exec <"$WORK/script"
    py -c store only-store <"$WORK/script"
    py -c metadata only-metadata <"$WORK/script"
    call nothing
    expect "126
None
[]"
    call only-exec
    expect "0
None
[]"
    call only-store
    expect "126
v
[]"
    call only-metadata
    expect "126
None
['env', 'git_log']"
    [ -e "$WORK/ran-only-exec" ]
    [ ! -e "$WORK/ran-nothing" ]
    [ ! -e "$WORK/ran-only-store" ]
    [ ! -e "$cfg/plugins/fledge-nothing/state.json" ]
}

@test "invariant 13: grants are in plugins.toml and in init" {
    py -c exec,metadata granted <<'END'
say(json.dumps(init["capabilities"]))
END
    grep -A 3 'plugins.capabilities' "$cfg/plugins.toml" | grep -q '^exec = true'
    call granted
    expect '{"exec": true, "store": false, "metadata": true}'
    printf 'network = true\nfilesystem = "project"\n' >>"$cfg/plugins.toml"
    call granted
    expect '{"exec": true, "store": false, "metadata": true, "network": true, "filesystem": "project"}'
    sed -i 's/^exec = true/exec = false/' "$cfg/plugins.toml"
    call granted
    has "$output" '"exec": false'
}
