#!/usr/bin/env bats
# Traces that are cut off, changed, huge or none at all; and how a trace looks.

# shellcheck disable=SC2154 # what trace_open and of_trace set
load traces

setup() {
    trace_open
    py -c exec ask <<'END'
run("echo loud")
say("done")
END
    record ask
    expect_status 0
}
teardown() { trace_close; }

@test "cut off in the middle of a line: the rest is shown, and which line is not" {
    local last
    last=$(wc -l <"$trace")
    truncate -s -20 "$trace"
    of_trace show "$trace"
    expect_status 1
    has "$output" '← output '
    has "$errors" "line $last of $trace cannot be read: it is cut off"
    of_trace replay "$trace"
    expect_status 125
    has "$errors" "line $last cannot be replayed: it is cut off"
}

@test "cut off behind a line: it has no end, and so far it is the same" {
    sed -i '$d' "$trace"
    of_trace show "$trace"
    expect_status 0
    of_trace replay "$trace"
    expect_status 125
    has "$errors" "the recording has no end"
    has "$errors" "what there is of it is the same"
}

@test "where it cannot be written, that is said; a reader that went away is not told" {
    line=$(sed -n 3p "$trace")
    for _ in $(seq 200); do echo "$line"; done >>"$trace"
    for words in "$trace" "--json $trace" "--full $trace"; do
        # shellcheck disable=SC2086 # words
        run bash -c '"$0" trace show "$@" 2>&1 >/dev/full' "$perch" $words
        expect_status 125
        has "$output" "error: the output could not be written"
    done
    run "$python" -c '
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stdout=writer).returncode)' "$perch" trace show "$trace"
    expect_status 125
    expect ""
}

@test "wrong lines are named one by one, and counted when they are many" {
    sed -i '3s/.*/nonsense/; 5s/.*/{"t":1}/' "$trace"
    of_trace show "$trace"
    expect_status 1
    has "$errors" "line 3 of $trace cannot be read: it is not JSON"
    has "$errors" "line 5 of $trace cannot be read: its \`dir\`"
    has "$output" "the run ends with exit code 0"
    head -c 200000 /dev/urandom >"$WORK/binary"
    of_trace show "$WORK/binary"
    expect_status 1
    expect ""
    [ "$(grep -c 'cannot be read: ' "$WORK/err")" -eq 20 ]
    has "$(tail -n 1 "$WORK/err")" "lines of $WORK/binary cannot be read"
}

@test "a record over the limit is passed over, and read with a larger one" {
    "$python" -c 'print("{\"t\":0,\"dir\":\"out\",\"line\":\"" + "x" * 70000000 + "\"}")' >"$trace"
    of_trace show "$trace"
    expect_status 1
    has "$errors" "it is longer than 67108864 bytes"
    "$perch" trace show "$trace" --line-limit 100000000 >"$WORK/out"
    [ "$(wc -c <"$WORK/out")" -gt 70000000 ]
    of_trace show "$trace" --line-limit 5
    expect_status 64
}

@test "no file, a directory, nothing, words too many" {
    of_trace show "$WORK/none"
    expect_status 125
    has "$errors" "cannot open $WORK/none"
    of_trace replay "$WORK"
    expect_status 125
    has "$errors" "cannot be read: Is a directory"
    of_trace show
    expect_status 64
    of_trace show a b
    expect_status 64
    of_trace show "$trace" --only sideways
    expect_status 64
    has "$errors" "in, out, err or host"
    of_trace repaly "$trace"
    expect_status 64
    has "$errors" "did you mean: perch trace replay"
    : >"$WORK/empty"
    of_trace show "$WORK/empty"
    expect_status 1
    expect ""
    has "$errors" "there is nothing in $WORK/empty"
    of_trace replay "$WORK/empty"
    expect_status 125
}

