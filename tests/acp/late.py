"""Questions of hosted.py under `perch agent serve`, where nobody answers in time, where the user declines, and
where a page is allowed: late.py PERCH PROFILE. Prints what the agent was told each time."""
import json
import subprocess
import sys

PERCH, PROFILE = sys.argv[1:]
child = subprocess.Popen([PERCH, "agent", "serve", "--profile", PROFILE], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)


def send(**message):
    child.stdin.write(json.dumps(message) + "\n")
    child.stdin.flush()


def play(number, message, **answer):
    send(id=number, message=message)
    told, warned = "", False
    while (event := json.loads(child.stdout.readline()))["event"] != "end":
        if event["event"] in ("prompt", "confirm") and answer:
            if message == "page":
                assert "example.org" in event["message"] and "https://example.org/in?x=1" in event["message"]
            send(answer=number, ask=event["ask"], **answer)
        warned = warned or (event["event"] == "warning" and "is dropped: no answer came" in event["message"])
        told += event["text"] if event["event"] == "partial" else ""
    assert warned == (not answer)
    print(told, flush=True)


play("1", "one")
play("2", "one", cancel=True)
play("3", "page", value=True)
child.stdin.close()
assert child.wait() == 0
