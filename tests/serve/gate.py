"""Who may ask, and how: tokens, hosts, origins, cookies, limits, framing, deadlines."""
import json
import os
import re
import signal
import socket
import subprocess
import time

from gateway import (CONFIG, PERCH, STATE, WORK, Gateway, TerminalGateway, agents, config, run, token,
                     until, write)


def test_tokens():
    agents()
    gate = Gateway()
    assert gate.get("/healthz", token=None).body == b"ok\n"
    assert gate.get("/readyz", token=None).status == 200
    for path in ("/api/catalog", "/api/jobs", "/metrics", "/v1/models", "/nothing"):
        answer = gate.get(path, token=None)
        assert answer.status == 401, (path, answer.body)
    gate.get("/api/jobs", token="perch_wrong").is_error(401, "token")
    with open(f"{STATE}/tokens.json", encoding="utf-8") as file:
        assert gate.token not in file.read()
    assert os.stat(f"{STATE}/tokens.json").st_mode & 0o777 == 0o600
    wrong = subprocess.run([PERCH, "token", "create", "me"], capture_output=True, text=True)
    assert wrong.returncode == 125 and "already" in wrong.stderr and not wrong.stdout, wrong
    for words in (["a b"], ["x", "--allow", "bot"], ["x", "--role", "king"], ["x", "--expires", "z"]):
        wrong = subprocess.run([PERCH, "token", "create", *words], capture_output=True, text=True)
        assert wrong.returncode == 64, (words, wrong)
    gate.stop()


def test_revoke():
    agents()
    other = token("other")
    gate = Gateway()
    stream = gate.stream("GET", "/api/events", token=other)
    # a connection that has shown it is known by it alone, and no longer than it is good
    kept = gate.connect()
    for text, status in ((other, 200), (other, 200), (other[:-1], 401), (other + "x", 401),
                         (gate.token, 200), (other, 200)):
        assert gate.get("/api/jobs", token=text, connection=kept).status == status, text
    subprocess.run([PERCH, "token", "revoke", "other"], check=True, stderr=subprocess.DEVNULL)
    began = time.monotonic()
    assert not list(stream)
    assert time.monotonic() - began < 30
    gate.get("/api/jobs", token=other).is_error(401, "token")
    gate.get("/api/jobs", token=other, connection=kept).is_error(401, "token")
    gate.stop()


def test_expiry():
    """A token whose time is over reads no stream any more, and is no guest."""
    agents()
    guest = token("guest", "--expires", "8s")
    gate = Gateway("--anonymous", "guest")
    stream = gate.stream("GET", "/api/events", token=guest)
    assert gate.get("/api/jobs", token=None).status == 200
    assert not list(stream)
    gate.get("/api/jobs", token=None).is_error(401, "token")
    gate.get("/api/jobs", token=guest).is_error(401, "token")
    assert gate.get("/api/jobs").status == 200
    gate.stop()


def test_wrong_tokens():
    agents()
    gate = Gateway()
    for _ in range(10):
        gate.get("/api/jobs", token="perch_wrong").is_error(401, "token")
    blocked = gate.get("/api/jobs", token="perch_wrong").is_error(429, "too_many_wrong_tokens")
    assert blocked.headers["Retry-After"]
    gate.get("/api/jobs", token=None).is_error(429, "too_many_wrong_tokens")
    assert gate.get("/api/jobs").status == 200
    gate.stop()


def test_anonymous():
    agents()
    wrong = subprocess.run([PERCH, "serve", "--anonymous", "nobody"], capture_output=True, text=True)
    assert wrong.returncode == 125 and "no such token" in wrong.stderr, wrong
    token("guest", "--allow", "agent:echo")
    gate = Gateway("--anonymous", "guest")
    assert gate.post("/api/turns", {"agent": "echo", "message": "x"}, token=None).status == 202
    gate.post("/api/turns", {"agent": "fail", "message": "x"}, token=None).is_error(
        404, "not_found")
    gate.get("/api/jobs", token="perch_wrong").is_error(401, "token")
    # A proxy that is not trusted is of this machine; its client need not be.
    for name, value in (("X-Forwarded-For", "192.0.2.7"), ("X-Forwarded-For", "127.0.0.1"),
                        ("X-Forwarded-For", ""), ("forwarded", "for=192.0.2.7")):
        gate.get("/api/jobs", token=None, headers={name: value}).is_error(401, "token")
        assert gate.get("/api/jobs", headers={name: value}).status == 200, "with a token"
    assert gate.get("/api/jobs", token=None).status == 200
    gate.stop()
    with open(f"{WORK}/serve.log", encoding="utf-8") as log:
        assert "a sandboxed plugin with a network too" in log.read()


