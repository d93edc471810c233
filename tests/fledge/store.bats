#!/usr/bin/env bats
# Stored values: what is planted, held, corrupt, killed or shared.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() {
    fledge_open
    state="$cfg/plugins/fledge-keep/state.json"
}
teardown() { fledge_close; }

keeper() {
    py -c store keep <<'END'
if args:
    send("store", key=args[0], value=args[1])
    say("stored")
else:
    say(value("load", key="k"))
END
}

@test "store: one object of strings, sorted and readable" {
    py -c store keep <<'END'
for key in ["b", "a", "ä", "with \"quotes\""]:
    send("store", key=key, value="v/" + key)
send("store", key="a", value="last")
END
    call keep
    expect_status 0
    diff "$state" - <<'END'
{
  "a": "last",
  "b": "v/b",
  "with \"quotes\"": "v/with \"quotes\"",
  "ä": "v/ä"
}
END
    [ "$(stat -c %a "$state")" = 600 ]
}

@test "store: a value is there for the next load and the next run" {
    keeper
    call keep
    expect "None"
    call keep k v
    call keep
    expect "v"
}

@test "store: limits are told, and the run goes on" {
    py -c store keep <<'END'
send("store", key="", value="v")
send("store", key="x" * 257, value="v")
send("store", key="a\nb", value="v")
send("store", key="big", value="v" * (64 * 1024 + 1))
send("store", key="x" * 256, value="v" * (64 * 1024))
for n in range(300):
    send("store", key="k%03d" % n, value="v")
say(value("load", key="k254"))
# What is not on the disk yet is loaded as it was stored, until it is found to be one too many.
while value("load", key="k255"):
    pass
say("one too many")
END
    call keep
    expect_status 0
    expect "v
one too many"
    [ "$(grep -c 'store rejected: ' "$WORK/err")" -ge 5 ]
    python3 -c 'import json,sys; assert len(json.load(open(sys.argv[1]))) == 256' "$state"
}

@test "store: a FIFO planted as state.json" {
    keeper
    mkfifo "$state"
    call keep k v
    expect_status 0
    expect "stored"
    has "$errors" "warning:"
    call keep
    expect "v"
    rm "$state"
    mkfifo "$state"
    call keep
    expect_status 0
    expect "None"
    has "$errors" "warning:"
}

@test "store: a symlink planted as state.json is not followed" {
    keeper
    echo precious >"$WORK/victim"
    ln -s "$WORK/victim" "$state"
    call keep
    expect_status 0
    expect "None"
    has "$errors" "warning:"
    call keep k v
    expect_status 0
    [ "$(cat "$WORK/victim")" = precious ]
}

@test "store: a symlink planted as its lock is not followed" {
    keeper
    ln -s "$WORK/made" "$state.lock"
    call keep k v
    expect_status 0
    expect "stored"
    has "$errors" "warning:"
    [ ! -e "$WORK/made" ]
}

@test "store: a plugin that holds the lock" {
    py -c store keep <<'END'
import fcntl
lock = open(init["plugin"]["dir"] + "/state.json.lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
send("store", key="k", value="v")
say(value("confirm", message="m", default=True))   # the host goes on
say(value("load", key="other"))
END
    call keep
    expect_status 0
    expect "True
None"
    has "$errors" "store rejected: locked"
    [ ! -e "$state" ]
}

@test "store: foreign and corrupt content is moved aside" {
    keeper
    printf '{"k": "v"' >"$state"
    call keep
    expect "None"
    has "$errors" "state.json.corrupt-1"
    [ "$(cat "$state.corrupt-1")" = '{"k": "v"' ]
    printf '[1]' >"$state"
    call keep k new
    [ "$(cat "$state.corrupt-2")" = '[1]' ]
    call keep
    expect "new"
    : >"$state"
    call keep
    expect "None"
    [ -z "$errors" ]
}

@test "store: a store before exit is on disk when the run ends, also after a failure" {
    py -c store keep <<'END'
send("store", key="k", value="v")
os.kill(os.getpid(), signal.SIGKILL)
END
    call keep
    expect_status 137
    has "$(cat "$state")" '"k": "v"'
}

@test "store: two plugins of the same name at once lose nothing" {
    py -c store keep <<'END'
who = args[0]
for n in range(100):
    send("store", id=n, key="%s%03d" % (who, n), value="v")
    recv()
END
    pids=()
    for who in a b; do
        SEEN='' "$perch" run keep "$who" </dev/null 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
    python3 -c 'import json,sys; assert len(json.load(open(sys.argv[1]))) == 200' "$state"
}

# 5,000 stores in all, and a kill -9 at a random moment again and again. What was
# answered is on disk; what is on disk is whole.
@test "store: kill -9 at random moments" {
    py -c store keep <<'END'
state = os.environ["WORK"] + "/acknowledged"
first = int(value("load", key="count") or 0)
more = 100 if os.path.exists(os.environ["WORK"] + "/last") else 1 << 30
for n in range(first + 1, first + 1 + more):
    send("store", id=n, key="count", value=str(n))
    recv()
    with open(state, "w") as file:
        file.write(str(n))
END
    # shellcheck disable=SC2016
    SEEN='' python3 - "$state" <<'END'
import json, os, random, subprocess, sys, time
perch = os.environ["PERCH_BUILD"] + "/perch"
acknowledged = os.environ["WORK"] + "/acknowledged"
def told():
    try:
        return int(open(acknowledged).read() or 0)
    except FileNotFoundError:
        return 0
for kill in range(25):
    run = subprocess.Popen([perch, "run", "keep"], stdin=subprocess.DEVNULL)
    began = told()
    while told() == began and run.poll() is None:
        time.sleep(0.002)
    time.sleep(random.uniform(0, 0.05))
    before = told()
    run.kill()
    run.wait()
    count = int(json.load(open(sys.argv[1]))["count"])
    assert count >= before, (count, before)
open(os.environ["WORK"] + "/last", "w").close()
assert subprocess.run([perch, "run", "keep"], stdin=subprocess.DEVNULL).returncode == 0
assert json.load(open(sys.argv[1])) == {"count": str(count + 100)}
END
    # No temporary file is left for ever.
    [ "$(find "$cfg/plugins/fledge-keep" -maxdepth 1 -name 'state*' | wc -l)" -le 4 ]
}