@test "--only and --grep choose, --full shows the facts, - is stdin" {
    of_trace show "$trace" --only out
    [ "$(wc -l <"$WORK/out")" -eq 2 ]
    of_trace show "$trace" --grep loud --only host
    expect_status 0
    has "$output" "runs: sh -c 'echo loud'"
    [ "$(wc -l <"$WORK/out")" -eq 1 ]
    of_trace show --full "$trace"
    has "$output" 'exit {"status":0,"signal":0}'
    "$perch" trace show - <"$trace" >"$WORK/again"
    of_trace show "$trace"
    [ "$output" = "$(cat "$WORK/again")" ]
}

@test "--json: every record, and an end" {
    of_trace show --json "$trace"
    expect_status 0
    "$python" - "$WORK/out" "$trace" <<'END'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
lines = [json.loads(line) for line in open(sys.argv[2])]
assert [e["record"] for e in events[:-1]] == lines
assert [e["line"] for e in events[:-1]] == list(range(1, len(lines) + 1))
assert events[-1] == {"event": "end", "success": True, "records": len(lines), "wrong": 0}
END
    echo nonsense >>"$trace"
    of_trace show --json "$trace"
    expect_status 1
    has "$output" '{"event":"warning","line":'
    has "$output" '"success":false'
}

@test "--json: a replay" {
    local number
    of_trace replay --json "$trace"
    expect_status 0
    has "$output" '{"event":"end","success":true,"protocol":"fledge-v1"'
    number=$(sent loud)
    sed -i "${number}s/loud/proud/" "$trace"
    of_trace replay --json "$trace"
    expect_status 1
    has "$output" "{\"event\":\"difference\",\"kind\":\"other\",\"line\":$number,\"what\":\"line\""
    has "$output" '"success":false'
}

@test "clean in a pipe, coloured when asked for" {
    of_trace show "$trace"
    lacks "$output" $'\e['
    of_trace show "$trace" --color always
    has "$output" $'\e['
    "$perch" trace show "$trace" | head -n 1 >/dev/null
}

# on_terminal COLUMNS WORD…: perch trace on a terminal of so many columns.
on_terminal() {
    "$python" - "$@" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    perch = os.environ["PERCH_BUILD"] + "/perch"
    os.execv(perch, [perch, "trace", *sys.argv[2:]])
try:
    while True:
        sys.stdout.buffer.write(os.read(terminal, 65536))
        sys.stdout.buffer.flush()
except OSError:
    pass
os.waitpid(pid, 0)
END
}

@test "on a terminal: coloured, and cut to its width unless --full" {
    on_terminal 60 show "$trace" >"$WORK/wide"
    grep -q $'\e\\[' "$WORK/wide"
    grep -q '…' "$WORK/wide"
    "$python" - "$WORK/wide" <<'END'
import re, sys
for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
    assert len(re.sub(r"\x1b\[[0-9;]*m", "", line.rstrip("\r\n"))) <= 60, line
END
    on_terminal 60 show --full "$trace" >"$WORK/wide"
    grep -q '"language"' "$WORK/wide"
}

@test "what a plugin wrote cannot move the cursor of whoever looks at it" {
    py nasty <<'END'
raw('{"type":"output","text":"\\u001b[2J"}\n')
raw(b"\x1b[31mred\n")
END
    record nasty
    of_trace show "$trace"
    expect_status 0
    lacks "$output" $'\e'
}

@test "50,000 requests: shown and replayed in little memory" {
    py -c store much <<'END'
import threading
def drain():
    for _ in range(50000):
        sys.stdin.buffer.readline()
reader = threading.Thread(target=drain)
reader.start()
raw("".join('{"type":"load","id":"%d","key":"k"}\n' % i for i in range(50000)))
reader.join()
END
    record much
    expect_status 0
    (ulimit -v 200000 && "$perch" trace show "$trace" >"$WORK/out")
    [ "$(wc -l <"$WORK/out")" -gt 200000 ]
    (ulimit -v 200000 && "$perch" trace replay "$trace")
}
