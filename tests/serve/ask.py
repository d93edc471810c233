"""Tools, approvals, and plugins that ask."""
import json
import os
import subprocess

from gateway import CONFIG, WORK, Gateway, TerminalGateway, config, run, token, until


def test_call():
    config("")
    gate = Gateway()
    tools = {tool["name"]: tool for tool in gate.get("/api/catalog").json["tools"]}
    assert "t.up/t.x" in tools, tools
    answer = gate.post("/api/calls", {"tool": "t.up/t.x", "input": {"a": 1}})
    assert answer.status == 200 and answer.json["output"]["got"] == {"a": 1}, answer.body
    detached = gate.post("/api/calls", {"tool": "t.up/t.x", "detach": True})
    assert detached.status == 202
    job = gate.ended(detached.json["id"])
    assert job["kind"] == "call" and job["state"] == "done" and "output" in job["result"], job
    events = [event["event"] for _, event in gate.stream(
        "GET", f"/api/jobs/{job['id']}/events")]
    assert events[0] == "start" and events[-2:] == ["result", "end"], events
    gate.post("/api/calls", {"tool": "t.up/none"}).is_error(404, "not_found")
    gate.post("/api/calls", {"tool": "t.up/t.x", "input": []}).is_error(400, "bad_request")
    with open(os.environ["XDG_STATE_HOME"] + "/perch/audit.jsonl", encoding="utf-8") as log:
        text = log.read()
    assert '"caller":"me"' in text and '"frontend":"http"' in text, text
    assert gate.get("/api/audit").json["lines"], "the log"
    gate.stop()


