"""perch worker and perch serve --queue: what users see of them."""
import http.client
import re
import threading
import time

from fleet import *

SLOW = ('echo "$AGENT_MESSAGE" >>"$WORK/started"\necho \'AGENT_PARTIAL:"begun"\'\n'
        'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho finished\n')


def speaker(name="echo", more=""):
    agent(name, 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho \'AGENT_PARTIAL:"partly "\'\n'
                'printf \'said %s from %s in %s\\n\' "$AGENT_MESSAGE" "$AGENT_FROM_USER" '
                '"$AGENT_SESSION_NAME"\n', more)


def read(name):
    try:
        with open(f"{WORK}/{name}", encoding="utf-8") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def events_of(gate, number, after=None):
    headers = {"Last-Event-ID": str(after)} if after else {}
    return list(gate.stream("GET", f"/api/jobs/{number}/events", headers=headers))


def names_of(events):
    return [event["event"] for _, event in events]


def test_turn():
    expose()
    speaker()
    redis, gate, (worker,) = fleet()
    number = gate.turn(agent="echo", message="hi", session="s1")
    job = gate.ended(number)
    assert job["state"] == "done", job
    assert "said hi from me in s1" in job["result"]["text"], job
    events = names_of(events_of(gate, number))
    assert events[0] == "start" and events[-1] == "end" and "partial" in events, events
    assert queue(redis, "status")["done"] == 1
    assert [one["state"] for one in queue(redis, "jobs")] == ["done"]
    assert queue(redis, "workers")[0]["capacity"] == 16
    messages = gate.get("/api/sessions").json["sessions"]
    assert [one["session"] for one in messages] == ["s1"], messages
    worker.stop()
    assert queue(redis, "workers") == []
    assert gate.stop() == 0


def test_kept():
    """How long what has ended is there the gateway says, whichever worker has run it."""
    expose("[serve]\nkeep = \"2h\"\n")
    speaker()
    redis, gate, _ = fleet()
    number = gate.turn(agent="echo")
    assert gate.ended(number)["state"] == "done"
    assert 3600 < int(redis.ask("TTL", f"{SHARD}:job:{number}")) <= 7200


def test_streams():
    """Events come while the job runs, on the gateway that took it and on another one."""
    expose()
    agent("slow", SLOW)
    redis, gate, _ = fleet()
    other = Gateway("--queue", redis.url, token_name=None)
    other.token = gate.token
    live = gate.stream("POST", "/api/turns", {"agent": "slow", "message": "m"})
    first = iter(live)
    heard = [next(first), next(first)]
    assert [event["event"] for _, event in heard] == ["start", "partial"], heard
    number = gate.get("/api/jobs").json["jobs"][0]["id"]
    until(lambda: other.get(f"/api/jobs/{number}").status == 200, "the other gateway knows it")
    second = iter(other.stream("GET", f"/api/jobs/{number}/events",
                               headers={"Last-Event-ID": str(heard[0][0])}))
    assert next(second) == heard[1]
    everything = iter(other.stream("GET", "/api/events"))
    touch("go")
    rest = list(first)
    assert rest == list(second), rest
    assert rest[-1][1]["event"] == "end" and rest[-1][1]["success"], rest
    for _, event in everything:
        assert event["job"] == number
        if event["event"] == "end":
            break
    gate.kill()
    assert events_of(other, number) == heard + rest
    fresh = Gateway("--queue", redis.url, token_name=None)
    fresh.token = gate.token
    until(lambda: fresh.get(f"/api/jobs/{number}").status == 200, "a new gateway knows it")
    assert events_of(fresh, number, heard[0][0]) == heard[1:] + rest


def test_order():
    """Turns of a session run in order, on whichever worker; the agent's id goes with them."""
    expose()
    agent("count", 'turn=$((${AGENT_SESSION_ID:-0} + 1))\necho "$AGENT_SESSION_NAME:$AGENT_MESSAGE:$turn"'
                   ' >>"$WORK/ran"\necho "AGENT_SESSION:$turn"\necho "turn $turn"\n')
    redis, gate, _ = fleet(3, "--max-jobs", "2")
    numbers = [gate.turn(agent="count", message=f"{i}", session=f"s{i % 4}") for i in range(40)]
    for number in numbers:
        assert gate.ended(number)["state"] == "done", number
    for session in range(4):
        ran = [line for line in read("ran") if line.startswith(f"s{session}:")]
        assert ran == [f"s{session}:{session + 4 * i}:{i + 1}" for i in range(10)], ran
    workers = queue(redis, "workers")
    assert len(workers) == 3, workers


