#!/usr/bin/env python3
"""/mcp of `perch serve`, message by message: mcp.py NAME. Official clients are in mcp_typescript.bats and mcp_python.bats."""
import base64
import http.client
import os
import socket

from gateway import *

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
BOTH_TYPES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
GREET = {"name": "example_hello_hello_greet", "arguments": {"name": "you"}}


def expose(*more):
    config('[expose.http]\nplugins = ["*"]\nagents = ["*"]\n' + "\n".join(more))


def message(method, params=None, number=1, modern=False, **abilities):
    params = dict(params or {})
    if modern:
        params["_meta"] = {META + "protocolVersion": MODERN,
                           META + "clientInfo": {"name": "tests", "version": "1"},
                           META + "clientCapabilities": abilities}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern_headers(body):
    params = body["params"]
    name = params.get("name", params.get("uri"))
    return {**BOTH_TYPES, "MCP-Protocol-Version": MODERN, "Mcp-Method": body["method"],
            **({"Mcp-Name": name} if name else {})}


class Mcp:
    """A client of either era."""

    def __init__(self, gateway, modern=False, token="", version=LEGACY, **abilities):
        self.gateway, self.modern, self.token, self.abilities = gateway, modern, token, abilities
        self.headers = dict(BOTH_TYPES)
        if modern:
            return
        answer = self.post(message("initialize", {
            "protocolVersion": version, "capabilities": abilities,
            "clientInfo": {"name": "tests", "version": "1"}}))
        assert answer.status == 200, (answer.status, answer.body)
        assert answer.json["result"]["protocolVersion"] == version
        self.headers["Mcp-Session-Id"] = self.id = answer.headers["Mcp-Session-Id"]
        self.headers["MCP-Protocol-Version"] = version
        answer = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (answer.status, answer.body) == (202, b""), answer.body

    def post(self, body, **more):
        headers = modern_headers(body) if self.modern else self.headers
        return self.gateway.post("/mcp", body, token=self.token, headers=headers, **more)

    def stream(self, body):
        headers = modern_headers(body) if self.modern else self.headers
        return self.gateway.stream("POST", "/mcp", body, token=self.token, headers=headers)

    def message(self, method, params=None, number=1):
        return message(method, params, number, self.modern, **self.abilities)

    def ask(self, method, params=None):
        """The response, however it comes."""
        answer = self.post(self.message(method, params))
        if answer.headers["Content-Type"].startswith("text/event-stream"):
            return [json.loads(line[6:]) for line in answer.body.decode().split("\n")
                    if line.startswith("data: {")][-1]
        return answer.json

    def call(self, name, arguments=None):
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}})

    def tools(self):
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]


def both(gateway, **more):
    return Mcp(gateway, **more), Mcp(gateway, modern=True, **more)


