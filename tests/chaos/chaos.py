"""perch under faults: plugins, tools, agents, MCP, a gateway, and questions on a terminal. Several players play jobs one
behind the other, each in a place of its own; a seed decides which fault a job meets. CHAOS_SEED and CHAOS_JOBS play them
again; CHAOS_SECONDS ends earlier, CHAOS_PLAYERS says how many there are.

Behind each job: nobody is left of it, whoever has started whom; nobody has crashed; what it keeps is whole and was not
lost."""
import collections
import os
import random
import signal
import sys
import time

from asking import Questions
from clients import Acp, Mcp
from kinds import BUILD, CALLS, Agents, Plugins, Tools
from place import Disk, apart, hit, ours
from served import Serve

WORK = os.environ["WORK"]
LONG = os.environ.get("CHAOS") == "long"
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))
KINDS = {"plugins": (Plugins, 25000), "tools": (Tools, 25000), "agents": (Agents, 20000), "mcp": (Mcp, 10000),
         "acp": (Acp, 10000), "serve": (Serve, 20000), "questions": (Questions, 5000)}
SHORT = {"serve": 600}  # jobs; of the others:
SHORT_OF_OTHERS = 60
PLAYERS = int(os.environ.get("CHAOS_PLAYERS", 4 if LONG else 2))
SECONDS = float(os.environ.get("CHAOS_SECONDS", "inf"))
REPORT = os.environ.get("CHAOS_REPORT")
LOOKS = 5  # for somebody to be struck


