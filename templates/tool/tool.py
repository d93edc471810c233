#!/usr/bin/env python3
"""@NAME@: a tool. Two lines come in (perch's hello, one request), two go out (the handshake, one
response). What it writes to stderr is for people."""
import json
import sys

MANIFEST = {
    "plugin_id": "@NAME@",
    "plugin_version": "0.1.0",
    "protocol_version": "rterm.plugin.v1",
    "exposed_tools": ["@NAME@.greet"],
}


def send(message):
    print(json.dumps(message), flush=True)  # without the flush it would wait


def greet(name):
    return {"greeting": f"Hello, {name}!"}


sys.stdin.readline()
send({"type": "handshake", "manifest": MANIFEST})
line = sys.stdin.readline()
if line:  # else only the handshake was wanted
    request = json.loads(line)
    response = {"type": "response", "request_id": request["request_id"]}
    send({**response, "status": "ok", "output": greet(request["input"]["name"])})
