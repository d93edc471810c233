"""The databases of perch on a disk whose power is cut. That SQLite keeps its promises is its own affair;
that perch uses it so that they hold is looked at here: as durable as each of them is told to be, and
never damaged."""
import http.client
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

from power import (BUILD, LONG, PERCH, RECORDED, ROOT, WORK, Damaged, Scene, environment, perch, recorded, run,
                   write)


PERCH_EVERY = 10  # states; SQLite itself looks at each


def ask(path, question):
    """What SQLite finds in the database, which must not be damaged. On a copy: perch is to find its log as
    the cut has left it."""
    if not os.path.exists(path):
        return []
    copy = f"{WORK}/copy"
    shutil.rmtree(copy, ignore_errors=True)
    os.mkdir(copy)
    for end in ("", "-wal", "-journal"):
        if os.path.exists(path + end):
            shutil.copy(path + end, f"{copy}/db{end}")
    database = sqlite3.connect(f"{copy}/db")
    try:
        database.execute("PRAGMA synchronous = OFF")
        found = database.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise Damaged(f"{os.path.basename(path)}: {found}")
        has_tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        return database.execute(question).fetchall() if has_tables else []
    except sqlite3.DatabaseError as wrong:
        raise Damaged(f"{os.path.basename(path)}: {wrong}") from None
    finally:
        database.close()


class Sessions(Scene):
    """sessions.db: the last turns may be lost, the file may not. Its log is written back often here."""
    acts = 24
    is_durable = False

    def prepare(self):
        write(f"{WORK}/bot.yaml", f"command: {BUILD}/tests/agent\nsandbox: false\n")

    def act(self, number):
        if number == 1:
            self.host = subprocess.Popen([RECORDED, "agent", "serve", "--profile", f"{WORK}/bot.yaml"], cwd=WORK,
                                         env=recorded(PERCH_TEST_LOG_PAGES="12"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        turn = {"id": str(number), "message": "x", "session_name": f"s{number}" + "y" * 300}
        self.host.stdin.write((json.dumps(turn) + "\n").encode())
        self.host.stdin.flush()
        while line := self.host.stdout.readline():
            if json.loads(line).get("event") == "end":
                return
        raise AssertionError("agent serve has ended")

    def finish(self):
        self.host.stdin.close()
        assert self.host.wait() == 0

    def effort(self, count, steps):
        return (20, 20) if LONG else (1, 1) if count % 5 == 0 else None

    def value(self):
        rows = ask(f"{ROOT}/state/perch/sessions.db", "SELECT turns FROM session")
        self.looks += 1
        if self.looks % PERCH_EVERY == 0:
            listed = json.loads(perch("agent", "sessions", "--json"))["sessions"]
            if sorted(one["turns"] for one in listed) != sorted(row[0] for row in rows):
                raise Damaged(f"perch lists {listed}, SQLite {rows}")
        return sum(row[0] for row in rows)


class Gateway(Scene):
    """gateway.db and transcripts.db of a gateway that is told to wait for the disk: an accepted job is kept."""
    acts = 6
    words = ("--durable",)

    def prepare(self):
        write(f"{WORK}/bot.yaml", f"command: {BUILD}/tests/agent\nsandbox: false\n")
        write(f"{ROOT}/config/perch/config.toml", '[expose.http]\nagents = ["*"]\n')
        self.token = perch("token", "create", "me").strip()

    def start(self, program, env):
        """perch serve, and where it listens."""
        with open(f"{WORK}/serve.log", "wb") as log:
            self.host = subprocess.Popen(
                [program, "serve", "--listen", "127.0.0.1:0", "--agent", f"{WORK}/bot.yaml", *self.words],
                cwd=WORK, env=env, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(f"{WORK}/serve.log", encoding="utf-8") as log:
                text = log.read()
            if found := re.search(r"serves at http://[^ \"]*:(\d+)", text):
                return int(found.group(1))
            if self.host.poll() is not None:
                break
            time.sleep(0.01)
        raise Damaged("perch serve does not begin: " + text)

    def request(self, port, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request(method, path, body and json.dumps(body), {"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read())
        connection.close()
        return found

    def act(self, number):
        if number == 1:
            self.port = self.start(RECORDED, recorded())
        status, job = self.request(self.port, "POST", "/api/turns", {
            "agent": "bot", "message": f"m{number}", "session": "s", "detach": True})
        assert status == 202, job

    def stop(self):
        self.host.terminate()
        assert self.host.wait() == 0

    def finish(self):
        self.stop()

    def effort(self, count, steps):
        return (20, 20) if LONG else (1, 1) if count % 4 == 0 else None

    def value(self):
        jobs = ask(f"{ROOT}/state/perch/gateway.db", "SELECT count(*) FROM jobs")
        ask(f"{ROOT}/state/perch/transcripts.db", "SELECT count(*) FROM sqlite_schema")
        self.looks += 1
        if self.looks % (10 * PERCH_EVERY) == 0:
            port = self.start(PERCH, environment())
            status, listed = self.request(port, "GET", "/api/jobs")
            assert status == 200, listed
            self.stop()
        return jobs[0][0] if jobs else 0


class Quick(Gateway):
    """The same, not told so: the last jobs may be lost."""
    words = ()
    is_durable = False


run()