class Player:
    def __init__(self, kind, number, is_apart):
        self.name, self.seed, self.path = kind, SEED + number, f"{WORK}/{number}"
        self.random, self.counts = random.Random(self.seed), collections.Counter()
        self.done, self.typical, self.fault = 0, 0.02, None  # jobs; the seconds of one; under way
        os.makedirs(f"{self.path}/jobs")
        os.chdir(f"{self.path}/jobs")
        self.clock = f"{self.path}/clock"
        self.step(0)
        self.disk = Disk(f"{self.path}/disk", KINDS[kind][0].megabytes, is_apart)
        for place in ("home", "config", "state", "data", "cache"):
            os.makedirs(f"{self.disk.path}/{place}")
        self.kind = KINDS[kind][0](self)

    # ---- for kinds ------------------------------------------------------------------------------

    def environment(self, **more):
        disk = self.disk.path
        return {**os.environ, "HOME": f"{disk}/home", "XDG_CONFIG_HOME": f"{disk}/config", "XDG_STATE_HOME": f"{disk}/state",
                "XDG_DATA_HOME": f"{disk}/data", "XDG_CACHE_HOME": f"{disk}/cache", "TERM": "xterm", **more}

    def spawn(self, argv, fault, actions):
        """perch, under a fault if that is one from the beginning."""
        return os.posix_spawn(argv[0], argv, self.environment(**self.prepared(fault)), file_actions=actions,
                              setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])

    def prepared(self, fault):
        if fault in CALLS or fault == "kill when raw":
            every = 1 if fault == "kill when raw" else self.random.choice((20, 100, 400, 2000))
            return {"LD_PRELOAD": f"{BUILD}/tests/libchaos-faults.so",
                    "CHAOS_FAULTS": f"{fault.replace(' ', '-')} {self.random.randrange(1 << 30)} {every}"}
        if fault == "clock":
            self.step(self.random.choice((-86400, -3, 0, 3, 86400)))
            return {"LD_PRELOAD": f"{BUILD}/tests/libclock-step.so", "CLOCK_STEP": self.clock}
        if fault == "full disk" and self.random.random() < 0.5:
            self.fill()
        return {}

    def strike(self, fault, host, within=None):
        """A little later: to the host, its guard, what it has started, the disk, the clock."""
        if fault in ("none", *CALLS, "kill when raw"):
            return
        time.sleep(self.random.random() * (within or self.typical * 0.9))
        if fault == "kill host":
            hit(host, signal.SIGKILL)
        elif fault == "full disk":
            self.fill()
        elif fault == "clock":
            self.step(self.random.choice((-86400, -3, 3, 86400)))
        elif fault != "no reader":
            self.strike_somebody(fault, host)

    # ---- faults ---------------------------------------------------------------------------------

    def fill(self):
        self.disk.fill(self.random.choice((0, 0, 1 << 12, 1 << 13, 1 << 16)))

    def step(self, seconds):
        """Never shorter in between: perch has it mapped."""
        fd = os.open(self.clock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.pwrite(fd, f"{seconds:<31}\0".encode(), 0)
        os.close(fd)

    def struck_by(self, fault, host):
        """Those whom it may strike, and whether there is time for another look."""
        names = ours(are_dead_too=False)
        if fault == "kill doorkeeper":
            found = [pid for pid, name in names.items() if name == "perch-guard door"]
        else:
            found = [pid for pid, name in names.items() if fault == "stop" or
                     (pid != host and name.startswith("perch-guard") == (fault == "kill guard"))]
        return found, host in names

    def strike_somebody(self, fault, host):
        found, is_time, looks = [], True, 0
        while not found and is_time and (looks < LOOKS or fault == "kill doorkeeper"):
            time.sleep(0.001 if looks else 0)
            found, is_time = self.struck_by(fault, host)
            looks += 1
        if not found:
            return
        pid = self.random.choice(found)
        is_there = hit(pid, signal.SIGSTOP if fault == "stop" else signal.SIGKILL)
        self.counts[f"{fault}, struck"] += is_there
        if is_there and fault == "stop":
            time.sleep(self.random.random() * 0.05)
            hit(pid, self.random.choice((signal.SIGCONT, signal.SIGKILL)))

    # ---- playing --------------------------------------------------------------------------------

    def job(self, number):
        self.random = random.Random(f"{self.seed} {number}")  # however long the jobs before it have taken
        fault = self.fault = self.random.choice(self.kind.faults)
        if fault == "full disk" and not self.disk.is_real:
            fault = "disk"
        began = time.monotonic()
        count, how = self.kind.job(number, fault)
        if fault == "none":
            self.typical += (time.monotonic() - began - self.typical) / 10
        self.done += count
        self.counts[f"{fault} {how}"] += 1

    def play(self, jobs):
        began, number = time.monotonic(), 0
        self.kind.prepare()
        while self.done < jobs and time.monotonic() - began < SECONDS:
            number += 1
            try:
                self.job(number)
            except AssertionError as wrong:
                raise SystemExit(f"{self.name}: job {number} of a player with the seed {self.seed}; CHAOS_SEED={self.seed} "
                                 f"CHAOS_PLAYERS=1 plays it again: {self.fault}: {wrong}") from None
        self.kind.finish()
        disk = "" if self.disk.is_real else " (no disk was full: not allowed here)"
        line = (f"{self.name}: seed {self.seed}, {self.done} jobs, {time.monotonic() - began:.0f} s, nobody left, nothing "
                f"lost{disk}: " + ", ".join(f"{what} {count}" for what, count in sorted(self.counts.items())))
        print(line, flush=True)
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def play(kind):
    jobs = int(os.environ.get("CHAOS_JOBS", KINDS[kind][1] if LONG else SHORT.get(kind, SHORT_OF_OTHERS)))
    players = []
    for number in range(PLAYERS):
        child, is_apart = apart()
        if child == 0:
            Player(kind, number, is_apart).play(-(-jobs // PLAYERS))
            sys.exit(0)
        players.append(child)
    how = [os.waitstatus_to_exitcode(os.waitpid(player, 0)[1]) for player in players]
    if any(how):
        raise SystemExit(f"{kind}: not all has gone well: {how}")


if __name__ == "__main__":
    play(sys.argv[1])
