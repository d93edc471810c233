"""Behind a kill, a full disk, a drain."""
import os
import signal
import subprocess
import time

from gateway import (STATE, WORK, Gateway, agent, agents, config, lines_of, run, touch, until, write)


def test_killed():
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nmax_jobs = 2\n')
    gate = Gateway()
    running = [gate.turn(agent="slow", session=str(i)) for i in range(2)]
    waiting = [gate.turn(agent="slow", session=str(i)) for i in range(4)]
    until(lambda: lines_of("started") == 2, "two run")
    stream = gate.stream("GET", f"/api/jobs/{running[0]}/events")
    last = next(number for number, event in stream if event["event"] == "partial")
    gate.kill()
    stream.close()
    touch("go")
    gate.start()
    for number in running:
        job = gate.ended(number)
        assert job["state"] == "interrupted", job
    for number in waiting:
        assert gate.ended(number)["state"] == "done"
    assert lines_of("started") == 6, lines_of("started")
    rest = list(gate.stream("GET", f"/api/jobs/{running[0]}/events",
                            headers={"Last-Event-ID": str(last)}))
    assert rest[-1][1]["event"] == "end" and rest[-1][1]["state"] == "interrupted", rest
    gate.stop()


def test_retry():
    agents()
    agent("again", 'echo x >>"$WORK/tries"\n'
                   'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho done\n', "retry: 2\n")
    gate = Gateway()
    number = gate.turn(agent="again")
    for tries in (1, 2, 3):
        until(lambda tries=tries: lines_of("tries") == tries, f"try {tries}")
        if tries == 3:
            gate.kill()
            gate.start()
            break
        gate.kill()
        gate.start()
    job = gate.ended(number)
    assert job["state"] == "dead", job
    assert lines_of("tries") == 3
    good = gate.turn(agent="again")
    until(lambda: lines_of("tries") == 4, "another one")
    gate.kill()
    touch("go")
    gate.start()
    assert gate.ended(good)["state"] == "done"
    gate.stop()


def test_drain():
    agents()
    gate = Gateway("--drain", "60")
    number = gate.turn(agent="slow")
    waiting = gate.turn(agent="slow")
    until(lambda: lines_of("started") == 1, "it runs")
    gate.process.send_signal(signal.SIGTERM)
    until(lambda: gate.get("/readyz", token=None).status == 503, "it says that it ends")
    gate.post("/api/turns", {"agent": "echo", "message": "x"}).is_error(503, "draining")
    assert gate.get("/healthz", token=None).status == 200
    touch("go")
    assert gate.process.wait(60) == 0
    gate.start()
    assert gate.job(number)["state"] == "done"
    assert gate.ended(waiting)["state"] == "done"
    gate.stop()


def test_drain_over():
    agents()
    gate = Gateway("--drain", "1")
    number = gate.turn(agent="slow")
    until(lambda: lines_of("started") == 1, "it runs")
    assert gate.stop() == 0
    gate.start()
    assert gate.job(number)["state"] == "cancelled"
    gate.stop()


def test_disk_full():
    """In a file system of its own, which the test has mounted at STATE."""
    agents()
    gate = Gateway()
    gate.ended(gate.turn())
    before = len(gate.get("/api/jobs").json["jobs"])
    with open(f"{STATE}/fill", "wb") as fill:
        try:
            while True:
                fill.write(b"x" * 65536)
                fill.flush()
        except OSError:
            pass
    full = until(lambda: (a := gate.post("/api/turns", {
        "agent": "echo", "message": "x" * 65536})).status != 202 and a, "the disk is full")
    full.is_error(507, "disk_full")
    keyed = {"Idempotency-Key": "k"}
    large = {"agent": "echo", "message": "x" * 65536}
    gate.post("/api/turns", large, headers=keyed).is_error(507, "disk_full")
    count = len(gate.get("/api/jobs").json["jobs"])
    os.unlink(f"{STATE}/fill")
    until(lambda: gate.post("/api/turns", {
        "agent": "echo", "message": "x"}).status == 202, "there is room again")
    again = gate.post("/api/turns", large, headers=keyed)
    assert again.status == 202, "a job that was not taken has not used its key up"
    assert gate.ended(again.json["id"])["state"] == "done"
    assert gate.stop() == 0
    gate.start()
    jobs = gate.get("/api/jobs").json["jobs"]
    assert before <= count <= len(jobs) and all(job["id"] for job in jobs), jobs
    gate.stop()


