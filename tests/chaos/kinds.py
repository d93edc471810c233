"""What is done under faults: each kind starts perch for a job, and knows what must be there behind it."""
import fcntl
import json
import os
import re
import signal
import sqlite3
import subprocess
import tomllib

from files_plugin import plugin, write
from place import await_all, hit, within_patience

BUILD = os.environ["PERCH_BUILD"]
PERCH = f"{BUILD}/tests/shared/perch"
SMALLEST_PIPE = 4096
STRIKES = ("kill host", "kill guard", "kill child", "stop")
CALLS = ("memory", "descriptors", "disk")
# perch says that something is not kept; then nothing is promised.
WARNINGS = (b"store rejected", b"told of state.json is lost", b"is not recorded", b"is not in the audit log", b"warning: out of memory")
FAULTS = ("none", *STRIKES, "no reader", *CALLS, "full disk", "clock")


def shown(said):
    """The end of it, without the many zeros."""
    return repr(re.sub(rb"0{9,}", b"0...", said)[-600:])


class Kind:
    """A command that ends by itself."""
    faults = FAULTS
    megabytes = 12  # of its disk

    def __init__(self, player):
        self.player, self.place = player, player.path
        self.disk = player.disk.path
        self.config, self.state = f"{self.disk}/config", f"{self.disk}/state"

    def perch(self, *words):
        """Without faults; what it prints."""
        done = subprocess.run([PERCH, *words], env=self.player.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return done.stdout.decode()

    def prepare(self):
        pass

    def words(self, number):
        raise NotImplementedError

    def check(self, ended_well, number):
        """What is kept is whole. `ended_well`: and it has this job."""

    def finish(self):
        """Behind the last job."""

    def job(self, number, fault):
        """How many jobs that were, and how it ended."""
        words, given = self.words(number)
        status, said = self.play(words, given, fault)
        self.judge(number, fault, status, said)
        return 1, "ended" if status == 0 else "failed"

    def judge(self, number, fault, status, said):
        is_warned = any(words in said for words in WARNINGS)
        is_promised = status == 0 and fault != "no reader" and not is_warned
        try:
            assert fault != "none" or (status == 0 and not is_warned), "it failed without a fault"
            self.check(is_promised, number)
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}; fault: {fault}, exit {status}, {shown(said)}") from None

    def play(self, words, given, fault):
        """Until nobody is left: its exit status, and what it said."""
        their_in, our_in = os.pipe()
        our_out, their_out = os.pipe()
        if fault == "no reader":
            fcntl.fcntl(our_out, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
        actions = [(os.POSIX_SPAWN_DUP2, their_in, 0), (os.POSIX_SPAWN_DUP2, their_out, 1),
                   (os.POSIX_SPAWN_DUP2, their_out, 2)]
        within_patience()
        host = self.player.spawn([PERCH, *words], fault, actions)
        os.close(their_in)
        os.close(their_out)
        self.give(our_in, given)
        said = self.hear(our_in, our_out, fault, host)
        os.close(our_out)
        status = await_all(host)
        self.player.disk.empty()
        return status, said

    def hear(self, our_in, our_out, fault, host):
        os.close(our_in)
        self.player.strike(fault, host)
        return b"" if fault == "no reader" else self.read_on(our_out)

    @staticmethod
    def give(fd, text):
        try:
            os.write(fd, text)
        except BrokenPipeError:
            pass

    @staticmethod
    def read_on(fd):
        said = b""
        while piece := os.read(fd, 65536):
            said += piece
        return said


class Plugins(Kind):
    """Runs that store their number, and changes of what the plugin may do."""
    stored = granted = 0
    kept_grants = 6

    def prepare(self):
        plugin(f"{self.place}/counter", 1)
        self.perch("plugins", "install", f"{self.place}/counter", "--copy", "--yes", "--trust")
        self.values = f"{self.config}/fledge/plugins/fledge-counter/state.json"
        self.grants = f"{self.config}/perch/grants.toml"

    def grant_of(self, number):
        """Every fourth job changes grants.toml: the n-th variable comes, and then goes again."""
        step = number // 4
        return ("allow" if step // self.kept_grants % 2 == 0 else "revoke"), f"NAME_{step % self.kept_grants}"

    def words(self, number):
        if number % 4 == 0:
            verb, name = self.grant_of(number)
            return ["plugins", verb, "counter", "--env", name], b""
        return ["run", "counter", str(number)], b""

    def check(self, ended_well, number):
        found = 0
        if os.path.exists(self.values):
            with open(self.values, encoding="utf-8") as file:
                found = int(json.load(file)["n"])
        is_run = number % 4 != 0
        assert found in (self.stored, number if is_run else self.stored), f"{found} is stored, not {self.stored} or {number}"
        assert not (ended_well and is_run) or found == number, f"{number} ended well, {found} is stored"
        self.stored = found
        self.check_grants(None if is_run else number, ended_well)

    def check_grants(self, number, ended_well):
        with open(self.grants, "rb") as file:
            table = tomllib.load(file)["plugin"]["fledge-counter"]
        assert table["approved"]["wishes"] == ["store"], table
        found = set(table.get("env", ()))
        before = self.granted or set()
        if number is None:
            assert found == before, f"{found} is allowed, not {before}"
            return
        verb, name = self.grant_of(number)
        after = before | {name} if verb == "allow" else before - {name}
        assert found in (before, after), f"{found} is allowed, not {before} or {after}"
        assert not ended_well or found == after, f"{verb} {name} ended well, {found} is allowed"
        self.granted = found


class Tools(Kind):
    """Each call counts the letters of a text, and is recorded."""

    def prepare(self):
        self.perch("tool", "add", f"{BUILD}/examples/tool-count", "--name", "t.count", "--yes")
        bound = f"{self.config}/perch/tools/t.count.toml"
        with open(bound, encoding="utf-8") as file:  # on a slow machine nothing but a fault makes it fail
            text = file.read()
        write(bound, re.sub(r"(?m)^\[timeouts\]\n(\w+ = .*\n)*", "", text) +
              "[timeouts]\ninvocation = 60\nhandshake = 60\nteardown = 60\n", 0o600)
        self.tool = json.loads(self.perch("tool", "show", "t.count", "--json"))["tools"][0]["name"]
        self.audit, self.read, self.recorded, self.owed = f"{self.state}/perch/audit.jsonl", 0, 0, 0

    def words(self, number):
        return ["tool", "call", "t.count", self.tool, "--input", json.dumps({"text": "x" * (number % 50)})], b""

    def records(self):
        """Those that were added since the last look. A line is whole, or it is the last one."""
        if not os.path.exists(self.audit):
            return []
        with open(self.audit, "rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def check(self, ended_well, number):
        found = self.records()
        self.recorded += sum(one["verdict"] == "ok" for one in found)
        self.owed += ended_well
        assert self.recorded >= self.owed, f"{self.owed} calls ended well, {self.recorded} are recorded"
        assert not ended_well or any(one["verdict"] == "ok" for one in found), "the call is not recorded"


class Agents(Kind):
    """Turns of a few sessions, which are counted."""
    ended = 0

    def prepare(self):
        write(f"{self.place}/bot.sh", "#!/bin/sh\nprintf 'said %06000d\\n' 0\n", 0o755)
        write(f"{self.place}/bot.yaml", f"command: {self.place}/bot.sh\nsandbox: false\n")

    def words(self, number):
        return ["agent", "run", f"{self.place}/bot.yaml", "--session-name", f"s{number % 5}", "x"], b""

    def check(self, ended_well, number):
        self.ended += ended_well
        if number % 10 == 0:
            self.finish()

    def finish(self):
        path = f"{self.state}/perch/sessions.db"
        if not os.path.exists(path):
            assert self.ended == 0, f"{self.ended} turns ended well, none is recorded"
            return
        database = sqlite3.connect(path)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        turns = database.execute("SELECT coalesce(sum(turns), 0) FROM session").fetchone()[0]
        database.close()
        assert turns >= self.ended, f"{self.ended} turns ended well, {turns} are recorded"