def test_calls():
    expose()
    gateway = Gateway()
    for client in both(gateway):
        assert "example_hello_hello_greet" in client.tools()
        result = client.call("example_hello_hello_greet", {"name": "you"})["result"]
        assert result["structuredContent"] == {"greeting": "Hello, you!"}, result
        assert client.call("example_words_words_count")["result"]["isError"]
        assert client.call("nothing")["error"]["code"] == -32602
    metrics = gateway.get("/metrics").body.decode()
    assert 'perch_jobs_total{kind="call",state="done"} 2' in metrics, metrics
    with open(f"{STATE}/audit.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    called = [line for line in lines if line.get("binding") == "example.hello"]
    assert [line["caller"] for line in called] == ["me", "me"], lines
    assert called[0]["frontend"] == "http" and "tests 1" in called[0]["client"], called
    assert "2025-11-25" in called[0]["client"] and MODERN in called[1]["client"], called
    assert gateway.stop() == 0


def test_prefix():
    expose('tools = ["example.*"]')
    gateway = Gateway("--mcp-prefix", "none")
    assert "hello_greet" in Mcp(gateway).tools()
    gateway.stop()
    refused = subprocess.run([PERCH, "serve", "--mcp-prefix", "some"], stderr=subprocess.PIPE,
                             check=False)
    assert refused.returncode == 64 and b"--mcp-prefix takes" in refused.stderr, refused


def test_sessions():
    expose()
    gateway = Gateway()
    client, other = Mcp(gateway), token("other")
    assert len(client.id) >= 32 and client.id != Mcp(gateway).id
    # Another's, one that never was, none at all, a version that is none.
    listing = message("tools/list")
    answer = gateway.post("/mcp", listing, token=other, headers=client.headers)
    answer.is_error(404, "session")
    unknown = gateway.post("/mcp", listing, headers={**client.headers, "Mcp-Session-Id": "0" * 32})
    assert unknown.body == answer.body
    refused = gateway.post("/mcp", listing, headers=BOTH_TYPES)
    assert refused.status == 400 and refused.json["error"]["code"] == -32602, refused.body
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    gateway.post("/mcp", told, headers=BOTH_TYPES).is_error(400, "session")
    gateway.post("/mcp", listing, headers={
        **client.headers, "MCP-Protocol-Version": "1999-01-01"}).is_error(400, "version")
    # The stream of a session: what belongs to no request.
    stream = gateway.stream("GET", "/mcp", headers=client.headers)
    os.rename(os.environ["LATER"], os.environ["BINDINGS"] + "/t.later.toml")
    number, changed = next(iter(stream))
    assert changed["method"] == "notifications/tools/list_changed", changed
    assert "t_later_t_x" in client.tools()
    # The second listener takes the place of the first.
    again = gateway.stream("GET", "/mcp", headers=client.headers)
    assert not list(stream)
    # DELETE ends it, its stream too.
    assert gateway.ask("DELETE", "/mcp", headers=client.headers).status == 204
    assert not list(again)
    client.post(listing).is_error(404, "session")
    gateway.stop()


def test_limits():
    expose()
    config('[serve]\nmcp_sessions = 2\nmcp_idle = "0s"\n')
    gateway = Gateway()
    config('[serve]\nmcp_sessions = 2\nmcp_idle = "1h"\n')
    idle = Mcp(gateway)
    until(lambda: idle.post(message("ping")).status == 404, "an idle session ends")
    gateway.process.send_signal(signal.SIGHUP)
    until(lambda: open(f"{WORK}/serve.log", encoding="utf-8").read().count("read again"), "SIGHUP")
    first, second = Mcp(gateway), Mcp(gateway)
    stream = gateway.stream("GET", "/mcp", headers=second.headers)
    third = Mcp(gateway)  # in the place of the first, which nobody uses
    first.post(message("ping")).is_error(404, "session")
    assert second.ask("ping")["result"] == {}
    listening = gateway.stream("GET", "/mcp", headers=third.headers)
    refused = gateway.post("/mcp", message("initialize", {"protocolVersion": LEGACY}),
                           headers=BOTH_TYPES)
    refused.is_error(503, "mcp_sessions")
    for one in (stream, listening):
        one.close()
    gateway.stop()


def test_modern():
    expose()
    gateway = Gateway()
    for method in ("GET", "DELETE"):
        answer = gateway.ask(method, "/mcp", headers={"MCP-Protocol-Version": MODERN,
                                                      "Mcp-Session-Id": "any"})
        answer.is_error(405, "method")
        assert answer.headers["Allow"] == "POST, OPTIONS", answer.headers["Allow"]
    call = message("tools/call", GREET, modern=True)
    good = modern_headers(call)

    def refused(code, status=400, body=call, **changes):
        headers = {name: value for name, value in {**good, **changes}.items() if value is not None}
        answer = gateway.post("/mcp", body, headers=headers)
        assert (answer.status, answer.json["error"]["code"]) == (status, code), answer.body
        return answer.json["error"]["message"]

    assert "Mcp-Session-Id" not in gateway.post("/mcp", call, headers=good).headers
    assert "missing" in refused(-32020, **{"Mcp-Name": None})
    refused(-32020, **{"Mcp-Name": "other"})
    refused(-32020, **{"Mcp-Method": "tools/list"})
    assert "missing" in refused(-32020, **{"Mcp-Method": None})
    refused(-32020, **{"MCP-Protocol-Version": LEGACY})
    refused(-32020, **{"MCP-Protocol-Version": None})
    refused(-32020, **{"Mcp-Name": "=?base64?AAAA?="})
    encoded = base64.b64encode(GREET["name"].encode()).decode()
    answer = gateway.post("/mcp", call, headers={**good, "Mcp-Name": f"=?base64?{encoded}?="})
    assert answer.status == 200, answer.body
    unknown = message("nothing/at-all", modern=True)
    refused(-32601, 404, unknown, **modern_headers(unknown))
    future = json.loads(json.dumps(call).replace(MODERN, "2099-01-01"))
    refused(-32022, 400, future, **{"MCP-Protocol-Version": "2099-01-01"})
    gateway.post("/mcp", "{", headers=good)
    refused(-32700, body="{")
    # A session of the other era is none of its business.
    assert gateway.post("/mcp", call, headers={**good, "Mcp-Session-Id": "x"}).status == 200
    gateway.stop()


def test_types():
    expose()
    gateway = Gateway()
    ping = message("initialize", {"protocolVersion": LEGACY})
    for name, value, status, code in (
            ("Content-Type", "text/plain", 415, "content_type"),
            ("Accept", "application/json", 406, "accept"),
            ("Accept", "text/event-stream", 406, "accept")):
        gateway.post("/mcp", ping, headers={**BOTH_TYPES, name: value}).is_error(status, code)
    for accept in ("*/*", "application/*, text/*;q=0.5", "application/json;q=1,text/event-stream"):
        assert gateway.post("/mcp", ping, headers={**BOTH_TYPES, "Accept": accept}).status == 200
    gateway.post("/mcp", ping, token=None, headers=BOTH_TYPES).is_error(401, "token")
    gateway.post("/mcp", ping, headers={**BOTH_TYPES, "Host": "evil.example"}).is_error(403, "host")
    gateway.post("/mcp", ping, headers={
        **BOTH_TYPES, "Origin": "http://evil.example"}).is_error(403, "origin")
    gateway.stop()


def test_users():
    """Each token has its own list; what it may not use is not there."""
    expose()
    gateway = Gateway()
    some = token("some", "--allow", "tool:example.hello/*,agent:echo")
    agent("echo", "echo hello\n")
    for client in both(gateway, token=some):
        until(lambda: "agent_echo" in client.tools(), "the agent is shown")
        assert sorted(client.tools()) == ["agent_echo", "example_hello_hello_greet"], client.tools()
        assert "result" in client.call("example_hello_hello_greet")
        hidden = client.call("example_words_words_count", {"text": "a"})
        assert hidden["error"] == client.call("nothing")["error"], hidden
        # A session of an agent is for the caller that has begun it.
        began = client.call("agent_echo", {"message": "a"})["result"]["structuredContent"]
        on = {"message": "b", "session": began["session"]}
        assert client.call("agent_echo", on)["result"]["structuredContent"]["reply"] == "hello"
        other = Mcp(gateway, modern=True)
        assert other.call("agent_echo", on)["error"]["code"] == -32602
    revoked = Mcp(gateway, token=some)
    stream = gateway.stream("GET", "/mcp", token=some, headers=revoked.headers)
    subprocess.run([PERCH, "token", "revoke", "some"], check=True, stderr=subprocess.DEVNULL)
    try:
        assert not list(stream)
    except http.client.IncompleteRead:
        pass
    revoked.post(message("ping")).is_error(401, "token")
    gateway.stop()


def test_resources():
    """Of sessions a user sees its own; traces are for admins."""
    expose('resources = ["*"]')
    agent("echo", "echo hello\n")
    gateway = Gateway()
    os.makedirs(f"{STATE}/traces")
    write(f"{STATE}/traces/one.ndjson", "{}\n")
    other = token("other")
    mine = Mcp(gateway, modern=True)
    theirs = Mcp(gateway, modern=True, token=other)
    for client in (mine, theirs):
        client.call("agent_echo", {"message": "a"})
    listed = [one["uri"] for one in theirs.ask("resources/list")["result"]["resources"]]
    assert len(listed) == 1 and "from=other" in listed[0], listed
    every = [one["uri"] for one in mine.ask("resources/list")["result"]["resources"]]
    assert len(every) == 3, every
    for uri in every:
        assert ("result" in theirs.ask("resources/read", {"uri": uri})) == (uri == listed[0]), uri
    gateway.stop()


def test_questions():
    """A legacy client is asked on the stream of its call, a modern one gets its request back."""
    expose()
    gateway = Gateway()
    ability = {"elicitation": {"form": {}}}
    client = Mcp(gateway, **ability)
    stream = client.stream(message("tools/call", {"name": "run_deploy", "arguments": {}, "_meta": {
        "progressToken": 7}}))
    progress, answers = 0, ["moon", True]
    for _, said in stream:
        if said.get("method") == "elicitation/create":
            name = next(iter(said["params"]["requestedSchema"]["properties"]))
            answer = client.post({"jsonrpc": "2.0", "id": said["id"], "result": {
                "action": "accept", "content": {name: answers.pop(0)}}})
            assert answer.status == 202, answer.body
        progress += said.get("method") == "notifications/progress"
    assert "Deployed to moon" in said["result"]["content"][0]["text"], said
    assert progress == 11, progress
    modern = Mcp(gateway, modern=True, **ability)
    params = {"name": "run_deploy", "arguments": {}}
    asked = modern.ask("tools/call", params)["result"]
    for value in ("mars", True):
        assert asked["resultType"] == "input_required", asked
        (key, form), = asked["inputRequests"].items()
        name = next(iter(form["params"]["requestedSchema"]["properties"]))
        params = {**params, "requestState": asked["requestState"], "inputResponses": {
            key: {"action": "accept", "content": {name: value}}}}
        stolen = Mcp(gateway, modern=True, token=token("thief-" + str(value)), **ability)
        assert stolen.ask("tools/call", params)["error"]["code"] == -32602
        asked = modern.ask("tools/call", params)["result"]
    assert "Deployed to mars" in asked["content"][0]["text"], asked
    gateway.stop()


def test_approval():
    """A call that must be approved is a job, which an admin answers: never the bearer that calls."""
    expose()
    gateway = Gateway()
    user, other = token("user"), token("other")

    def waiting():
        jobs = gateway.get("/api/jobs?state=running").json["jobs"]
        return jobs[0] if len(jobs) == 1 and jobs[0]["questions"] else None

    def called(client, answer):
        """The response to a call that waits, and is answered meanwhile."""
        stream = client.stream(client.message("tools/call", {"name": "t_asks_t_x", "arguments": {"a": 1}}))
        job = until(waiting, "the call waits for its approval")
        assert (job["kind"], job["name"], job["user"]) == ("call", "t.asks/t.x", "user"), job
        path = f"/api/jobs/{job['id']}"
        assert gateway.get(path).json["request"]["input"] == {"a": 1}
        where = f"{path}/answers/{job['questions'][0]['ask']}"
        gateway.get(path, token=other).is_error(404, "not_found")
        gateway.post(where, {"allow": True}, token=other).is_error(404, "not_found")
        gateway.post(where, {"allow": True}, token=user).is_error(403, "approval")
        answer(path, where)
        *_, (_, response) = (told for told in stream if "result" in told[1] or "error" in told[1])
        ended = until(lambda: "ended" in gateway.get(path).json and gateway.get(path).json, "the job ends")
        names = [told["event"] for _, told in gateway.stream("GET", f"{path}/events")]
        assert names[0] == "approval" and names[-1] == "end", names
        return response["result"], ended

    def give(allow):
        def answer(_, where):
            assert gateway.post(where, {"allow": allow}).status == 200
            gateway.post(where, {"allow": allow}).is_error(409, "answered")
        return answer

    for client in both(gateway, token=user):
        result, ended = called(client, give(True))
        assert result["structuredContent"] == {"done": True} and ended["state"] == "done", (result, ended)
        result, ended = called(client, give(False))
        assert result["isError"] and ended["state"] == "failed", (result, ended)
        result, ended = called(client, lambda path, _: gateway.ask("DELETE", path))
        assert result["isError"] and ended["state"] == "cancelled", (result, ended)
    # A client that leaves takes its call along: closing the stream of a modern one, DELETE of a session.
    modern, legacy = Mcp(gateway, modern=True, token=user), Mcp(gateway, token=user)
    for client, leave in ((modern, lambda stream: stream.close()),
                          (legacy, lambda _: gateway.ask("DELETE", "/mcp", token=user, headers=legacy.headers))):
        stream = client.stream(client.message("tools/call", {"name": "t_asks_t_x", "arguments": {}}))
        job = until(waiting, "the call waits")
        leave(stream)
        until(lambda: gateway.get(f"/api/jobs/{job['id']}").json["state"] == "cancelled", "it is cancelled")
    metrics = gateway.get("/metrics").body.decode()
    for state, count in (("done", 2), ("failed", 2), ("cancelled", 4)):
        assert f'perch_jobs_total{{kind="call",state="{state}"}} {count}' in metrics, metrics
    # A server that dies: the call has ended with its client.
    stream = Mcp(gateway, modern=True, token=user).stream(
        message("tools/call", {"name": "t_asks_t_x", "arguments": {}}, modern=True))
    job = until(waiting, "the call waits")
    gateway.process.kill()
    gateway.process.wait()
    gateway.start()
    assert gateway.get(f"/api/jobs/{job['id']}").json["state"] == "interrupted"
    expose('approve = ["t.asks/t.x"]')
    gateway.process.send_signal(signal.SIGHUP)
    for client in both(gateway):
        until(lambda: client.call("t_asks_t_x")["result"].get("structuredContent") ==
              {"done": True}, "it is waived")
    gateway.stop()


def test_resume():
    """A stream of a session that broke goes on behind its last event, what belongs to no request too."""
    expose()
    gateway = Gateway()
    client, other = Mcp(gateway), token("other")

    def again(last, **more):
        return gateway.stream("GET", "/mcp", headers={**client.headers, "Last-Event-ID": last}, **more)

    def refused(last, status, code, **more):
        headers = {**client.headers, "Last-Event-ID": last}
        gateway.get("/mcp", headers=headers, **more).is_error(status, code)

    def steps(number):
        for name in ("first", "second"):
            if os.path.exists(f"{WORK}/{name}"):
                os.remove(f"{WORK}/{name}")
        return client.stream(client.message("tools/call", {"name": "run_steps", "_meta": {"progressToken": number}}, number))

    def said(told):
        return told["params"]["message"] if "method" in told else told["result"]["content"][0]["text"].strip()

    # The first event has no message: a client may lose the connection before there is one.
    stream = steps(7)
    line = stream.response.readline().decode()
    assert line.startswith("id: ") and stream.response.readline() == b"data: \n", line
    begun = line[4:].strip()
    stream.close()
    touch("first")
    told = iter(again(begun))
    one, message_one = next(told)
    assert said(message_one) == "one", message_one
    # Somebody else's session, ids that are none, a stream that never was.
    refused(one, 404, "session", token=other)
    for wrong in ("x", "1", "-", "1-x", "99999999999999999999-1", "1-1-1"):
        refused(wrong, 400, "event")
    refused("77-1", 400, "event")
    # Another connection takes the stream over, behind an event that is older; the first one ends.
    second = iter(again(begun))
    assert next(second) == (one, message_one)
    try:
        assert not list(told)
    except (OSError, http.client.HTTPException):
        pass
    touch("second")
    rest = list(second)
    assert [said(message) for _, message in rest] == ["two", "done"], rest
    # It is over, and can be had again: from the beginning, behind any event, behind the last.
    assert [number for number, _ in again(begun)] == [one, *[number for number, _ in rest]]
    assert list(again(one)) == rest and list(again(rest[0][0])) == rest[1:] and not list(again(rest[1][0]))
    # It ends while nobody is there.
    stream = steps(8)
    begun = stream.response.readline().decode()[4:].strip()
    stream.close()
    touch("first")
    touch("second")
    until(lambda: len(list_of(again, begun)) == 3, "all of it is kept")
    # What belongs to no request.
    listener = gateway.stream("GET", "/mcp", headers=client.headers)
    begun = listener.response.readline().decode()[4:].strip()
    assert begun.startswith("0-"), begun
    listener.close()
    os.rename(os.environ["LATER"], os.environ["BINDINGS"] + "/t.later.toml")
    number, changed = next(iter(again(begun)))
    assert changed["method"] == "notifications/tools/list_changed", changed
    # Of other sessions of the same token nothing is told, and the newest version has no streams to resume.
    stranger = Mcp(gateway)
    gateway.get("/mcp", headers={**stranger.headers, "Last-Event-ID": one}).is_error(400, "event")
    assert b"id: " not in Mcp(gateway, modern=True).post(message("tools/call", {"name": "run_steps"}, modern=True)).body
    # Older clients do not know an event without a message.
    old = Mcp(gateway, version="2025-06-18")
    body = old.post(old.message("tools/call", {"name": "run_steps"})).body
    assert b"id: " in body and b"data: \n" not in body, body
    gateway.stop()


def list_of(again, last):
    """A stream up to its response; one that is not over is left."""
    found = []
    for told in (stream := again(last)):
        found.append(told)
        if "result" in told[1]:
            break
    stream.close()
    return found


def test_params():
    """x-mcp-header in the schema: the header says what the argument does, or the call is refused before it begins."""
    expose()
    gateway = Gateway()
    legacy, modern = both(gateway)

    def last(answer):
        """What took its time has come as a stream."""
        told = [line[6:] for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
        return Answer(answer.status, {}, told[-1] if told else answer.body)

    def answer(arguments, *headers, client=modern):
        body = client.message("tools/call", {"name": "t_marked_t_x", "arguments": arguments})
        if client is legacy:
            return last(client.post(body))
        text = json.dumps(body).encode()
        fields = [("Authorization", f"Bearer {gateway.token}"), ("Host", "localhost"), ("Connection", "close"),
                  ("Content-Length", len(text)), *modern_headers(body).items(), *headers]
        head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "\r\n"
        found, rest = gateway.raw(head.encode() + text).split(b"\r\n\r\n", 1)
        return last(Answer(int(found.split()[1]), {}, rest))

    def good(arguments, *headers, **more):
        found = answer(arguments, *headers, **more)
        assert found.status == 200 and found.json["result"].get("structuredContent") == {"done": True}, found.body

    def refused(arguments, *headers):
        found = answer(arguments, *headers)
        assert (found.status, found.json["error"]["code"]) == (400, -32020), found.body
        assert "Mcp-Param-" in found.json["error"]["message"], found.body

    good({})
    assert answer({"region": None}).status == 200  # which its schema refuses, no header is wanted
    good({"region": "us-west1"}, ("Mcp-Param-Region", "us-west1"))
    good({"region": "us-west1"}, ("mcp-param-REGION", "us-west1"), ("Mcp-Param-Unknown", "x"))
    good({"region": " \u4e16"}, ("Mcp-Param-Region", "=?base64?IOS4lg==?="))
    good({"region": ""}, ("Mcp-Param-Region", ""))
    good({"on": True, "deep": {"n": -7}}, ("Mcp-Param-On", "true"), ("Mcp-Param-N", "-7"))
    good({"deep": {"n": 7.0}}, ("Mcp-Param-N", "7"))
    refused({"region": "us-west1"})
    refused({"region": "us-west1"}, ("Mcp-Param-Region", "us-west2"))
    refused({"region": "us-west1"}, ("Mcp-Param-Region", "US-WEST1"))
    refused({"region": "us-west1"}, ("Mcp-Param-Region", "us-west1"), ("Mcp-Param-Region", "us-west1"))
    refused({"region": "\u4e16"}, ("Mcp-Param-Region", "\u4e16"))
    refused({}, ("Mcp-Param-Region", "us-west1"))
    refused({"on": False}, ("Mcp-Param-On", "true"))
    refused({"deep": {"n": 7}}, ("Mcp-Param-N", "8"))
    refused({"deep": {"n": 7}, "on": True}, ("Mcp-Param-N", "7"))
    good({"region": "us-west1"}, client=legacy)
    gateway.stop()


def started():
    until(lambda: os.path.exists(f"{WORK}/ready"), "the call has begun")
    os.unlink(f"{WORK}/ready")


def test_cancel():
    """Closing the stream of a modern call cancels it; a legacy one is cancelled by its word."""
    expose()
    gateway = Gateway()
    slow = {"name": "t_slow_t_x", "arguments": {}}

    def running():
        metrics = gateway.get("/metrics").body.decode()
        return int(float(re.search(r"^perch_jobs_running (\S+)", metrics, re.M).group(1)))

    modern = Mcp(gateway, modern=True)
    stream = modern.stream(modern.message("tools/call", slow))
    started()
    assert running() == 1
    stream.close()
    until(lambda: running() == 0, "the call has ended")
    client = Mcp(gateway)
    stream = client.stream(message("tools/call", slow, 5))
    started()
    stream.close()
    ping = client.ask("ping")
    assert ping["result"] == {} and running() == 1
    client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    until(lambda: running() == 0, "the call has ended")
    stream = client.stream(message("tools/call", slow, 6))
    started()
    gateway.ask("DELETE", "/mcp", headers=client.headers)
    until(lambda: running() == 0, "the session has ended, and its call")
    assert not list(stream)
    # A server that ends takes no more calls, and says so; who listens is told.
    listening = modern.stream(message("subscriptions/listen", {
        "notifications": {"toolsListChanged": True}}, modern=True))
    heard = iter(listening)
    assert next(heard)[1]["method"] == "notifications/subscriptions/acknowledged"
    legacy = Mcp(gateway)
    last = legacy.stream(message("tools/call", slow))
    started()
    gateway.process.send_signal(signal.SIGTERM)
    assert "the server ends" in str(list(heard))
    refused = modern.ask("tools/call", GREET)
    assert "the server ends" in refused["error"]["message"], refused
    gateway.process.send_signal(signal.SIGTERM)
    assert gateway.process.wait(PATIENCE) == 0
    last.close()


def test_listen():
    expose()
    gateway = Gateway()
    modern = Mcp(gateway, modern=True)
    stream = modern.stream(message("subscriptions/listen", {
        "notifications": {"toolsListChanged": True}}, 3, modern=True))
    heard = iter(stream)
    assert next(heard)[1]["params"]["notifications"] == {"toolsListChanged": True}
    os.rename(os.environ["LATER"], os.environ["BINDINGS"] + "/t.later.toml")
    changed = next(heard)[1]
    assert changed["method"] == "notifications/tools/list_changed", changed
    assert changed["params"]["_meta"][META + "subscriptionId"] == 3
    stream.close()
    gateway.stop()


def test_names():
    """Two things of one name: the rest goes on, /mcp says which."""
    expose()
    gateway = Gateway()
    client = Mcp(gateway)
    gateway.stop()
    binding = open(f"{os.environ['BINDINGS']}/t.slow.toml", encoding="utf-8").read()
    write(f"{os.environ['BINDINGS']}/t.slow_t.toml", binding.replace('"t.x"', '"x"'))
    gateway.start()
    client.gateway = gateway
    gateway.post("/mcp", message("ping"), headers=BOTH_TYPES).is_error(503, "mcp_names")
    log = open(f"{WORK}/serve.log", encoding="utf-8").read()
    assert "t_slow_t_x" in log, log
    assert gateway.get("/api/catalog").status == 200
    os.unlink(f"{os.environ['BINDINGS']}/t.slow_t.toml")
    until(lambda: gateway.post("/mcp", message("initialize", {"protocolVersion": LEGACY}),
                               headers=BOTH_TYPES).status == 200, "the names are apart")
    gateway.stop()


def test_servers():
    """A session has an MCP server of its own, which ends with it; a modern client's session is its token; and the
    gateway ends behind its servers."""
    log = os.environ["SERVER_LOG"]

    def count(line):
        with open(log, encoding="utf-8") as file:
            return file.read().split("\n").count(line)

    config('[expose.http]\nresources = ["full"]\nprompts = ["full"]')
    gateway = Gateway()

    def server_of(client):
        return client.call("full_self")["result"]["content"][0]["text"]

    one, two = Mcp(gateway), Mcp(gateway)
    of_one, of_two = server_of(one), server_of(two)
    assert of_one != of_two and of_one == server_of(one), (of_one, of_two)
    token_of_other = token("other")
    modern = [Mcp(gateway, modern=True), Mcp(gateway, modern=True), Mcp(gateway, modern=True, token=token_of_other)]
    ours = [server_of(client) for client in modern]
    assert ours[0] == ours[1] != ours[2] and of_one not in ours, ours
    assert one.ask("resources/read", {"uri": "full:one"})["result"]["contents"][0]["text"] == "full has full:one"
    before = count("ends")
    assert one.gateway.ask("DELETE", "/mcp", headers=one.headers).status == 204
    until(lambda: count("ends") == before + 1, "its server ends with the session")
    assert server_of(two) == of_two
    gateway.process.terminate()
    assert gateway.process.wait(PATIENCE) == 0
    assert count("starts") == count("ends"), open(log, encoding="utf-8").read()


def test_slow_reader():
    """A client that does not read what its call says: the plugin waits, nobody else does."""
    expose()
    gateway = Gateway()
    call = message("tools/call", {"name": "run_flood", "arguments": {}, "_meta": {
        "progressToken": 1, **message("x", modern=True)["params"]["_meta"]}})
    text = json.dumps(call).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in modern_headers(call).items())
    deaf = socket.create_connection(("127.0.0.1", gateway.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}"
                 f"\r\n{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
    started()
    client = Mcp(gateway)
    for _ in range(20):
        assert "result" in client.call("example_hello_hello_greet")
    with open(f"/proc/{gateway.process.pid}/status", encoding="utf-8") as status:
        memory = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))
    assert memory < 64 * 1024, memory
    deaf.close()
    gateway.stop()


run(globals())
