"""What the page needs of the gateway: its files, and members of answers that are there for it."""
import gzip
import os
import re

from gateway import WORK, Gateway, TerminalGateway, agent, agents, config, run, token, touch, until, write

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
          "img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")


def test_files():
    agents()
    gate = Gateway()

    def fetch(path, method="GET", **fields): # http.client itself asks for identity
        return gate.ask(method, path, token=None, headers={"Accept-Encoding": "br, gzip;q=0.5", **fields})
    index = fetch("/")
    text = gzip.decompress(index.body).decode()
    names = set(re.findall(r'"/page/([\w.]+)"', text))
    assert index.status == 200 and {"main.js", "page.css"} <= names, names
    for found, kind in ((index, "text/html"), (fetch("/page/main.js"), "text/javascript"),
                        (fetch("/page/page.css"), "text/css")):
        told = found.headers
        assert told["Content-Type"].startswith(kind), told["Content-Type"]
        assert told["Content-Security-Policy"] == POLICY, told["Content-Security-Policy"]
        assert told["X-Content-Type-Options"] == "nosniff" and told["Referrer-Policy"] == "no-referrer", told
        assert told["Content-Encoding"] == "gzip" and told["Vary"] == "Accept-Encoding", told
        assert re.fullmatch(r'"[\w-]{16,}"', told["ETag"]), told["ETag"]
    # What a browser has it does not get again.
    tag = index.headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = fetch("/", **{"If-None-Match": known})
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", tag), (known, answer.status)
    for other in ('"other"', "", tag.strip('"')):
        assert fetch("/", **{"If-None-Match": other}).status == 200, other
    for coding, status in (("identity", 406), ("gzip;q=0", 406), ("gzip; q=0.000", 406), ("br", 406), ("gzipped", 406), ("GZIP", 200),
                           ("br, *;q=0.1", 200), ("gzip ; q=0.001", 200)):
        answer = fetch("/page/main.js", **{"Accept-Encoding": coding})
        assert answer.status == status, (coding, answer.status)
    for wrong in ("/page/none.js", "/page/..%2fmain.js", "/page/main.js%00"):
        assert fetch(wrong).status == 404, wrong
    head = fetch("/", "HEAD")
    assert head.status == 200 and not head.body and head.headers["Content-Length"] == str(len(index.body))
    gate.stop()


def test_members():
    agents()
    agent("held", f'echo begun; while [ ! -e {WORK}/go ]; do sleep 0.05; done; echo over')
    gate = Gateway()
    mine = token("mine")
    assert gate.get("/api/login", token=None).json == {"user": None}
    assert gate.get("/api/login").json == {"user": {"name": "me", "role": "admin", "person": False}}
    assert gate.get("/api/login", token=mine).json["user"]["role"] == "user"
    number = gate.post("/api/turns", {"agent": "held", "message": "wait", "session": "s"}, token=mine).json["id"]
    until(lambda: gate.job(number)["state"] == "running", "it runs")
    job = gate.job(number)
    assert (job["user"], job["sandbox"], job["request"]["message"]) == ("mine", [], "wait"), job
    assert next(one for one in gate.get("/api/jobs").json["jobs"] if one["id"] == number)["user"] == "mine"
    # The events so far: the answer ends though the job does not.
    begun = list(gate.stream("GET", f"/api/jobs/{number}/events?follow=no"))
    assert begun[0][1]["event"] == "start" and begun[-1][1]["event"] != "end", begun
    touch("go")
    gate.ended(number)
    rest = list(gate.stream("GET", f"/api/jobs/{number}/events?follow=no",
                            headers={"Last-Event-ID": str(begun[-1][0])}))
    assert rest[-1][1]["event"] == "end" and rest[0][0] > begun[-1][0], rest
    gate.ended(gate.turn(message="about herrings", session="own"))

    def listed(query, **more):
        return [one["session"] for one in gate.get(f"/api/sessions{query}", **more).json["sessions"]]
    until(lambda: sorted(listed("")) == ["own", "s"], "an admin sees all")
    assert listed("?mine=yes") == ["own"] and listed("?q=herrings") == ["own"] and listed("", token=mine) == ["s"]
    assert listed("?q=nothing") == [] and listed("?q=%25") == [], "a pattern is a word"
    until(lambda: gate.get("/api/metrics/history").json["samples"], "a first sample is there")
    sample = gate.get("/api/metrics/history").json["samples"][-1]
    assert {"time", "running", "waiting", "ended", "memory_bytes", "kept_bytes", "mean_us", "slowest_us"} <= set(sample)
    gate.stop()


def test_spares():
    agents()
    agent("kept", "", "protocol: acp\n")
    with open(f"{os.environ['PERCH_SOURCE']}/tests/acp/hosted.py", encoding="utf-8") as hosted:
        write(f"{WORK}/kept.sh", hosted.read(), 0o755)
    gate = Gateway()
    mine = token("mine")

    def spares(name):
        return [one for one in gate.get("/api/jobs").json["spares"] if one["name"] == name]
    assert gate.get("/api/jobs").json["spares"] == [], "nothing is started before it is wanted"
    assert "spares" not in gate.get("/api/jobs", token=mine).json
    assert gate.post("/api/calls", {"tool": "t.up/t.x", "input": {}}).status == 200
    until(lambda: [one["state"] for one in spares("t.up")] == ["ready", "ready"], "two spares wait")
    spare = spares("t.up")[0]
    assert spare["kind"] == "tool" and spare["waits"] >= 0 and spare["sandbox"], spare
    assert "spares" not in gate.get("/api/jobs", token=mine).json, "they are nobody's"
    assert gate.post("/api/calls", {"tool": "srv/say", "input": {}}).status == 200
    spare = until(lambda: spares("srv"), "an MCP server waits for its next call")[0]
    assert (spare["kind"], spare["state"], bool(spare["sandbox"])) == ("tool", "ready", True), spare
    gate.ended(gate.turn(agent="kept", message="show", session="s"))
    spare = until(lambda: spares("kept"), "an agent waits for its next turn")[0]
    assert (spare["kind"], spare["state"], spare["sandbox"]) == ("agent", "ready", []), spare
    gate.stop()


def test_person():
    config("")
    gate = TerminalGateway()
    assert gate.get("/api/tokens").json["tokens"] == [], "that of the link is no token of the file"
    for by, person in (({"once": gate.once}, True), ({"token": gate.token}, False)):
        user = gate.get("/api/login", token=None, headers=gate.sign_in(**by)).json["user"]
        assert user == {"name": "local", "role": "admin", "person": person}, user
    gate.stop()


run(globals())
