#!/usr/bin/env python3
"""What is tried with `perch mcp`: scenes.py NAME…"""
import os
import signal
import subprocess
import time

from client import *

BOTH = (LEGACY, MODERN)


def test_tools():
    for version in BOTH:
        client = Client(version=version)
        tools = client.tools()
        is_equal(sorted(tools), ["example_hello_hello_greet", "example_words_words_count"])
        words = tools["example_words_words_count"]
        is_equal(words["title"], "words.count")
        is_equal(words["inputSchema"]["required"], ["text"])
        is_equal(words["annotations"],
                 {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False})
        result = client.call("example_hello_hello_greet", {"name": "you"})
        is_equal(result["structuredContent"], {"greeting": "Hello, you!"})
        is_equal(text_of(result), '{"greeting":"Hello, you!"}')
        is_equal("isError" in result, False)
        result = client.call("example_words_words_count", {})
        is_equal(result["isError"], True)
        has(text_of(result), "$.text: is required and missing")
        has(text_of(result), "code: ")
        is_equal(client.call("nothing")["code"], -32602)
        client.end()


def test_hints():
    tools = Client().tools()
    found = {name: (tool["annotations"]["readOnlyHint"], tool["annotations"]["openWorldHint"])
             for name, tool in tools.items()}
    is_equal(found, {"example_hello_hello_greet": (True, False),
                     "example_words_words_count": (True, False), "t_writes_t_x": (False, False),
                     "t_free_t_x": (False, True), "t_net_t_x": (True, True)})


def test_old():
    client = Client(version="2024-11-05")
    is_equal(text_of(client.call("example_hello_hello_greet")), '{"greeting":"Hello, stranger!"}')
    client.end()


def test_prefix():
    client = Client("--prefix", "none", "--page-size", "1")
    first = client.request("tools/list")["result"]
    second = client.request("tools/list", {"cursor": first["nextCursor"]})["result"]
    is_equal([tool["name"] for page in (first, second) for tool in page["tools"]],
             ["hello_greet", "words_count"])
    is_equal("nextCursor" in second, False)
    has(text_of(client.call("hello_greet")), "stranger")
    client.end()


def test_cut():
    client = Client("--max-result-chars", "20")
    result = client.call("example_hello_hello_greet", {"name": "a" * 100})
    link = result["content"][-1]
    is_equal(link["type"], "resource_link")
    whole = client.request("resources/read", {"uri": link["uri"]})["result"]["contents"][0]["text"]
    is_equal(whole, '{"greeting":"Hello, %s!"}' % ("a" * 100))
    client.end()


def test_questions():
    for version in BOTH:
        client = Client(version=version)
        has(str(client.tools()["run_deploy"]["inputSchema"]), "answers")
        result = client.call("run_deploy", replies=["moon", True])
        has(text_of(result), "Deployed to moon")
        rising = [message["params"] for message in client.heard
                  if message.get("method") == "notifications/progress"]
        is_equal([one["message"] for one in rising], ["Uploading artifacts"] * 11)
        is_equal([one["progress"] for one in rising][-1], 10)
        is_equal(sorted(one["progress"] for one in rising), [one["progress"] for one in rising])
        is_equal(text_of(client.call("run_deploy", replies=["moon", {"action": "decline"}])),
                 "Cancelled.\n")
        result = client.call("run_deploy", replies=[{"action": "cancel"}])
        is_equal(result["isError"], True)
        has(text_of(result), "Deploy target:")
        client.end()


def test_gap():
    """A progress and the response are never in one read: there are clients that lose it then."""
    for version in BOTH:
        client = Client(version=version)
        for _ in range(5):
            number = client.ask("tools/call", {"name": "run_hasty", "arguments": {}}, token=7)
            pieces = b""
            while b'"result"' not in pieces:
                piece = os.read(client.process.stdout.fileno(), 65536)
                assert not (b"notifications/progress" in piece and b'"result"' in piece), piece
                pieces += piece
                time.sleep(0.01)  # a client that is slower than we are
            is_equal(pieces.count(b"notifications/progress"), 3)
            has(pieces, b'"id":%d' % number)
        client.end()


