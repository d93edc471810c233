#!/usr/bin/env bats
# Plugin to plugin: `fledge COMMAND …` in a command of a plugin is run by the host, outside of the
# caller's sandbox, in the callee's own.

# shellcheck disable=SC2154 # what the helpers set
load plugins
load ../harness/users

setup() {
    fledge_open
    export HOME="$BATS_TEST_TMPDIR/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    mkdir -p "$HOME"
    # Stands for the sql plugin: answers, and tells what it sees.
    py -c store sql <<'END'
import os
def seen(path):
    try:
        os.listdir(path)
        return "seen"
    except OSError:
        return "hidden"
words = init["args"]
if words[:1] == ["fail"]:
    sys.exit(3)
if words[:1] == ["look"]:
    say(" ".join(f"{name}={os.environ.get(name, '-')}" for name in words[1:]))
elif words[:1] == ["dir"]:
    say(seen(words[1]))
elif words[:1] == ["touch"]:
    try:
        open(words[1], "w").close()
        say("written")
    except OSError as error:
        say(type(error).__name__)
elif words[:1] == ["ask"]:
    say(ask("prompt", message="Database:"))
elif words[:1] == ["wait"]:
    ready()
    answer = sys.stdin.readline()
    with open(os.environ["WORK"] + "/cancelled", "w") as file:
        file.write(answer)
else:
    say(f"rows of {words} in {init['project']['root']}")
END
    # Stands for the memory plugin: has its arguments run and tells the result.
    py -c exec memory <<'END'
result = run(" ".join(init["args"]))
say(result["code"])
say(result["stdout"].rstrip("\n"))
say(result["stderr"].rstrip("\n"))
END
}
teardown() { fledge_close; }

may_call() { "$perch" plugins allow fledge-memory --grant "${1-plugins}" >/dev/null; }

# answers STATUS STDOUT: what the caller saw; its stderr is in $said.
answers() {
    expect_status 0
    said=$(sed -n '3,$p' "$WORK/out")
    [ "$(head -n 2 "$WORK/out")" = "$(printf '%s\n%s' "$1" "$2")" ] || {
        echo "not $1, $2:"
        cat "$WORK/out" "$WORK/err"
        return 1
    }
}

@test "without the grant: a plain sentence that names it, and no empty list" {
    for command in "fledge sql query" "$perch run sql query" "fledge plugins list --json"; do
        call memory "$command"
        answers 126 ""
        [ "$said" = "error: the plugin 'fledge-memory' may not call others: perch plugins allow fledge-memory --grant plugins" ]
    done
}

@test "with it: run, plugins run and plugins list --json, by fledge and by perch" {
    may_call
    call memory "fledge sql query 'a b' --json"
    answers 0 "rows of ['query', 'a b', '--json'] in $WORK/project"
    [ -z "$said" ]
    [ -z "$errors" ]
    call memory "fledge plugins run sql --ni -- x | tr a-z A-Z"
    answers 0 "ROWS OF ['X'] IN ${WORK^^}/PROJECT"
    call memory "'$perch' run sql x >/dev/null; fledge sql fail"
    answers 3 ""
    [ "$said" = "error: Plugin 'fledge-sql' exited with code 3" ]
    call memory "fledge plugins list --json"
    has "$output" '"name":"fledge-sql"'
    call memory "fledge nobody"
    answers 127 ""
    has "$said" "there is no command 'nobody'"
}

@test "nothing else: no install, allow, update, no sandbox of the caller's choice" {
    may_call
    snapshot() { cat "$cfg/plugins.toml" "$XDG_CONFIG_HOME/perch/grants.toml"; }
    snapshot >"$WORK/before"
    for words in "plugins install ./x" "plugins allow fledge-memory --sandbox off" "plugins update" \
        "plugins remove sql --yes" "plugins list" "--sandbox=off sql x" "--trace /tmp/x sql x"; do
        call memory "fledge $words"
        [ "$(sed -n 1p "$WORK/out")" != 0 ]
    done
    snapshot | diff "$WORK/before" -
}

@test "a perch that lies in a directory for temporary files, which a sandbox has its own of" {
    local place
    place=$(mktemp -d /tmp/perch-calls.XXXXXX)
    cp "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$place"
    may_call
    perch="$place/perch" call memory "fledge sql good; ls $place"
    rm -r "$place"
    has "$output" "rows of ['good']"
    has "$output" perch
    lacks "$output" perch-guard
}

