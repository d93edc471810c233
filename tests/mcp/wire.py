#!/usr/bin/env python3
"""What a client can do to the lines of `perch mcp`: wire.py NAME…"""
import os
import threading
import time

from client import *

HELLO = {"name": "tests", "version": "1"}


def raw(client, line):
    """A line as it is, and the next message."""
    client.process.stdin.write((line if isinstance(line, str) else json.dumps(line)).encode() + b"\n")
    client.process.stdin.flush()
    return client.receive()


def code(message):
    return message["error"]["code"]


def request(number, method="ping", params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def modern(version=MODERN, **more):
    return {"_meta": {META + "protocolVersion": version, META + "clientInfo": HELLO,
                      META + "clientCapabilities": {}}, **more}


def test_codes():
    """Every error code, in a process that speaks both eras."""
    client = Client(begins=False)
    is_equal(code(raw(client, "nonsense")), -32700)
    is_equal(code(raw(client, "7")), -32600)
    is_equal(code(raw(client, {"jsonrpc": "1.0", "id": 1, "method": "ping"})), -32600)
    is_equal(code(raw(client, {"jsonrpc": "2.0", "id": 1, "method": 7})), -32600)
    is_equal(code(raw(client, {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []})), -32600)
    is_equal(code(raw(client, {"jsonrpc": "2.0", "id": None, "method": "ping"})), -32600)
    is_equal(code(raw(client, {"jsonrpc": "2.0", "id": 1.5, "method": "ping"})), -32600)
    is_equal(code(raw(client, request(1, "tools/list"))), -32602)  # no era
    is_equal(code(raw(client, request(1, "no/such", modern()))), -32601)
    error = raw(client, request(1, "tools/list", modern("2030-01-01")))["error"]
    is_equal(error["code"], -32022)
    has(error["data"]["supported"], MODERN)
    is_equal(code(raw(client, request(1, "tools/call", modern(name=7)))), -32602)
    is_equal(code(raw(client, request(1, "tools/list", modern(cursor="x")))), -32602)
    is_equal(code(raw(client, request(1, "tools/call", modern(name="no")))), -32602)
    is_equal(code(raw(client, request(1, "resources/read", modern(uri="perch://results/1")))), -32602)
    hello = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": HELLO}
    is_equal(raw(client, request(2, "initialize", hello))["result"]["protocolVersion"], LEGACY)
    is_equal(code(raw(client, request(3, "resources/read", {"uri": "perch://results/1"}))), -32002)
    is_equal(raw(client, request(4))["result"], {})
    client.end()


def test_ids():
    """Texts, whole numbers that are written otherwise, the same id twice."""
    client = Client()
    is_equal(raw(client, request("a\n"))["id"], "a\n")
    is_equal(raw(client, '{"jsonrpc":"2.0","id":1e2,"method":"ping"}')["id"], 100)
    is_equal(code(raw(client, request(1 << 70))), -32600)
    is_equal(code(raw(client, request("x" * 600))), -32600)
    client.send(request(7, "tools/call", {"name": "t_slow_t_x", "arguments": {}}))
    until = time.monotonic() + PATIENCE
    while not os.path.exists(os.environ["READY"]):
        assert time.monotonic() < until
        time.sleep(0.02)
    is_equal(code(raw(client, request(7, "tools/list"))), -32600)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    is_equal(raw(client, request(7))["result"], {})  # it is free again
    for wrong in ({"requestId": 7}, {"requestId": 999}, {"requestId": []}, {}):
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": wrong})
    client.send({"jsonrpc": "2.0", "id": 55, "result": {}})  # an answer that nobody wants
    is_equal(raw(client, request(8))["id"], 8)
    client.end()


def test_batches():
    lines = [request(1), request(2, "no/such"), {"jsonrpc": "2.0", "method": "notifications/x"}, 7]
    client = Client(version="2025-03-26")
    answers = raw(client, lines)
    is_equal(sorted(str(one.get("id")) for one in answers), ["1", "2", "None"])
    is_equal(code(raw(client, "[]")), -32600)
    client.end()
    for version in ("2024-11-05", LEGACY):
        client = Client(version=version)
        is_equal(code(raw(client, lines)), -32600)
        client.end()


def test_states():
    """A requestState is good once, as it is, for its own call."""
    client = Client(version=MODERN)

    def park(name="run_deploy"):
        return client.request("tools/call", {"name": name, "arguments": {}})["result"]

    def resume(state, result, name="run_deploy", arguments=None):
        key, form = next(iter(result["inputRequests"].items()))
        return client.request("tools/call", {
            "name": name, "arguments": arguments or {}, "requestState": state,
            "inputResponses": {key: reply(form["params"], ["moon"])}})

    parked = park()
    state = parked["requestState"]
    middle = len(state) // 2
    tampered = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1:]
    for wrong in (tampered, "", "x", state + "x", state[:-1], "A" * 10000):
        is_equal(code(resume(wrong, parked)), -32602)
    is_equal(code(resume(state, parked, name="example_hello_hello_greet")), -32602)
    is_equal(code(resume(state, parked, arguments={"args": ["x"]})), -32602)
    other = Client(version=MODERN)
    foreign = other.request("tools/call", {"name": "run_deploy", "arguments": {}})["result"]
    is_equal(code(resume(foreign["requestState"], parked)), -32602)
    other.end()
    second = resume(state, parked)["result"]  # what was refused was not used up
    is_equal(second["resultType"], "input_required")
    is_equal(code(resume(state, parked)), -32602)
    # So many runs wait, and no more: the others are told.
    for _ in range(7):
        is_equal(park()["resultType"], "input_required")
    ninth = park()
    is_equal(ninth["isError"], True)
    has(text_of(ninth), "too many runs wait")
    client.end()


def test_thousands():
    """10,000 requests at once, from a client that reads nothing until all are written."""
    client = Client()
    count = 10000

    def write():
        for number in range(100, 100 + count):
            method = "tools/list" if number % 2 else "ping"
            client.process.stdin.write(json.dumps(request(number, method)).encode() + b"\n")
        client.process.stdin.flush()

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.5)  # perch must stop reading meanwhile: there is no room for all the answers
    most = 0
    with open(f"/proc/{client.process.pid}/status", encoding="ascii") as file:
        most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    answered = {client.receive()["id"] for _ in range(count)}
    writer.join()
    is_equal(answered, set(range(100, 100 + count)))
    assert most < 64 * 1024, f"{most} kB"
    client.end()


def test_trace():
    client = Client(version=MODERN)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    params = modern(name="example_hello_hello_greet", arguments={})
    params["_meta"]["traceparent"] = parent
    has(raw(client, request(1, "tools/call", params)), "result")
    client.end()


run(globals())
