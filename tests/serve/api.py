"""The gateway's own API."""
import json
import os
import re
import signal
import socket
import subprocess
import time

from gateway import (CONFIG, PATIENCE, PERCH, STATE, WORK, Gateway, agent, agents, config, lines_of, run,
                     token, touch, until, write)


def test_turns():
    agents()
    gate = Gateway()
    first = gate.post("/api/turns", {"agent": "echo", "message": "hi", "session": "s", "odd": 1})
    assert first.status == 202, first.body
    assert first.json["warnings"] == ['"odd" means nothing here'], first.body
    job = gate.ended(first.json["id"])
    assert job["state"] == "done", job
    assert job["result"]["text"] == "partly said hi from me in s", job
    events = list(gate.stream("POST", "/api/turns", {"agent": "echo", "message": "again"}))
    names = [event["event"] for _, event in events]
    assert names[0] == "start" and names[-1] == "end" and "partial" in names, names
    numbers = [number for number, _ in events]
    assert numbers == sorted(set(numbers)), numbers
    assert len(gate.get("/api/jobs").json["jobs"]) == 2
    assert len(gate.get("/api/jobs?state=failed").json["jobs"]) == 0
    gate.get("/api/jobs?state=odd").is_error(400, "bad_request")
    failed = gate.ended(gate.turn(agent="fail"))
    assert failed["state"] == "failed" and failed["result"]["exit_code"] == 3, failed
    assert gate.stop() == 0


def test_resume():
    agents()
    gate = Gateway()
    number = gate.turn()
    gate.ended(number)
    events = list(gate.stream("GET", f"/api/jobs/{number}/events"))
    assert events[-1][1]["event"] == "end"
    for at, (seen, _) in enumerate(events[:-1]):
        rest = list(gate.stream("GET", f"/api/jobs/{number}/events",
                                headers={"Last-Event-ID": str(seen)}))
        assert rest == events[at + 1:], (seen, rest)
    # behind a restart, too
    gate.stop()
    gate.start()
    assert list(gate.stream("GET", f"/api/jobs/{number}/events")) == events
    gate.get(f"/api/jobs/{number}/events", headers={"Last-Event-ID": "x"}).is_error(
        400, "bad_request")
    gate.stop()


def test_multiplexed():
    agents()
    gate = Gateway()
    stream = gate.stream("GET", "/api/events")
    jobs = {gate.turn(session=str(i)) for i in range(3)}
    ended = set()
    for _, event in stream:
        assert event["job"] in jobs, event
        if event["event"] == "end":
            ended.add(event["job"])
        if ended == jobs:
            break
    stream.close()
    gate.stop()


def test_gathered():
    agents()
    agent("chatty", 'for i in $(seq 40); do echo "AGENT_PARTIAL:\\"$i \\""; sleep 0.03; done\n')
    gate = Gateway()
    for wrong in ("x", "1001", "-1", "", "9" * 40, "1&gather=2"):
        gate.get(f"/api/events?gather={wrong}").is_error(400, "bad_request")
    stream = gate.stream("GET", "/api/events?gather=1000")
    gate.turn(agent="chatty")
    since = time.monotonic()
    pieces, found = 0, b""
    while b'"event":"end"' not in found:
        found += stream.response.fp.read1(1 << 20)  # below the chunks
        pieces += 1
    stream.close()
    assert found.count(b'"event":"partial"') == 40, found
    assert pieces <= 2 + (time.monotonic() - since), pieces
    gate.stop()


def test_order():
    agents()
    gate = Gateway()
    slow = gate.turn(agent="slow", session="one")
    behind = [gate.turn(agent="slow", session="one") for _ in range(2)]
    beside = gate.turn(agent="slow", session="two")
    until(lambda: lines_of("started") == 2, "two sessions run")
    assert gate.job(behind[0])["state"] == "waiting"
    assert gate.job(behind[0])["position"] == 1
    assert gate.job(beside)["state"] == "running"
    touch("go")
    ends = [gate.ended(number)["ended"] for number in [slow, *behind]]
    assert ends == sorted(ends), ends
    gate.stop()


