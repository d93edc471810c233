"""The plugin's side of fledge-v1, as short as a test wants it. Importing it reads
init. Everything that is read is kept in the file $SEEN."""
import json
import os
import signal
import subprocess
import sys
import time

_seen = open(os.environ["SEEN"], "ab", 0) if os.environ.get("SEEN") else None


def raw(data):
    """Writes bytes as they are."""
    sys.stdout.buffer.write(data if isinstance(data, bytes) else data.encode())
    sys.stdout.buffer.flush()


def send(type, **fields):
    raw(json.dumps({"type": type, **fields}) + "\n")


def say(text):
    send("output", text=str(text) + "\n")


def recv_line():
    line = sys.stdin.buffer.readline()
    if _seen:
        _seen.write(line)
    return line


def recv():
    line = recv_line()
    return json.loads(line) if line else None


def ask(type, **fields):
    """Sends a request and returns the whole answer."""
    send(type, **{"id": "1", **fields})
    return recv()


def value(type, **fields):
    return ask(type, **fields)["value"]


def run(command, **fields):
    return value("exec", command=command, **fields)


def ready(text="ready"):
    """Tells the test that the point has come."""
    path = os.environ["READY"]
    with open(path + ".new", "w") as file:
        file.write(str(text) + "\n")
    os.rename(path + ".new", path)


init = recv()
args = init["args"] if init else []
