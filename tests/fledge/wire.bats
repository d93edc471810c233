#!/usr/bin/env bats
# Lines in both directions: init, ids, many requests, huge, broken and hostile lines.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

git_project() {
    git -c init.defaultBranch=main init -q .
    git config user.name tester
    git config user.email tester@example.org
    git commit -q --allow-empty -m "first"
}

@test "init: byte-exact against the golden line" {
    mkdir "$WORK/my-app" && cd "$WORK/my-app"
    touch Cargo.toml
    git_project
    git add . && git commit -q -m files
    git remote add origin https://user:secret@host/org/my-app
    py -c exec,store deploy <<'END'
END
    call deploy staging --dry-run 'ä "/"'
    expect_status 0
    version=$("$perch" --version | cut -d ' ' -f 2)
    printf '%s\n' '{"type":"init","protocol":"fledge-v1","command":"deploy","args":["staging","--dry-run","ä \"/\""],"project":{"name":"my-app","root":"'"$WORK"'/my-app","language":"rust","git":{"branch":"main","dirty":false,"remote":"origin","remote_url":"https://host/org/my-app"}},"plugin":{"name":"fledge-deploy","version":"0.1.0","dir":"'"$cfg"'/plugins/fledge-deploy"},"fledge":{"version":"1.8.0"},"capabilities":{"exec":true,"store":true,"metadata":false},"host":{"name":"perch","version":"'"$version"'"}}' >"$WORK/golden"
    cmp "$WORK/golden" "$SEEN"
}

@test "init: a plugin that takes it apart with sed" {
    plugin sed <<'END'
#!/bin/bash
read -r line
first=$(printf '%s' "$line" | sed -n 's/.*"args":\["\([^"]*\)".*/\1/p')
root=$(printf '%s' "$line" | sed -n 's/.*"root":"\([^"]*\)".*/\1/p')
printf '{"type":"output","text":"%s in %s\\n"}\n' "$first" "${root##*/}"
END
    call sed staging other
    expect "staging in project"
}

@test "init: a plugin that reads it with a single read()" {
    plugin single <<'END'
#!/usr/bin/env python3
import json, os
line = os.read(0, 1 << 20)
assert line.endswith(b"\n") and line.count(b"\n") == 1
args = json.loads(line)["args"]
os.write(1, json.dumps({"type": "output", "text": "%d %s\n" % (len(args), args[-1])}).encode() + b"\n")
END
    # As much as a pipe takes at once.
    long=$(head -c 30000 /dev/zero | tr '\0' x)
    call single "$long" end
    expect "2 end"
}

@test "init: plugins find pipes on stdin and stdout, and nothing else open" {
    plugin pipes <<'END'
#!/usr/bin/env python3
import json, os, stat
for fd in (0, 1):
    assert stat.S_ISFIFO(os.fstat(fd).st_mode), fd
fds = set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}
assert len(fds) == 1, fds   # the directory that was just read
assert os.getsid(0) == os.getpid()
os.write(1, b'{"type":"output","text":"clean\\n"}\n')
END
    exec 7<"$PERCH_SOURCE/README.md"
    call pipes
    exec 7<&-
    expect "clean"
}

@test "argv: a protocol plugin gets its path and no arguments" {
    ln -s /bin/cat "$cfg/plugins/bin/fledge-words"
    register fledge-words words ''
    mkdir "$cfg/plugins/fledge-words"
    manifest words fledge-v1 '' ''
    # cat with no arguments echoes init: one orphan.
    start run words a b
    wait_until grep -qs 'init. answers nothing' "$WORK/err"
    for pid in $(left); do
        grep -qx fledge-words "/proc/$pid/comm" && tr '\0' '\n' <"/proc/$pid/cmdline" >"$WORK/argv"
    done
    kill -INT "$host"
    kill -INT "$host"
    finish
    [ "$(cat "$WORK/argv")" = "$cfg/plugins/bin/fledge-words" ]
}

