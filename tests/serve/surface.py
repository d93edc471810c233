"""OpenAI's surface, as bytes."""
import json
import os
import socket
import time

from gateway import (PATIENCE, WORK, Gateway, agent, agents, config, lines_of, run, token, touch, until)


def chat(gate, *messages, **more):
    body = {"model": "echo", "messages": [
        {"role": role, "content": text} for role, text in messages], **more}
    return gate.post("/v1/chat/completions", body)


def content(answer):
    assert answer.status == 200, (answer.status, answer.body)
    return answer.json["choices"][0]["message"]["content"]


def test_models():
    agents()
    gate = Gateway()
    names = [model["id"] for model in gate.get("/v1/models").json["data"]]
    assert names == ["echo", "fail", "slow"], names
    assert gate.get("/v1/models/echo").json["object"] == "model"
    error = gate.get("/v1/models/none").is_error(404, "model_not_found").json["error"]
    assert error["type"] == "not_found_error" and "message" in error and "param" in error
    gate.post("/v1/chat/completions", {"model": "none", "messages": [
        {"role": "user", "content": "x"}]}).is_error(404, "model_not_found")
    gate.stop()


def test_sessions():
    """A stateless client's history leads back to its session."""
    agents()
    gate = Gateway()
    first = content(chat(gate, ("system", "be brief"), ("user", "one")))
    assert first.startswith("partly said system: be brief"), first
    name = first.rsplit(" in ", 1)[1]
    second = content(chat(gate, ("system", "be brief"), ("user", "one"), ("assistant", first),
                          ("user", "two")))
    assert second == f"partly said two from me in {name}", second
    # not the session's last turn any more, and another history: a new one, told all of it
    for other in ((("system", "be brief"), ("user", "one"), ("assistant", first), ("user", "2")),
                  (("user", "x"), ("assistant", "y"), ("user", "z"))):
        text = content(chat(gate, *other))
        assert not text.endswith(" in " + name), text
    assert "user: x" in text and "assistant: y" in text, text
    named = gate.post("/v1/chat/completions", {
        "model": "echo", "messages": [{"role": "user", "content": "x"}]},
        headers={"X-Perch-Session": "mine"})
    assert content(named).endswith(" in mine")
    named = chat(gate, ("user", "x"), metadata={"session": "meta"})
    assert content(named).endswith(" in meta")
    webui = [content(gate.post("/v1/chat/completions", {
        "model": "echo", "messages": [{"role": "user", "content": text}]},
        headers={"X-OpenWebUI-Chat-Id": chat_id})).rsplit(" in ")[1]
        for text, chat_id in (("a", "c1"), ("b", "c1"), ("a", "c2"))]
    assert webui[0] == webui[1] != webui[2], webui
    # the same history of another `user` of this client is another conversation
    mine = content(chat(gate, ("user", "q"), user="ann"))
    for user, is_same in (("bob", False), ("ann", True)):
        text = content(chat(gate, ("user", "q"), ("assistant", mine), ("user", "r"), user=user))
        assert (text.rsplit(" in ")[1] == mine.rsplit(" in ")[1]) == is_same, (user, text)
    response = gate.post("/v1/responses", {"model": "echo", "input": "x"}).json
    text = response["output"][0]["content"][0]["text"]
    following = gate.post("/v1/responses", {"model": "echo", "input": "y",
                                            "previous_response_id": response["id"]}).json
    assert following["output"][0]["content"][0]["text"].rsplit(" in ")[1] == text.rsplit(" in ")[1]
    gate.post("/v1/responses", {"model": "echo", "input": "y", "previous_response_id": "resp_x"}
              ).is_error(404, "previous_response_not_found")
    gate.stop()


def test_other_users():
    """Somebody else's session of the same name ends nobody's conversation."""
    agents()
    gate = Gateway()
    other = token("other")
    until(lambda: gate.get("/api/jobs", token=other).status == 200, "it is known")
    body = {"model": "echo", "messages": [{"role": "user", "content": "one"}]}
    named = {"X-Perch-Session": "chat"}
    first = content(gate.post("/v1/chat/completions", body, headers=named))
    theirs = gate.post("/v1/chat/completions", body, token=other, headers=named)
    assert "from other in chat" in content(theirs)
    again = content(chat(gate, ("user", "one"), ("assistant", first), ("user", "two")))
    assert again == "partly said two from me in chat", again
    gate.stop()


def test_nul():
    agents()
    gate = Gateway()
    chat(gate, ("user", "a\0b")).is_error(400, "bad_request")
    chat(gate, ("user", "a\0b"), ("assistant", "x"), ("user", "c")).is_error(400, "bad_request")
    assert not gate.get("/api/jobs").json["jobs"]
    gate.stop()


def test_session_names():
    agents()
    gate = Gateway()
    for name in ("a\0b", "x" * 201):
        chat(gate, ("user", "x"), metadata={"session": name}).is_error(400, "bad_request")
    assert content(chat(gate, ("user", "x"), metadata={"session": "x" * 200})).endswith("x" * 200)
    gate.stop()


