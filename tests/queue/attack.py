"""Somebody who can write to Redis, and has no key."""
from fleet import *
from gateway import token

SLOW = ('echo x >>"$WORK/started"\necho \'AGENT_PARTIAL:"begun"\'\n'
        'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho finished\n')

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil"
LINES = ('{"event":"foreign"}\n\nid: 7\ndata: {"event":"end"}', '{"event":"foreign",}', '{"event":\r"foreign"}',
         '{"event":"foreign"}{}', '{"event":"\x01"}', '{"event":"foreign"} x{}')


def next_event(stream, name):
    for _, event in stream:
        assert event["event"] != "foreign", event
        if event["event"] == name:
            return


def test_forged():
    """Events and results of another program."""
    expose()
    agent("slow", SLOW)
    redis, gate, _ = fleet()
    everything = iter(gate.stream("GET", "/api/events"))
    number = gate.turn(agent="slow", message="m")
    next_event(everything, "partial")
    for line in LINES:
        assert redis.ask("PUBLISH", f"{SHARD}:news", f"event {number} 9007199254740991 {line}") == "1"
        if "\n" not in line:
            redis.ask("PUBLISH", f"{SHARD}:news", f"over {number} 99 done 1 9007199254740991 {line}\n{{}}")
    touch("go")
    next_event(everything, "end")
    assert gate.ended(number)["state"] == "done"

    # An end that is well-formed, with a result that is none; and the same for a gateway that reads it later.
    os.remove(f"{WORK}/go")
    second = gate.turn(agent="slow", message="m")
    next_event(everything, "partial")
    redis.ask("PUBLISH", f"{SHARD}:news",
              f'over {second} 99 done 1 9007199254740991 {{"event":"end"}}\n{{}},"owner":"root"}}')
    assert gate.ended(second)["result"]["error"]["code"] == "foreign"
    touch("go")
    until(lambda: redis.ask("HGET", f"{SHARD}:job:{second}", "state") == "done", "it is over")
    for job, member, value in ((number, "result", "}{"), (second, "session", HOSTILE), (second, "result", "")):
        redis.ask("HSET", f"{SHARD}:job:{job}", member, value)
    for line in LINES:
        redis.ask("XADD", f"{SHARD}:events:{number}", "*", "e", line)
    fresh = Gateway("--queue", redis.url, token_name=None)
    fresh.token = gate.token
    until(lambda: fresh.get(f"/api/jobs/{second}").status == 200, "it has read them")
    assert fresh.get(f"/api/jobs/{number}").json["result"]["error"]["code"] == "foreign"
    names = [event["event"] for _, event in fresh.stream("GET", f"/api/jobs/{number}/events")]
    assert names == ["start", "partial", "reply", "end"] or "foreign" not in names, names
    assert len(fresh.get("/api/jobs").json["jobs"]) == 2


def test_users():
    """Another user, on another gateway: his session and key of the same names are his own."""
    expose()
    agent("slow", SLOW)
    redis, gate, _ = fleet()
    other = Gateway("--queue", redis.url, token_name=None)
    other.token = token("another")
    until(lambda: other.get("/readyz").status == 200, "the queue is there")
    number = gate.post("/api/turns", {"agent": "slow", "message": "m", "session": "s", "detach": True},
                       headers={"Idempotency-Key": "k"}).json["id"]
    until(lambda: lines_of("started") == 1, "it has begun")
    for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
        other.ask(method, f"/api/jobs/{number}{path}").is_error(404, "not_found")
    assert other.get("/api/jobs").json["jobs"] == other.get("/api/sessions").json["sessions"] == []
    theirs = other.post("/api/turns", {"agent": "slow", "message": "m", "session": "s", "detach": True},
                        headers={"Idempotency-Key": "k"}).json["id"]
    assert theirs != number
    until(lambda: lines_of("started") == 2, "one session does not wait for the other's")
    touch("go")
    assert gate.ended(number)["state"] == other.ended(theirs)["state"] == "done"
    events = iter(other.stream("GET", f"/api/jobs/{theirs}/events"))
    assert {event.get("job", theirs) for _, event in events} == {theirs}


