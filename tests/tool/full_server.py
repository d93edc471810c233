#!/usr/bin/env python3
"""An MCP server with all that passes through perch: full_server.py NAME LOG [modern]. Its resources
are NAME:…, its prompt is NAME-prompt; the tool `ask` asks what its argument names; LOG gets a line
for each start, subscription and end."""
import json
import os
import sys

NAME, LOG = sys.argv[1:3]
IS_MODERN = "modern" in sys.argv
META = "io.modelcontextprotocol/"
INFO = {"name": NAME, "version": "1"}
ABILITIES = {"tools": {}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {"listChanged": True},
             "completions": {}, "logging": {}}
QUESTIONS = {
    "form": ("elicitation/create", {"message": "Your name?", "requestedSchema": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}),
    "sample": ("sampling/createMessage", {"maxTokens": 5, "messages": [
        {"role": "user", "content": {"type": "text", "text": "Say something"}}]}),
    "roots": ("roots/list", {}),
}
SELF = os.urandom(8).hex()  # its number is the same in every sandbox
ids = 1000
listens = {}
level = None


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


def refuse(request, code, words, data=None):
    say({"id": request["id"], "error": {"code": code, "message": words, **({"data": data} if data else {})}})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def ask_legacy(kind):
    """Its request, and the answer among all else that comes."""
    global ids
    ids += 1
    method, params = QUESTIONS[kind]
    say({"id": ids, "method": method, "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == ids and "method" not in message:
            return message.get("result", message.get("error"))
    sys.exit()


def ask(request, kinds):
    if not IS_MODERN:
        return text(json.dumps({kind: ask_legacy(kind) for kind in kinds}))
    given = request["params"].get("inputResponses")
    if given is not None:
        return text(json.dumps(given))
    return {"resultType": "input_required", "requestState": "mine",
            "inputRequests": {kind: dict(zip(("method", "params"), QUESTIONS[kind])) for kind in kinds}}


def work(request):
    name, given = request["params"]["name"], request["params"].get("arguments", {})
    if name == "ask":
        return ask(request, given["kinds"])
    if name == "endless":
        count = 0
        while True:
            found = ask_legacy("sample")
            if "content" not in found:
                return text(f"{count} {found['message']}")
            count += 1
    if name == "change":
        say({"method": "notifications/prompts/list_changed"})
        say({"method": "notifications/resources/updated", "params": {"uri": f"{NAME}:one"}})
    if name == "log":
        say({"method": "notifications/message", "params": {"level": "debug", "logger": NAME, "data": {"n": 1}}})
        return text(str(level))
    return text(SELF)


def listed(method):
    if method == "resources/list":
        return {"resources": [{"uri": f"{NAME}:one", "name": "one"}, {"uri": "perch://results/x", "name": "x"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": NAME + ":item/{n}", "name": "item"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": f"{NAME}-prompt", "description": "It is one."}]}
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}}
                      for name in ("ask", "endless", "change", "log", "self")]}


def take(request):
    global level
    method, params = request["method"], request.get("params", {})
    if method == "initialize" and not IS_MODERN:
        answer(request, {"protocolVersion": "2025-11-25", "capabilities": ABILITIES, "serverInfo": INFO})
        log("abilities " + " ".join(sorted(params["capabilities"])))
    elif method == "server/discover" and IS_MODERN:
        answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": ABILITIES})
    elif method.endswith("/list"):
        answer(request, {**listed(method), **({"ttlMs": 0, "cacheScope": "private"} if IS_MODERN else {})})
    elif method == "tools/call":
        answer(request, work(request))
    elif method == "resources/read" and params["uri"].startswith(NAME + ":"):
        answer(request, {"contents": [{"uri": params["uri"], "text": f"{NAME} has {params['uri']}"}]})
    elif method == "resources/read":
        log("asked for " + params["uri"])
        refuse(request, -32002, "no such resource", {"uri": params["uri"]})
    elif method == "prompts/get":
        answer(request, {"messages": [{"role": "user", "content": {"type": "text", "text": json.dumps(params.get("arguments"))}}]})
    elif method == "completion/complete":
        answer(request, {"completion": {"values": [params["argument"]["value"] + "!"]}})
    elif method in ("resources/subscribe", "resources/unsubscribe"):
        log(method + " " + params["uri"])
        answer(request, {})
    elif method == "subscriptions/listen":
        wanted = params["notifications"].get("resourceSubscriptions", [])
        listens[request["id"]] = wanted
        for uri in wanted:
            log("resources/subscribe " + uri)
    elif method == "logging/setLevel":
        level = params["level"]
        answer(request, {})
    else:
        refuse(request, -32601, "no such method")


log("starts")
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        take(message)
    elif message.get("method") == "notifications/cancelled":
        for uri in listens.pop(message["params"]["requestId"], []):
            log("resources/unsubscribe " + uri)
log("ends")
