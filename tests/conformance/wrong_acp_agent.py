#!/usr/bin/python3 -SE
"""A small agent of ACP that keeps every rule of the kit, but for the one that its argument names."""
import json
import os
import sys
import time

WRONG = sys.argv[1] if len(sys.argv) > 1 else "nothing"
SESSIONS = set()
REFUSED = {"session/load", "session/resume", "session/set_mode", "session/set_config_option"}


def send(**message):
    print(json.dumps(message if WRONG == "version" else {"jsonrpc": "2.0", **message}), flush=True)


def answer(number, result):
    if WRONG == "ids" and isinstance(number, str):
        number = 0
    send(id=number, result=result)


def refuse(number, code, text):
    if WRONG != "silent" or code != -32601:
        send(id=number, error={"code": -32000 if WRONG == "codes" else code, "message": text})


def initialize(number, params):
    version = params.get("protocolVersion")
    if not isinstance(version, int) and WRONG != "lax":
        refuse(number, -32602, "a version is a number")
        return
    answer(number, {"protocolVersion": version if WRONG == "yes-man" else 1, "agentCapabilities": {}})


def new(number, params):
    if not isinstance(params.get("cwd"), str) and WRONG != "lax":
        refuse(number, -32602, "cwd is missing")
        return
    SESSIONS.add(f"s{len(SESSIONS)}")
    answer(number, {} if WRONG == "nameless" else {"sessionId": f"s{len(SESSIONS) - 1}"})


def prompt(number, params):
    if params.get("sessionId") not in SESSIONS and WRONG != "hospitable":
        refuse(number, -32602, "no such session")
    elif not isinstance(params.get("prompt"), list):
        refuse(number, -32602, "prompt is a list")
    elif WRONG == "picky" and any(block["type"] != "text" for block in params["prompt"]):
        refuse(number, -32602, "texts only")
    elif WRONG != "quitter":  # which waits until it is cancelled
        if WRONG != "mute":
            send(method="session/update", params={"sessionId": params["sessionId"], "update": {
                "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ok"}}})
        answer(number, {"stopReason": "done" if WRONG == "reason" else "end_turn"})


def take(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "session/cancel" and WRONG == "quitter":
        sys.exit(1)
    if not method or number is None:
        return
    if method in ("initialize", "session/new", "session/prompt"):
        {"initialize": initialize, "session/new": new, "session/prompt": prompt}[method](number, params)
    elif method in REFUSED and WRONG == "loader":
        answer(number, {})
    else:
        refuse(number, -32601, "there is no such method")


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        if WRONG == "fragile":
            sys.exit(1)
        continue
    if isinstance(message, dict):
        take(message)
if WRONG == "stays":
    time.sleep(1000)
if WRONG == "exits":
    os._exit(3)
