"""Workers, gateways and Redis under load and faults: how much of it CHAOS says, a short form for every
run, the long one for `./dev chaos worker`. A seed decides what happens when; CHAOS_SEED plays one again.

What is over is read, checked and taken out of the queue on the way, so that a Redis that begins again, and gateways behind
it, do not read a hundred thousand jobs each time. What is checked: every job that was accepted is over, and was begun; sessions ran in order; a
job that ran twice has lost a worker that was killed, stopped or cut off; no worker added an event behind
its fence."""
import collections
import random
import shutil
import socketserver
import tempfile
import threading
import time
import traceback

from fleet import *

LONG = os.environ.get("CHAOS") == "long"
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))
JOBS = int(os.environ.get("CHAOS_JOBS", 100000 if LONG else 3000))
SHARDS = int(os.environ.get("CHAOS_SHARDS", 1))
REPORT = os.environ.get("CHAOS_REPORT")
CLIENTS, SESSIONS, LEASE = 8, 64, 2
PAUSE = 0.02 if LONG else 0.1  # so that there is time for faults
# Between two faults, at least and at most: a machine that is slow for hours does not play faults alone, and one that is fast does not
# leave them out.
JOBS_A_FAULT = 100 if LONG else 0
JOBS_A_FAULT_MAX = 500 if LONG else 1 << 30
HARVEST = 2000  # jobs that are left in the queue
FAULTS = ("kill_worker", "kill_worker", "stop_worker", "kill_gateway", "kill_redis", "partition", "step_clock")
PASSWORD = "open-sesame"  # a worker in another namespace is on another machine


class Wall(socketserver.ThreadingTCPServer):
    """Where there is no namespace to be had, a way to Redis that can be cut: nothing is refused, nothing
    arrives."""
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port):
        self.target, self.is_open = port, threading.Event()
        self.is_open.set()
        super().__init__(("127.0.0.1", 0), Way)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url, self.before = f"redis://127.0.0.1:{self.server_address[1]}", ()

    def set(self, state):
        self.is_open.set() if state == "up" else self.is_open.clear()

    def end(self):
        self.shutdown()
        self.server_close()