@test "what comes through the channel is written by anybody: a client of its own gets no further" {
    may_call
    cat >forge.py <<'END'
import array, os, socket, sys
channel = socket.socket(fileno=99)
def ask(words, fds=None, cut=False):
    mine, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fds = [1, 2, line.fileno()] if fds is None else fds + [line.fileno()]
    data = b"".join(w.encode() + b"\0" for w in words)
    channel.sendmsg([data[:-1] if cut else data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    line.close()
    answer = mine.recv(2000)
    return answer[:1].hex(), answer[1:].decode()
here = os.getcwd()
directory = os.open("/", os.O_RDONLY)
path = os.open("/etc/passwd", os.O_RDONLY)
for words in (["plugins", "install", "x"], ["--sandbox=off", "run", "sql"], ["run", "--sandbox=off", "sql"],
              ["tool", "list"], ["run"], [], ["--json"], ["--answer"], ["--trace", "x", "run", "sql"]):
    status, why = ask([here] + words)
    assert status == "7d" and "nothing else" in why, (words, status, why)
assert "no pipe" in ask([here, "run", "sql"], [directory, 2])[1]
assert "no pipe" in ask([here, "run", "sql"], [1, path])[1]
assert ask(["relative", "run", "sql"])[0] == "7d"
assert ask([here, "run", "sql"], cut=True)[0] == "7d"
for outside in ("/", "/etc", os.path.dirname(here)):
    assert ask([outside, "run", "sql", "x"])[0] == "7e", outside
for odd in ([], [1], [1, 2]):
    channel.sendmsg([b"x\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", odd))] if odd else [])
assert ask([here, "run", "sql", "good"])[0] == "00"
END
    call memory "$python forge.py; echo end"
    has "$output" "rows of ['good']"
    has "$output" "end"
    lacks "$output" "Traceback"
}

@test "the callee has its own environment and rights; the caller's directory is there to be read" {
    may_call
    mkdir "$HOME/.aws"
    export GH_TOKEN=secret VISIBLE=yes
    "$perch" plugins allow fledge-sql --env GH_TOKEN >/dev/null
    call memory 'PLANTED=1 VISIBLE=no fledge sql look GH_TOKEN VISIBLE PLANTED PERCH_CALL_CHAIN FLEDGE_NON_INTERACTIVE'
    answers 0 "GH_TOKEN=secret VISIBLE=yes PLANTED=- PERCH_CALL_CHAIN=- FLEDGE_NON_INTERACTIVE=1"
    "$perch" plugins allow fledge-memory --env VISIBLE --read "$HOME/.aws" >/dev/null
    call memory "fledge sql dir '$HOME/.aws'"
    answers 0 hidden
    call memory "fledge sql dir '$cfg/plugins/fledge-memory'"
    answers 0 seen
    call sql dir "$cfg/plugins/fledge-memory"
    expect hidden
    call memory "fledge sql touch '$cfg/plugins/fledge-memory/made'"
    lacks "$output" written
    [ ! -e "$cfg/plugins/fledge-memory/made" ]
    call memory "fledge sql touch made-here"
    answers 0 written
    [ -e made-here ]
    mkdir sub
    call memory "cd sub && fledge sql query"
    answers 0 "rows of ['query'] in $WORK/project/sub"
    call memory "cd / && fledge sql query"
    answers 126 ""
    has "$said" "in its project alone"
}

@test "nobody is asked, whoever sits at the terminal" {
    may_call
    call memory "fledge sql ask"
    [ "$(sed -n 1p "$WORK/out")" = 1 ]
    has "$output" "non_interactive"
    call memory "fledge --answer Database:=x sql ask"
    has "$output" "'value': 'x'"
}

@test "legacy callees, and those without a sandbox, must be named" {
    plugin -p none old <<'END'
#!/bin/sh
echo "old $*"
END
    may_call
    call memory "fledge old one"
    answers 126 ""
    hint="perch plugins allow fledge-memory --grant plugins:fledge-old"
    has "$said" "$hint"
    perch() { "$perch" "$@"; }
    eval "$hint" >"$WORK/granted"
    call memory "fledge old one"
    answers 0 "old one"
    "$perch" plugins allow fledge-sql --sandbox off >/dev/null
    call memory "fledge sql x"
    answers 126 ""
    has "$said" "--grant plugins:fledge-sql"
    may_call plugins:sql
    call memory "fledge sql x"
    answers 0 "rows of ['x'] in $WORK/project"
    "$perch" plugins revoke fledge-memory --grant plugins >/dev/null
    may_call plugins:fledge-old
    call memory "fledge old two"
    answers 0 "old two"
    "$perch" plugins allow fledge-sql --sandbox on >/dev/null
    call memory "fledge sql x"
    answers 126 ""
    has "$said" "--grant plugins:fledge-sql"
}