def test_acp():
    """An agent of ACP: one process of a worker for many turns; when it dies, the next goes on with its session."""
    expose()
    write(f"{CONFIG}/agents/hosted.yaml",
          f"command: {os.environ['PERCH_SOURCE']}/tests/acp/hosted.py\nprotocol: acp\nsandbox: false\n")
    _, gate, _ = fleet()

    def says(message, session):
        events = [event for _, event in events_of(gate, gate.turn(agent="hosted", message=message, session=session))]
        return "".join(event.get("text", "") for event in events if event["event"] == "partial"), events

    first, events = says("pid", "one")
    own = [event["session_id"] for event in events if event["event"] == "session"]
    assert first.isdigit() and says("pid", "one")[0] == first == says("pid", "two")[0]
    _, events = says("show", "one")
    assert {"plan", "tool", "usage"} <= {event["event"] for event in events}, events
    assert says("die 3", "one")[1][-1]["exit_code"] == 3
    again, events = says("pid", "one")
    assert again.isdigit() and again != first
    assert own == [event["session_id"] for event in events if event["event"] == "session"], events


def test_cancel():
    expose()
    agent("slow", SLOW)
    redis, gate, _ = fleet()
    running = gate.turn(agent="slow", message="1", session="s")
    waiting = gate.turn(agent="slow", message="2", session="s")
    until(lambda: gate.job(running)["state"] == "running", "it runs")
    until(lambda: read("started"), "it has begun")
    assert gate.ask("DELETE", f"/api/jobs/{waiting}").status < 300
    assert gate.ended(waiting)["state"] == "cancelled"
    assert gate.ask("DELETE", f"/api/jobs/{running}").status < 300
    assert gate.ended(running)["state"] == "cancelled"
    assert read("started") == ["1"]


def test_death():
    """A worker is killed: its jobs end as interrupted, or are tried again and then dead."""
    expose()
    agent("slow", SLOW)
    agent("again", SLOW, "retry: 1\n")
    redis, gate, (worker,) = fleet(1, "--lease", "1")
    plain = gate.turn(agent="slow", message="plain", session="a")
    again = gate.turn(agent="again", message="again", session="b")
    behind = gate.turn(agent="slow", message="behind", session="a")
    until(lambda: len(read("started")) == 2, "both have begun")
    worker.kill()
    second = Worker(redis.url, "--lease", "1")
    assert gate.ended(plain)["state"] == "interrupted"
    assert gate.job(plain)["result"]["error"]["code"] == "interrupted"
    assert names_of(events_of(gate, plain))[-2:] == ["error", "end"]
    until(lambda: sorted(read("started")) == ["again", "again", "behind", "plain"], "it goes on")
    second.kill()
    third = Worker(redis.url, "--lease", "1")
    assert gate.ended(again)["state"] == "dead"
    assert gate.ended(behind)["state"] == "interrupted"
    assert [one["id"] for one in queue(redis, "dead", "list")] == [again]
    assert subprocess.run([PERCH, "queue", "dead", "retry", again, "--queue", redis.url],
                          check=False).returncode == 0
    touch("go")
    until(lambda: gate.ended(again)["state"] == "done", "the gateway has heard of it")
    assert subprocess.run([PERCH, "queue", "dead", "drop", again, "--queue", redis.url],
                          check=False, stderr=subprocess.PIPE).returncode == 125
    assert "is gone" in log_of(third)


def test_last():
    """The last worker is killed: the gateway sees to its jobs."""
    expose()
    agent("slow", SLOW)
    _, gate, (worker,) = fleet(1, "--lease", "1")
    job = gate.turn(agent="slow", message="plain")
    until(lambda: len(read("started")) == 1, "it has begun")
    worker.kill()
    assert gate.ended(job)["state"] == "interrupted"
    assert "is gone; it is interrupted" in open(f"{WORK}/serve.log", encoding="utf-8").read()


