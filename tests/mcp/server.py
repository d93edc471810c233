#!/usr/bin/env python3
"""MCP servers for tests: server.py MODE. Each mode is a server that does one thing of its own, most
of them a wrong one; what it does not do is as in `legacy` or, where its name says so, `modern`."""
import json
import os
import signal
import sys
import time

MODE = sys.argv[1]
IS_MODERN = MODE.startswith("modern")
META = "io.modelcontextprotocol/"
INFO = {"name": "a server", "version": "1"}
TOOLS = [{"name": name, "description": f"{name}: \x1b[31mtext\u202e\u200b", "inputSchema": {"type": "object"}}
         for name in ("echo", "sly", "third")]
RUDE = "rude\x1b]0;x\x07\x9b31m\u202etext"


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def say(message):
    text = message if isinstance(message, str) else json.dumps(message)
    write(text.encode() + (b"\r\n" if MODE == "crlf" else b"\n"))


def answer(request, result):
    if IS_MODERN:
        result = {"resultType": "complete", "_meta": {META + "serverInfo": INFO}, **result}
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request, code, text):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text}})


def forever():
    while True:
        time.sleep(600)


def hear():
    return json.loads(sys.stdin.readline())


def ask(method, number=1):
    """A request of the server, and what the client says to it."""
    say({"jsonrpc": "2.0", "id": number, "method": method, "params": {"message": "?"}})
    return hear()


def initialize(request):
    if MODE == "refuses":
        return refuse(request, -1, "not today")
    if MODE == "rude":
        return refuse(request, -1, RUDE)
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": INFO}
    result["protocolVersion"] = {"version": "1999-01-01", "version-number": 7}.get(
        MODE, result["protocolVersion"])
    if MODE == "version-none":
        del result["protocolVersion"]
    answer(request, result)
    if MODE == "closes-stdin":
        os.close(0)
        forever()


def discover(request):
    answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                     "ttlMs": 0, "cacheScope": "private"})


def list_tools(request):
    number = request["id"]
    cursor = request.get("params", {}).get("cursor")
    bent = {  # what is written instead of an answer
        "ids-foreign": {"jsonrpc": "2.0", "id": number + 1000, "result": {"tools": TOOLS}},
        "ids-text": {"jsonrpc": "2.0", "id": str(number), "result": {"tools": TOOLS}},
        "ids-none": {"jsonrpc": "2.0", "result": {"tools": TOOLS}},
        "result-null": {"jsonrpc": "2.0", "id": number, "result": None},
        "result-list": {"jsonrpc": "2.0", "id": number, "result": []},
        "result-and-error": {"jsonrpc": "2.0", "id": number, "result": {}, "error": {}},
        "no-jsonrpc": {"id": number, "result": {"tools": TOOLS}},
        "error-bare": {"jsonrpc": "2.0", "id": number, "error": {}},
        "error-text": {"jsonrpc": "2.0", "id": number, "error": "no"},
        "tools-text": {"jsonrpc": "2.0", "id": number, "result": {"tools": "none"}},
        "tools-nameless": {"jsonrpc": "2.0", "id": number, "result": {"tools": [{}, 7, None]}},
        "batch": [{"jsonrpc": "2.0", "id": number, "result": {"tools": TOOLS}}],
        "modern-type": {"jsonrpc": "2.0", "id": number, "result": {"resultType": "new"}},
        "modern-asks": {"jsonrpc": "2.0", "id": number, "result": {
            "resultType": "input_required", "inputRequests": {"k": {"method": "roots/list"}}}},
        "modern-rounds": {"jsonrpc": "2.0", "id": number, "result": {
            "resultType": "input_required", "requestState": "again"}},
    }
    if MODE in bent:
        return say(bent[MODE])
    if MODE == "noise":
        say("Server ready!")
        say({"jsonrpc": "2.0", "id": 77, "result": {}})
        ask("sampling/createMessage")
    elif MODE == "asks":
        assert ask("elicitation/create")["error"]["code"] == -32601
    elif MODE == "asks-on":
        for one in range(500):
            ask("sampling/createMessage", one)
    elif MODE == "pings":
        assert ask("ping", "p")["result"] == {}
    elif MODE == "deep":
        say('{"jsonrpc":"2.0","method":"x","params":' + '{"a":' * 100000 + "1" + "}" * 100001)
    elif MODE == "utf8":
        write(b'{"jsonrpc":"2.0","method":"\xff\xfe"}\n')
    elif MODE == "zero":
        write(b'\x00{"jsonrpc":"2.0",\x00}\n')
    elif MODE == "stderr":
        sys.stderr.write("x" * 200 + "\n" * 5000 + "\x1b]0;title\x07" * 5000)
        sys.stderr.flush()
    elif MODE == "hangs-list":
        forever()
    elif MODE == "dies-list":
        os._exit(5)
    elif MODE == "flood":
        while True:
            write(b"flood\n" * 10000)
    elif MODE == "endless-line":
        while True:
            write(b"x" * 65536)
    elif MODE == "endless":
        return answer(request, {"tools": [], "nextCursor": "again"})
    elif MODE == "huge":
        tool = {**TOOLS[0], "description": "x" * (7 << 20)}
        page = int(cursor or 0) + 1
        return answer(request, {"tools": [tool], **({"nextCursor": str(page)} if page < 30 else {})})
    elif MODE == "growing":
        return answer(request, {"tools": [], "nextCursor": str(number)})
    if cursor is None:
        return answer(request, {"tools": TOOLS[:2], "nextCursor": "2"})
    answer(request, {"tools": TOOLS[2:]})
    if MODE == "twice":
        answer(request, {"tools": TOOLS[2:]})
        sys.stdin.readline()


def call_tool(request):
    if MODE == "long":
        return say("x" * (9 << 20))
    if MODE == "rude-later":
        return answer(request, {"content": [{"type": "text", "text": RUDE}]})
    if MODE == "hangs-call":
        forever()
    if MODE == "dies-call":
        os._exit(6)
    if MODE == "killed-call":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "closes-call":
        os.close(1)
        forever()
    if MODE == "progress":
        token = request["params"]["_meta"]["progressToken"]
        for step in range(20000):
            say({"jsonrpc": "2.0", "method": "notifications/progress",
                 "params": {"progressToken": token, "progress": step}})
    arguments = request["params"].get("arguments", {})
    answer(request, {"content": [{"type": "text", "text": "here"}], "structuredContent": arguments})


METHODS = {"tools/list": list_tools, "tools/call": call_tool}
METHODS.update({"server/discover": discover} if IS_MODERN else {"initialize": initialize})

print("it says what it likes", file=sys.stderr, flush=True)
if MODE == "dies":
    sys.exit(3)
if MODE == "closes":
    os.close(1)
    forever()
if MODE == "banner":
    say("\n\n*** A Server ***\n\n")
if MODE == "stubborn":
    for caught in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(caught, signal.SIG_IGN)
if MODE in ("silent", "stubborn"):
    forever()
if MODE == "daemon" and os.fork() == 0:
    forever()
if MODE == "daemon":
    sys.exit(0)
if MODE == "stays" and os.fork() == 0:  # a child that outlives every answer
    os.close(0)
    os.close(1)
    forever()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        METHODS.get(asked["method"], lambda one: refuse(one, -32601, "unknown"))(asked)