def test_terminal():
    """Texts of another program, on the terminal of who looks."""
    expose()
    agent("slow", SLOW)
    redis, gate, (worker,) = fleet(1, "--lease", "1")
    number = gate.turn(agent="slow", message="m")
    until(lambda: lines_of("started"), "it has begun")
    for member in ("name", "owner", "session", "worker", "kind"):
        redis.ask("HSET", f"{SHARD}:job:{number}", member, HOSTILE)
    redis.ask("FCALL", "perch1_register", "1", SHARD, "w" + HOSTILE, "1", "machine", HOSTILE)
    redis.ask("FCALL", "perch1_enqueue", "1", SHARD, "j" + HOSTILE, "", "agent:" + HOSTILE, "0", "10", "", "name", HOSTILE)
    for words in (["jobs"], ["status"], ["workers"], ["dead", "list"], ["jobs", "--json"], ["workers", "--json"],
                  ["status", "--json"], ["dead", "retry", "j" + HOSTILE], ["jobs", HOSTILE]):
        found = subprocess.run([PERCH, "queue", *words, "--queue", redis.url], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
        assert found and b"\x1b" not in found and b"\x07" not in found, (words, found)
        assert "--json" in words or "\u202e".encode() not in found, (words, found)
    worker.kill()
    third = Worker(redis.url, "--lease", "1")
    until(lambda: "is gone" in log_of(third) or "is gone" in open(f"{WORK}/serve.log", encoding="utf-8").read(), "told")
    for log in (log_of(third), open(f"{WORK}/serve.log", encoding="utf-8").read()):
        assert "\x1b" not in log and "\x07" not in log, log


def looks(redis):
    for words in (["jobs"], ["status"], ["workers"], ["dead", "list"], ["dead", "retry", "j0"]):
        found = subprocess.run([PERCH, "queue", *words, "--queue", redis.url], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        assert found.returncode in (0, 125), (words, found)


def test_needs():
    """A job of one name that says it needs another; one that a set in Redis says the worker offers."""
    expose()
    agent("bot", 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho hi\n')
    agent("other", 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho hi\n')
    redis, gate, (worker,) = fleet(1, "--agents", "bot")
    assert gate.ended(gate.turn(agent="bot", message="first"))["state"] == "done"
    (need,) = redis.ask("SMEMBERS", f"{SHARD}:offers:{queue(redis, 'workers')[0]['name']}").split()
    ids = [f"j{i:020x}" for i in range(2)]
    for name, what, number in (("other", need, ids[0]), ("other", "agent:other#00", ids[1])):
        redis.ask("SADD", f"{SHARD}:offers:{queue(redis, 'workers')[0]['name']}", what)
        redis.ask("FCALL", "perch1_enqueue", "1", SHARD, number, "", what, "0", "10", "", "kind", "turn", "name", name,
                  "owner", "me", "session", "s", "request", '{"message":"evil"}')
    until(lambda: redis.ask("HGET", f"{SHARD}:job:{ids[0]}", "state") == "failed", "it is refused")
    until(lambda: f"{ids[1]} is given back" in log_of(worker), "it is given back")
    assert gate.ended(gate.turn(agent="bot", message="last"))["state"] == "done"
    assert redis.ask("HGET", f"{SHARD}:job:{ids[1]}", "state") == "waiting"
    with open(f"{WORK}/ran", encoding="utf-8") as file:
        assert file.read().split() == ["first", "last"]


def test_types():
    """A key of every kind is of another type for a while."""
    expose()
    agent("echo", 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho hi\n')
    redis, gate, (worker,) = fleet(1, "--lease", "1")
    done = gate.turn(agent="echo", message="first", session="s")
    assert gate.ended(done)["state"] == "done"
    keys = redis.ask("KEYS", f"{SHARD}:*").split()
    lane = f"{SHARD}:lane:4:echo:2:me:s"
    for key in [*keys, lane, f"{SHARD}:dead", f"{SHARD}:leases", f"{SHARD}:needs", f"{SHARD}:idle"]:
        if key == f"{SHARD}:meta":
            continue  # that is refused at the beginning
        redis.ask("EVAL", "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], 'kept') end "
                  "redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))", "1", key,
                  *(("SET", "x") if redis.ask("TYPE", key) != "string" else ("LPUSH", "x")))
        looks(redis)
        gate.post("/api/turns", {"agent": "echo", "message": "between", "session": "s", "detach": True})
        assert gate.get("/api/jobs").status == 200
        assert worker.process.poll() is None, (key, log_of(worker))
        redis.ask("EVAL", "redis.call('DEL', KEYS[1]) if redis.call('EXISTS', 'kept') == 1 then "
                  "redis.call('RENAME', 'kept', KEYS[1]) end", "1", key)
    last = gate.turn(agent="echo", message="last", session="t")
    assert gate.ended(last)["state"] == "done"
    worker.stop()


ANSWERS = ("nil", "false", "7", "{}", "{1}", "{1, 2, 3}", "{'ok'}", "{'known'}", "{'known', 7}", "{'known', {}}", "'ok'",
           "{7, '', {}}", "{7, 8, {'id', 'x', 'kind'}}", "{7, '', {'id', {}, 'request', 9}}", "{{}, {}}", "{'5', {}}",
           "{'5', {{}, {}}}", "{'5', {{'id', 'j00000000000000000000', 'state', 'done'}, 7}}",
           "{'5', {{'id', 'j00000000000000000000', 'state', 'done'}, {{'x', {'e'}}, {7, 8}, {'9', {7, 8}}}}}",
           "redis.error_reply('ERR x')", "redis.status_reply('cancel')", "{redis.error_reply('x'), 1, 1}",
           "string.rep('x', 10000000)", "{1, 'cancel', 'fenced', 'ok'}", "{{1, 2, 3}, {{}, {}, {}}}")


def test_library():
    """A library of the same name answers anything to anything."""
    expose()
    agent("echo", 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho hi\n')
    redis, gate, (worker,) = fleet(1, "--lease", "1")
    names = sorted({word for word in redis.ask("FUNCTION", "LIST").split() if word.startswith("perch1_")})
    assert len(names) > 15, names
    for answer in ANSWERS:
        body = "#!lua name=perch1\n" + "".join(
            f"redis.register_function('{name}', function() return {'{1, 99, 1}' if name == 'perch1_open' else answer} end)\n"
            for name in names)
        redis.ask("FUNCTION", "LOAD", "REPLACE", body)
        looks(redis)
        connection = gate.connect()
        connection.timeout = 1
        try:
            gate.post("/api/turns", {"agent": "echo", "message": "m", "detach": True}, connection=connection)
        except OSError:
            pass  # an answer that means nothing is none
        redis.ask("PUBLISH", f"{SHARD}:news", "new j00000000000000000000")
        assert gate.get("/healthz").status == 200
        assert worker.process.poll() is None, (answer, log_of(worker))
    redis.ask("FUNCTION", "FLUSH")
    until(lambda: gate.get("/readyz").status == 200, "ours is back")
    fresh = Worker(redis.url)
    assert gate.ended(gate.turn(agent="echo", message="last", session="t"))["state"] == "done"
    fresh.stop()


run(globals())
