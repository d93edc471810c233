"""A program that is the user: perch --json, its events and its answers."""
import json
import os
import subprocess
import sys


class Run:
    def __init__(self, *words, options=(), **kwargs):
        perch = os.path.join(os.environ["PERCH_BUILD"], "perch")
        self.process = subprocess.Popen(
            [perch, "--json", *options, "run", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **kwargs)
        self.events = []

    def next(self, *names):
        """The next event; with names, the next of these."""
        for line in self.process.stdout:
            event = json.loads(line)
            self.events.append(event)
            if not names or event["event"] in names:
                return event
        raise AssertionError("no event %s; there were: %s" % (names, self.events))

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def answer(self, event, value):
        self.write(json.dumps({"ask": event["ask"], "value": value}) + "\n")

    def cancel(self, event):
        self.write(json.dumps({"ask": event["ask"], "cancel": True}) + "\n")

    def leave(self):
        """Closes the input: nobody is there any more."""
        self.process.stdin.close()

    def end(self):
        """Reads to the end; the last event must be the end, and true."""
        event = self.next("end")
        rest = self.process.stdout.read()
        assert not rest, rest
        status = self.process.wait()
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        assert event["exit_code"] == status, (event, status)
        assert event["success"] == (status == 0), event
        return status

    def texts(self):
        return "".join(e["text"] for e in self.events if e["event"] == "output")
