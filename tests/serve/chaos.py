"""The gateway under load and faults. CHAOS says how much of it: a short form for every run, the long
one for `./dev chaos serve`."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from gateway import (PATIENCE, WORK, Gateway, agent, agents, config, lines_of, run, touch, until)

LONG = os.environ.get("CHAOS") == "long"
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))


def amount(short, long):
    return long if LONG else short


def memory(pid):
    """Bytes that are this process's alone. Clean ones are a file's, and others may have them too."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        text = file.read()
    return sum(int(n) for n in re.findall(r"Private_Dirty: +(\d+)", text)) * 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def server(gate):
    """perch becomes perch-serve: the same process."""
    return gate.process.pid


def open_stream(gate, path="/api/events"):
    connection = socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                       f"{gate.token}\r\n\r\n".encode())
    return connection


def test_streams():
    """Idle streams cost little, and hear what they should."""
    agents()
    gate = Gateway()
    gate.ended(gate.turn())
    count = amount(1000, 10000)
    before = memory(server(gate))
    streams = []
    for _ in range(count):
        streams.append(open_stream(gate))
    for connection in streams:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    spent = memory(server(gate)) - before
    print(f"{count} idle streams: {spent} bytes, {spent // count} each")
    assert spent <= count * 1640, spent
    number = gate.turn()
    heard = 0
    for connection in streams:
        connection.settimeout(PATIENCE)
        text = b""
        while b'"event":"end"' not in text:
            piece = connection.recv(65536)
            assert piece, text
            text += piece
        assert number.encode() in text
        heard += 1
    assert heard == count
    for connection in streams:
        connection.close()
    until(lambda: b"perch_streams 0" in gate.get("/metrics").body, "all are gone")
    gate.stop()


def test_slow_readers():
    """Who does not read stops nobody."""
    agents()
    agent("much", 'i=0\nwhile [ $i -lt 2000 ]; do\necho \'AGENT_PARTIAL:"' + "x" * 1000 +
          '"\'\ni=$((i + 1))\ndone\necho end\n', "max_reply_chars: 0\n")
    gate = Gateway()
    stuck = [open_stream(gate) for _ in range(20)]
    started = memory(server(gate))
    for _ in range(amount(3, 30)):
        job = gate.ended(gate.turn(agent="much"))
        assert job["state"] == "done", job
    assert memory(server(gate)) - started < 160 * 1024 * 1024
    for connection in stuck:
        connection.close()
    gate.stop()


def test_aborted():
    """Turns whose clients go leave no process."""
    agents()
    agent("deep", 'sleep 600 & echo x >>"$WORK/deep"\nwait\n')
    gate = Gateway()
    body = json.dumps({"model": "deep", "stream": True,
                       "messages": [{"role": "user", "content": "x"}]}).encode()
    request = (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
               gate.token.encode() + b"\r\nContent-Length: " + str(len(body)).encode() +
               b"\r\n\r\n" + body)
    chance = random.Random(SEED)
    for _ in range(amount(40, 1000)):
        connection = socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE)
        connection.sendall(request[:chance.choice((len(request), len(request), len(request) - 9))])
        time.sleep(chance.choice((0, 0.001, 0.02)))
        connection.close()
    until(lambda: not gate.get("/api/jobs?state=running").json["jobs"] and
          not gate.get("/api/jobs?state=waiting").json["jobs"], "all are cancelled")
    children = subprocess.run(["pgrep", "-P", str(server(gate))], capture_output=True, text=True,
                              check=False).stdout.split()
    names = [open(f"/proc/{pid}/comm", encoding="utf-8").read().strip() for pid in children]
    assert all(name.startswith("perch-guard") for name in names), names
    gate.stop()


def kills_round(gate, chance, accepted, text):
    """Turns from several clients, while somebody kills the server."""
    over = threading.Event()

    def ask():
        while not over.is_set():
            try:
                answer = gate.post("/api/turns", {
                    "agent": "mark", "message": f"m{len(accepted)}-{chance.random()}",
                    "session": str(chance.randrange(50))})
                if answer.status == 202:
                    accepted.append(answer.json["id"])
            except (OSError, ValueError, http_errors()):
                return
    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    time.sleep(chance.uniform(0.02, 0.4))
    gate.kill()
    over.set()
    for client in clients:
        client.join()
    gate.start()
    del text


def http_errors():
    import http.client
    return http.client.HTTPException


def test_kills():
    """kill -9 at random moments: no accepted job is lost, none runs twice."""
    agents()
    agent("mark", 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\nsleep 0.01\necho done\n')
    # All of them are looked at in the end: none may be forgotten for the room of newer ones.
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep_bytes = 1073741824\n')
    gate = Gateway()
    chance = random.Random(SEED)
    accepted = []
    for _ in range(amount(6, 200)):
        kills_round(gate, chance, accepted, "")
    states = {}
    for number in accepted:
        job = gate.ended(number)
        states[job["state"]] = states.get(job["state"], 0) + 1
        assert job["state"] in ("done", "interrupted"), job
    with open(f"{WORK}/ran", encoding="utf-8") as file:
        ran = file.read().split()
    assert len(ran) == len(set(ran)), "a job has run twice"
    print(f"{len(accepted)} accepted, {states}, seed {SEED}")
    assert states.get("done"), states
    gate.stop()


def test_flat():
    """Memory and descriptors do not grow with the turns."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep = "1s"\nkeep_bytes = 262144\n')
    gate = Gateway()
    connection = gate.connect()

    def turns(count):
        for i in range(count):
            answer = gate.ask("POST", "/v1/chat/completions", {
                "model": "echo", "messages": [{"role": "user", "content": f"x{i}"}]},
                connection=connection)
            assert answer.status == 200, answer.body
        until(lambda: gate.get("/api/jobs").json["jobs"] == [] or LONG, "they are forgotten")
    turns(amount(150, 10000))
    first, held = memory(server(gate)), descriptors(server(gate))
    turns(amount(300, 90000))
    last = memory(server(gate))
    print(f"{first} bytes, then {last}")
    assert last - first < 1536 * 1024, (first, last)
    assert descriptors(server(gate)) <= held + 2
    gate.stop()


if __name__ == "__main__":
    run(globals())
