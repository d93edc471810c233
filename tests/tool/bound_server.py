#!/usr/bin/env python3
"""An MCP server to be bound: bound_server.py STATE LOG [modern]. STATE is a file of JSON: the tools'
descriptions and the instructions, read at each tools/list; LOG gets a line when it starts and ends."""
import json
import os
import sys
import time

STATE, LOG = sys.argv[1:3]
IS_MODERN = "modern" in sys.argv
META = "io.modelcontextprotocol/"
INFO = {"name": "bound", "version": "1.2"}
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
calls = 0


def state():
    with open(STATE, encoding="utf-8") as file:
        return json.load(file)


def log(text):
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request, result):
    if IS_MODERN:
        result = {"resultType": "complete", "_meta": {META + "serverInfo": INFO}, **result}
    say({"id": request["id"], "result": result})


def text(words):
    return {"type": "text", "text": words}


def work(request):
    name, given = request["params"]["name"], request["params"].get("arguments", {})
    if name == "die":
        os._exit(3)
    if name == "hang":
        log("hangs")
        time.sleep(600)
    if name == "fail":
        return {"content": [text("it went wrong"), text("twice")], "isError": True}
    if name == "structured":
        return {"content": [text("seven")], "structuredContent": {"n": 7}}
    if name == "blocks":
        return {"content": [text("one"), {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    if name == "none":
        return {"nothing": True}
    if name == "open":
        try:
            with open(given["text"], encoding="utf-8") as file:
                return {"content": [text(file.read())]}
        except OSError as error:
            return {"content": [text(f"{type(error).__name__}: {error}")], "isError": True}
    if name == "progress":
        token = request["params"].get("_meta", {}).get("progressToken")
        for step in (1, 2):
            say({"method": "notifications/progress",
                 "params": {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}})
        return {"content": [text("done" if token is not None else "nobody listens")]}
    if name == "change":
        say({"method": "notifications/tools/list_changed"})
    if name == "env":
        return {"content": [text(" ".join(f"{key}={os.environ[key]}" for key in sorted(os.environ)
                                          if key.startswith("T_")))]}
    return {"content": [text(f"{os.getpid()} {calls} {given.get('text', '')}".strip())]}


def take(request):
    global calls
    method = request["method"]
    if method == "initialize" and not IS_MODERN:
        answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                         "serverInfo": INFO, "instructions": state().get("instructions", "")})
    elif method == "server/discover" and IS_MODERN:
        answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                         "instructions": state().get("instructions", "")})
    elif method == "tools/list":
        answer(request, {"tools": [{"name": name, "description": words, "inputSchema": SCHEMA}
                                   for name, words in state()["tools"].items()],
                         **({"ttlMs": 0, "cacheScope": "private"} if IS_MODERN else {})})
    elif method == "tools/call":
        calls += 1
        answer(request, work(request))
    elif method == "ping":
        answer(request, {})
    else:
        say({"id": request["id"], "error": {"code": -32601, "message": "no such method"}})


log("starts")
print("bound_server: ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        take(message)
log("ends")
