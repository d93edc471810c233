#!/usr/bin/env python3
"""What passes from a client of `perch mcp` to MCP servers that are bound, and back: passing.py NAME."""
import sys

sys.path.insert(0, sys.argv[0].rsplit("/", 2)[0] + "/mcp")
from client import *  # noqa: E402

EVERYTHING = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}


def logged():
    with open(os.environ["SERVER_LOG"], encoding="utf-8") as file:
        return file.read().split("\n")


def wait_for(line):
    until = time.monotonic() + PATIENCE
    while line not in logged():
        assert time.monotonic() < until, (line, logged())
        time.sleep(0.02)


class Passing(Client):
    """One that answers what it is asked."""

    def __init__(self, version=LEGACY, abilities=None):
        super().__init__("--prefix", "none", version=version, begins=False)
        self.capabilities = abilities or {}
        self.asked, self.told = [], []
        if version != MODERN:
            self.request("initialize", {"protocolVersion": version, "capabilities": self.capabilities,
                                        "clientInfo": {"name": "tests", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def reply(self, method):
        self.asked.append(method)
        return {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
                "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}},
                "roots/list": {"roots": [{"uri": "file:///client"}]}}[method]

    def do(self, method, params=None):
        """The response, and on the way to it all that the server asks."""
        self.ids += 1
        number, params = self.ids, dict(params or {})
        if self.version == MODERN:
            params["_meta"] = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities,
                               META + "logLevel": "debug"}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message and "id" in message:
                if message["method"] == "elicitation/create":
                    self.message = message["params"]["message"]
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.reply(message["method"])})
            elif message.get("id") != number:
                self.told.append(message)
            elif message.get("result", {}).get("resultType") == "input_required":
                given = message["result"]["inputRequests"]
                return self.do(method, {**params, "requestState": message["result"]["requestState"],
                                        "inputResponses": {key: self.reply(given[key]["method"]) for key in given}})
            else:
                return message

    def result(self, method, params=None):
        message = self.do(method, params)
        assert "result" in message, message
        return message["result"]

    def call(self, name, **arguments):
        return self.result("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]


def versions():
    return [LEGACY, MODERN]


def test_passes():
    """Lists, one of them, a completion, an error with its data: unchanged, in both eras."""
    for version in versions():
        client = Passing(version)
        found = [item["uri"] for item in client.result("resources/list")["resources"]]
        is_equal(found, ["left:one", "right:one"])
        found = client.result("resources/templates/list")["resourceTemplates"]
        is_equal([item["uriTemplate"] for item in found], ["left:item/{n}", "right:item/{n}"])
        found = client.result("prompts/list")["prompts"]
        is_equal([item["name"] for item in found], ["left-prompt", "right-prompt"])
        for uri in ("right:one", "right:item/7", "left:one"):
            found = client.result("resources/read", {"uri": uri})["contents"]
            is_equal(found, [{"uri": uri, "text": f"{uri.split(':')[0]} has {uri}"}])
        found = client.result("prompts/get", {"name": "right-prompt", "arguments": {"a": "b"}})
        is_equal(found["messages"][0]["content"]["text"], '{"a": "b"}')
        found = client.result("completion/complete", {"ref": {"type": "ref/prompt", "name": "right-prompt"},
                                                      "argument": {"name": "a", "value": "x"}})
        is_equal(found["completion"]["values"], ["x!"])
        error = client.do("resources/read", {"uri": "nobody:one"})["error"]
        is_equal(error["code"], -32602 if version == MODERN else -32002)
        assert not [line for line in logged() if line.startswith("asked for ")], logged()
        client.end()


def test_hidden():
    """Nothing is shown unless [expose.mcp] says so; what it does not list is not there."""
    client = Passing()
    is_equal(client.result("resources/list")["resources"], [{"uri": "left:one", "name": "one"}])
    is_equal(client.do("resources/read", {"uri": "right:one"})["error"]["code"], -32002)
    is_equal(client.do("prompts/list")["error"]["code"], -32601)
    client.end()


def test_asks():
    """What the binding grants goes to the client that called, and comes back; several at once."""
    for version in versions():
        client = Passing(version, EVERYTHING)
        found = json.loads(client.call("ask", kinds=["form", "sample", "roots"]))
        is_equal(found["form"]["content"], {"name": "Ada"})
        is_equal(found["sample"]["content"]["text"], "hm")
        is_equal(found["roots"]["roots"], [{"uri": "file:///client"}])
        is_equal(sorted(client.asked), ["elicitation/create", "roots/list", "sampling/createMessage"])
        if version == LEGACY:
            is_equal(client.message, "[left] Your name?")
        client.end()


def test_refuses():
    """A server is told of nothing that was not granted, and refused what it asks all the same."""
    client = Passing(LEGACY, EVERYTHING)
    found = json.loads(client.call("ask", kinds=["form", "sample", "roots"]))
    has(found["form"]["message"], "does not do that")
    has(found["sample"]["message"], "does not do that")
    assert found["roots"]["roots"] and all(root["uri"].startswith("file:///") for root in found["roots"]["roots"])
    is_equal(client.asked, [])
    has(logged(), "abilities roots")
    client.end()


def test_endless():
    """A server that asks without end is refused from the third question on, as its binding says."""
    client = Passing(LEGACY, EVERYTHING)
    has(client.call("endless"), "2 the server asks too often")
    is_equal(len(client.asked), 2)
    client.end()


def test_changes():
    """Subscriptions reach the server, what it tells reaches the client; the end of both, too."""
    client = Passing()
    client.result("resources/subscribe", {"uri": "left:one"})
    wait_for("resources/subscribe left:one")
    client.call("change")
    client.result("ping")
    methods = [message["method"] for message in client.told]
    has(methods, "notifications/prompts/list_changed")
    has(methods, "notifications/resources/updated")
    client.result("resources/unsubscribe", {"uri": "left:one"})
    wait_for("resources/unsubscribe left:one")
    client.result("logging/setLevel", {"level": "debug"})
    has(["debug", "None"], client.call("log"))
    logs = [message["params"] for message in client.told if message["method"] == "notifications/message"]
    has(logs, {"level": "debug", "logger": "left", "data": {"n": 1}})
    client.end()


def test_hasty():
    """An end of a subscription counts, however early it comes: nobody is watched then, and the server is idle."""
    client = Passing()
    for method in ("subscribe", "unsubscribe", "subscribe"):
        client.ids += 1
        client.send({"jsonrpc": "2.0", "id": client.ids, "method": "resources/" + method, "params": {"uri": "left:one"}})
    client.call("self")
    wait_for("resources/subscribe left:one")
    client.result("resources/unsubscribe", {"uri": "left:one"})
    for method in ("subscribe", "unsubscribe"):
        client.ids += 1
        client.send({"jsonrpc": "2.0", "id": client.ids, "method": "resources/" + method, "params": {"uri": "left:two"}})
    wait_for("ends")
    client.end()


run(globals())