@test "ids: every request with id \"1\"" {
    py -c exec,store,metadata ones <<'END'
raw('{"type":"exec","id":"1","command":"sleep 0.2; echo a"}\n'
    '{"type":"store","id":"1","key":"k","value":"v"}\n'
    '{"type":"load","id":"1","key":"k"}\n'
    '{"type":"prompt","id":"1","message":"m","default":"d"}\n'
    '{"type":"exec","id":"1","command":"echo b"}\n'
    '{"type":"nonsense","id":"1"}\n')
for _ in range(6):
    recv()
END
    call ones
    expect_status 0
    seen '{"type":"response","id":"1","value":{"code":0,"stderr":"","stdout":"a\n"}}' \
        '{"type":"response","id":"1","value":null}' \
        '{"type":"response","id":"1","value":"v"}' \
        '{"type":"response","id":"1","value":"d"}' \
        '{"type":"response","id":"1","value":{"code":0,"stderr":"","stdout":"b\n"}}' \
        '{"type":"cancel","id":"1","reason":"unsupported"}'
    [ "$errors" = "warning: line 6 of the plugin: there is no message type 'nonsense':\
 answered by cancel" ]
}

@test "ids: numbers are echoed as the same text" {
    py numbers <<'END'
for id in ['1', '-0', '1.0', '1e3', '1E+03', '0.10', '123456789012345678901234567890', '"7"', '""', '"é\\n"']:
    raw('{"type":"confirm","id":%s,"message":"m"}\n' % id)
    recv()
END
    call numbers
    expect_status 0
    tail -n +2 "$SEEN" | sed 's/.*"id":\(.*\),"value.*/\1/' >"$WORK/ids"
    diff "$WORK/ids" - <<'END'
1
-0
1.0
1e3
1E+03
0.10
123456789012345678901234567890
"7"
""
"é\n"
END
}

@test "ids: 10,000 pipelined requests are answered in order" {
    py -c store many <<'END'
import threading
kinds = ['{"type":"load","id":%d,"key":"k"}', '{"type":"confirm","id":%d,"message":"m"}',
         '{"type":"store","id":%d,"key":"k","value":"v"}', '{"type":"later","id":%d}']
raw("".join(kinds[n % 4] % n + "\n" for n in range(10000)))
for n in range(10000):
    assert json.loads(sys.stdin.readline())["id"] == n
say("all")
END
    call many
    expect_status 0
    expect "all"
}

@test "requests are served while an exec of 30 s runs, and it is killed at the end" {
    py -c exec,store busy <<'END'
send("exec", id="slow", command="echo $$ > $WORK/pid.new; mv $WORK/pid.new $WORK/pid; exec sleep 30")
while not os.path.exists(os.environ["WORK"] + "/pid"):
    time.sleep(0.01)
send("store", key="k", value="v")
send("exec", id="fast", command="echo quick > $WORK/quick")
while not os.path.exists(os.environ["WORK"] + "/quick"):
    time.sleep(0.01)
say("meanwhile")
END
    call busy
    expect_status 0
    expect "meanwhile"
    wait_until gone "$(cat "$WORK/pid")"
    has "$(cat "$cfg/plugins/fledge-busy/state.json")" '"k": "v"'
}

@test "exec: outputs of 70,000 bytes, 9 MiB and 11 MiB" {
    py -c exec big <<'END'
result = run("head -c 70000 /dev/zero | tr '\\0' a")
assert result == {"code": 0, "stderr": "", "stdout": "a" * 70000}, len(result["stdout"])
mega = 1024 * 1024
result = run("head -c %d /dev/zero | tr '\\0' b; head -c %d /dev/zero | tr '\\0' c >&2" % (9 * mega, 9 * mega))
assert result["stdout"] == "b" * 9 * mega and result["stderr"] == "c" * 9 * mega
assert sorted(result) == ["code", "stderr", "stdout"]
result = run("head -c %d /dev/zero | tr '\\0' d; echo e >&2; exit 7" % (11 * mega))
assert result["stdout"] == "d" * 10 * mega and result["stderr"] == "e\n" and result["code"] == 7
assert result["stdout_truncated"] is True and "stderr_truncated" not in result
result = run("head -c %d /dev/zero | tr '\\0' f >&2" % (11 * mega))
assert len(result["stderr"]) == 10 * mega and result["stderr_truncated"] is True
# Six bytes each as JSON: what it becomes is limited, too.
result = run("head -c %d /dev/zero >&2" % (11 * mega))
assert 3 * mega < len(result["stderr"]) < 4 * mega and result["stderr_truncated"] is True, len(result["stderr"])
say("kept")
END
    call big
    expect_status 0
    expect "kept"
}