def test_host():
    config('[serve]\nallowed_hosts = ["perch.example"]\n')
    gate = Gateway()
    for host in ("evil.example", "localhost.evil.example", "127.0.0.2"):
        gate.get("/healthz", token=None, headers={"Host": host}).is_error(403, "host")
    for host in (f"localhost:{gate.port + 1}", "127.0.0.1:1", "[::1]:80", "localhost:"):
        assert gate.get("/healthz", token=None, headers={"Host": host}).status in (400, 403), host
    for host in ("localhost", f"localhost:{gate.port}", "127.0.0.1", "[::1]", "PERCH.example",
                 "perch.example:8443", f"[::1]:{gate.port}"):
        assert gate.get("/healthz", token=None, headers={"Host": host}).status == 200, host
    gate.stop()


def test_origin():
    config('[serve]\nallowed_origins = ["https://app.example"]\n')
    gate = Gateway()
    for origin in ("https://evil.example", "null", f"https://localhost:{gate.port}",
                   "http://localhost:1"):
        gate.get("/healthz", token=None,
                 headers={"Origin": origin, "Host": f"localhost:{gate.port}"}).is_error(
                     403, "origin")
    own = f"http://localhost:{gate.port}"
    assert gate.get("/healthz", token=None, headers={
        "Origin": own, "Host": f"localhost:{gate.port}"}).status == 200
    allowed = gate.get("/api/jobs", headers={"Origin": "https://app.example"})
    assert allowed.status == 200
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://app.example"
    asked = gate.ask("OPTIONS", "/api/turns", token=None,
                     headers={"Origin": "https://app.example"})
    assert asked.status == 204 and "POST" in asked.headers["Access-Control-Allow-Methods"]
    gate.ask("OPTIONS", "/api/turns", token=None).is_error(401, "token")
    gate.stop()


def test_cookie():
    agents()
    gate = Gateway()
    own = {"Origin": f"http://localhost:{gate.port}", "Host": f"localhost:{gate.port}"}
    gate.post("/api/login", {"token": "perch_wrong"}, token=None, headers=own).is_error(401, "login")
    answer = gate.post("/api/login", {"token": gate.token}, token=None, headers=own)
    cookie = answer.headers["Set-Cookie"]
    assert re.match(rf"perch_{gate.port}=perch_[^;]+; HttpOnly; SameSite=Strict; Path=/; "
                    r"Max-Age=43200$", cookie), cookie
    assert gate.token not in cookie
    jar = {**own, "Cookie": cookie.split(";")[0]}
    turn = {"agent": "echo", "message": "x"}
    assert gate.get("/api/jobs", token=None, headers={"Cookie": jar["Cookie"]}).status == 200
    assert gate.post("/api/turns", turn, token=None, headers=jar).status == 202
    gate.post("/api/turns", turn, token=None, headers={"Cookie": jar["Cookie"]}).is_error(
        403, "origin")
    assert gate.post("/api/logout", {}, token=None, headers=jar).status == 200
    gate.get("/api/jobs", token=None, headers=jar).is_error(401, "token")
    # who signs in again and again signs nobody else out, but itself
    cookie = gate.post("/api/login", {"token": gate.token}, token=None, headers=own)
    jar["Cookie"] = cookie.headers["Set-Cookie"].split(";")[0]
    other = token("other")
    until(lambda: gate.get("/api/jobs", token=other).status == 200, "the token is known")
    others = [gate.post("/api/login", {"token": other}, token=None,
                        headers=own).headers["Set-Cookie"].split(";")[0] for _ in range(40)]
    assert gate.get("/api/jobs", token=None, headers=jar).status == 200
    gate.get("/api/jobs", token=None, headers={"Cookie": others[0]}).is_error(401, "token")
    assert gate.get("/api/jobs", token=None, headers={"Cookie": others[-1]}).status == 200
    # the twelve hours are the server's, too, whatever the browser keeps
    gate.stop()
    with open(f"{STATE}/cookies", encoding="ascii") as file:
        lines = [line.split(" ") for line in file]
    assert all(int(line[1]) - time.time() > 11.9 * 3600 for line in lines), lines
    write(f"{STATE}/cookies", "".join(" ".join([line[0], str(int(time.time()) - 1), *line[2:]])
                                      for line in lines), 0o600)
    gate.start()
    held = jar["Cookie"].split("=")[1]
    gate.get("/api/jobs", token=None, headers={"Cookie": f"perch_{gate.port}={held}"}).is_error(
        401, "token")
    own = {"Origin": f"http://localhost:{gate.port}", "Host": f"localhost:{gate.port}"}
    jar = dict(own)
    # revoking the token ends its cookies
    cookie = gate.post("/api/login", {"token": gate.token}, token=None,
                       headers=own).headers["Set-Cookie"]
    jar["Cookie"] = cookie.split(";")[0]
    subprocess.run([PERCH, "token", "revoke", "me"], check=True, stderr=subprocess.DEVNULL)
    until(lambda: gate.get("/api/jobs", token=None, headers=jar).status == 401, "it ends")
    gate.stop()


