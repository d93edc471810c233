"""A client of `perch mcp` for tests: both eras, every message on a tape that tests/wire/schema.py
reads. A test is a function `test_…` of a file that imports this; `run(globals())` runs the one that
the command line names."""
import json
import os
import select
import subprocess
import sys
import time

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
PATIENCE = 60


class Client:
    def __init__(self, *words, version=LEGACY, can_ask=True, begins=True, **more):
        self.version = version
        self.capabilities = {"elicitation": {"form": {}}} if can_ask else {}
        self.tape = open(os.environ["TAPE"], "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [os.environ["PERCH"], "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            **more)
        self.name = self.process.pid
        self.rest = b""
        self.ids = 0
        self.heard = []  # what was no answer to the last request
        if begins and version != MODERN:
            self.request("initialize", {
                "protocolVersion": version, "capabilities": self.capabilities,
                "clientInfo": {"name": "tests", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def record(self, direction, text):
        self.tape.write(f"mcp {self.name} {direction} {text}\n")
        self.tape.flush()

    def send(self, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.record("<", text)
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end."""
        until = time.monotonic() + PATIENCE
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            if not ready:
                raise SystemExit("perch mcp says nothing")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        text = line.decode()
        self.record(">", text)
        return json.loads(text)

    def ask(self, method, params=None, token=None):
        """Sends a request and gives its id."""
        self.ids += 1
        params = dict(params or {})
        meta = {}
        if self.version == MODERN:
            meta = {META + "protocolVersion": MODERN,
                    META + "clientInfo": {"name": "tests", "version": "1"},
                    META + "clientCapabilities": self.capabilities}
        if token is not None:
            meta["progressToken"] = token
        if meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        return self.ids

    def answer_to(self, number, replies=None):
        """The response to a request; legacy questions on the way are answered from the list."""
        while True:
            message = self.receive()
            if message is None:
                raise SystemExit("perch mcp has ended")
            if message.get("id") == number and "method" not in message:
                return message
            self.heard.append(message)
            if message.get("method") == "elicitation/create":
                self.send({"jsonrpc": "2.0", "id": message["id"],
                           "result": reply(message["params"], replies)})

    def request(self, method, params=None, token=None, replies=None):
        return self.answer_to(self.ask(method, params, token), replies)

    def call(self, name, arguments=None, replies=None, **more):
        """The result of a tool; questions are answered from the list, in both eras."""
        params = {"name": name, "arguments": arguments or {}}
        while True:
            message = self.request("tools/call", {**params, **more}, token=7, replies=replies)
            if "error" in message:
                return message["error"]
            result = message["result"]
            if result.get("resultType") != "input_required":
                return result
            self.heard.append(result)
            key, form = next(iter(result["inputRequests"].items()))
            more = {"requestState": result["requestState"],
                    "inputResponses": {key: reply(form["params"], replies)}}

    def tools(self):
        return {tool["name"]: tool for tool in self.request("tools/list")["result"]["tools"]}

    def end(self, code=0):
        self.process.stdin.close()
        began = time.monotonic()
        is_equal(self.process.wait(PATIENCE), code)
        assert time.monotonic() - began < 2, "it took too long to end"
        self.process.stdout.close()


def text_of(result):
    return "".join(block.get("text", "") for block in result["content"])


def reply(form, replies):
    """The next one: a whole result, or the value of the only property of the form."""
    value = replies.pop(0)
    if isinstance(value, dict):
        return value
    name = next(iter(form["requestedSchema"]["properties"]))
    return {"action": "accept", "content": {name: value}}


def is_equal(found, wanted):
    if found != wanted:
        raise SystemExit(f"found:  {found!r}\nwanted: {wanted!r}")


def has(found, wanted):
    if wanted not in found:
        raise SystemExit(f"found:  {found!r}\nwanted: …{wanted!r}…")


def run(names):
    for name in sys.argv[1:]:
        names["test_" + name]()
