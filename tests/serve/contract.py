"""What the gateway promises in passing: of HTTP, of users, of jobs."""
import ctypes
import json
import os
import socket
import stat
import subprocess
import time

from gateway import (CONFIG, PATIENCE, PERCH, STATE, WORK, Gateway, agent, agents, config, lines_of, run,
                     token, touch, until, write)


def request(gate, method, path, *fields, body=b""):
    """What comes back for a request with these fields, whose connection is the last."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + "".join(
        field + "\r\n" for field in (f"Authorization: Bearer {gate.token}", *fields))
    return gate.raw(head.encode() + b"\r\n" + body)


def test_http():
    """HEAD, OPTIONS, Expect, chunks, HTTP/1.0."""
    agents()
    gate = Gateway()
    whole = request(gate, "GET", "/healthz")
    head = request(gate, "HEAD", "/healthz")
    assert whole.endswith(b"\r\n\r\nok\n") and head.endswith(b"\r\n\r\n"), (whole, head)
    assert b"Content-Length: 3\r\n" in whole and b"Content-Length: 3\r\n" in head, head
    asked = request(gate, "OPTIONS", "/api/jobs")
    assert asked.startswith(b"HTTP/1.1 204") and b"Allow: GET, HEAD, OPTIONS" in asked, asked
    asked = request(gate, "OPTIONS", "*")
    assert asked.startswith(b"HTTP/1.1 204") and b"Allow: GET, HEAD, POST, PATCH, DELETE" in asked, asked
    # of a stream there is a head as well, and the next request is answered behind it
    number = gate.post("/api/turns", {"agent": "slow", "message": "x"}).json["id"]
    for path in ("/api/events", f"/api/jobs/{number}/events"):
        both = gate.raw(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gate.token}"
                        "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                        .encode())
        assert b"Content-Type: text/event-stream" in both and both.endswith(b"\r\n\r\nok\n"), both
    touch("go")
    turn = b'{"agent":"echo","message":"hi"}'
    length = f"Content-Length: {len(turn)}"
    with socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE) as connection:
        connection.sendall(f"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                           f"{gate.token}\r\nExpect: 100-continue\r\n{length}\r\n\r\n".encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(turn)
        assert connection.recv(1000).startswith(b"HTTP/1.1 202")
    assert request(gate, "POST", "/api/turns", "Expect: more", length, body=turn).startswith(
        b"HTTP/1.1 417")
    # who is not known is not asked for its body
    unknown = gate.raw(b"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                       b"Content-Length: 1000000\r\n\r\n")
    assert unknown.startswith(b"HTTP/1.1 401"), unknown
    chunks = b"a;name=\"v\"\r\n" + turn[:10] + b"\r\n" + f"{len(turn) - 10:X}\r\n".encode() + \
        turn[10:] + b"\r\n0\r\nX-Trailer: x\r\n\r\n"
    assert request(gate, "POST", "/api/turns", "Transfer-Encoding: chunked", body=chunks).startswith(
        b"HTTP/1.1 202")
    old = gate.raw(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert old.startswith(b"HTTP/1.1 200") and old.endswith(b"ok\n"), old
    gate.stop()


def sockets_of(pid):
    """Copies of the TCP sockets that a process has open."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd_open, pidfd_getfd = 434, 438
    process = libc.syscall(pidfd_open, pid, 0)
    for name in os.listdir(f"/proc/{pid}/fd"):
        copy = libc.syscall(pidfd_getfd, process, int(name), 0)
        assert copy >= 0, os.strerror(ctypes.get_errno())
        if not stat.S_ISSOCK(os.fstat(copy).st_mode):
            os.close(copy)
            continue
        found = socket.socket(fileno=copy)
        if found.family == socket.AF_INET:
            yield found
    os.close(process)


def test_at_once():
    """The kernel holds no event back until the client has acknowledged what came before."""
    agents()
    gate = Gateway()
    with socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        found = [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets_of(gate.process.pid)]
    assert len(found) == 2 and all(found), found
    gate.stop()