def test_cancel():
    agents()
    gate = Gateway()
    running = gate.turn(agent="slow", session="s")
    waiting = gate.turn(agent="slow", session="s")
    until(lambda: lines_of("started") == 1, "one runs")
    assert gate.ask("DELETE", f"/api/jobs/{waiting}").status == 202
    assert gate.ended(waiting)["state"] == "cancelled"
    gate.ask("DELETE", f"/api/jobs/{running}")
    assert gate.ended(running)["state"] == "cancelled"
    gate.stop()


def test_bad():
    agents()
    gate = Gateway()
    post = lambda body, **more: gate.post("/api/turns", body, **more)  # noqa: E731
    post("{").is_error(400, "bad_json")
    post("[]").is_error(400, "bad_request")
    post({"agent": "echo"}).is_error(400, "bad_request")
    post({"agent": 1, "message": "x"}).is_error(400, "bad_request")
    post({"agent": "echo", "message": "a\0b"}).is_error(400, "bad_request")
    post({"agent": "echo", "message": "x", "timeout": -1}).is_error(400, "bad_request")
    post({"agent": "echo", "message": "x", "session": ""}).is_error(400, "bad_request")
    post(b'{"agent":"echo","message":"\xff"}').is_error(400, "bad_json")
    post("[" * 100000).is_error(400, "bad_json")
    post({"agent": "nobody", "message": "x"}).is_error(404, "not_found")
    post({"agent": "../echo", "message": "x"}).is_error(404, "not_found")
    post({"agent": "echo", "message": "x",
          "attachments": [{"url": "file:///etc/passwd"}]}).is_error(400, "bad_request")
    gate.get("/api/nothing").is_error(404, "not_found")
    gate.ask("PUT", "/api/turns").is_error(405, "method")
    gate.get("/api/jobs/j00000000000000000000").is_error(404, "not_found")
    large = gate.raw(b"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                     gate.token.encode() + b"\r\nContent-Length: 104857600\r\n\r\n")
    assert large.startswith(b"HTTP/1.1 413"), large
    assert not gate.get("/api/jobs").json["jobs"]
    gate.stop()


def test_attachments():
    agents()
    from gateway import agent
    agent("see", 'file=$(printf %s "$AGENT_ATTACHMENTS" | sed -n \'s/.*file:\\/\\/\\([^"]*\\)".*/\\1/p\')\n'
                 'printf \'%s %s\\n\' "$(cat "$file")" "$file"\n')
    gate = Gateway()
    number = gate.turn(agent="see", attachments=[
        {"url": "data:text/plain;base64,aGVsbG8=", "name": "a.txt"}])
    text = gate.ended(number)["result"]["text"]
    assert text.startswith("hello /"), text
    path = text.split(" ")[1]
    assert not os.path.exists(path), path
    for url in ("data:text/plain;base64,!!!!", "data:text/plain,a", "file:///etc/passwd"):
        gate.post("/api/turns", {"agent": "see", "message": "x", "attachments": [{"url": url}]}
                  ).is_error(400, "bad_request")
    gate.stop()


def test_idempotency():
    agents()
    gate = Gateway()
    same = [gate.post("/api/turns", {"agent": "echo", "message": "x"},
                      headers={"Idempotency-Key": "k"}).json["id"] for _ in range(2)]
    assert same[0] == same[1], same
    other = token("other")
    gate_other = until(lambda: gate.post(
        "/api/turns", {"agent": "echo", "message": "x"}, token=other,
        headers={"Idempotency-Key": "k"}), "answer")
    gate_other = until(lambda: _id(gate, other), "the token is known")
    assert gate_other != same[0]
    gate.ended(same[0])
    gate.stop()
    # also for those who come while the job is being written: all in one round of the loop
    gate.start("--durable")
    twice = gate.raw(b"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                     gate.token.encode() + b"\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n"
                     b"Connection: close\r\nContent-Length: 30\r\n\r\n" b'{"agent":"echo","message":"x"}')
    assert twice.startswith(b"HTTP/1.1 400"), twice
    body = b'{"agent":"echo","message":"x"}'
    gate.process.send_signal(signal.SIGSTOP)
    clients = [socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE) for _ in range(8)]
    for client in clients:
        client.sendall(b"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                       gate.token.encode() + b"\r\nIdempotency-Key: at once\r\nConnection: close\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    clients.pop().close()  # one does not wait
    gate.process.send_signal(signal.SIGCONT)
    answers = [client.makefile("rb").read() for client in clients]
    assert all(answer.startswith(b"HTTP/1.1 202") for answer in answers), answers
    assert len({re.search(rb'"id":"(\w+)"', answer).group(1) for answer in answers}) == 1, answers
    gate.stop()


def _id(gate, other):
    answer = gate.post("/api/turns", {"agent": "echo", "message": "x"}, token=other,
                       headers={"Idempotency-Key": "k"})
    return answer.status == 202 and answer.json["id"]


def test_users():
    agents()
    mine = token("mine", "--allow", "agent:echo")
    yours = token("yours")
    gate = Gateway()
    number = gate.post("/api/turns", {"agent": "echo", "message": "x"}, token=mine).json["id"]
    gate.ended(number)
    assert gate.get(f"/api/jobs/{number}", token=mine).status == 200
    gate.get(f"/api/jobs/{number}", token=yours).is_error(404, "not_found")
    gate.get(f"/api/jobs/{number}/events", token=yours).is_error(404, "not_found")
    gate.ask("DELETE", f"/api/jobs/{number}", token=yours).is_error(404, "not_found")
    assert not gate.get("/api/jobs", token=yours).json["jobs"]
    assert not gate.get("/api/sessions", token=yours).json["sessions"]
    gate.post("/api/turns", {"agent": "fail", "message": "x"}, token=mine).is_error(
        404, "not_found")
    shown = [entry["name"] for entry in gate.get("/api/catalog", token=mine).json["agents"]]
    assert shown == ["echo"], shown
    gate.get("/api/tokens", token=mine).is_error(403, "admin")
    names = {entry["name"] for entry in gate.get("/api/tokens").json["tokens"]}
    assert {"me", "mine", "yours"} <= names and "hash" not in gate.get("/api/tokens").body.decode()
    gate.stop()


def test_sessions():
    agents()
    gate = Gateway()
    for text in ("one", "two"):
        gate.ended(gate.turn(message=text, session="s"))
    listed = until(lambda: [s for s in gate.get("/api/sessions").json["sessions"] if s["turns"] == 2],
                   "both turns are stored")
    path = f"/api/sessions/{listed[0]['id']}"
    messages = gate.get(path + "/messages").json["messages"]
    assert [m["role"] for m in messages] == ["assistant", "user"] * 2, messages
    assert messages[1]["text"] == "two"
    older = gate.get(f"{path}/messages?before={messages[1]['id']}").json["messages"]
    assert [m["text"] for m in older][-1] == "one" and len(older) == 2, older
    assert gate.ask("PATCH", path, {"title": "a name"}).json["title"] == "a name"
    assert gate.ask("DELETE", path).status == 200
    gate.get(path).is_error(404, "not_found")
    gate.get("/api/sessions/x").is_error(404, "not_found")
    gate.stop()


def test_full_queue():
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nmax_jobs = 1\nqueue = 1\n')
    gate = Gateway()
    gate.turn(agent="slow", session="a")
    gate.turn(agent="slow", session="b")
    full = gate.post("/api/turns", {"agent": "slow", "message": "x"}).is_error(429, "busy")
    assert full.headers["Retry-After"] and "1 jobs are waiting" in full.body.decode(), full.body
    full = gate.post("/v1/chat/completions", {"model": "slow", "messages": [
        {"role": "user", "content": "x"}]}).is_error(429, "busy")
    assert full.headers["Retry-After"], full.headers
    touch("go")
    gate.stop()


def test_full_memory():
    """Those that wait are limited by what they ask for, too."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nbuffers_max = 1048576\n')
    gate = Gateway()
    gate.turn(agent="slow", message="x" * 100000)
    for _ in range(10):
        gate.turn(agent="slow", message="x" * 100000)
    gate.post("/api/turns", {"agent": "slow", "message": "x"}).is_error(429, "busy")
    touch("go")
    until(lambda: not gate.get("/api/jobs?state=running").json["jobs"] and
          not gate.get("/api/jobs?state=waiting").json["jobs"], "all have run")
    gate.turn()
    gate.stop()


def test_metrics():
    agents()
    gate = Gateway()
    gate.ended(gate.turn())
    text = gate.get("/metrics").body.decode()
    assert 'perch_jobs_total{kind="turn",state="done"} 1' in text, text
    assert "perch_job_seconds_bucket" in text and "perch_memory_bytes" in text
    gate.get("/metrics", token=None).is_error(401, "token")
    assert "samples" in gate.get("/api/metrics/history").json
    gate.stop()


def test_check():
    agents()
    token("phone", "--allow", "agent:echo")
    found = subprocess.run([PERCH, "serve", "--check"], check=True, capture_output=True, text=True)
    assert "agents: echo, fail, slow" in found.stdout, found.stdout
    assert "token phone (user): agent:echo" in found.stdout, found.stdout
    assert "address: 127.0.0.1:4747" in found.stdout, found.stdout
    found = subprocess.run([PERCH, "serve", "--check", "--json"], check=True, capture_output=True,
                           text=True)
    shown = json.loads(found.stdout)["tokens"][0]
    assert [entry["name"] for entry in shown["catalog"]["agents"]] == ["echo"], shown
    write(f"{CONFIG}/config.toml", "[serve]\nlisen = \"x\"\n")
    found = subprocess.run([PERCH, "serve", "--check"], capture_output=True, text=True)
    assert found.returncode == 125 and "did you mean `listen`" in found.stderr, found.stderr


def test_reload():
    agents()
    gate = Gateway()
    assert gate.get("/healthz", token=None, headers={"Host": "perch.example"}).status == 403
    config('[expose.http]\nagents = ["echo"]\n[serve]\nallowed_hosts = ["perch.example"]\n')
    gate.process.send_signal(1)
    until(lambda: gate.get("/healthz", token=None, headers={"Host": "perch.example"}).status == 200,
          "the configuration is read again")
    gate.post("/api/turns", {"agent": "fail", "message": "x"}).is_error(404, "not_found")
    gate.stop()


def test_agent_file():
    config("")
    write(f"{WORK}/bot.sh", "#!/bin/sh\necho here\n", 0o755)
    write(f"{WORK}/bot.yaml", f"command: {WORK}/bot.sh\nsandbox: false\n")
    gate = Gateway("--agent", f"{WORK}/bot.yaml")
    assert gate.ended(gate.turn(agent="bot"))["result"]["text"] == "here"
    gate.stop()
    # one that cannot be used is told, with the reason
    write(f"{WORK}/bad.yaml", "commnd: ./x\n")
    gate.start("--agent", f"{WORK}/bad.yaml")
    gate.stop()
    with open(f"{WORK}/serve.log", encoding="utf-8") as log:
        told = log.read()
    assert "warning: bad cannot be used: " in told and "commnd" in told, told
    found = subprocess.run([PERCH, "serve", "--check", "--agent", f"{WORK}/bad.yaml"], check=True,
                           capture_output=True, text=True)
    assert "bad (cannot be used: " in found.stdout and "commnd" in found.stdout, found.stdout


def test_log_json():
    agents()
    gate = Gateway("--log-json", env={**os.environ, "PERCH_GUARD": f"{WORK}/nothing"})
    gate.ended(gate.turn())
    gate.stop()
    with open(f"{WORK}/serve.log", encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    assert any(line.get("job", {}).get("state") == "done" for line in lines), lines
    assert any(line["level"] == "warning" and f"{WORK}/nothing" in line["message"]
               for line in lines), "what the library tells is such a line, too"


def test_socket():
    agents()
    path = f"{WORK}/s.sock"
    gate = Gateway("--socket", path)
    assert os.stat(path).st_mode & 0o777 == 0o600
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"GET /api/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 401")
    gate.stop()
    assert not os.path.exists(path)
    assert not os.path.exists(STATE + "/attachments")


if __name__ == "__main__":
    run(globals())