def test_alone():
    """A client that cannot ask: answers, defaults, a failure that names the question."""
    for version in BOTH:
        client = Client(version=version, can_ask=False)
        result = client.call("run_deploy")
        is_equal(result["isError"], True)
        has(text_of(result), 'it asks "Deploy to ')
        has(text_of(result), "`answers`")
        result = client.call("run_deploy", {"answers": {"Deploy target:": "mars",
                                                        "Deploy to mars?": True}})
        has(text_of(result), "Deployed to mars")
        result = client.call("run_ship")
        has(text_of(result), "to staging")
        result = client.call("run_ship", {"nonsense": 1})
        is_equal(result["isError"], True)
        has(text_of(result), "$.nonsense")
        client.end()


def test_arguments():
    """Arguments of a manifest have names; what is secret is never a form."""
    client = Client()
    schema = client.tools()["run_named"]["inputSchema"]
    is_equal(schema["required"], ["place"])
    is_equal(schema["properties"]["fast"]["type"], "boolean")
    result = client.call("run_named", {"place": "moon", "fast": True, "times": 3})
    is_equal(text_of(result), '["moon", "--fast", "3"]\n')
    has(text_of(client.call("run_named", {})), "$.place is required")
    result = client.call("run_secret", replies=[])
    is_equal(result["isError"], True)
    has(text_of(result), "Password")
    has(text_of(result), "store")
    client.end()


def test_approval():
    for version in BOTH:
        client = Client(version=version)
        is_equal(client.tools()["t_asks_t_x"]["annotations"]["destructiveHint"], True)
        is_equal(client.call("t_asks_t_x", replies=[True])["structuredContent"], {"done": True})
        has(client.heard[-1].get("method", "elicitation/create"), "elicitation/create")
        is_equal(client.call("t_asks_t_x", replies=[False])["isError"], True)
        client.end()
        client = Client(version=version, can_ask=False)
        result = client.call("t_asks_t_x")
        is_equal(result["isError"], True)
        has(text_of(result), "approve")
        client.end()


def test_agent():
    for version in BOTH:
        client = Client(version=version)
        first = client.call("agent_echo", {"message": "hello"})["structuredContent"]
        is_equal(first["reply"].strip(), "hello")
        again = client.call("agent_echo", {"message": "on", "session": first["session"]})
        is_equal(again["structuredContent"]["session"], first["session"])
        for wrong in ("x", "0" * 32):
            is_equal(client.call("agent_echo", {"message": "on", "session": wrong})["code"], -32602)
        client.end()


def test_sessions():
    """The stored sessions of agents, where the operator shows them."""
    for version in BOTH:
        client = Client(version=version)
        client.call("agent_echo", {"message": "hello"})
        templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
        is_equal(templates[0]["uriTemplate"], "perch://sessions/{session}")
        listed = client.request("resources/list")["result"]["resources"]
        has(listed[0]["uri"], "perch://sessions/echo/")
        read = client.request("resources/read", {"uri": listed[0]["uri"]})["result"]["contents"][0]
        session = json.loads(read["text"])
        is_equal((session["agent"], session["turns"]), ("echo", 1))
        error = client.request("resources/read", {"uri": "perch://sessions/echo/none"})["error"]
        is_equal(error["code"], -32602 if version == MODERN else -32002)
        client.end()


def test_traces():
    """The traces of the operator's directory, and nothing else of it or beside it."""
    for version in BOTH:
        client = Client(version=version)
        templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
        is_equal([each["uriTemplate"] for each in templates], ["perch://traces/{trace}"])
        listed = client.request("resources/list")["result"]["resources"]
        is_equal([each["uri"] for each in listed], ["perch://traces/a%20run.ndjson", "perch://traces/b"])
        read = client.request("resources/read", {"uri": listed[0]["uri"]})["result"]["contents"][0]
        is_equal(json.loads(read["text"].splitlines()[0])["trace"], "perch")
        for wrong in ("perch://traces/..%2Fsecret", "perch://traces/../secret", "perch://traces/.hidden",
                      "perch://sessions/echo/default"):
            error = client.request("resources/read", {"uri": wrong})["error"]
            is_equal(error["code"], -32602 if version == MODERN else -32002)
        has(client.request("resources/read", {"uri": "perch://traces/b"}), "error")
        client.end()


