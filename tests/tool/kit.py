# What the tools of the tests are made of. Put in front of each of them.
import json
import os
import sys
import time


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def manifest(**changes):
    name = "t." + os.path.basename(sys.argv[0])
    said = {
        "plugin_id": name,
        "plugin_version": "1.0",
        "protocol_version": "rterm.plugin.v1",
        "exposed_tools": ["t.x"],
        **changes,
    }
    return {"type": "handshake", "manifest": said}


def greet(**changes):
    receive()
    send(manifest(**changes))
    return receive()


def respond(request, output, **changes):
    send({"type": "response", "request_id": request["request_id"], "status": "ok",
          "output": output, **changes})