def test_refused():
    agents()
    gate = Gateway()
    for more in ({"n": 2}, {"tools": [{"type": "function"}]}, {"stream": 1}):
        chat(gate, ("user", "x"), **more).is_error(400, "bad_request")
    assert content(chat(gate, ("user", "x"), tools=[], n=1, temperature=0.1, odd=1))
    chat(gate, ("assistant", "x")).is_error(400, "bad_request")
    chat(gate).is_error(400, "bad_request")
    assert not gate.get("/api/jobs?state=failed").json["jobs"]
    gate.stop()


def test_failure():
    agents()
    agent("half", 'echo \'AGENT_PARTIAL:"half"\'\necho \'AGENT_ERROR:"it broke"\'\nexit 1\n')
    gate = Gateway()
    for more in ({}, {"stream": True}):
        answer = chat(gate, ("user", "x"), model="fail", **more).is_error(502, "agent_failed")
        assert answer.headers["x-should-retry"] == "false"
    body = {"model": "half", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    events = [event for _, event in gate.stream("POST", "/v1/chat/completions", body)]
    assert "error" in events[-1] and "[DONE]" not in events, events
    gate.stop()


def test_abort():
    """A client that goes cancels the turn, streamed or not."""
    agents()
    gate = Gateway()
    for stream in (False, True):
        started = lines_of("started")
        body = json.dumps({"model": "slow", "stream": stream,
                           "messages": [{"role": "user", "content": "x"}]}).encode()
        connection = socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE)
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                           b"Authorization: Bearer " + gate.token.encode() +
                           b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        until(lambda started=started: lines_of("started") == started + 1, "it runs")
        connection.close()
        until(lambda: not gate.get("/api/jobs?state=running").json["jobs"], "it is cancelled")
    assert len(gate.get("/api/jobs?state=cancelled").json["jobs"]) == 2
    gate.stop()


def ask_and_go(gate, body, headers=b""):
    """A request whose client is gone before it is answered."""
    text = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE)
    connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + headers +
                       b"Authorization: Bearer " + gate.token.encode() +
                       b"\r\nContent-Length: " + str(len(text)).encode() + b"\r\n\r\n" + text)
    return connection