def test_stopped():
    """A worker that was stopped past its lease adds nothing, and gives its job up."""
    expose()
    agent("slow", 'echo $$ >"$WORK/pid"\n' + SLOW + 'echo late\n')
    redis, gate, (worker,) = fleet(1, "--lease", "1")
    number = gate.turn(agent="slow", message="m")
    until(lambda: read("started"), "it has begun")
    until(lambda: "partial" in str(redis.ask("XRANGE", f"{SHARD}:events:{number}", "-", "+")), "told")
    os.kill(worker.pid, signal.SIGSTOP)
    second = Worker(redis.url, "--lease", "1")
    assert gate.ended(number)["state"] == "interrupted"
    before = redis.ask("XRANGE", f"{SHARD}:events:{number}", "-", "+")
    touch("go")
    os.kill(worker.pid, signal.SIGCONT)
    until(lambda: queue(redis, "status")["fenced"] > 0, "it was refused")
    until(lambda: "another worker's by now" in log_of(worker) or "too late" in log_of(worker),
          "it gives up")
    assert redis.ask("XRANGE", f"{SHARD}:events:{number}", "-", "+") == before
    assert gate.job(number)["state"] == "interrupted"
    worker.stop()
    second.stop()


def test_away():
    """Redis is killed while jobs run: they go on, and what they tell is there when it is back."""
    expose()
    agent("slow", 'echo x >>"$WORK/started"\nwhile [ ! -e "$WORK/go" ]; do sleep 0.05; done\n'
                  'for i in 1 2 3 4 5; do echo "AGENT_PARTIAL:\\"$i \\""; done\necho finished\n'
                  'echo x >>"$WORK/ended"\n')
    redis, gate, (worker,) = fleet()
    numbers = [gate.turn(agent="slow", message="m", session=f"s{i}") for i in range(3)]
    until(lambda: lines_of("started") == 3, "all have begun")
    time.sleep(1.1)  # what everysec promises is on the disk
    redis.kill()
    until(lambda: gate.get("/readyz").status == 503, "the gateway has noticed")
    gate.post("/api/turns", {"agent": "slow", "message": "m"}).is_error(503, "queue")
    touch("go")
    until(lambda: lines_of("ended") == 3, "they go on")
    redis.start()
    for number in numbers:
        job = gate.ended(number)
        assert job["state"] == "done" and "1 2 3 4 5 finished" in job["result"]["text"], job
        partials = [e["text"] for _, e in events_of(gate, number) if e["event"] == "partial"]
        assert partials == ["1 ", "2 ", "3 ", "4 ", "5 "], partials
    assert lines_of("started") == 3
    assert gate.ended(gate.turn(agent="slow", message="m"))["state"] == "done"
    worker.stop()


def test_drain():
    expose()
    agent("slow", SLOW)
    redis, gate, (worker,) = fleet()
    number = gate.turn(agent="slow", message="m")
    until(lambda: read("started"), "it has begun")
    worker.process.terminate()
    until(lambda: "takes no more jobs" in log_of(worker), "it drains")
    other = gate.turn(agent="slow", message="other")
    touch("go")
    assert gate.ended(number)["state"] == "done"
    assert worker.process.wait(PATIENCE) == 0
    assert gate.job(other)["state"] == "waiting"
    Worker(redis.url)
    assert gate.ended(other)["state"] == "done"
    assert read("started") == ["m", "other"]


def test_patience():
    """What is not done when the time to drain is over is left to others, as if its worker had died."""
    expose()
    agent("slow", SLOW)
    agent("again", SLOW, "retry: 1\n")
    redis, gate, (worker,) = fleet(1, "--drain", "0", "--lease", "1")
    plain = gate.turn(agent="slow", message="plain", session="a")
    again = gate.turn(agent="again", message="again", session="b")
    ended = gate.turn(agent="again", message="ended", session="c")
    until(lambda: len(read("started")) == 3, "all have begun")
    assert gate.ask("DELETE", f"/api/jobs/{ended}").status < 300
    assert gate.ended(ended)["state"] == "cancelled"
    worker.stop()
    assert "is left to others" in log_of(worker)
    touch("go")
    second = Worker(redis.url, "--lease", "1")
    assert gate.ended(plain)["state"] == "interrupted"
    assert gate.ended(again)["state"] == "done"
    assert sorted(read("started")) == ["again", "again", "ended", "plain"]
    second.stop()


