#!/usr/bin/env python3
"""Small MCP servers for tests: server.py MODE. Each mode is a server that does one thing of its
own; what it does not do is as in `legacy`."""
import json
import os
import signal
import sys
import time

MODE = sys.argv[1]
META = "io.modelcontextprotocol/"
INFO = {"name": "a server", "version": "1"}
TOOLS = [{"name": name, "description": f"{name}: \x1b[31mtext\u202e", "inputSchema": {"type": "object"}}
         for name in ("echo", "sly", "third")]


RUDE = "rude\x1b]0;x\x07\x9b31m\u202etext"


def say(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()


def answer(request, result):
    if MODE == "modern":
        result = {"resultType": "complete", "_meta": {META + "serverInfo": INFO}, **result}
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request, code, text):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text}})


def initialize(request):
    if MODE == "refuses":
        return refuse(request, -1, "not today")
    if MODE == "rude":
        return refuse(request, -1, RUDE)
    version = "1999-01-01" if MODE == "version" else "2025-06-18"
    answer(request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO})


def discover(request):
    answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                     "ttlMs": 0, "cacheScope": "private"})


def list_tools(request):
    cursor = request.get("params", {}).get("cursor")
    if MODE == "noise":
        say("Server ready!")
        say({"jsonrpc": "2.0", "id": 77, "result": {}})
        say({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})
    if MODE == "endless":
        return answer(request, {"tools": [], "nextCursor": "again"})
    if MODE == "huge":
        tool = {**TOOLS[0], "description": "x" * (7 << 20)}
        page = int(cursor or 0) + 1
        return answer(request, {"tools": [tool], **({"nextCursor": str(page)} if page < 30 else {})})
    if cursor is None:
        return answer(request, {"tools": TOOLS[:2], "nextCursor": "2"})
    answer(request, {"tools": TOOLS[2:]})


def call_tool(request):
    if MODE == "long":
        say("x" * (9 << 20))
        return
    if MODE == "rude-later":
        return answer(request, {"content": [{"type": "text", "text": RUDE}]})
    arguments = request["params"].get("arguments", {})
    answer(request, {"content": [{"type": "text", "text": "here"}], "structuredContent": arguments})


METHODS = {"tools/list": list_tools, "tools/call": call_tool}
METHODS.update({"server/discover": discover} if MODE == "modern" else {"initialize": initialize})

print("it says what it likes", file=sys.stderr, flush=True)
if MODE == "dies":
    sys.exit(3)
if MODE == "closes":
    os.close(1)
    time.sleep(600)
if MODE == "stubborn":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
if MODE in ("silent", "stubborn"):
    time.sleep(600)
if MODE == "daemon" and os.fork() == 0:
    time.sleep(600)
if MODE == "daemon":
    sys.exit(0)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if "method" in request:
        METHODS.get(request["method"], lambda one: refuse(one, -32601, "unknown"))(request)