def test_no_resources():
    """Nothing of them is there unless it is listed."""
    client = Client()
    client.call("agent_echo", {"message": "hello"})
    is_equal(client.request("resources/list")["result"]["resources"], [])
    is_equal(client.request("prompts/list")["error"]["code"], -32601)
    has(client.request("resources/read", {"uri": "perch://sessions/echo/x"}), "error")
    client.end()


def wait_for(path):
    until = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.02)


def begin_slow(client):
    if os.path.exists(os.environ["READY"]):
        os.unlink(os.environ["READY"])
    number = client.ask("tools/call", {"name": "t_slow_t_x", "arguments": {}})
    wait_for(os.environ["READY"])
    return number


def gone():
    """Nobody of this test but ourselves is left, within 2 s."""
    mark = f"TEST_MARK={os.environ['TEST_MARK']}".encode()
    until = time.monotonic() + 2
    while True:
        left = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    found = mark in file.read().split(b"\0")
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if found and (b"perch" in line.split(b"\0")[0] or b"tools/slow" in line):
                left.append(line)
        if not left:
            return
        assert time.monotonic() < until, f"left behind: {left}"
        time.sleep(0.02)


def test_cancel():
    for version in BOTH:
        client = Client(version=version)
        number = begin_slow(client)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": number, "reason": "enough"}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": 999}})
        result = client.call("t_slow_t_x", {"quick": True})
        is_equal(result["structuredContent"], {"done": True})
        is_equal([one for one in client.heard if one.get("id") == number], [])
        client.end()
        gone()


def test_changes():
    client = Client()
    client.tools()
    os.rename(os.environ["LATER"], os.environ["BINDINGS"] + "/t.later.toml")
    while True:
        message = client.receive()
        if message.get("method") == "notifications/tools/list_changed":
            break
    has(client.tools(), "t_later_t_x")
    client.end()


def test_end():
    client = Client()
    begin_slow(client)
    client.end()
    gone()


def test_signal():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        client = Client(version=MODERN)
        begin_slow(client)
        client.request("tools/call", {"name": "run_deploy", "arguments": {}})
        client.process.send_signal(number)
        is_equal(client.process.wait(2), 0)
        gone()


def test_parent():
    """The client is killed while somebody else holds stdin open."""
    source, sink = os.pipe()
    parent = subprocess.Popen(
        ["sh", "-c", '"$PERCH" mcp; exit'], stdin=source, stdout=subprocess.PIPE)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "t_slow_t_x", "arguments": {}, "_meta": {
            META + "protocolVersion": MODERN, META + "clientInfo": {"name": "t", "version": "1"},
            META + "clientCapabilities": {}}}}
    os.write(sink, json.dumps(message).encode() + b"\n")
    wait_for(os.environ["READY"])
    parent.kill()
    parent.wait()
    gone()


def test_reader():
    """Nobody reads the answers any more."""
    client = Client()
    begin_slow(client)
    client.process.stdout.close()
    is_equal(client.process.wait(2), 0)
    gone()


def test_nonsense():
    client = Client()
    for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
                       ("x" * (9 << 20), None)):
        client.process.stdin.write(line.encode() + b"\n")
        client.process.stdin.flush()
        error = client.receive()["error"]
        is_equal(error["code"] if code else error["code"] < 0, code or True)
    is_equal(client.request("no/such")["error"]["code"], -32601)
    client.version = MODERN
    has(client.tools(), "example_hello_hello_greet")  # both eras in one process
    client.end()


def test_crowd():
    """Many at once, from a client that does not read meanwhile."""
    client = Client()
    numbers = [client.ask("tools/list") for _ in range(300)]
    numbers += [client.ask("tools/call", {"name": "example_hello_hello_greet", "arguments": {}})
                for _ in range(30)]
    time.sleep(0.2)
    answered = {client.receive()["id"] for _ in numbers}
    is_equal(answered, set(numbers))
    client.end()


run(globals())