class Way(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            there = socket.create_connection(("127.0.0.1", self.server.target))
        except OSError:
            return
        back = threading.Thread(target=self.carry, args=(there, self.request), daemon=True)
        back.start()
        self.carry(self.request, there)

    def carry(self, source, target):
        try:
            while data := source.recv(65536):
                self.server.is_open.wait()
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Answers:
    """What Redis says on a connection."""

    def __init__(self, way):
        self.file = way.makefile("rb")

    def next(self):
        line = self.file.readline().decode()
        kind, rest = line[0], line[1:].strip()
        if kind == "$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return None if rest == "-1" else [self.next() for _ in range(int(rest))]
        return RuntimeError(rest) if kind == "-" else rest


class Chaos:
    def __init__(self, seed, jobs, shards):
        self.random, self.seed, self.jobs, self.shards = random.Random(seed), seed, jobs, shards
        self.report, self.troubled = [], set()
        self.accepted = collections.defaultdict(list)  # session → jobs, in order
        self.read = {}  # job → state, tries, workers that have lost it, claims
        self.streams = 0  # that were read, too
        self.lock = threading.Lock()
        self.posted = self.at_fault = 0  # jobs, now and at the last fault
        self.faults = collections.Counter()
        self.failure = None
        self.begun = time.monotonic()
        self.clock = f"{WORK}/clock"
        self.step_to(0)
        network = self.network()
        self.place = self.memory()
        self.redis = Redis("--requirepass", PASSWORD, "--protected-mode", "no", more=(network.here,) if network else (),
                           env={"LD_PRELOAD": f"{os.environ['PERCH_BUILD']}/tests/libclock-step.so", "CLOCK_STEP": self.clock},
                           place=self.place)
        self.wall = network or Wall(self.redis.port)
        if network:
            network.url = f"redis://{network.here}:{self.redis.port}"
        self.say("a cut is one of a network namespace" if network else "a cut is one of a proxy")
        write(f"{WORK}/key", "0123456789abcdef" * 4, 0o600)
        os.environ["PERCH_QUEUE_PASSWORD"] = PASSWORD
        self.key = ("--key-file", f"{WORK}/key", "--shards", str(shards))
        self.gates = [Gateway("--queue", self.redis.url, *self.key, token_name=f"of-{seed}")]
        self.gates.append(Gateway("--queue", self.redis.url, *self.key, token_name=None))
        self.gates[1].token = self.gates[0].token
        self.ports = [gate.port for gate in self.gates]
        self.workers = [self.worker(i) for i in range(3)]

    @staticmethod
    def network():
        try:
            return Network()
        except (OSError, subprocess.CalledProcessError):
            return None

    @staticmethod
    def memory():
        """Where files take no time: a Redis that is killed loses what it has not written, not what no disk has."""
        if not os.access("/dev/shm", os.W_OK):
            return None
        place = tempfile.mkdtemp(prefix="perch-chaos.", dir="/dev/shm")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        return place

    def step_to(self, seconds):
        self.step = seconds
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "w+b") as file:
            file.write(f"{seconds:<31}\0".encode())

    def say(self, text):
        line = f"{time.monotonic() - self.begun:7.2f} s  {text}"
        self.report.append(line)
        print(line, flush=True)
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                file.write(line + "\n")

    def worker(self, i):
        return Worker(self.redis.url if i else self.wall.url, "--lease", str(LEASE), "--max-jobs", "4", "--name", f"w{i}",
                      *self.key, before=() if i else self.wall.before)

    # ---- faults -------------------------------------------------------------------------

    def trouble(self, worker):
        self.troubled.add(worker.pid)

    def kill_worker(self):
        i = self.random.randrange(3)
        self.trouble(self.workers[i])
        self.workers[i].kill()
        self.say(f"SIGKILL worker {i} ({self.workers[i].pid})")
        self.workers[i] = self.worker(i)

    def stop_worker(self):
        i = self.random.randrange(3)
        self.trouble(self.workers[i])
        os.kill(self.workers[i].pid, signal.SIGSTOP)
        self.say(f"SIGSTOP worker {i} ({self.workers[i].pid}), past its lease")
        time.sleep(LEASE * 1.8)
        os.kill(self.workers[i].pid, signal.SIGCONT)
        self.say(f"SIGCONT worker {i}")

    def kill_gateway(self):
        i = self.random.randrange(2)
        gate = self.gates[i]
        gate.kill()
        self.say(f"SIGKILL gateway {i}")
        gate.words = ("--queue", self.redis.url, *self.key, "--listen", f"127.0.0.1:{self.ports[i]}")
        gate.start()

    def kill_redis(self):
        self.redis.kill()
        pause = self.random.uniform(0.1, 1.0)
        self.say(f"SIGKILL redis, for {pause:.1f} s")
        time.sleep(pause)
        self.redis.start()
        self.say("redis is back")

    def partition(self):
        self.trouble(self.workers[0])
        self.wall.set("down")
        pause = LEASE * self.random.choice((1.8, 1.8, 6) if LONG else (1.8,))
        self.say(f"worker 0 is cut off from redis for {pause:.1f} s, past its lease")
        time.sleep(pause)
        self.wall.set("up")
        self.say("worker 0 is let in again")

    def step_clock(self):
        """The wall clock of Redis's machine: set forward, every lease is over; set back, none is for a while."""
        seconds = self.random.choice((-3, 3, 5))
        for worker in self.workers:
            self.trouble(worker)
        self.step_to(self.step + seconds)
        self.say(f"the clock of redis is set by {seconds:+} s")

    # ---- load ---------------------------------------------------------------------------

    def post(self, connections, gate, body, key):
        """On the connection that the client has to this gateway, or on a new one."""
        connection = connections.pop(gate, None) or self.gates[gate].connect()
        answer = self.gates[gate].post("/api/turns", body, headers={"Idempotency-Key": key}, connection=connection)
        connections[gate] = connection
        return answer

    def accept(self, session, i, connections):
        """Until it is accepted: a key makes it one job, however often it is sent."""
        body = {"agent": "again" if session % 2 else "once", "message": str(i),
                "session": f"s{session}", "detach": True}
        key = f"{session}-{i}"
        end = time.monotonic() + 4 * PATIENCE
        while time.monotonic() < end:
            try:
                answer = self.post(connections, i % 2, body, key)
                if answer.status == 202:
                    return answer.json["id"]
                if answer.status not in (429, 503):
                    raise AssertionError((answer.status, answer.body))
            except OSError:
                pass
            except Exception as wrong:  # a gateway that was killed in the middle of its answer
                if "http.client" not in type(wrong).__module__:
                    raise
            i += 1  # the other gateway
            time.sleep(0.05)
        raise AssertionError(f"{key} was never accepted")

    def client(self, mine):
        counts = collections.Counter()
        own = random.Random(self.seed * 1000 + mine)
        sessions, connections = range(mine, SESSIONS, CLIENTS), {}
        try:
            while True:
                with self.lock:
                    if self.posted >= self.jobs or self.failure:
                        return
                    is_due = self.posted >= self.at_fault + JOBS_A_FAULT_MAX
                    self.posted += not is_due
                if is_due:
                    time.sleep(0.02)
                    continue
                session = own.choice(sessions)
                number = self.accept(session, counts[session], connections)
                if own.random() < 0.02:
                    assert self.accept(session, counts[session], connections) == number, "a duplicate"
                self.accepted[session].append(number)
                counts[session] += 1
                time.sleep(own.random() * PAUSE)
        except BaseException:
            self.failure = traceback.format_exc()

    def counts(self):
        return queue(self.redis, "status")

    def play(self):
        clients = [threading.Thread(target=self.client, args=(i,)) for i in range(CLIENTS)]
        for one in clients:
            one.start()
        while any(one.is_alive() for one in clients):
            time.sleep(self.random.uniform(0.3, 1.5))
            while any(one.is_alive() for one in clients) and self.posted < self.at_fault + JOBS_A_FAULT:
                time.sleep(0.1)
            if sum(map(len, self.accepted.values())) > len(self.read) + HARVEST:
                self.harvest()
            if any(one.is_alive() for one in clients):
                fault = self.random.choice(FAULTS)
                self.faults[fault] += 1
                getattr(self, fault)()
                self.at_fault = self.posted
        for one in clients:
            one.join()
        assert not self.failure, self.failure
        self.say(f"{self.jobs} jobs are accepted")

        end = time.monotonic() + (3600 if LONG else 200)
        while True:
            found = self.counts()
            if found["waiting"] + found["running"] == 0:
                break
            assert time.monotonic() < end, found
            time.sleep(0.2)
        self.say(f"all are over: {found}")

    # ---- the truth ------------------------------------------------------------------------

    def tell_redis(self, commands):
        """The answers to commands, which are sent together: on a busy machine every way takes long."""
        while True:
            with socket.create_connection(("127.0.0.1", self.redis.port), timeout=PATIENCE) as way:
                answers = Answers(way)
                lines = [f"AUTH {PASSWORD}", *commands]
                way.sendall("".join(f"{line}\r\n" for line in lines).encode())
                found = [answers.next() for _ in lines][1:]
            if not any(isinstance(one, Exception) and "LOADING" in str(one) for one in found):
                return found
            time.sleep(0.2)

    def ask_all(self, command, numbers):
        """The shard that has each job, and its answer."""
        rows = self.tell_redis([command.format(f"{{perch:{shard}}}", n) for n in numbers for shard in range(self.shards)])
        for i, number in enumerate(numbers):
            mine = [(shard, row) for shard, row in enumerate(rows[i * self.shards:(i + 1) * self.shards]) if any(row)]
            assert len(mine) == 1, f"{number} is in {len(mine)} shards"
            yield number, *mine[0]

    def harvest(self):
        """Takes out what is over: nobody asks for it again, since its client has heard that it was accepted."""
        numbers = [n for mine in list(self.accepted.values()) for n in list(mine) if n not in self.read]
        for at in range(0, len(numbers), 500):
            over = {}
            for number, shard, row in self.ask_all("HMGET {}:job:{} state tries lost claims", numbers[at:at + 500]):
                if row[0] not in ("waiting", "running"):
                    over[number] = shard
                    self.read[number] = row
            self.check_fence([n for i, n in enumerate(over) if i % 10 == 0 or self.read[n][2] or self.read[n][1] != "1"])
            self.tell_redis([line for n, shard in over.items() for line in (
                f"DEL {{perch:{shard}}}:job:{n} {{perch:{shard}}}:events:{n}", f"ZREM {{perch:{shard}}}:jobs {n}",
                f"ZREM {{perch:{shard}}}:over {n}", f"LREM {{perch:{shard}}}:dead 1 {n}")])

    def check_ran(self, jobs):
        begins, order = collections.Counter(), collections.defaultdict(list)
        lines = collections.defaultdict(list)
        with open(f"{WORK}/ran", encoding="utf-8") as file:
            for line in file:
                session, message, who = line.split()
                lines[session, message].append(who)
                if begins[session, message] == 0:
                    order[session].append(int(message))
                begins[session, message] += 1
        for session, found in order.items():
            assert found == sorted(found), f"{session} ran out of order: {found}"
        twice = unbegun = 0
        for session, numbers in self.accepted.items():
            for i, number in enumerate(numbers):
                state, tries, lost, _ = jobs[number]
                ran = begins[f"s{session}", str(i)]
                assert ran <= int(tries), (number, lines[f"s{session}", str(i)], jobs[number], self.troubled)
                if ran == 0:  # killed between the mark and the process: it never ends as done
                    assert state in ("interrupted", "dead"), (number, jobs[number])
                    unbegun += 1
                if ran > 1:
                    twice += 1
                    assert session % 2, f"{number} ran twice without retry"
                    names = (lost or "").split()
                    assert len(names) >= ran - 1, (number, jobs[number])
        return twice, unbegun

    def check_lost(self, jobs):
        late = set()
        for number, (_, _, lost, _) in jobs.items():
            for name in (lost or "").split():
                pid = int(name.split("-")[1])
                if pid not in self.troubled:
                    late.add(name)
        return late

    def check_fence(self, numbers):
        """Who has lost a job adds nothing behind him who has it now; nothing follows the end."""
        self.streams += len(numbers)
        for number, _, rows in self.ask_all("XRANGE {}:events:{} - +", numbers):
            events = [json.loads(row[1][1]) for row in rows]
            names = [event["event"] for event in events]
            assert names.count("end") == 1 and names[-1] == "end", (number, names)
            who = [event["text"].strip() for event in events if event["event"] == "partial"]
            changes = [one for i, one in enumerate(who) if i == 0 or who[i - 1] != one]
            assert len(changes) == len(set(changes)), (number, who)

    def check(self):
        self.harvest()
        jobs = self.read
        total = sum(len(one) for one in self.accepted.values())
        assert len(jobs) == total == len(set(jobs)), (len(jobs), total)
        states = collections.Counter(row[0] for row in jobs.values())
        assert set(states) <= {"done", "interrupted", "dead"}, states
        twice, unbegun = self.check_ran(jobs)
        late = self.check_lost(jobs)
        self.say(f"seed {self.seed}: {total} accepted, {dict(states)}, 0 lost, 0 out of order; "
                 f"{twice} ran twice, each behind the loss of its worker; {unbegun} lost theirs before "
                 f"the first line; streams of {self.streams} jobs read, no event behind a fence; refused calls "
                 f"{self.counts()['fenced']}; faults {dict(self.faults)}")
        if late:
            self.say(f"leases that ended although nothing was done to the worker: {sorted(late)}")

    def end(self):
        for worker in self.workers:
            worker.stop()
        for gate in self.gates:
            gate.stop()
        self.redis.end()
        self.wall.end()
        if self.place:
            os.unlink(self.redis.dir)
            shutil.rmtree(self.place)
        else:
            shutil.rmtree(self.redis.dir)


