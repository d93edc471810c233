#!/usr/bin/env python3
"""What the official conformance suite starts as a client: perch, in front of the server whose URL is the last argument. The
server is bound, and a client of `perch mcp` uses all that it then offers."""
import subprocess
import tempfile

from client import *

SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
CALLS = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls", [])


def perch(*words):
    subprocess.run([os.environ["PERCH"], *words], check=True, stdin=subprocess.DEVNULL)


def bind(url):
    """Under a configuration of its own: scenarios are played side by side."""
    place = tempfile.mkdtemp(dir=os.environ["WORK"])
    os.environ.update(XDG_CONFIG_HOME=place, XDG_STATE_HOME=place)
    perch("tool", "add", url, "--name", "judge", "--yes", "--elicitation", "client", "--env", "TEST_MARK")
    with open(place + "/perch/config.toml", "w", encoding="utf-8") as file:
        file.write('[expose.mcp]\nresources = ["*"]\nprompts = ["*"]\n')


class Judged(Client):
    """A form is accepted as it is, with what it has filled in, and yes everywhere else."""

    def form(self, params):
        fields = params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: fields[name].get("default", True) for name in fields}}

    def answer_to(self, number, replies=None):
        while (message := self.receive()).get("id") != number or "method" in message:
            if message.get("method") == "elicitation/create":
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.form(message["params"])})
        return message

    def use(self, tool, arguments):
        """Another call comes between a question and its answer: the two are not to be mixed up."""
        params = {"name": tool, "arguments": arguments}
        result = self.request("tools/call", params).get("result", {})
        if result.get("resultType") != "input_required":
            return
        if "test_mrtr_unrelated" in self.tools():
            self.request("tools/call", {"name": "test_mrtr_unrelated"})
        asked = result["inputRequests"]
        params["inputResponses"] = {key: self.form(asked[key]["params"]) for key in asked}
        self.request("tools/call", {**params, "requestState": result["requestState"]})

    def use_all(self):
        tools = self.tools()
        for name in tools:
            given = {"a": 2, "b": 3}
            if name == "json_schema_echo":
                given = {"schema": tools["json_schema_2020_12_tool"]["inputSchema"]}
            self.use(name, next((call["arguments"] for call in CALLS if call["name"] == name), given))
        for resource in self.request("resources/list").get("result", {}).get("resources", []):
            self.request("resources/read", {"uri": resource["uri"]})
        for prompt in self.request("prompts/list").get("result", {}).get("prompts", []):
            self.request("prompts/get", {"name": prompt["name"]})


if SCENARIO in ("initialize", "request-metadata"):  # nothing is offered that could be bound
    perch("mcp", "list", "--", sys.argv[-1])
else:
    bind(sys.argv[-1])
    client = Judged("--prefix", "none", version=os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"])
    client.use_all()
    client.end()