def test_away_for_good():
    """Redis is away, and does not come back: a worker and a gateway that are to end do, when they have waited."""
    expose("[serve]\ndrain = \"1s\"\n")
    agent("slow", SLOW)
    redis, gate, (worker,) = fleet(1, "--drain", "1")
    number = gate.turn(agent="slow", message="m")
    until(lambda: read("started"), "it has begun")
    os.kill(redis.process.pid, signal.SIGSTOP)
    touch("go")
    gate.process.terminate()
    worker.process.terminate()
    assert gate.process.wait(PATIENCE) == 0
    assert worker.process.wait(PATIENCE) == 0
    assert "what 1 jobs have told is lost" in log_of(worker), log_of(worker)
    os.kill(redis.process.pid, signal.SIGCONT)
    assert redis.ask("HGET", f"{SHARD}:job:{number}", "state") == "running"


def test_key_of_two():
    """An Idempotency-Key is one job, on both gateways at once."""
    expose()
    speaker()
    redis, gate, _ = fleet()
    other = Gateway("--queue", redis.url, token_name=None)
    other.token = gate.token
    until(lambda: other.get("/readyz").status == 200, "the queue is there")
    found = []

    def ask(where, i):
        answer = where.post("/api/turns", {"agent": "echo", "message": f"k{i}"},
                            headers={"Idempotency-Key": f"k{i}"})
        assert answer.status == 202, (answer.status, answer.body)
        found.append((i, answer.json["id"]))
    for i in range(20):
        both = [threading.Thread(target=ask, args=(where, i)) for where in (gate, other)]
        for one in both:
            one.start()
        for one in both:
            one.join()
    assert len(found) == 40 and len(set(found)) == 20, found
    for _, number in found:
        gate.ended(number)
    assert len(read("ran")) == 20


