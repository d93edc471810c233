"""What an agent of ACP wants to know (the prompt `form` of hosted.py), asked of a user by way of one
frontend: asked.py PERCH PROFILE WAY. Prints what the agent was told in the end."""
import json
import subprocess
import sys

PERCH, PROFILE, WAY = sys.argv[1:]
# For the questions one after the other; the second and the fifth do not fit at first.
ANSWERS = [1, "9", "4", [0, 2], "x", "because", False, 0]


class Peer:
    """A child that speaks lines of JSON."""

    def __init__(self, *words):
        self.child = subprocess.Popen([PERCH, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, **message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def hear(self):
        line = self.child.stdout.readline()
        assert line, "it ended too early"
        return json.loads(line)

    def end(self):
        self.child.stdin.close()
        assert self.child.wait() == 0


def serve():
    peer, answers, told = Peer("agent", "serve", "--profile", PROFILE), iter(ANSWERS), ""
    peer.send(id="t", message="form")
    first, warned = True, 0
    while (event := peer.hear())["event"] != "end":
        if event["event"] in ("prompt", "confirm", "select", "multi_select"):
            assert ("How shall I go on?" in event["message"]) and event["message"].startswith("bot")
            if first:
                peer.send(answer="t", ask=event["ask"], value="no number")  # the wrong type
                first = False
            ask = event["ask"]
            peer.send(answer="t", ask=ask, value=next(answers))
        elif event["event"] == "warning" and "open question" not in event["message"]:
            warned += 1
            if warned > 1:
                peer.send(answer="t", ask=ask, value=next(answers))
        elif event["event"] == "partial":
            told += event["text"]
    peer.end()
    assert warned == 3, warned
    return told


def fill(params, answers):
    """What a client with forms sends back; params: of elicitation/create."""
    name, field = next(iter(params["requestedSchema"]["properties"].items()))
    value = next(answers)
    if "enum" in field:
        value = field["enum"][value]
    elif "items" in field:
        items = field["items"]
        value = [items.get("enum", [])[i] for i in value]
    elif field["type"] == "integer" and isinstance(value, str):
        value = int(value)
    return {"action": "accept", "content": {name: value}}


def acp_forms():
    peer, answers, told = Peer("acp", "--agent", PROFILE, "--no-store"), iter(ANSWERS), ""
    peer.send(jsonrpc="2.0", id=0, method="initialize",
              params={"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}})
    peer.send(jsonrpc="2.0", id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    while (message := peer.hear()).get("id") != 1:
        pass
    session = message["result"]["sessionId"]
    peer.send(jsonrpc="2.0", id=2, method="session/prompt",
              params={"sessionId": session, "prompt": [{"type": "text", "text": "form"}]})
    while True:
        message = peer.hear()
        if message.get("method") == "elicitation/create":
            peer.send(jsonrpc="2.0", id=message["id"], result=fill(message["params"], answers))
        elif message.get("method") == "session/update":
            update = message["params"]["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                told += update["content"]["text"]
        elif message.get("id") == 2:
            assert message["result"]["stopReason"] == "end_turn"
            break
    peer.end()
    assert "5 at most" in told and "2 at least" in told
    return told[told.index("{"):]


def acp_texts():
    """An editor without forms: the next prompt is the answer."""
    peer, said = Peer("acp", "--agent", PROFILE, "--no-store"), []
    peer.send(jsonrpc="2.0", id=0, method="initialize", params={"protocolVersion": 1})
    peer.send(jsonrpc="2.0", id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    while (message := peer.hear()).get("id") != 1:
        pass
    session = message["result"]["sessionId"]
    for number, text in enumerate(["form", "2", "9", "4", "1,3", "x", "because", "no", "1"], 2):
        peer.send(jsonrpc="2.0", id=number, method="session/prompt",
                  params={"sessionId": session, "prompt": [{"type": "text", "text": text}]})
        told = ""
        while (message := peer.hear()).get("id") != number:
            update = message["params"]["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                told += update["content"]["text"]
        assert message["result"]["stopReason"] == "end_turn", message
        said.append(told)
    peer.end()
    assert "1. conservative\n2. aggressive" in said[0] and "5 at most" in said[2], said
    return said[-1]


def mcp():
    peer, answers = Peer("mcp"), iter(ANSWERS)
    peer.send(jsonrpc="2.0", id=0, method="initialize", params={
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"}})
    peer.send(jsonrpc="2.0", method="notifications/initialized")
    peer.send(jsonrpc="2.0", id=1, method="tools/list")
    while (message := peer.hear()).get("id") != 1:
        pass
    tool = next(t["name"] for t in message["result"]["tools"] if "bot" in t["name"])
    peer.send(jsonrpc="2.0", id="call", method="tools/call", params={"name": tool, "arguments": {"message": "form"}})
    while (message := peer.hear()).get("id") != "call":
        if message.get("method") == "elicitation/create":
            peer.send(jsonrpc="2.0", id=message["id"], result=fill(message["params"], answers))
    peer.end()
    assert "result" in message, message
    return message["result"]["content"][0]["text"]


print({"serve": serve, "acp-forms": acp_forms, "acp-texts": acp_texts, "mcp": mcp}[WAY]())
