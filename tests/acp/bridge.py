"""`perch agent serve` as a program: turns go in, events come out."""
import json
import subprocess


class Bridge:
    def __init__(self, perch, profile):
        self.child = subprocess.Popen([perch, "agent", "serve", "--profile", profile], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.replies = {}

    def send(self, **line):
        self.child.stdin.write(json.dumps(line) + "\n")
        self.child.stdin.flush()

    def event(self):
        line = self.child.stdout.readline()
        assert line, "perch has ended"
        event = json.loads(line)
        if event["event"] == "partial":
            self.replies[event["id"]] = self.replies.get(event["id"], "") + event["text"]
        return event

    def until(self, name, turn):
        while True:
            event = self.event()
            if event["event"] == name and event.get("id") == turn:
                return event

    def close(self):
        self.child.stdin.close()
        for _ in self.child.stdout:
            pass
        assert self.child.wait() == 0