def test_abort_waiting():
    """The client of a turn that waits for its place goes."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nmax_jobs = 1\n')
    gate = Gateway()
    running = gate.turn(agent="slow")
    until(lambda: lines_of("started") == 1, "it runs")
    for stream in (False, True):
        connection = ask_and_go(gate, {"model": "slow", "stream": stream, "messages": [
            {"role": "user", "content": "x"}]})
        until(lambda: gate.get("/api/jobs?state=waiting").json["jobs"], "it waits")
        connection.close()
        until(lambda: not gate.get("/api/jobs?state=waiting").json["jobs"], "it is cancelled")
    touch("go")
    assert gate.ended(running)["state"] == "done"
    assert lines_of("started") == 1, "those that waited never ran"
    gate.stop()


def test_patience():
    """A client that gave up waiting is waited for; one that was impatient is not."""
    agents()
    gate = Gateway()
    body = {"model": "slow", "messages": [{"role": "user", "content": "x"}]}
    connection = ask_and_go(gate, body, b"x-stainless-timeout: 1\r\n")
    until(lambda: lines_of("started") == 1, "it runs")
    time.sleep(1)  # the client's own patience
    connection.close()
    # Its repetition joins, and has the answer.
    repeated = ask_and_go(gate, body, b"x-stainless-retry-count: 1\r\n")
    time.sleep(0.2)
    touch("go")
    text = b""
    while b"begundone" not in text:
        piece = repeated.recv(65536)
        assert piece, text
        text += piece
    repeated.close()
    assert lines_of("started") == 1, lines_of("started")
    gate.stop()


def test_patience_ends():
    """A client that gave up waiting and never comes again: its turn is cancelled."""
    agents()
    config('[expose.http]\nagents = ["*"]\n[serve]\nretry_wait = "1s"\n')
    gate = Gateway()
    connection = ask_and_go(gate, {"model": "slow", "messages": [
        {"role": "user", "content": "x"}]}, b"x-stainless-timeout: 1\r\n")
    until(lambda: lines_of("started") == 1, "it runs")
    time.sleep(1)  # the client's own patience
    connection.close()
    job, = gate.get("/api/jobs").json["jobs"]
    assert gate.ended(job["id"])["state"] == "cancelled"
    gate.stop()


def test_thinking():
    """What an agent thinks is no content."""
    agents()
    agent("thinks", "read -r line\n" + "".join(f"echo '{json.dumps(message)}'\n" for message in (
        {"type": "partial", "role": "thinking", "text": "let me "},
        {"type": "partial", "role": "thinking", "text": "see"},
        {"type": "partial", "text": "yes"},
        {"type": "result", "text": "", "usage": {"input_tokens": 3, "output_tokens": 4}})),
        'protocol: "0.4"\n')
    gate = Gateway()
    answer = chat(gate, ("user", "x"), model="thinks")
    message = answer.json["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("yes", "let me see"), answer.body
    assert answer.json["usage"]["total_tokens"] == 7, answer.body
    body = {"model": "thinks", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    deltas = [event["choices"][0]["delta"] for _, event in gate.stream(
        "POST", "/v1/chat/completions", body) if event != "[DONE]"]
    assert "".join(one.get("reasoning_content") or "" for one in deltas) == "let me see", deltas
    assert "".join(one.get("content") or "" for one in deltas) == "yes", deltas
    gate.stop()


def test_retries():
    """A repeated request joins the job; without the sign of a repetition it is another one."""
    agents()
    gate = Gateway()
    body = {"model": "fail", "messages": [{"role": "user", "content": "x"}]}
    for count in range(3):
        answer = gate.post("/v1/chat/completions", body,
                           headers={"x-stainless-retry-count": str(count)})
        answer.is_error(502, "agent_failed")
    assert lines_of("runs") == 1, lines_of("runs")
    other = token("other")
    until(lambda: gate.post("/v1/chat/completions", body, token=other,
                            headers={"x-stainless-retry-count": "1"}).status == 502, "known")
    assert lines_of("runs") == 2, "another user joins nothing"
    gate.post("/v1/chat/completions", body)
    assert lines_of("runs") == 3
    gate.post("/v1/chat/completions", body, headers={
        "x-stainless-retry-count": "1", "X-Perch-Session": "other"}).is_error(502, "agent_failed")
    assert lines_of("runs") == 4, "another session joins nothing"
    # nor does one whose own client has cancelled it
    slow = {**body, "model": "slow"}
    connection = ask_and_go(gate, slow)
    until(lambda: lines_of("started") == 1, "it runs")
    connection.close()
    until(lambda: gate.get("/api/jobs?state=cancelled").json["jobs"], "it is cancelled")
    again = ask_and_go(gate, slow, b"x-stainless-retry-count: 1\r\n")
    until(lambda: lines_of("started") == 2, "it runs again")
    again.close()
    until(lambda: not gate.get("/api/jobs?state=running").json["jobs"], "it is cancelled")
    gate.stop()


def test_forgotten():
    """Who comes too late for a part of an answer is told so, and gets no piece of it as the whole."""
    config('[expose.http]\nagents = ["*"]\n[serve]\nkeep_bytes = 65536\n')
    agent("long", 'echo x >>"$WORK/started"\ni=0\nwhile [ $i -lt 1000 ]; do\n'
                  'echo "AGENT_PARTIAL:\\"$i \\""; i=$((i+1)); done\n'
                  'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho end\n')
    gate = Gateway()
    body = {"model": "long", "messages": [{"role": "user", "content": "x"}]}
    first = gate.stream("POST", "/v1/chat/completions", {**body, "stream": True})
    number = until(lambda: gate.get("/api/jobs?state=running").json["jobs"], "it runs")[0]["id"]

    def is_cut():
        found = [event for _, event in gate.stream("GET", f"/api/jobs/{number}/events?follow=no")]
        return found and found[0]["event"] == "partial"
    until(is_cut, "the first events are forgotten")
    late = ask_and_go(gate, {**body, "stream": True}, b"x-stainless-retry-count: 1\r\n")
    until(lambda: b"\nperch_streams 2\n" in gate.get("/metrics").body, "it has joined")
    touch("go")
    heard = b""
    while b"what the agent said is not kept any more" not in heard:
        piece = late.recv(65536)
        assert piece, heard
        heard += piece
    assert heard.startswith(b"HTTP/1.1 502") and b"x-should-retry: false" in heard, heard
    assert lines_of("started") == 1
    # nor does one that was there from the beginning, if it was forgotten before it was sent
    events = [event for _, event in first]
    said = "".join(event["choices"][0]["delta"].get("content", "") for event in events[:-1]
                   if "choices" in event)
    assert "error" in events[-1] or said.split() == [*map(str, range(1000)), "end"], said
    gate.stop()


def test_images():
    agents()
    agent("see", 'printf \'%s\\n\' "$AGENT_IMAGE_URL"\n')
    gate = Gateway()
    text = content(gate.post("/v1/chat/completions", {"model": "see", "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "what is it?"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}]}))
    assert text == "https://example.com/a.png", text
    text = content(gate.post("/v1/chat/completions", {"model": "see", "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {
            "url": "data:image/png;base64,aGVsbG8="}}]}]}))
    assert text.startswith("file:///") and text.endswith(".png"), text
    assert not os.path.exists(text[len("file://"):]), "it is gone with the turn"
    jobs = len(gate.get("/api/jobs").json["jobs"])
    good = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    for parts in ([{"type": "image_url", "image_url": {"url": url}}] for url in (
            "file:///etc/passwd", "/etc/passwd", "data:image/png,x", "data:image/png;base64,!!!!")):
        gate.post("/v1/chat/completions", {"model": "see", "messages": [
            {"role": "user", "content": parts}]}).is_error(400, "bad_request")
    gate.post("/v1/chat/completions", {"model": "see", "messages": [
        {"role": "user", "content": [good] * 17}]}).is_error(400, "bad_request")
    assert len(gate.get("/api/jobs").json["jobs"]) == jobs, "nothing was started"
    gate.stop()


if __name__ == "__main__":
    run(globals())
