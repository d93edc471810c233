#!/usr/bin/env python3
"""An agent of AgentProc 0.4 that does what its message says."""
import json
import os
import signal
import sys
import time


def say(**event):
    print(json.dumps(event), flush=True)


def ask(number, tool):
    say(type="permission_request", request_id=str(number), tool_name=tool,
        input={"path": "/etc/motd"}, description="it wants to look")
    return json.loads(sys.stdin.readline())["behavior"] == "allow"


def wait():
    open(os.environ["MARK"], "w").close()
    time.sleep(600)


def attached(turn):
    texts = []
    for item in turn["attachments"]:
        with open(item["url"].removeprefix("file://"), "rb") as file:
            texts.append(f"{item['kind']} {item['name']} {file.read().decode()}")
    return "; ".join(texts)


turn = json.loads(sys.stdin.readline())
words = turn["message"].split()
first = words[0] if words else ""
session = turn["session_id"] or "s-" + str(os.getpid())
text = ""
if first == "stream":
    for piece in ("one ", "two ", "three"):
        say(type="partial", text=piece)
    text = "one two three"
elif first == "think":
    say(type="partial", role="thinking", text="hmm")
    text = "done"
elif first == "ask":
    text = " ".join(f"{tool}={ask(i, tool)}" for i, tool in enumerate(words[1:]))
elif first == "wait":
    say(type="partial", text="waiting")
    wait()
elif first == "crash":
    print("the last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
elif first == "fail":
    print("the last words", file=sys.stderr, flush=True)
    say(type="error", message="it cannot be done")
    sys.exit(3)
elif first == "flood":
    sys.stdout.write("x" * (9 << 20) + "\n")
elif first == "session":
    text = session
elif first == "cwd":
    text = os.getcwd()
elif first == "context":
    text = json.dumps(turn.get("context"))
elif first == "attached":
    text = attached(turn)
else:
    text = f"you said: {turn['message']}"
usage = {"input_tokens": 3, "output_tokens": 4}
if first == "size":
    usage |= {"used": 100, "size": 2000}
say(type="result", text=text, session_id=session, usage=usage)
