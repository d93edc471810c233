"""A queue in several shards."""
import collections

from fleet import *

SHARDS = 4
SLOW = ('echo "$AGENT_MESSAGE" >>"$WORK/started"\n'
        'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho finished\n')


def started():
    try:
        with open(f"{WORK}/started", encoding="utf-8") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def shards_of(redis, pattern):
    """The shards that have keys of this form."""
    return {i for i in range(SHARDS) if redis.ask("KEYS", f"{{perch:{i}}}:{pattern}")}


def told(*words, **more):
    """The exit code of a perch that ends by itself, and what it says."""
    found = subprocess.run([PERCH, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, timeout=PATIENCE,
                           check=False, **more)
    return found.returncode, (found.stderr + found.stdout).decode()


def test_spread():
    expose()
    agent("echo", 'echo "$AGENT_SESSION_NAME $AGENT_MESSAGE" >>"$WORK/ran"\necho "AGENT_SESSION:id-$AGENT_SESSION_NAME"\n'
                  'echo "of ${AGENT_SESSION_ID:-nobody}"\n')
    redis = Redis()
    gate, workers = join(redis, 2, shards=SHARDS)
    everything = gate.stream("GET", "/api/events")
    numbers = {}
    for i in range(3):
        for session in range(8):
            numbers[session, i] = gate.turn(agent="echo", message=str(i), session=f"s{session}")
    for (session, i), number in numbers.items():
        job = gate.ended(number)
        assert job["state"] == "done", job
        assert (f"of id-s{session}" if i else "of nobody") in job["result"]["text"], job
    for session in range(8):
        homes = {frozenset(shards_of(redis, f"job:{numbers[session, i]}")) for i in range(3)}
        assert len(homes) == 1 and len(min(homes)) == 1, homes
        assert homes == {frozenset(shards_of(redis, f"agent:*:s{session}"))}, homes
    assert shards_of(redis, "job:*") == set(range(SHARDS)), "some shard is never used"
    ran = open(f"{WORK}/ran", encoding="utf-8").read().splitlines()
    for session in range(8):
        assert [line for line in ran if line.startswith(f"s{session} ")] == [f"s{session} {i}" for i in range(3)], ran

    told = collections.defaultdict(list)
    for number, event in everything:
        told[event.pop("job")].append((number, event))
        if sum(events[-1][1]["event"] == "end" for events in told.values()) == 24:
            break
    for job, events in told.items():
        assert events == list(gate.stream("GET", f"/api/jobs/{job}/events")), events
    assert len({number for events in told.values() for number, _ in events}) == sum(map(len, told.values()))

    assert queue(redis, "status")["done"] == 24
    assert len(queue(redis, "workers")) == 2
    jobs = queue(redis, "jobs", "done")
    assert {one["id"] for one in jobs} == set(numbers.values())
    created = [one["created"] for one in jobs]
    assert created == sorted(created, reverse=True), created
    metrics = [b'perch_jobs_total{kind="turn",state="done"} 24', b"perch_workers 2"]
    until(lambda: all(line in gate.get("/metrics").body for line in metrics), "the metrics count all shards")
    events = [number for number, _ in gate.stream("GET", f"/api/jobs/{numbers[0, 0]}/events")]
    assert events == sorted(set(events)), events
    fresh = Gateway("--queue", redis.url, "--shards", str(SHARDS), token_name=None)
    fresh.token = gate.token
    until(lambda: len(fresh.get("/api/jobs?limit=100").json["jobs"]) == 24, "a new gateway reads every shard")
    for worker in workers:
        worker.stop()
    assert not shards_of(redis, "worker:*"), "they have left every shard"


def test_death():
    expose()
    agent("slow", SLOW)
    agent("again", SLOW, "retry: 1\n")
    redis = Redis()
    gate, (worker,) = join(redis, 1, "--lease", "1", shards=SHARDS)
    plain = [gate.turn(agent="slow", message="m", session=f"s{i}") for i in range(6)]
    again = [gate.turn(agent="again", message="m", session=f"s{i}") for i in range(6)]
    assert len(shards_of(redis, "lane:*")) > 1
    until(lambda: len(started()) == 12, "all have begun")
    worker.kill()
    second = Worker(redis.url, "--lease", "1", "--shards", str(SHARDS))
    for number in plain:
        assert gate.ended(number)["state"] == "interrupted"
    until(lambda: len(started()) == 18, "those with retry run again")
    second.kill()
    Worker(redis.url, "--lease", "1", "--shards", str(SHARDS))
    for number in again:
        assert gate.ended(number)["state"] == "dead"
    assert {one["id"] for one in queue(redis, "dead", "list")} == set(again)
    touch("go")
    for number in again[:3]:
        assert told("queue", "dead", "retry", number, "--queue", redis.url)[0] == 0
        until(lambda: gate.ended(number)["state"] == "done", "it was tried once more")
    for number in again[3:]:
        assert told("queue", "dead", "drop", number, "--queue", redis.url)[0] == 0
    code, words = told("queue", "dead", "drop", again[3], "--queue", redis.url)
    assert code == 125 and "no dead job" in words, words
    assert queue(redis, "dead", "list") == []


def test_cancel():
    expose()
    agent("slow", SLOW)
    redis = Redis()
    gate, _ = join(redis, 1, shards=SHARDS)
    other = Gateway("--queue", redis.url, "--shards", str(SHARDS), token_name=None)
    other.token = gate.token
    numbers = [gate.turn(agent="slow", message="m", session=f"s{i % 4}") for i in range(8)]
    until(lambda: len(started()) == 4, "one of each session runs")
    for number in reversed(numbers):
        until(lambda: other.get(f"/api/jobs/{number}").status == 200, "the other gateway knows it")
        assert other.ask("DELETE", f"/api/jobs/{number}").status < 300
    for number in numbers:
        assert gate.ended(number)["state"] == "cancelled"
    assert len(started()) == 4


def test_mismatch():
    expose()
    agent("slow", SLOW)
    redis = Redis()
    gate, _ = join(redis, 0, shards=SHARDS)
    for words, given in ((["worker"], 1), (["worker", "--shards", "8"], 8), (["serve", "--listen", "127.0.0.1:0"], 1)):
        code, said = told(*words, "--queue", redis.url)
        assert code != 0 and f"it has --shards {SHARDS}, and was opened with --shards {given}" in said, said
    assert redis.ask("KEYS", "{perch:7}*") == "", "a wrong number makes no shard"
    for number in ("0", "17", "x", "-1"):
        code, said = told("worker", "--shards", number, "--queue", redis.url)
        assert code == 64 and "--shards takes a number from 1 to 16" in said, said
    assert queue(redis, "status")["waiting"] == 0  # who only looks is told by the queue how many there are
    gate.stop()

    redis.ask("FLUSHALL")
    assert queue(redis, "status")["waiting"] == 0
    assert redis.ask("KEYS", "*") == "", "who only looks decides nothing"
    one = Gateway("--queue", redis.url, token_name="one")
    until(lambda: one.get("/readyz").status == 200, "it has one shard")
    code, said = told("worker", "--shards", "2", "--queue", redis.url)
    assert code != 0 and "it has --shards 1, and was opened with --shards 2" in said, said


def test_passed():
    """A worker with room for one job is idle in every shard, and rung for in each: it says so where it cannot take more."""
    expose()
    agent("slow", SLOW)
    redis = Redis("--slowlog-log-slower-than", "0", "--slowlog-max-len", "2000")
    gate, _ = join(redis, 1, "--max-jobs", "1", shards=SHARDS)
    until(lambda: all(redis.ask("ZCARD", f"{{perch:{i}}}:idle") == "1" for i in range(SHARDS)), "it waits in all shards")
    numbers = [gate.turn(agent="slow", message="m", session=f"s{i}") for i in range(8)]
    until(lambda: "perch1_pass" in redis.ask("SLOWLOG", "GET", "2000"), "it passes on what it was rung for")
    Worker(redis.url, "--shards", str(SHARDS), "--max-jobs", "7")
    until(lambda: len(started()) == 8, "all run")
    touch("go")
    for number in numbers:
        assert gate.ended(number)["state"] == "done"


run(globals())