def test_users():
    """What belongs to somebody else is not there; an admin sees all."""
    agents()
    agent("asks", "read -r turn\n" 'echo \'{"type":"permission_request","request_id":"1",'
          '"tool_name":"bash","input":{"command":"ls"}}\'\nread -r answer\n'
          'printf \'{"type":"result","text":"%s"}\\n\' "$(printf %s "$answer" | tr -d \'"\')"\n',
          'protocol: "0.4"\npermission: true\n')
    mine, yours = token("mine"), token("yours")
    gate = Gateway()
    theirs, all_of_them = (gate.stream("GET", "/api/events", token=one) for one in (yours, gate.token))
    number = gate.post("/api/turns", {"agent": "asks", "message": "x", "cwd": "/", "env": {}},
                       token=mine).json
    assert number["warnings"] == ['"cwd" means nothing here', '"env" means nothing here'], number
    number = number["id"]
    ask = gate.question(number)
    assert ask["event"] == "permission" and ask["tool_name"] == "bash", ask
    where = f"/api/jobs/{number}/answers/{ask['ask']}"
    gate.post(where, {"allow": True}, token=yours).is_error(404, "not_found")
    gate.post(where, {"value": "x"}, token=mine).is_error(400, "bad_request")
    gate.post(f"/api/jobs/{number}/answers/99", {"allow": True}, token=mine).is_error(409, "answered")
    answer = gate.post(where, {"allow": False, "message": "not today"}, token=mine)
    assert answer.status == 200, answer.body
    job = gate.ended(number)
    assert "deny" in job["result"]["text"] and "not today" in job["result"]["text"], job
    assert next(event for _, event in all_of_them if event["event"] == "end")["job"] == number
    own = gate.post("/api/turns", {"agent": "echo", "message": "x"}, token=yours).json["id"]
    assert next(event for _, event in theirs)["job"] == own, "the first thing that they hear of"
    session, = gate.get("/api/sessions", token=mine).json["sessions"]
    gate.get(f"/api/sessions/{session['id']}/messages", token=yours).is_error(404, "not_found")
    gate.ask("DELETE", f"/api/sessions/{session['id']}", token=yours).is_error(404, "not_found")
    assert gate.get("/metrics", token=mine).status == 200
    for stream in (theirs, all_of_them):
        stream.close()
    gate.stop()


def test_jobs():
    """A job outlives its connection; its time ends it; its sender and its end are on record."""
    agents()
    gate = Gateway()
    stream = gate.stream("POST", "/api/turns", {"agent": "slow", "message": "x"})
    until(lambda: lines_of("started") == 1, "it runs")
    number = gate.get("/api/jobs").json["jobs"][0]["id"]
    stream.close()
    late = gate.turn(agent="slow", session="late", timeout=0.5)
    job = gate.ended(late)
    told = str([event for _, event in gate.stream("GET", f"/api/jobs/{late}/events")])
    assert job["state"] == "failed" and "timeout" in told, (job, told)
    assert gate.job(number)["state"] == "running", "its client is gone"
    touch("go")
    job = gate.ended(number)
    assert job["state"] == "done", job
    assert {"id", "kind", "state", "session", "created", "started", "ended", "questions",
            "result"} <= job.keys(), job
    assert job["created"] <= job["started"] <= job["ended"], job
    with open(f"{STATE}/audit.jsonl", encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    assert [(line["kind"], line["caller"], line["frontend"]) for line in lines] == [
        ("turn", "me", "http")] * 2, lines
    assert os.stat(f"{STATE}/transcripts.db").st_mode & 0o777 == 0o600
    assert os.stat(f"{STATE}/gateway.db").st_mode & 0o777 == 0o600
    gate.stop()


def test_audit_required():
    """Where every job must be in the log, none runs that cannot be."""
    agents()
    config('audit = "required"\n[expose.http]\nagents = ["*"]\n')
    os.makedirs(f"{STATE}/audit.jsonl")
    gate = Gateway()
    job = gate.ended(gate.turn(agent="slow"))
    told = str([event for _, event in gate.stream("GET", f"/api/jobs/{job['id']}/events")])
    assert job["state"] == "failed" and "audit" in told, (job, told)
    assert lines_of("started") == 0
    gate.stop()


def test_heartbeat():
    """A silent stream says that it is alive."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nheartbeat = "1s"\n')
    gate = Gateway()
    stream = gate.stream("GET", "/api/events")
    assert [stream.response.readline() for _ in range(4)] == [b": still here\n", b"\n"] * 2
    stream.close()
    gate.stop()


def test_tokens():
    """A token alone is on stdout; words are not."""
    made = subprocess.run([PERCH, "token", "create", "phone", "--expires", "30d"], capture_output=True,
                          text=True, check=True)
    assert made.stdout.startswith("perch_") and made.stdout.count("\n") == 1, made.stdout
    assert "phone" in made.stderr and made.stdout.strip() not in made.stderr, made.stderr
    listed = subprocess.run([PERCH, "token", "list"], capture_output=True, text=True, check=True).stdout
    assert "phone" in listed and made.stdout.strip() not in listed, listed
    subprocess.run([PERCH, "token", "revoke", "phone"], check=True, stderr=subprocess.DEVNULL)
    again = subprocess.run([PERCH, "token", "revoke", "phone"], capture_output=True, text=True)
    assert again.returncode == 125 and "phone" in again.stderr, again


if __name__ == "__main__":
    run(globals())