def test_once():
    """The link that a terminal shows logs a browser in, once."""
    agents()
    gate = TerminalGateway()
    own = gate.own
    gate.post("/api/login", {"once": "perch_wrong"}, token=None, headers=own).is_error(401, "login")
    answer = gate.post("/api/login", {"once": gate.once}, token=None, headers=own)
    assert answer.status == 200, answer.body
    jar = {**own, "Cookie": answer.headers["Set-Cookie"].split(";")[0]}
    assert gate.get("/api/tokens", token=None, headers=jar).status == 200, "it is an admin"
    job = gate.post("/api/turns", {"agent": "echo", "message": "x"}, token=None, headers=jar)
    assert job.status == 202, job.body
    gate.post("/api/login", {"once": gate.once}, token=None, headers=own).is_error(401, "login")
    assert gate.stop() == 0


def test_framing():
    gate = Gateway()
    for request in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\nHost: localhost\n\n",
                    b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n",
                    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n"):
        answer = gate.raw(request)
        assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 505", b"HTTP/1.1 431")), answer
        assert b'{"error":' in answer
    # pipelined requests are answered in order, in one connection
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = gate.raw(one * 50 + last)
    assert answer.count(b"HTTP/1.1 200") == 51 and answer.endswith(b"ready\n"), answer[-200:]
    # whoever says that it has sent everything is still answered
    assert b"200 OK" in gate.raw(one, half_close=True)
    gate.stop()


def test_proxy():
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\ntrusted_proxies = ["127.0.0.1"]\n')
    gate = Gateway()
    for _ in range(10):
        gate.get("/api/jobs", token="perch_wrong",
                 headers={"X-Forwarded-For": "10.0.0.1, 192.0.2.7"})
    gate.get("/api/jobs", token="perch_wrong",
             headers={"X-Forwarded-For": "192.0.2.7"}).is_error(429, "too_many_wrong_tokens")
    gate.get("/api/jobs", token="perch_wrong",
             headers={"X-Forwarded-For": "192.0.2.8"}).is_error(401, "token")
    own = {"Origin": f"https://localhost:{gate.port}", "Host": f"localhost:{gate.port}",
           "X-Forwarded-Proto": "https"}
    answer = gate.post("/api/login", {"token": gate.token}, token=None, headers=own)
    assert answer.headers["Set-Cookie"].endswith("; Secure"), answer.headers
    gate.stop()


def test_proxy_anonymous():
    """What a client says of itself does not make it one of this machine."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\ntrusted_proxies = ["127.0.0.1"]\n')
    token("guest", "--allow", "agent:echo")
    gate = Gateway("--anonymous", "guest")

    def status(*forwarded):
        fields = b"".join(b"X-Forwarded-For: " + field + b"\r\n" for field in forwarded)
        return gate.raw(b"GET /api/jobs HTTP/1.1\r\nHost: localhost\r\n" + fields +
                        b"Connection: close\r\n\r\n").split()[1]

    assert status(b"127.0.0.1") == b"200"
    for fields in ((b"192.0.2.7",), (b"127.0.0.1", b"192.0.2.7"), (b"127.0.0.1, 192.0.2.7:4711",),
                   (b"127.0.0.1, unknown",), (b'"', b"192.0.2.7"), (b"",), ()):
        assert status(*fields) == b"401", fields
    gate.stop()


def test_local_name():
    """The page's own user has a name that no token has: their jobs would be shared."""
    refused = subprocess.run([PERCH, "token", "create", "local"], capture_output=True, text=True)
    assert refused.returncode == 125 and "page's own user" in refused.stderr, refused
    secret = token("planted", "--role", "admin")
    with open(f"{STATE}/tokens.json", encoding="utf-8") as file:
        text = file.read().replace('"planted"', '"local"')
    write(f"{STATE}/tokens.json", text, 0o600)
    gate = Gateway()
    gate.get("/api/jobs", token=secret).is_error(401, "token")
    assert "perch token revoke local" in open(f"{WORK}/serve.log", encoding="utf-8").read()
    subprocess.run([PERCH, "token", "revoke", "local"], check=True, stderr=subprocess.DEVNULL)
    gate.stop()