@test "no cycles, and not deeper than eight" {
    for i in 1 2 3 4 5 6 7 8 9; do
        py -c exec "step$i" <<END
rest = init["args"]
if rest:
    result = run("fledge " + " ".join(rest))
    say(result["stdout"].rstrip() + result["stderr"].rstrip())
else:
    say("the last")
END
        "$perch" plugins allow "fledge-step$i" --grant plugins >/dev/null
    done
    call step1 step2 step1
    has "$output" "is being called already: fledge-step1/fledge-step2/fledge-step1"
    call step1 step2 step3 step4 step5 step6 step7 step8
    has "$output" "the last"
    call step1 step2 step3 step4 step5 step6 step7 step8 step9
    has "$output" "more than 8 plugins would call each other"
}

# waits: memory calls sql, which waits; both are there.
waits() {
    start run memory "fledge sql wait"
    wait_ready
}

@test "cancel reaches the callee; nothing stays" {
    may_call
    waits
    kill -INT "$host"
    finish
    expect_status 130
    wait_until test -s "$WORK/cancelled"
    has "$(cat "$WORK/cancelled")" '"type":"cancel"'
    wait_until nothing_left
}

@test "a timeout of the command ends the callee, too" {
    may_call
    py -c exec impatient <<'END'
say(run("fledge sql wait", timeout=1.5)["code"])
wait_for = __import__("os").environ["WORK"] + "/cancelled"
while not __import__("os").path.exists(wait_for):
    __import__("time").sleep(0.02)
END
    "$perch" plugins allow fledge-impatient --grant plugins >/dev/null
    call impatient
    expect 124
    wait_until nothing_left
}

@test "whoever is killed: host, called perch, or the one that waits for it; nothing stays" {
    may_call
    waits
    kill -KILL "$host"
    wait_until nothing_left
    rm "$READY"
    waits
    called=$(pgrep -f "run sql wait" | while read -r p; do tr '\0' '\n' <"/proc/$p/environ" | grep -q "PERCH_CALL_CHAIN=" && echo "$p"; done | head -n 1)
    kill -KILL "$called"
    finish
    expect_status 0
    has "$output" 137
    wait_until nothing_left
}

@test "much output goes where the caller says, and is bounded there" {
    py flood <<'END'
for i in range(2000):
    say("x" * 10000)
END
    may_call
    call memory "fledge flood | wc -c; fledge flood | head -c 5; echo"
    expect_status 0
    has "$output" "20002000"
    call memory "fledge flood"
    expect_status 0
    [ "$(wc -c <"$WORK/out")" -lt 11000000 ]
}

@test "many at once: all of them are answered" {
    may_call
    call memory 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do fledge sql $i & done; wait'
    expect_status 0
    [ "$(grep -c "rows of" "$WORK/out")" -eq 12 ]
}

# one_calls PLACE: two small plugins, as whoever runs it.
one_calls() {
    export HOME="$1" XDG_CONFIG_HOME="$1/config" XDG_CACHE_HOME="$1/cache" XDG_STATE_HOME="$1/state"
    local name
    for name in caller callee; do
        mkdir -p "$1/$name"
        printf '[plugin]\nname = "%s"\nversion = "1"\nprotocol = "fledge-v1"\n' $name >"$1/$name/plugin.toml"
        printf '[[commands]]\nname = "%s"\nbinary = "run"\n[capabilities]\nexec = true\n' $name >>"$1/$name/plugin.toml"
    done
    cat >"$1/caller/run" <<'END'
#!/bin/sh
read -r init
echo '{"type":"exec","id":"1","command":"fledge callee"}'
read -r answer
printf '%s\n' "$answer" >&2
END
    printf '#!/bin/sh\nread -r init\nprintf '"'"'{"type":"output","text":"called by %%s"}\\n'"'"' "$(id -u)"\n' >"$1/callee/run"
    chmod +x "$1"/*/run
    mkdir "$1/project"
    cd "$1/project" || return 1
    perch plugins install "$1/caller" "$1/callee" --copy --grant exec >"$1/out" 2>&1 || { cat "$1/out"; return 1; }
    perch run caller 2>&1 | grep -qF '"code":126' || return 1
    perch plugins allow caller --grant plugins >"$1/out"
    perch run caller 2>&1 | tee "$1/out" | grep -qF "called by $(id -u)" || { cat "$1/out"; return 1; }
}
export -f one_calls

@test "as root and as a normal user" {
    users_bring
    as_both one_calls
}
