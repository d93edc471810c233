#!/usr/bin/env bats
# What a plugin can make perch keep in its memory: one budget for all that waits, then the
# plugin is not read, then the run fails.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

# peak_below MIB PERCH-ARGUMENTS…: runs it with somebody who never answers; what it has ever
# had in memory is less. Interrupts it as soon as the plugin has come to its point.
peak_below() {
    keep python3 - "$@" <<'END'
import os, resource, signal, subprocess, sys, time
run = subprocess.Popen([os.environ["PERCH_BUILD"] + "/perch", *sys.argv[2:]],
                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
while run.poll() is None and not os.path.exists(os.environ["READY"]):
    time.sleep(0.05)
for _ in range(3):
    if run.poll() is None:
        run.send_signal(signal.SIGINT)
        time.sleep(0.1)
run.wait()
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print("peak: %d MiB" % peak)
# One that is on its way out already is ended by the signal itself.
code = 130 if run.returncode == -signal.SIGINT else run.returncode
sys.exit(99 if peak >= int(sys.argv[1]) else code)
END
}

# The plugin has come to where it cannot write any more: it is blocked, and says so from a
# thread of its own when that lasts.
# shellcheck disable=SC2016
blocked='
import threading
written = 0
def watch():
    last = -1
    while last != written or written == 0:
        last = written
        time.sleep(1)
    ready(written)
threading.Thread(target=watch, daemon=True).start()
def flood(line):
    global written
    while True:
        raw(line)
        written += len(line)
'

@test "ids of megabytes are not read without end" {
    { echo "$blocked" && cat; } <<'END' | py ids
flood(json.dumps({"type": "prompt", "id": "x" * (7 << 20), "message": "m"}) + "\n")
END
    peak_below 250 --json run ids
    expect_status 130
}

@test "options by the million are not read without end" {
    { echo "$blocked" && cat; } <<'END' | py options
flood('{"type":"multi_select","id":"1","message":"m","options":[' + '"",' * 2600000 + '""]}\n')
END
    peak_below 600 --json run options
    expect_status 130
}

@test "results of commands that nobody reads: the run fails" {
    py -c exec results <<'END'
while True:
    send("exec", id="1", command="head -c 9000000 /dev/zero | tr '\\0' x")
END
    peak_below 500 run --unread-timeout 1 results
    expect_status 137
    has "$errors" "the plugin writes and does not read: more than 64 MiB"
    has "$errors" "--waiting-limit"
}

@test "many large results at once, all of them read, though slowly" {
    py -c exec many <<'END'
for i in range(20):
    send("exec", id=str(i), command="head -c 9000000 /dev/zero | tr '\\0' x")
for i in range(20):
    time.sleep(0.1)
    assert len(recv()["value"]["stdout"]) == 9000000
say("all")
END
    peak_below 500 run many
    expect_status 0
}

@test "control characters take six bytes each as JSON: they count so, and who reads them is served" {
    py -c exec controls <<'END'
command = "head -c 10485760 /dev/zero | tr '\\0' '\\001'"
for i in range(3):
    send("exec", id=str(i), command=f"{command}; ({command}) >&2")
for i in range(3):
    value = recv()["value"]
    for stream in "stdout", "stderr":
        # As much as fits into 20 MiB of JSON, by the halves of a piece that was read.
        assert (3 << 20) < len(value[stream]) <= (20 << 20) / 6, len(value[stream])
        assert value[stream + "_truncated"] is True
        assert set(value[stream]) == {"\1"}
send("exec", id="lines", command="head -c 10485760 /dev/zero | tr '\\0' '\\n'")
value = recv()["value"]
assert len(value["stdout"]) == 10485760 and "stdout_truncated" not in value
say("all")
END
    peak_below 300 run controls
    expect_status 0
}

@test "a plugin that writes and never reads its answers: the run fails" {
    py -c store deaf <<'END'
while True:
    send("load", id="x" * 1000000, key="k")
END
    peak_below 300 run --unread-timeout 1 deaf
    expect_status 137
    has "$errors" "the plugin writes and does not read: more than 64 MiB"
}

@test "what runs at the limit may double what waits, no more" {
    py -c exec double <<'END'
for i in range(12):
    send("exec", id=str(i), command="head -c 3000000 /dev/zero | tr '\\0' x")
for i in range(12):
    recv()
say("all")
END
    call --waiting-limit 1048576 double
    expect_status 137
    has "$errors" "more than 1 MiB of its requests and their answers wait"
    call double
    expect_status 0
    expect all
}

@test "a plugin that asks for everything first and reads later is served" {
    py -c exec,store later <<'END'
for i in range(3000):
    send("load", id="x" * 10000, key="k")
for i in range(3000):
    assert recv()["value"] is None
say("all")
END
    call later
    expect_status 0
    expect all
}