def test_audit():
    """Who was turned down, and who answered, is in the audit log."""
    agents()
    gate = Gateway()
    user = token("user", "--allow", "agent:echo")
    gate.get("/api/jobs", token="perch_wrong", headers={"User-Agent": "cat"}).is_error(401, "token")
    gate.post("/api/turns", {"agent": "fail", "message": "x"}, token=user).is_error(
        404, "not_found")
    gate.post("/v1/chat/completions", {"model": "none", "messages": [
        {"role": "user", "content": "x"}]}, token=user).is_error(404, "model_not_found")
    gate.get("/api/tokens", token=user).is_error(403, "admin")
    lines = [json.loads(line) for line in open(f"{STATE}/audit.jsonl", encoding="utf-8")]
    assert all(line["kind"] == "refusal" and line["frontend"] == "http" for line in lines), lines
    assert [(line.get("caller"), line["name"]) for line in lines] == [
        (None, "/api/jobs"), ("user", "fail"), ("user", "none"), ("user", "/api/tokens")], lines
    assert lines[0]["client"] == "cat" and "perch_wrong" not in str(lines), lines
    # a peer that is blocked fills no log
    for _ in range(20):
        gate.get("/api/jobs", token="perch_wrong")
    lines = open(f"{STATE}/audit.jsonl", encoding="utf-8").readlines()
    assert len(lines) == 13, len(lines)
    gate.stop()


def test_own_token():
    """Without tokens, nothing secret reaches a log."""
    agents()
    gate = Gateway(token_name=None)
    gate.get("/api/jobs", token=None).is_error(401, "token")
    gate.stop()
    with open(f"{WORK}/serve.log", encoding="utf-8") as log:
        assert "perch_" not in log.read()


def test_words():
    """A command line that is wrong behind an --agent."""
    agents()
    for words in (["--agent", "a.yaml", "word"], ["--agent", "a.yaml", "--drain", "soon"],
                  ["--agent", "a.yaml", "--mcp-prefix", "some"], ["--agent", "a.yaml", "--none"]):
        wrong = subprocess.run([PERCH, "serve", *words], capture_output=True, text=True)
        assert wrong.returncode == 64 and "error: " in wrong.stderr, (words, wrong)
    wrong = subprocess.run([PERCH, "serve", "--agent", f"{CONFIG}/agents/echo.yaml", "--agent",
                            "none.yaml"], capture_output=True, text=True)
    assert wrong.returncode == 125 and "--agent none.yaml" in wrong.stderr, wrong
    assert "perch agent list shows" in wrong.stderr, wrong


def test_two():
    agents()
    gate = Gateway()
    other = subprocess.run([PERCH, "serve", "--listen", "127.0.0.1:0"], capture_output=True,
                           text=True, timeout=60)
    assert other.returncode == 125 and "another perch serve" in other.stderr, other
    # the port alone is taken
    apart = {**os.environ, "XDG_STATE_HOME": f"{WORK}/apart"}
    for address, words in ((f"127.0.0.1:{gate.port}", "--listen 127.0.0.1:0 takes a port"),
                           (str(gate.port), "like 127.0.0.1:4747")):
        other = subprocess.run([PERCH, "serve", "--listen", address], capture_output=True,
                               text=True, timeout=60, env=apart)
        assert other.returncode == 125 and words in other.stderr, other
    gate.stop()


def test_activation():
    """A socket that was handed over, as systemd does it."""
    agents()
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    secret = token("me")
    write(f"{WORK}/start", f"#!/bin/sh\nLISTEN_PID=$$ LISTEN_FDS=1 exec '{PERCH}' serve "
          f"3<&{listening.fileno()}\n", 0o755)
    process = subprocess.Popen([f"{WORK}/start"], pass_fds=[listening.fileno()])
    listening.close()
    gate = Gateway.__new__(Gateway)
    gate.port, gate.token = port, secret
    until(lambda: gate.get("/api/jobs").status == 200, "it answers")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


if __name__ == "__main__":
    run(globals())