def test_approval():
    config("")
    user, admin = token("user"), token("admin", "--role", "admin")
    gate = Gateway()
    answer = gate.post("/api/calls", {"tool": "t.up/t.x"}, token=user)
    assert answer.status == 202, answer.body
    path = f"/api/jobs/{answer.json['id']}"
    ask = gate.question(answer.json["id"])
    assert ask["event"] == "approval", ask
    where = f"{path}/answers/{ask['ask']}"
    gate.post(where, {"allow": True}, token=user).is_error(403, "approval")
    # Nor with the cookie that any program gets for its token.
    own = {"Origin": f"http://localhost:{gate.port}", "Host": f"localhost:{gate.port}"}
    cookie = gate.post("/api/login", {"token": user}, token=None, headers=own).headers["Set-Cookie"]
    jar = {**own, "Cookie": cookie.split(";")[0]}
    gate.post(where, {"allow": True}, token=None, headers=jar).is_error(403, "approval")
    gate.post(where, {}, token=admin).is_error(400, "bad_request")
    assert gate.post(where, {"allow": True}, token=admin).status == 200
    gate.post(where, {"allow": True}, token=admin).is_error(409, "answered")
    assert gate.ended(answer.json["id"])["state"] == "done"
    # An admin that has made the call does not approve it, its cookie neither: another one does.
    mine = gate.post("/api/calls", {"tool": "t.up/t.x"}, token=admin).json["id"]
    ask = gate.question(mine)
    where = f"/api/jobs/{mine}/answers/{ask['ask']}"
    gate.post(where, {"allow": True}, token=admin).is_error(403, "approval")
    cookie = gate.post("/api/login", {"token": admin}, token=None, headers=own).headers["Set-Cookie"]
    jar["Cookie"] = cookie.split(";")[0]
    gate.post(where, {"allow": True}, token=None, headers=jar).is_error(403, "approval")
    cookie = gate.post("/api/login", {"token": gate.token}, token=None,
                       headers=own).headers["Set-Cookie"]
    jar["Cookie"] = cookie.split(";")[0]
    assert gate.post(where, {"allow": True}, token=None, headers=jar).status == 200
    with open(os.environ["XDG_STATE_HOME"] + "/perch/audit.jsonl", encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    answers = [line for line in lines if line.get("kind") == "answer"]
    assert [(line["caller"], line["text"], line["job"]) for line in answers] == [
        ("admin", "allowed", answer.json["id"]), ("me", "allowed", mine)], answers
    assert [line["name"] for line in lines if line.get("kind") == "refusal"] == ["t.up/t.x"] * 4
    refused = gate.post("/api/calls", {"tool": "t.up/t.x"}, token=user).json["id"]
    ask = gate.question(refused)
    gate.post(f"/api/jobs/{refused}/answers/{ask['ask']}", {"allow": False}, token=admin)
    assert gate.ended(refused)["state"] == "failed"
    config('[expose.http]\napprove = ["t.up/t.x"]\n')
    gate.process.send_signal(1)
    until(lambda: gate.post("/api/calls", {"tool": "t.up/t.x"}, token=user).status == 200, "waived")
    gate.stop()


def test_link():
    """Whoever has the link that a terminal shows is a person, and may approve its own call; whoever
    has the token beside it may be a program."""
    config("")
    gate = TerminalGateway()
    jar, program = gate.sign_in(once=gate.once), gate.sign_in(token=gate.token)
    mine = gate.post("/api/calls", {"tool": "t.up/t.x"}, token=None, headers=jar).json["id"]
    where = f"/api/jobs/{mine}/answers/{gate.question(mine)['ask']}"
    gate.post(where, {"allow": True}).is_error(403, "approval")
    gate.post(where, {"allow": True}, token=None, headers=program).is_error(403, "approval")
    assert gate.post(where, {"allow": True}, token=None, headers=jar).status == 200
    assert gate.ended(mine)["state"] == "done"
    gate.stop()
    # The person stays signed in when the server is started again; the token was for its life.
    gate.start()
    for one, status in ((jar, 200), (program, 401)):
        cookie = one["Cookie"].split("=")[1]
        answer = gate.get("/api/jobs", token=None, headers={"Cookie": f"perch_{gate.port}={cookie}"})
        assert answer.status == status, (status, answer.body)
    gate.stop()


def test_agent():
    """An agent of ACP asks by a form: its fields are questions, one after the other."""
    config('[expose.http]\nagents = ["*"]\n')
    gate = Gateway()
    made = gate.post("/api/turns", {"agent": "asks", "message": "form", "detach": True})
    assert made.status == 202, made.body
    number, before = made.json["id"], 0
    for answers in ([1], ["9", "4"], [[0, 2]], ["x", "because"], [False], [0]):
        ask = gate.question(number, before)
        before = ask["ask"]
        for answer in answers:
            given = gate.post(f"/api/jobs/{number}/answers/{before}", {"value": answer})
            assert given.status == (200 if answer == answers[-1] else 400), (answer, given.body)
    job = gate.ended(number)
    assert json.loads(job["result"]["text"]) == {"action": "accept", "content": {
        "strategy": "a", "count": 4, "tags": ["x", "z"], "why": "because", "sure": False}}, job
    gate.stop()


def test_run():
    config('[expose.http]\nplugins = ["*"]\n')
    gate = Gateway()
    assert [c["name"] for c in gate.get("/api/catalog").json["commands"]] == ["ask"]
    answer = gate.post("/api/runs", {"command": "ask", "args": ["a"]})
    assert answer.status == 202, answer.body
    path = f"/api/jobs/{answer.json['id']}"
    first = gate.question(answer.json["id"])
    assert first["message"] == "Your name?", first
    where = f"{path}/answers/{first['ask']}"
    gate.post(where, {"value": 1}).is_error(400, "bad_request")
    assert gate.post(where, {"value": "Ann"}).status == 200
    gate.post(where, {"value": "Ann"}).is_error(409, "answered")
    second = gate.question(answer.json["id"], first["ask"])
    assert gate.post(f"{path}/answers/{second['ask']}", {"value": True}).status == 200
    job = gate.ended(answer.json["id"])
    assert job["state"] == "done" and "hello Ann true" in job["result"]["output"], job
    # a question that is cancelled
    number = gate.post("/api/runs", {"command": "ask"}).json["id"]
    where = f"/api/jobs/{number}/answers/{gate.question(number)['ask']}"
    assert gate.post(where, {"cancel": True}).status == 200
    gate.post(where, {"cancel": True}).is_error(409, "answered")
    gate.ask("DELETE", f"/api/jobs/{number}")
    gate.ended(number)
    ready = gate.post("/api/runs", {"command": "ask", "answers": ["Your name?=Bob", "Sure?=yes"]})
    assert "hello Bob" in gate.ended(ready.json["id"])["result"]["output"]
    gone = gate.post("/api/runs", {"command": "ask"}).json["id"]
    gate.question(gone)
    gate.ask("DELETE", f"/api/jobs/{gone}")
    assert gate.ended(gone)["state"] in ("cancelled", "failed")
    assert not gate.job(gone)["questions"]
    gate.stop()


if __name__ == "__main__":
    run(globals())
