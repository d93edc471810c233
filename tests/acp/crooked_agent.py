#!/usr/bin/python3 -SE
"""An agent of ACP that misbehaves, in the way that its argument names: STAGE:WHAT, where STAGE is
the method that it does so at."""
import json
import os
import signal
import sys
import time

STAGE, WHAT = sys.argv[1].split(":")
METHOD = {"hello": "initialize", "new": "session/new", "prompt": "session/prompt"}[STAGE]
GOOD = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
    "session/prompt": {"stopReason": "end_turn"},
}


def raw(data):
    os.write(1, data) if len(data) < 4096 else sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def update(session, kind="agent_message_chunk", **members):
    members = members or {"content": {"type": "text", "text": "x"}}
    send({"method": "session/update",
          "params": {"sessionId": session, "update": {"sessionUpdate": kind, **members}}})


def forever():
    while True:
        time.sleep(1000)


def starved():
    for i in range(10 ** 9):
        send({"id": f"r{i}", "method": "nonsense/with_a_long_name", "params": {"x": "y" * 20000}})


def ignore():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    forever()


def orphan():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            forever()
    os._exit(4)


# What is done instead of the answer; returns whether the answer follows all the same.
def misbehave(number):
    deeds = {
        "silent": forever,
        "leaves": lambda: os._exit(0),
        "exits": lambda: os._exit(3),
        "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "ignores": ignore,
        "orphan": orphan,
        "closes": lambda: (os.close(1), forever()),
        "refuses": lambda: send({"id": number, "error": {"code": -32000, "message": "not today"}}),
        "null": lambda: send({"id": number, "result": None}),
        "number": lambda: send({"id": number, "result": 7}),
        "version": lambda: send({"id": number, "result": {"protocolVersion": 9}}),
        "long_id": lambda: send({"id": number, "result": {"sessionId": "i" * 600}}),
        "huge": lambda: raw(b'"' + b"h" * (9 << 20) + b'"\n'),
        "endless": lambda: [raw(b"e" * (1 << 20)) for _ in range(12)] and forever(),
        "half": lambda: (raw(b'{"jsonrpc":'), os._exit(0)),
        "refusal": lambda: send({"id": number, "result": {"stopReason": "refusal"}}),
        "tired": lambda: send({"id": number, "result": {"stopReason": "max_tokens"}}),
        "starves": starved,
        "unread": lambda: (os.close(0), forever()),
    }
    first = {
        "garbage": lambda: raw(b"what?\n\n\x00\xff\xfe\n"),
        "batch": lambda: raw(b"[]\n[1]\n"),
        "deep": lambda: raw(b"[" * 100000 + b"\n"),
        "nobody": lambda: send({"id": 12345, "result": {}}),
        "foreign": lambda: update("another"),
        "early": lambda: update("s1"),
        "request": lambda: send({"id": "r", "method": "made/up", "params": {}}),
        "no_params": lambda: send({"id": "r", "method": "session/request_permission"}),
        "no_options": lambda: send({"id": "r", "method": "session/request_permission", "params": {
            "sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": []}}),
        "no_tool_id": lambda: update("s1", "tool_call", title="x"),
        "odd_update": lambda: update("s1", "made_up", a=1),
        "no_text": lambda: update("s1", content={"type": "image"}),
        "not_utf8": lambda: raw(b'{"jsonrpc":"2.0","method":"session/update","params":"\xff"}\n'),
        "files": lambda: [send({"id": f"f{i}", "method": "fs/read_text_file", "params": {
            "sessionId": "s1", "path": "/dev/zero"}}) for i in range(100)],
        "terminals": lambda: [send({"id": f"t{i}", "method": "terminal/create", "params": {
            "sessionId": "s1", "command": "sleep", "args": ["1000"]}}) for i in range(100)],
        "bad_terminal": lambda: [send({"id": f"b{i}", "method": method, "params": {
            "sessionId": "s1", "terminalId": 7, "command": {}, "path": [], "args": 5, "env": "x"}})
            for i, method in enumerate(("terminal/create", "terminal/output", "terminal/kill",
                "terminal/release", "terminal/wait_for_exit", "fs/read_text_file", "fs/write_text_file"))],
        "notes": lambda: [send({"method": "_own/note", "params": {"i": i}}) for i in range(1000)],
        "flood": lambda: [update("s1") for _ in range(20000)],
        "noise": lambda: [raw(b"no\n") for _ in range(5000)],
        "stderr": lambda: os.write(2, b"E" * 65536),
        "much": lambda: [update("s1", content={"type": "text", "text": "m" * (1 << 20)}) for _ in range(70)],
    }
    if WHAT == "twice":
        send({"id": number, "result": GOOD[METHOD]})
        return True
    if WHAT in first:
        first[WHAT]()
        return True
    deeds[WHAT]()
    return False


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method not in GOOD:
        continue
    if method == METHOD and not misbehave(number):
        continue
    if method == "session/prompt":
        update("s1", content={"type": "text", "text": "done"})
    send({"id": number, "result": GOOD[method]})
