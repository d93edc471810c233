"""perch under faults: plugins, tools, agents and MCP as they are started from a command line. A seed decides
which fault a job meets; CHAOS_SEED and CHAOS_JOBS play it again.

Behind each job: nothing is left of it; it did not crash; what it keeps is whole and was not lost."""
import collections
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

from files_plugin import plugin, write

BUILD, WORK = os.environ["PERCH_BUILD"], os.environ["WORK"]
PERCH = f"{BUILD}/tests/shared/perch"
LONG = os.environ.get("CHAOS") == "long"
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))
JOBS = int(os.environ.get("CHAOS_JOBS", 25000 if LONG else 40))
REPORT = os.environ.get("CHAOS_REPORT")
CONFIG, STATE = f"{WORK}/config", f"{WORK}/state"
MARK = f"chaos-{os.getpid()}"
PATIENCE = 60
FAULTS = ("none", "kill host", "kill guard", "kill child", "stop", "no reader", "memory", "descriptors", "disk", "clock")
CRASHES = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE}


def environment(**more):
    return {**os.environ, "HOME": f"{WORK}/home", "XDG_CONFIG_HOME": CONFIG, "XDG_STATE_HOME": STATE,
            "XDG_DATA_HOME": f"{WORK}/data", "XDG_CACHE_HOME": f"{WORK}/cache", "CHAOS_MARK": MARK, **more}