def test_no_store():
    agents()
    gate = Gateway("--no-store")
    gate.ended(gate.turn(session="s"))
    gate.get("/api/sessions").is_error(404, "no_store")
    gate.stop()
    assert not os.path.exists(f"{STATE}/transcripts.db")


def test_keep():
    """Old jobs and their events are forgotten, also on disk."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep = "1s"\n')
    gate = Gateway()
    number = gate.turn()
    gate.ended(number)
    until(lambda: gate.get(f"/api/jobs/{number}").status == 404, "it is forgotten")
    gate.stop()
    gate.start()
    gate.get(f"/api/jobs/{number}").is_error(404, "not_found")
    gate.stop()


def kept_bytes(gate):
    text = gate.get("/metrics").body.decode()
    return int(text.split("\nperch_events_bytes ")[1].split("\n")[0])


def test_keep_bytes():
    """Beyond so many bytes the oldest jobs go first; one with a key stays, without its events."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep_bytes = 65536\n')
    agent("loud", "i=0\nwhile [ $i -lt 40 ]; do i=$((i + 1))\n"
                  "printf 'AGENT_PARTIAL:\"%04000d\"\\n' 7; done\n")
    gate = Gateway()
    request = {"agent": "loud", "message": "x"}
    keyed = gate.post("/api/turns", request, headers={"Idempotency-Key": "k"}).json["id"]
    gate.ended(keyed)
    plain = []
    for _ in range(8):
        plain.append(gate.turn(agent="loud"))
        gate.ended(plain[-1])
    until(lambda: kept_bytes(gate) <= 65536, "the oldest go")
    until(lambda: gate.get(f"/api/jobs/{plain[0]}").status == 404, "the first is forgotten")
    assert gate.post("/api/turns", request, headers={"Idempotency-Key": "k"}).json["id"] == keyed
    # One that says more than may be kept: its end is there, the memory is not.
    agent("louder", "i=0\nwhile [ $i -lt 2000 ]; do i=$((i + 1))\n"
                    "printf 'AGENT_PARTIAL:\"%04000d\"\\n' 7; done\n")
    until(lambda: gate.post("/api/turns", {"agent": "louder", "message": "x", "session": "l"}
                            ).status == 202, "a new agent is seen")
    until(lambda: not gate.get("/api/jobs?state=running").json["jobs"] and
          kept_bytes(gate) <= 65536, "it has ended, and is cut")
    gate.stop()


def test_keep_transcripts():
    agents()
    gate = Gateway()
    gate.ended(gate.turn(session="s"))
    until(lambda: gate.get("/api/sessions").json["sessions"], "it is stored")
    gate.stop()
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep_transcripts = "0s"\n')
    gate.start()
    until(lambda: not gate.get("/api/sessions").json["sessions"], "it is forgotten")
    gate.stop()


def test_durable():
    """What was accepted with --durable is there behind a kill at once."""
    agents()
    gate = Gateway("--durable")
    numbers = [gate.turn(agent="slow", session=str(i)) for i in range(3)]
    gate.kill()
    touch("go")
    gate.start()
    assert {gate.ended(number)["state"] for number in numbers} <= {"interrupted", "done"}
    gate.stop()


def test_abandoned():
    """Nothing of the children stays when the gateway is killed."""
    agents()
    agent("deep", 'sleep 600 &\necho $! >"$WORK/deep"\nwait\n')
    gate = Gateway()
    gate.turn(agent="deep")
    pid = int(until(lambda: os.path.exists(f"{WORK}/deep") and
                    open(f"{WORK}/deep", encoding="utf-8").read().strip(), "it runs"))
    gate.kill()
    until(lambda: not os.path.exists(f"/proc/{pid}"), "it is gone")


if __name__ == "__main__":
    run(globals())