@test "lines: one of a mebibyte, one that is too long, and the next" {
    py long <<'END'
send("output", text="a" * (1024 * 1024))
send("output", text="b" * (9 * 1024 * 1024))
say("\nafter")
END
    call long
    expect_status 0
    [ "${#output}" -eq $((1024 * 1024 + 6)) ]
    has "$errors" "line 2 of the plugin is too long and was skipped"
    [ "$(grep -c . "$WORK/err")" -eq 1 ]
    call --line-limit 20000000 long
    [ "${#output}" -eq $((10 * 1024 * 1024 + 6)) ]
}

@test "lines: endless without a newline, in bounded memory" {
    py flood <<'END'
for _ in range(300):
    raw(b"x" * (1024 * 1024))
raw("\n")
say("after")
ready()
recv()
END
    start run flood
    wait_until grep -qs after "$WORK/out"
    [ "$(awk '/VmHWM/ { print $2 }' "/proc/$host/status")" -lt 150000 ]
    kill -INT "$host"
    finish
}

@test "lines: raw newlines inside JSON" {
    py broken <<'END'
raw('{"type":"output",\n"text":"split\n in three\\n"}\n')
say("after")
END
    call broken
    expect_status 0
    expect "after"
    [ "$(grep -c 'is not JSON' "$WORK/err")" -eq 3 ]
}

@test "lines: carriage returns, blanks, no newline at the end" {
    plugin loose <<'END'
#!/bin/sh
read -r init
printf '\r\n\n   \n  {"type":"output","text":"a"}  \r\n{"type":"output","text":"b"}'
END
    call loose
    expect_status 0
    expect "ab"
    [ -z "$errors" ]
}

@test "lines: invalid UTF-8 becomes U+FFFD" {
    py -c store latin <<'END'
raw(b'{"type":"output","text":"caf\xe9 \xed\xa0\x80 ok\\n"}\n')
raw(b'{"type":"store","key":"k","value":"\xff"}\n')
say(value("load", key="k"))
assert run("true")["code"] == 126
END
    call latin
    expect_status 0
    has "$output" $'caf\uFFFD '
    has "$output" " ok"
    python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["k"] == "\ufffd"' \
        "$cfg/plugins/fledge-latin/state.json"
}

@test "lines: invalid UTF-8 in what a command prints" {
    py -c exec bytes <<'END'
result = run(r"printf 'a\377b\000c'; printf '\303\n' >&2")
assert result["stdout"] == "a\ufffdb\0c" and result["stderr"] == "\ufffd\n", result
say("text")
END
    call bytes
    expect_status 0
    expect "text"
}

@test "fields: wrong, missing, null, unknown" {
    py -c exec,store,metadata fields <<'END'
def reason(type, **fields):
    answer = ask(type, **fields)
    return answer.get("reason", answer.get("value"))
assert reason("prompt") == "invalid_request"
assert reason("prompt", message=5) == "invalid_request"
assert reason("prompt", message="m", default=5) == "invalid_request"
assert reason("prompt", message="m", default="d", validate=None, other=[{}]) == "d"
assert reason("confirm", message="m", default="yes") == "invalid_request"
assert reason("confirm", message="m", default=None) is False
assert reason("select", message="m") == "invalid_request"
assert reason("select", message="m", options=[]) == "invalid_request"
assert reason("select", message="m", options=["a", 1]) == "invalid_request"
assert reason("select", message="m", options=["a", "b"], default=1.0) == "b"
assert reason("select", message="m", options=["a", "b"], default=-1) == "a"
assert reason("select", message="m", options=["a", "b"], default=2) == "a"
assert reason("select", message="m", options=["a", "b"], default=10**30) == "a"
assert reason("multi_select", message="m", options=["a", "b", "c"], defaults=[2, 0, 9, -1]) == ["c", "a"]
assert reason("multi_select", message="m", options=[]) == []
assert reason("exec", command=["ls"]) == "invalid_request"
assert reason("exec", command="true", timeout="soon") == "invalid_request"
assert reason("exec", command="true", cwd=1) == "invalid_request"
assert reason("exec", command="true", timeout=None, cwd=None)["code"] == 0
assert reason("load") == "invalid_request"
assert reason("load", key=1) == "invalid_request"
assert reason("store", key="k", value=1) == "invalid_request"
assert reason("metadata") == "invalid_request"
assert reason("metadata", keys="env") == "invalid_request"
assert reason("output") == "invalid_request"
assert reason("log", message=None) == "invalid_request"
assert ask(None, id="x") == {"type": "cancel", "id": "x", "reason": "invalid_request"}
say("all right")
END
    call fields
    expect_status 0
    expect "all right"
    has "$errors" "\`select\`: \`default\` is not the index of an option"
    has "$errors" "\`exec\`: \`timeout\` must be a number"
}