def play(seed, jobs, shards):
    open(f"{WORK}/ran", "w", encoding="utf-8").close()
    script = ('echo "$AGENT_SESSION_NAME $AGENT_MESSAGE $PPID" >>"$WORK/ran"\n'
              'echo "AGENT_PARTIAL:\\"$PPID \\""\necho "done"\n')
    expose("[serve]\nqueue = 1000000\nkeep = \"24h\"\n")
    agent("once", script)
    agent("again", script, "retry: 9\n")
    chaos = Chaos(seed, jobs, shards)
    chaos.say(f"seed {seed}: CHAOS_SEED={seed} CHAOS_JOBS={jobs} CHAOS_SHARDS={shards} plays it again")
    for gate in chaos.gates:
        until(lambda: gate.get("/readyz").status == 200, "the queue is there")
    chaos.play()
    chaos.check()
    chaos.end()


def test_chaos():
    play(SEED, JOBS, SHARDS)


def test_shards():
    """The short form, where sessions are spread over several shards."""
    play(SEED, JOBS // 3, 4)


def test_seeds():
    """Ten times ten thousand, each with a seed of its own, every other one in several shards."""
    for i in range(int(os.environ.get("CHAOS_SEEDS", 10))):
        play(SEED + i, int(os.environ.get("CHAOS_JOBS", 10000)), 4 if i % 2 else SHARDS)


run(globals())