def test_where():
    """A job is claimed where it can run: label, hash of the profile, patterns."""
    expose()
    speaker()
    speaker("other")
    redis, gate, (first,) = fleet(1, "--agents", "ec*")
    assert gate.ended(gate.turn(agent="echo"))["state"] == "done"
    labelled = gate.turn(agent="echo", label="gpu", message="labelled")
    other = gate.turn(agent="other", message="other")
    gate.post("/api/turns", {"agent": "echo", "message": "m", "label": "no blanks"}).is_error(
        400, "bad_request")
    needs = queue(redis, "status")["needs"]
    assert [one["workers"] for one in needs] == [0, 0], needs
    assert gate.job(labelled)["state"] == gate.job(other)["state"] == "waiting"
    second = Worker(redis.url, "--label", "gpu", "--label", "big")
    assert gate.ended(labelled)["state"] == "done"
    assert gate.ended(other)["state"] == "done"
    first.stop()
    second.stop()
    # The workers' own profile is another one by now.
    elsewhere = f"{WORK}/elsewhere"
    write(f"{elsewhere}/perch/config.toml", '[expose.worker]\nagents = ["*"]\n')
    write(f"{elsewhere}/perch/agents/echo.yaml",
          f"command: {WORK}/echo.sh\nsandbox: false\ntimeout_secs: 99\n")
    strict = Worker(redis.url, "--config", elsewhere)
    until(lambda: len(queue(redis, "workers")) == 1, "it is there")
    number = gate.turn(agent="echo", message="hashed")
    assert queue(redis, "status")["needs"][0]["workers"] == 0
    loose = Worker(redis.url, "--config", elsewhere, "--any-profile")
    assert gate.ended(number)["state"] == "done"
    # Nothing is offered unless it says so.
    config('[expose.http]\nagents = ["*"]\n')
    found = subprocess.run([PERCH, "worker", "--queue", redis.url, "--check"], check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert found.stdout == b"" and b"offers nothing" in found.stderr, found
    idle = Worker(redis.url)
    until(lambda: "it offers nothing, so no job comes here" in log_of(idle), "it says so")
    idle.stop()
    strict.stop()
    loose.stop()


def test_keys():
    """Jobs that are not signed with the worker's key are not run."""
    expose()
    speaker()
    write(f"{WORK}/key", "k" * 40 + "\n", 0o600)
    write(f"{WORK}/other", "o" * 40 + "\n", 0o600)
    redis = Redis()
    worker = Worker(redis.url, "--key-file", f"{WORK}/key")
    good = Gateway("--queue", redis.url, "--key-file", f"{WORK}/key")
    bad = Gateway("--queue", redis.url, "--key-file", f"{WORK}/other", token_name=None)
    none = Gateway("--queue", redis.url, token_name=None)
    bad.token = none.token = good.token
    for gate in (good, bad, none):
        until(lambda: gate.get("/readyz").status == 200, "the queue is there")
    assert good.ended(good.turn())["state"] == "done"
    for gate in (bad, none):
        number = gate.turn()
        assert gate.ended(number)["state"] == "failed"
        error = events_of(gate, number)[0][1]
        assert error["code"] == "refused" and "key" in error["message"], error
    assert len(read("ran")) == 1
    # Jobs that were changed on their way, each in another member; and one that was signed under another id.
    os.kill(worker.pid, signal.SIGSTOP)
    changes = {"request": '{"message":"worse"}', "session": "of-another", "owner": "root", "name": "other",
               "need": "agent:echo#00", "retry": "9", "kind": "run", "mac": "0" * 64}
    numbers = [good.turn(message="evil", session=f"mine{i}") for i in range(len(changes) + 2)]
    for number, (member, value) in zip(numbers, changes.items()):
        redis.ask("HSET", f"{SHARD}:job:{number}", member, value)
    cut, replayed = numbers[-2:]
    whole = redis.ask("HGET", f"{SHARD}:job:{cut}", "request")
    redis.ask("HSET", f"{SHARD}:job:{cut}", "request", whole[:len(whole) // 2])
    for member in ("request", "mac"):
        redis.ask("HSET", f"{SHARD}:job:{replayed}", member, redis.ask("HGET", f"{SHARD}:job:{numbers[1]}", member))
    os.kill(worker.pid, signal.SIGCONT)
    for number, member in zip(numbers, [*changes, "cut", "replayed"]):
        assert good.ended(number)["state"] == "failed", member
        assert events_of(good, number)[0][1]["code"] == "refused"
    assert not {"evil", "worse"} & set(read("ran"))
    os.chmod(f"{WORK}/key", 0o644)
    found = subprocess.run([PERCH, "worker", "--queue", redis.url, "--key-file", f"{WORK}/key"],
                           stderr=subprocess.PIPE, check=False)
    assert found.returncode == 64 and b"chmod 600" in found.stderr, found


def test_ids():
    """An id that is none leads neither a worker nor a gateway anywhere."""
    expose()
    speaker()
    redis, gate, (worker,) = fleet(1, "--any-profile")
    number = gate.turn()
    assert gate.ended(number)["state"] == "done"
    os.makedirs(f"{STATE}/attachments", exist_ok=True)
    write(f"{STATE}/../victim/file", "precious")
    request = json.dumps({"message": "evil", "attachments": [{"url": "data:text/plain;base64,aGk="}]})
    for foreign in ("../../victim", 'j"x', number.upper(), number + "0"):
        redis.ask("FCALL", "perch1_enqueue", "1", SHARD, foreign, "", "agent:echo#00", "0", "10", "",
                  "kind", "turn", "name", "echo", "owner", "me", "session", "s", "request", request)
        until(lambda: redis.ask("HGET", f"{SHARD}:job:{foreign}", "state") in ("failed", "done"), "over")
    assert log_of(worker).count("a job is refused: its id is none") == 4, log_of(worker)
    assert os.listdir(f"{STATE}/../victim") == ["file"]
    assert not {"evil", "worse"} & set(read("ran"))
    behind = gate.turn()  # what the gateway heard before this it has looked at
    assert gate.ended(behind)["state"] == "done"
    assert {one["id"] for one in gate.get("/api/jobs").json["jobs"]} == {number, behind}


def test_events():
    """What is no event ends neither a stream nor a job."""
    expose()
    agent("slow", SLOW)
    redis, gate, _ = fleet()
    everything = iter(gate.stream("GET", "/api/events"))
    number = gate.turn(agent="slow")
    for _, event in everything:
        if event["event"] == "partial":
            break
    foreign = '{"event":"foreign"}'
    for message in (f"event {number} 9007199254740991 ", f"event {number} 9007199254740991 x",
                    f"event {number} 0 {foreign}", f"event {number} 9007199254740992 {foreign}",
                    f"event {number} 18446744073709551615 {foreign}",
                    f"event {number} 27670116110564327423 {foreign}",  # 2^63 - 1, by 2^64 too much
                    f"over {number} 99 done 1 18446744073709551615 {foreign}\n{{}}"):
        assert redis.ask("PUBLISH", f"{SHARD}:news", message) == "1"
    touch("go")
    heard = []
    for _, event in everything:
        heard.append(event["event"])
        if heard[-1] == "end":
            break
    assert heard and heard[-1] == "end" and "foreign" not in heard, heard
    assert gate.ended(number)["state"] == "done"


def test_poison():
    """A job that kills its worker: dead behind 1 + retry tries, everybody else goes on."""
    expose()
    agent("poison", 'echo x >>"$WORK/tries"\nkill -9 $PPID\nsleep 60\n', "retry: 1\n")
    speaker()
    redis, gate, workers = fleet(3, "--lease", "1", "--max-jobs", "1")
    number = gate.turn(agent="poison", message="m", session="p")
    behind = gate.turn(agent="poison", message="m", session="p")
    assert gate.ask("DELETE", f"/api/jobs/{behind}").status < 300
    assert gate.ended(number)["state"] == "dead"
    assert lines_of("tries") == 2
    assert sum(one.process.poll() is None for one in workers) == 1
    assert gate.ended(gate.turn(agent="echo", session="e"))["state"] == "done"
    assert [one["tries"] for one in queue(redis, "dead", "list")] == [2]


def test_full():
    """Redis has no memory left: no job is accepted, what runs waits and ends when there is room."""
    expose()
    agent("slow", SLOW)
    redis, gate, (worker,) = fleet()
    number = gate.turn(agent="slow", message="m")
    until(lambda: read("started"), "it has begun")
    until(lambda: redis.ask("XLEN", f"{SHARD}:events:{number}") >= "2", "it has told")
    redis.ask("CONFIG", "SET", "maxmemory", "1")
    gate.post("/api/turns", {"agent": "slow", "message": "m"}).is_error(507, "queue_full")
    agent_text = '{"agent":"slow","message":"' + "m" * 9_000_000 + '"}'
    assert gate.post("/api/turns", agent_text).status == 413
    touch("go")
    until(lambda: "memory is full" in open(f"{WORK}/worker.log", encoding="utf-8").read(), "it waits")
    # Who comes meanwhile, to work or to look, is not sent away.
    second = Worker(redis.url)
    until(lambda: len(queue(redis, "workers")) == 2, "it is there")
    assert queue(redis, "status")["running"] == 1
    second.stop()
    redis.ask("FUNCTION", "FLUSH")
    until(lambda: gate.get("/readyz").status == 503, "they cannot be loaded")
    redis.ask("CONFIG", "SET", "maxmemory", "0")
    job = gate.ended(number)
    assert job["state"] == "done" and "finished" in job["result"]["text"], job
    assert names_of(events_of(gate, number)).count("partial") == 1
    assert log_of(worker).count("memory is full") == 1


def told(words):
    return any(words in open(f"{WORK}/{name}.log", encoding="utf-8").read() for name in ("serve", "worker"))


def test_held():
    """Redis is silent: so much of a job's events waits in memory, then the job itself; nothing is lost."""
    expose()
    agent("loud", 'i=0\nwhile [ $i -lt 600 ]; do i=$((i+1)); printf \'AGENT_PARTIAL:"%01000d "\\n\' $i; '
                  '[ $i != 1 ] || { echo x >"$WORK/begun"; while [ ! -e "$WORK/go" ]; do sleep 0.05; done; }; done\n'
                  'echo x >"$WORK/ended"\necho finished\n', "max_reply_chars: 1000000\n")
    redis, gate, (worker,) = fleet(1, "--max-waiting", "64")
    number = gate.turn(agent="loud", message="m")
    until(lambda: read("begun"), "it has begun")
    os.kill(redis.process.pid, signal.SIGSTOP)
    touch("go")
    until(lambda: f"{number} is held" in log_of(worker), "it is held")
    assert not read("ended")
    os.kill(redis.process.pid, signal.SIGCONT)
    assert gate.ended(number)["state"] == "done"
    partials = [int(e["text"]) for _, e in events_of(gate, number) if e["event"] == "partial"]
    assert partials == list(range(1, 601)), len(partials)
    worker.stop()


def test_large():
    """A job over the limit of the queue, where the gateway itself would take it."""
    expose("[serve]\nbody_max = 33554432\n")
    speaker()
    _, gate, _ = fleet(0)
    gate.post("/api/turns", {"agent": "echo", "message": "m" * (16 << 20)}).is_error(413, "too_large")
    assert gate.get("/api/jobs").json["jobs"] == []


def taken(gate):
    answer = gate.post("/api/turns", {"agent": "echo", "message": "hi", "session": "behind"})
    assert answer.status in (202, 503), (answer.status, answer.body)
    return answer.status == 202 and answer.json["id"]


def runs_when(gate, words, begin, end):
    """Something is wrong with Redis for a while: who meets it first says so, and then all go on."""
    assert gate.ended(gate.turn(agent="echo", session="before"))["state"] == "done"
    begin()
    until(lambda: told(words), words)
    end()
    until(lambda: gate.get("/readyz").status == 200, "the gateway has it again")
    # It may meet the same only now: then it says so, and what it could not take was not taken.
    jobs = [until(lambda: taken(gate), "a job is taken") for _ in range(3)]
    assert [gate.ended(job)["state"] for job in jobs] == ["done"] * 3
    assert lines_of("ran") == 4, "one has run twice"
    os.remove(f"{WORK}/ran")


def test_moods():
    """READONLY, LOADING, functions that are gone: each passes, and nothing is lost or runs twice."""
    expose()
    agent("echo", 'echo x >>"$WORK/ran"\necho hi\n')
    redis, gate, (worker,) = fleet()
    runs_when(gate, "READONLY",
              lambda: redis.ask("REPLICAOF", "127.0.0.1", "1"), lambda: redis.ask("REPLICAOF", "NO", "ONE"))
    runs_when(gate, "Function not found", lambda: redis.ask("FUNCTION", "FLUSH"), lambda: None)

    # Loading takes 3 s: nobody but perch asks meanwhile, and it is told so.
    redis.ask("EVAL", "for i = 1, 150 do redis.call('SET', 'x' .. i, string.rep('x', 4000)) end", "0")
    redis.ask("BGREWRITEAOF")
    until(lambda: "aof_rewrite_in_progress:0" in redis.ask("INFO", "persistence") and
          "aof_rewrite_scheduled:0" in redis.ask("INFO", "persistence"), "the file is written anew")
    redis.kill()
    redis.begin("--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
    until(lambda: gate.get("/readyz").status == 200, "it is loaded")
    assert gate.ended(gate.turn(agent="echo"))["state"] == "done"
    assert lines_of("ran") == 1
    assert "errorstat_LOADING" in redis.ask("INFO", "errorstats")
    worker.stop()


def test_crowd():
    """Redis takes no more connections: a worker that comes then waits."""
    expose()
    speaker()
    redis, gate, _ = fleet(0)
    redis.ask("CONFIG", "SET", "maxclients", "40")
    others = [socket.create_connection(("127.0.0.1", redis.port)) for _ in range(40)]
    worker = Worker(redis.url)
    until(lambda: told("max number of clients"), "it says so")
    for one in others:
        one.close()
    assert gate.ended(gate.turn(agent="echo"))["state"] == "done"
    worker.stop()


def revision(redis, number):
    with open(f"{os.environ['PERCH_BUILD']}/src/perch.lua", encoding="utf-8") as file:
        text = re.sub("local REVISION = .*", f"local REVISION = {number}", file.read())
    redis.ask("FUNCTION", "LOAD", "REPLACE", text)


def test_upgrade():
    """Another machine loads a later revision, then an earlier one, while a worker and a gateway run: they go on,
    and who comes then replaces the earlier one alone."""
    expose()
    agent("slow", SLOW)
    redis, gate, (worker,) = fleet()
    ours = redis.ask("FCALL", "perch1_open", "1", SHARD).split()[1]
    for number, found in (99, "99"), (1, ours):
        job = gate.turn(agent="slow", message=f"m{number}", session="s")
        behind = gate.turn(agent="slow", message=f"b{number}", session="s")
        until(lambda: f"m{number}" in read("started"), "it has begun")
        revision(redis, number)
        touch("go")
        assert gate.ended(job)["state"] == gate.ended(behind)["state"] == "done"
        os.remove(f"{WORK}/go")
        newcomer = Worker(redis.url)
        until(lambda: len(queue(redis, "workers")) == 2, "it is there")
        newcomer.stop()
        assert redis.ask("FCALL", "perch1_open", "1", SHARD).split()[1] == found
    assert sorted(read("started")) == ["b1", "b99", "m1", "m99"]
    worker.stop()


def test_scripts():
    """Who may not load functions uses scripts; when they are gone (NOSCRIPT), they are loaded anew."""
    expose()
    agent("echo", 'echo x >>"$WORK/ran"\necho hi\n')
    redis = Redis()
    redis.ask("ACL", "SETUSER", "eve", "on", ">pw", "~{perch:*", "&{perch:*", "+@all", "-function", "-fcall")
    os.environ["PERCH_QUEUE_PASSWORD"] = "pw"
    url = redis.url.replace("redis://", "redis://eve@")
    gate = Gateway("--queue", url)
    until(lambda: gate.get("/readyz").status == 200, "the queue is there")
    worker = Worker(url)
    runs_when(gate, "NOSCRIPT", lambda: redis.ask("SCRIPT", "FLUSH"), lambda: None)
    worker.stop()


def bulk(text):
    return f"${len(text)}\r\n{text}"


class Moved(threading.Thread):
    """What answers as a Redis does, up to the first call: that key is another node's."""
    answers = {"SELECT": "+OK", "SUBSCRIBE": f"*3\r\n{bulk('subscribe')}\r\n{bulk('x')}\r\n:1",
               "perch1_open": "*2\r\n:1\r\n:99", "server": bulk("redis_version:7.0.0\r\nredis_mode:standalone\r\n"),
               "memory": bulk("maxmemory_policy:noeviction\r\n")}

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.socket.getsockname()[1]}"

    def serve(self, client):
        file = client.makefile("rwb")
        while line := file.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(file.read(int(file.readline()[1:]) + 2)[:-2].decode())
            known = [self.answers[word] for word in words[:2] if word in self.answers]
            if words[0] == "BLPOP":
                continue
            file.write(((known or ["-MOVED 1 127.0.0.1:7001"])[0] + "\r\n").encode())
            file.flush()

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()


def test_moved():
    """A node of a cluster: worker, gateway and operator say so and end."""
    expose()
    speaker()
    moved = Moved()
    moved.start()
    for mode in ("redis_mode:standalone", "server_mode:cluster"):  # the other one is a whole cluster of Valkey's
        Moved.answers["server"] = bulk(f"redis_version:7.2.4\r\n{mode}\r\n")
        for words in (["worker"], ["queue", "workers"]):
            found = subprocess.run([PERCH, *words, "--queue", moved.url], stderr=subprocess.PIPE, timeout=PATIENCE,
                                   check=False)
            assert found.returncode != 0 and b"cluster" in found.stderr, found


def test_metrics():
    expose()
    speaker()
    _, gate, _ = fleet()
    for _ in range(3):
        gate.ended(gate.turn())
    until(lambda: b'perch_jobs_total{kind="turn",state="done"} 3' in gate.get("/metrics").body, "3")
    until(lambda: b"perch_workers 1" in gate.get("/metrics").body, "one worker")
    agent("slow", SLOW)
    until(lambda: gate.post("/api/turns", {"agent": "slow", "message": "m", "detach": True}).status == 202, "it is seen")
    gate.turn(agent="echo", label="nobody-has-it")
    counted = [f"perch_queue_{name} {count}\n".encode() for name, count in
               (("waiting", 1), ("running", 1), ("dead", 0), ("fenced_total", 0))]
    until(lambda: all(line in gate.get("/metrics").body for line in counted), "each is counted")


def test_kinds():
    """A tool, and a plugin with its answers in advance."""
    expose()
    _, gate, _ = fleet()
    answer = gate.post("/api/calls", {"tool": "t.up/t.x", "input": {"text": "abc"}})
    assert answer.status == 200 and answer.json["output"]["got"] == {"text": "abc"}, answer.body
    number = gate.post("/api/runs", {"command": "ask", "args": ["a"],
                                     "answers": ["Your name?=Ada"]}).json["id"]
    job = gate.ended(number)
    assert job["state"] == "done" and "hello Ada" in job["result"]["output"], job


run(globals())