def ours():
    """The processes of this run, by their environment or, where that is cleared, by their directory."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                is_ours = f"CHAOS_MARK={MARK}".encode() in file.read().split(b"\0")
            if (is_ours or os.readlink(f"/proc/{pid}/cwd").startswith(f"{WORK}/jobs")) and int(pid) != os.getpid():
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    found[int(pid)] = file.read().strip()
        except OSError:
            pass
    return found


class Kind:
    def prepare(self):
        pass

    def check(self, ended_well, number):
        pass


class Plugins(Kind):
    """Each run stores its number."""
    last = 0

    def prepare(self):
        plugin(f"{WORK}/counter", 1)
        subprocess.run([PERCH, "plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust"], env=environment(),
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.state = f"{CONFIG}/fledge/plugins/fledge-counter/state.json"

    def words(self, number):
        return ["run", "counter", str(number)], b""

    def check(self, ended_well, number):
        found = 0
        if os.path.exists(self.state):
            with open(self.state, encoding="utf-8") as file:
                found = int(json.load(file)["n"])
        assert found in (self.last, number), f"{found} is stored, not {self.last} or {number}"
        assert not ended_well or found == number, f"{number} ended well, {found} is stored"
        self.last = found


class Tools(Kind):
    """Each call counts the letters of a text, and is recorded."""
    calls = 0

    def prepare(self):
        subprocess.run([PERCH, "tool", "add", f"{BUILD}/examples/tool-count", "--name", "t.count", "--yes"], check=True,
                       env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        shown = subprocess.run([PERCH, "tool", "show", "t.count", "--json"], env=environment(), stdout=subprocess.PIPE,
                               check=True).stdout
        self.tool = json.loads(shown)["tools"][0]["name"]

    def words(self, number):
        return ["tool", "call", "t.count", self.tool, "--input", json.dumps({"text": "x" * (number % 50)})], b""

    def check(self, ended_well, number):
        if not os.path.exists(f"{STATE}/perch/audit.jsonl"):
            assert self.calls == 0 and not ended_well, "a call is not recorded"
            return
        self.calls += 1
        with open(f"{STATE}/perch/audit.jsonl", encoding="utf-8") as file:
            for line in file.read().splitlines()[:-1]:
                json.loads(line)


class Agents(Kind):
    """Turns of a few sessions, which are counted."""

    def prepare(self):
        write(f"{WORK}/bot.sh", "#!/bin/sh\nsleep 0.01\necho said\n", 0o755)
        write(f"{WORK}/bot.yaml", f"command: {WORK}/bot.sh\nsandbox: false\n")
        self.ended = 0

    def words(self, number):
        return ["agent", "run", f"{WORK}/bot.yaml", "--session-name", f"s{number % 5}", "x"], b""

    def check(self, ended_well, number):
        self.ended += ended_well
        if number % 10 == 0 and os.path.exists(f"{STATE}/perch/sessions.db"):
            database = sqlite3.connect(f"{STATE}/perch/sessions.db")
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            turns = database.execute("SELECT coalesce(sum(turns), 0) FROM session").fetchone()[0]
            database.close()
            assert turns >= self.ended, f"{self.ended} turns ended well, {turns} are recorded"


class Mcp(Tools):
    """A session of an MCP client that calls a tool."""
    listed = "t_count_count_echo"

    def words(self, number):
        lines = ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                     "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
                 {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
                     "name": self.listed, "arguments": {"text": "x" * (number % 50)}}})
        return ["mcp"], "".join(json.dumps(line) + "\n" for line in lines).encode()


class Chaos:
    def __init__(self, name):
        self.name, self.kind, self.random = name, {"plugins": Plugins, "tools": Tools, "agents": Agents, "mcp": Mcp}[name](), \
            random.Random(SEED)
        self.counts = collections.Counter()
        for place in ("home", "jobs", "config", "state"):
            os.makedirs(f"{WORK}/{place}", exist_ok=True)
        write(f"{WORK}/clock", f"{0:<31}\0")

    def faults(self, fault):
        if fault in ("memory", "descriptors", "disk"):
            every = self.random.choice((20, 100, 400))
            return {"LD_PRELOAD": f"{BUILD}/tests/libchaos-faults.so",
                    "CHAOS_FAULTS": f"{fault} {self.random.randrange(1 << 30)} {every}"}
        if fault == "clock":
            write(f"{WORK}/clock", f"{self.random.choice((-86400, -3, 3, 86400)):<31}\0")
            return {"LD_PRELOAD": f"{BUILD}/tests/libclock-step.so", "CLOCK_STEP": f"{WORK}/clock"}
        return {}

    def strike(self, fault, host):
        """A little later: to the host, its guard or what it has started."""
        time.sleep(self.random.random() ** 2 * 0.08)
        if fault == "kill host":
            host.kill()
        elif fault in ("kill guard", "kill child", "stop"):
            others = {pid: name for pid, name in ours().items() if pid != host.pid}
            wanted = [pid for pid, name in others.items() if fault == "stop" or
                      name.startswith("perch-guard") == (fault == "kill guard")]
            for pid in wanted[:1] or ([host.pid] if fault == "stop" else []):
                self.signal(pid, signal.SIGSTOP if fault == "stop" else signal.SIGKILL)
                if fault == "stop":
                    time.sleep(self.random.random() * 0.05)
                    self.signal(pid, self.random.choice((signal.SIGCONT, signal.SIGKILL)))

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def job(self, number):
        fault = self.random.choice(FAULTS)
        words, given = self.kind.words(number)
        host = subprocess.Popen([PERCH, *words], env=environment(**self.faults(fault)), cwd=f"{WORK}/jobs",
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            host.stdin.write(given)
            host.stdin.close()
        except BrokenPipeError:
            pass
        self.strike(fault, host)
        if fault == "no reader":
            time.sleep(self.random.random() * 0.05)
            host.stdout.close()
        said = b"" if host.stdout.closed else host.stdout.read()
        status = host.wait(PATIENCE)
        self.counts[fault, "ended" if status == 0 else "failed"] += 1
        assert status not in CRASHES, f"it died of signal {-status}: {said[-400:]!r}"
        self.wait_for_nobody()
        try:
            is_warned = b"rejected" in said or b"is not recorded" in said  # then nothing is promised
            is_promised = status == 0 and fault != "no reader" and not is_warned
            self.kind.check(is_promised, number)
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}; fault: {fault}, exit {status}, {said[-400:]!r}") from None

    @staticmethod
    def wait_for_nobody():
        end = time.monotonic() + PATIENCE
        while left := ours():
            assert time.monotonic() < end, f"left behind: {left}"
            time.sleep(0.005)

    def play(self):
        began = time.monotonic()
        self.kind.prepare()
        for number in range(1, JOBS + 1):
            try:
                self.job(number)
            except (AssertionError, subprocess.TimeoutExpired) as wrong:
                raise SystemExit(f"{self.name}: job {number}, CHAOS_SEED={SEED} plays it again: {wrong}") from None
        line = f"{self.name}: seed {SEED}, {JOBS} jobs, {time.monotonic() - began:.0f} s, nothing left, nothing lost: " + \
            ", ".join(f"{fault} {how} {count}" for (fault, how), count in sorted(self.counts.items()))
        print(line)
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    Chaos(sys.argv[1]).play()
