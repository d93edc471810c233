"""Random steps and deaths against the functions of the queue, and against a small model of them: every
answer and every state must be the same. MODEL_SEED plays a seed again."""
import random

from fleet import *

SEED = int(os.environ.get("MODEL_SEED", random.randrange(1 << 30)))
STEPS = int(os.environ.get("MODEL_STEPS", 1500))
LANES, WORKERS, CLAIMS_MAX = ("a", "b", ""), ("w1", "w2"), 8
OVER = ("done", "failed", "cancelled", "interrupted", "dead")


class Client:
    """redis-cli, kept open: an answer is one line of JSON."""

    def __init__(self, redis):
        self.process = subprocess.Popen(["redis-cli", "-p", str(redis.port), "--json"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        line = " ".join('"' + str(word).replace("\\", "\\\\").replace('"', '\\"') + '"' for word in words)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, name, *words):
        return self.ask("FCALL", "perch1_" + name, 1, SHARD, *words)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Model:
    def __init__(self):
        self.jobs, self.lanes, self.ready = {}, {lane: [] for lane in LANES if lane}, []

    def enqueue(self, number, lane, retry):
        self.jobs[number] = {"state": "waiting", "lane": lane, "retry": retry, "tries": 0, "claims": 0,
                             "began": False, "fence": None, "cancel": False, "events": 0}
        if lane:
            self.lanes[lane].append(number)
        if not lane or self.lanes[lane][0] == number:
            self.ready.append(number)

    def claim(self):
        if not self.ready:
            return None
        number = self.ready.pop(0)
        job = self.jobs[number]
        job.update(state="running", began=False, claims=job["claims"] + 1, cancel=False, told=0)
        return number

    def holds(self, number, fence):
        job = self.jobs[number]
        return job["state"] == "running" and job["fence"] == fence

    def end(self, number, state):
        job = self.jobs[number]
        job.update(state=state, ended_by=job["fence"])
        if number in self.ready:
            self.ready.remove(number)
        lane = self.lanes.get(job["lane"])
        if lane:
            was_first = lane[0] == number
            lane.remove(number)
            if was_first and lane:
                self.ready.append(lane[0])

    def begin(self, number, fence):
        job = self.jobs[number]
        if not self.holds(number, fence):
            return "fenced"
        if job["cancel"]:
            return "cancel"
        job["tries"] += not job["began"]
        job["began"] = True
        return "ok"

    def publish(self, number, fence, first, count):
        job = self.jobs[number]
        if not self.holds(number, fence):
            return "fenced"
        new = max(0, first + count - 1 - job["told"])
        job["told"] += new
        job["events"] += new
        return "ok"

    def finish(self, number, fence, state):
        job = self.jobs[number]
        if job["state"] in OVER and job.get("ended_by") == fence and not job.get("without"):
            return "ok"
        if not self.holds(number, fence):
            return "fenced"
        job["events"] += 1
        self.end(number, state)
        return "ok"

    def cancel(self, number):
        job = self.jobs[number]
        if job["state"] == "running":
            job["cancel"] = True
            return "ok"
        if job["state"] != "waiting":
            return "over"
        job.update(without=True, events=job["events"] + 2)
        self.end(number, "cancelled")
        return "ok"

    def die(self, number):
        job = self.jobs[number]
        if job["cancel"]:
            outcome = "cancelled"
        elif not job["began"] and job["claims"] >= CLAIMS_MAX:
            outcome = "dead"
        elif not job["began"] or job["tries"] <= job["retry"]:
            job.update(state="waiting", fence=None)
            self.ready.insert(0, number)
            return
        else:
            outcome = "dead" if job["retry"] else "interrupted"
        job.update(without=True, events=job["events"] + 2)
        self.end(number, outcome)


class Play:
    def __init__(self, redis, seed):
        self.random, self.model, self.client = random.Random(seed), Model(), Client(redis)
        self.fences = {}  # every fence that a job has ever had
        with open(os.environ["PERCH_SOURCE"] + "/src/queue/perch.lua", encoding="utf-8") as file:
            redis.ask("FUNCTION", "LOAD", "REPLACE", file.read())
        self.client.call("open")
        for worker in WORKERS:
            self.client.call("register", worker, 1, "x", "y", "agent:bot#00")

    def some(self):
        return self.random.choice(list(self.model.jobs)[-12:]) if self.model.jobs else None

    def fence(self, number):
        """Mostly the right one."""
        known = self.fences.get(number, ["1"])
        return known[-1] if self.random.random() < 0.8 else self.random.choice(known)

    def enqueue(self, _):
        number, lane = f"j{len(self.model.jobs)}", self.random.choice(LANES)
        retry = self.random.choice((0, 0, 1, 2))
        self.model.enqueue(number, lane, retry)
        found = self.client.call("enqueue", number, lane, "agent:bot#00", retry, 10**6, "", "kind", "turn")
        return found[0], "ok"

    def claim(self, _):
        found = self.client.call("claim", self.random.choice(WORKERS), 10**9)
        number = self.model.claim()
        if not found:
            return None, number
        members = dict(zip(found[2][::2], found[2][1::2]))
        if number:
            self.model.jobs[number]["fence"] = members["fence"]
            assert members["fence"] not in self.fences.get(number, []), "a fence came twice"
            self.fences.setdefault(number, []).append(members["fence"])
        return members["id"], number

    def begin(self, number):
        fence = self.fence(number)
        return self.client.call("begin", number, fence, 10**9), self.model.begin(number, fence)

    def publish(self, number):
        fence, count = self.fence(number), self.random.randint(1, 4)
        told = self.model.jobs[number].get("told", 0)
        first = self.random.randint(max(1, told - 1), told + 1)
        return (self.client.call("publish", number, fence, first, *["e"] * count),
                self.model.publish(number, fence, first, count))

    def finish(self, number):
        fence, state = self.fence(number), self.random.choice(("done", "failed", "cancelled"))
        return (self.client.call("finish", number, fence, state, 3600, "{}", "end", ""),
                self.model.finish(number, fence, state))

    def cancel(self, number):
        return self.client.call("cancel", number, 3600), self.model.cancel(number)

    def death(self, _):
        """The worker of one job is gone: its lease has ended."""
        running = [n for n, job in self.model.jobs.items() if job["state"] == "running"]
        if not running:
            return None, None
        number = self.random.choice(running)
        self.client.ask("ZADD", f"{SHARD}:leases", 1, number)
        found = self.client.call("reap", 100, 10**9, 3600)
        self.model.die(number)
        return [row[:2] for row in found], [[number, self.model.jobs[number]["state"]]]

    def compare(self):
        for number, job in list(self.model.jobs.items())[-12:]:
            found = self.client.ask("HMGET", f"{SHARD}:job:{number}", "state", "tries", "claims")
            expected = [job["state"], str(job["tries"]), str(job["claims"])]
            assert found == expected, (number, found, expected, job)
            events = self.client.ask("XLEN", f"{SHARD}:events:{number}")
            assert events == job["events"], (number, events, job)
        for lane, numbers in self.model.lanes.items():
            assert self.client.ask("LRANGE", f"{SHARD}:lane:{lane}", 0, -1) == numbers, lane
        assert self.client.ask("LRANGE", f"{SHARD}:ready:agent:bot#00", 0, -1) == self.model.ready
        counts = self.client.call("counts")
        states = [job["state"] for job in self.model.jobs.values()]
        assert counts[0] == states.count("waiting") and counts[1] == states.count("running"), counts


def test_model():
    play = Play(Redis("--appendonly", "no"), SEED)
    steps = [play.enqueue] * 4 + [play.claim] * 4 + [play.begin] * 3 + [play.publish] * 4 + \
        [play.finish] * 3 + [play.cancel, play.death]
    for i in range(STEPS):
        step, number = play.random.choice(steps), play.some()
        if number is None and step not in (play.enqueue, play.claim):
            continue
        found, expected = step(number)
        assert found == expected, f"MODEL_SEED={SEED}, step {i}, {step.__name__} {number}: {found}, not {expected}"
        if i % 10 == 0:
            play.compare()
    play.compare()
    play.client.end()
    print(f"seed {SEED}: {STEPS} steps, {len(play.model.jobs)} jobs")


run(globals())
