#!/usr/bin/env python3
"""A small client of ACP, with one prompt: WRONG PROGRAM MESSAGE. It prints events as `perch agent run --json` does,
and keeps the rules that its test names, but for the one that WRONG names."""
import json
import os
import signal
import subprocess
import sys

WRONG, PROGRAM, MESSAGE = sys.argv[1:]
child = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


def send(**message):
    try:  # without a buffer: a signal may come in the middle of another line's
        os.write(child.stdin.fileno(), (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
    except BrokenPipeError:
        pass


def event(name, **members):
    print(json.dumps({"event": name, **members}), flush=True)


def end(code):
    if WRONG != "clings":
        child.stdin.close()
    child.stdout.read()
    status = child.wait()
    event("end", stop_reason="end_turn")
    sys.exit(code or (status if status > 0 else 0))


def fail(text):
    event("error", message=text)
    end(1)


def asked(message):
    method, params = message["method"], message.get("params") or {}
    if method == "session/request_permission" and params.get("sessionId") == "s1":
        option = "yes-1" if WRONG == "trusting" else "no-1"
        send(id=message["id"], result={"outcome": {"outcome": "selected", "optionId": option}})
    elif method == "session/request_permission":
        send(id=message["id"], error={"code": -32602, "message": "no such session"})
    elif WRONG != "deaf":
        send(id=message["id"], error={"code": -32601, "message": "it was not offered"})


def update(params):
    what = params.get("update", {})
    text = what.get("content", {}).get("text") if isinstance(what.get("content"), dict) else None
    if params.get("sessionId") != "s1" and WRONG != "gullible":
        return
    if what.get("sessionUpdate") == "agent_message_chunk":
        event("partial", text=text)
    elif what.get("sessionUpdate") == "agent_thought_chunk":
        event("partial" if WRONG == "blurts" else "thinking", text=text)
    elif what.get("sessionUpdate") in ("tool_call", "plan"):
        event(what["sessionUpdate"].partition("_")[0])


def call(number, method, params):
    send(id=number, method=method, params=params)
    for line in child.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            if WRONG == "fragile":
                sys.exit(1)
            continue
        if not isinstance(message, dict):
            continue
        if "method" in message and "id" in message:
            asked(message)
        elif message.get("method") == "session/update":
            update(message.get("params", {}))
        elif message.get("id") == number and "error" in message:
            fail(message["error"]["message"])
        elif message.get("id") == number:
            return message["result"]
    child.wait()
    fail("the agent has ended")


def interrupted(_number, _frame):
    if WRONG != "rude":
        send(method="session/cancel", params={"sessionId": "s1"})
    os.environ["CANCELLED"] = "1"


signal.signal(signal.SIGINT, interrupted)
hello = call(0, "initialize", {"protocolVersion": 1, "clientCapabilities": [] if WRONG == "shapeless" else {},
                               "clientInfo": {"name": "small", "version": "1"}})
if hello.get("protocolVersion") != 1 and WRONG != "yes-man":
    fail("another version")
made = call(1, "session/new", {"cwd": "." if WRONG == "relative" else os.getcwd(), "mcpServers": []})
if not made.get("sessionId"):
    fail("a session without an id")
done = call(2, "session/prompt", {"sessionId": made["sessionId"], "prompt": [{"type": "text", "text": MESSAGE}]})
if done.get("stopReason") in (None, "refusal") and WRONG != "cheerful":
    fail("it refuses")
end(130 if os.environ.get("CANCELLED") else 0)
