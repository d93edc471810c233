"""The gateway under faults: a server lives until a fault, or an end, and is asked for turns meanwhile. Every turn that it
has accepted is over one day, and none runs twice."""
import http.client
import json
import os
import re
import signal
import socket
import threading
import time

from files_plugin import write
from kinds import FAULTS, PERCH, Kind
from place import await_all, within_patience

TURNS, SESSIONS, LIVES = 40, 8, 8  # of a life; so many lives until the turns are looked at
OVER = ("done", "failed", "interrupted", "cancelled")


class Server:
    """One life of perch serve, and what it says."""

    def __init__(self, kind, fault):
        self.kind, self.port, self.has_said, self.text = kind, None, threading.Event(), b""
        self.ours, theirs = os.pipe()
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_DUP2, theirs, 1), (os.POSIX_SPAWN_DUP2, theirs, 2)]
        words = [PERCH, "serve", "--listen", "127.0.0.1:0"]
        self.pid = kind.player.spawn(words, fault, actions)
        os.close(theirs)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while piece := os.read(self.ours, 65536):
            self.text += piece
            if not self.port and (found := re.search(rb"serves at http://[^ \"]*:(\d+)", self.text)):
                self.port = int(found.group(1))
                self.has_said.set()
        self.has_said.set()
        os.close(self.ours)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, connection, method, path, body=None):
        connection.request(method, path, body and json.dumps(body), {"Authorization": f"Bearer {self.kind.token}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def end(self, number):
        try:
            os.kill(self.pid, number)  # ours, and not reaped yet
        except ProcessLookupError:
            pass


class Serve(Kind):
    faults = FAULTS
    megabytes = 48
    posted = 0

    def prepare(self):
        self.ran = f"{self.place}/ran"
        write(f"{self.place}/mark.sh", f"#!/bin/sh\necho \"$AGENT_MESSAGE\" >>'{self.ran}' || exit 1\necho done\n", 0o755)
        write(f"{self.config}/perch/agents/mark.yaml", f"command: {self.place}/mark.sh\nsandbox: false\n")
        write(f"{self.config}/perch/config.toml", '[expose.http]\nagents = ["*"]\n[serve]\nkeep = "90d"\n')
        self.token = self.perch("token", "create", "me", "--role", "admin").strip()
        self.accepted, self.lives = {}, 0  # number of a job → its message
        self.all_ran = set()

    def post(self, server, count):
        """Turns, one behind the other, until the server is gone."""
        connection = server.connect()
        chance = self.player.random.random()
        for i in range(count):
            self.posted += 1
            message = f"m{self.posted}"
            try:
                status, job = server.ask(connection, "POST", "/api/turns", {
                    "agent": "mark", "message": message, "session": f"s{int(chance * 1000 + i) % SESSIONS}"})
            except (OSError, ValueError, http.client.HTTPException):
                break
            if status == 202:
                self.accepted[job["id"]] = message
        connection.close()

    def stream(self, server):
        """Events that nobody reads."""
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        return connection

    def live(self, fault):
        """A server under a fault: the exit status, and what it said."""
        within_patience()
        server = Server(self, fault)
        server.has_said.wait()
        unread = None
        if server.port:
            client = threading.Thread(target=self.post, args=(server, TURNS), daemon=True)
            try:
                unread = self.stream(server) if fault == "no reader" else None
                client.start()
                self.player.strike(fault, server.pid)
                client.join()
            except OSError:
                pass
        server.end(self.player.random.choice((signal.SIGTERM, signal.SIGTERM, signal.SIGKILL)))
        status = await_all(server.pid)
        self.player.disk.empty()
        server.reader.join()
        if unread:
            unread.close()
        return status, server

    def job(self, number, fault):
        before = len(self.accepted)
        status, server = self.live(fault)
        if fault == "none" and not (server.port and status in (0, -signal.SIGKILL)):
            raise AssertionError(f"it failed without a fault, exit {status}: {server.text[-400:]!r}")
        self.lives += 1
        count = len(self.accepted) - before
        if self.lives % LIVES == 0:
            self.finish()
        return count, "ended" if count == TURNS else "cut short"

    def finish(self):
        """All that were accepted are over; what is done has run, and nothing twice."""
        within_patience()
        server = Server(self, "none")
        server.has_said.wait()
        assert server.port, f"perch serve does not begin: {server.text[-400:]!r}"
        connection = server.connect()
        states = {}
        for job in self.accepted:
            while (found := server.ask(connection, "GET", f"/api/jobs/{job}"))[0] == 200 and \
                    found[1]["state"] not in OVER:
                time.sleep(0.01)
            assert found[0] == 200, f"job {job} was accepted, and is lost: {found}"
            states[job] = found[1]["state"]
        connection.close()
        server.end(signal.SIGTERM)
        status = await_all(server.pid)
        server.reader.join()
        assert status == 0, f"perch serve ended with {status}: {server.text[-400:]!r}"
        self.check_ran(states)

    def check_ran(self, states):
        ran = []
        if os.path.exists(self.ran):
            with open(self.ran, encoding="utf-8") as file:
                ran = file.read().split()
            os.unlink(self.ran)
        new = set(ran)
        twice = [one for one in ran if ran.count(one) > 1] if len(new) < len(ran) else list(new & self.all_ran)
        assert not twice, f"ran twice: {twice[:5]}"
        self.all_ran |= new
        for job, state in states.items():
            message = self.accepted.pop(job)
            self.player.counts[f"turns {state}"] += 1
            assert state != "done" or message in new, f"{message} is done, and has not run"