@test "a plugin that exits before it reads init" {
    plugin early <<'END'
#!/bin/sh
exec <&-
printf '{"type":"output","text":"gone\\n"}\n'
exit 4
END
    for _ in 1 2 3 4 5; do
        call early "$(head -c 100000 /dev/zero | tr '\0' x)"
        expect_status 4
        expect "gone"
    done
    [ "$errors" = "error: Plugin 'fledge-early' exited with code 4" ]
}

@test "a plugin that closes its stdout early and works on" {
    py silent <<'END'
say("last words")
sys.stdout.close()
time.sleep(0.3)
open(os.environ["WORK"] + "/worked", "w").close()
os._exit(5)
END
    call silent
    expect_status 5
    expect "last words"
    [ -e "$WORK/worked" ]
}

@test "a background child that holds stdout does not hold the run" {
    py holder <<'END'
child = subprocess.Popen(["sleep", "60"])
with open(os.environ["WORK"] + "/child", "w") as file:
    file.write(str(child.pid))
say("bye")
END
    SECONDS=0
    call holder
    expect_status 0
    expect "bye"
    [ "$SECONDS" -lt 30 ]
    wait_until gone "$(cat "$WORK/child")"
}

@test "what a background child still says is read" {
    plugin tail <<'END'
#!/bin/sh
read -r init
(printf '{"type":"output","text":"from behind\\n"}\n') &
exit 0
END
    call tail
    expect "from behind"
}

@test "a plugin that dies of a signal" {
    py dies <<'END'
os.kill(os.getpid(), signal.SIGSEGV)
END
    call dies
    expect_status 139
    has "$errors" "error: Plugin 'fledge-dies' exited with code 139"
}

@test "a plugin that never reads its answers is not read for ever" {
    py deaf <<'END'
ready()
try:
    while True:
        raw('{"type":"confirm","id":"%s","message":"m"}\n' % ("x" * 1000) * 100)
except KeyboardInterrupt:
    pass
END
    start run deaf
    wait_ready
    pages=$(grep VmRSS "/proc/$host/status")
    kill -INT "$host"
    kill -INT "$host"
    finish
    expect_status 130
    [ "$(echo "$pages" | tr -dc 0-9)" -lt 100000 ]
}

@test "output: verbatim, and at once" {
    py verbatim <<'END'
send("output", text="no newline")
send("output", text="\x1b[1m\0\r\n\ttab\x7f")
ready()
recv()
END
    start run verbatim
    wait_until grep -qs tab "$WORK/out"
    kill -INT "$host"
    finish
    printf 'no newline\033[1m\0\r\n\ttab\177' | cmp - "$WORK/out"
}

@test "log: level, plugin and message on stderr; control characters removed" {
    py logs <<'END'
for level in ["debug", "info", "warn", "error", "fatal"]:
    send("log", level=level, message="m\x1b[2J\a")
send("log", message="plain")
END
    call logs
    expect ""
    [ "$errors" = "INFO [fledge-logs] m[2J
WARN [fledge-logs] m[2J
ERROR [fledge-logs] m[2J
fatal [fledge-logs] m[2J
INFO [fledge-logs] plain" ]
    "$perch" -v run logs 2>"$WORK/err"
    has "$(cat "$WORK/err")" "DEBUG [fledge-logs] m"
}

@test "progress is not drawn when stderr is no terminal" {
    py bar <<'END'
send("progress", message="Uploading", current=1, total=2)
send("progress", message="Uploading")
send("progress", done=True)
END
    call bar
    expect_status 0
    [ -z "$output$errors" ]
}
