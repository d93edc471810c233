"""OpenAI's Python client against the gateway. Runs with its set in PYTHONPATH."""
import sys
import threading

try:
    import openai
except ImportError:  # only to serve
    openai = None
sys.dont_write_bytecode = True  # beside our own modules

from gateway import Gateway, agents, agent, lines_of, touch, until

SAID = "partly said hi from me in "


def client(gate, **more):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{gate.port}/v1", api_key=gate.token, **more)


def check_chat(api):
    names = [model.id for model in api.models.list()]
    assert names == ["echo", "fail", "slow"], names
    question = [{"role": "user", "content": "hi"}]
    whole = api.chat.completions.create(model="echo", messages=question)
    assert whole.choices[0].message.content.startswith(SAID), whole
    assert whole.choices[0].finish_reason == "stop" and whole.usage.total_tokens == 0
    chunks = list(api.chat.completions.create(
        model="echo", messages=question, stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text.startswith(SAID), chunks
    assert chunks[-1].usage and not chunks[-1].choices, chunks[-1]
    with api.chat.completions.stream(model="echo", messages=question) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.content.startswith(SAID), final


def check_responses(api):
    whole = api.responses.create(model="echo", input="hi")
    assert whole.output_text.startswith(SAID), whole
    with api.responses.stream(model="echo", input="hi") as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text.startswith(SAID), final
    for name in ("response.created", "response.output_item.added", "response.content_part.added",
                 "response.output_text.delta", "response.output_text.done",
                 "response.content_part.done", "response.output_item.done", "response.completed"):
        assert name in types, types
    following = api.responses.create(model="echo", input="hi", previous_response_id=final.id)
    assert following.output_text == final.output_text, following


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise SystemExit(f"no {kind}")


def check_errors(gate, api):
    question = [{"role": "user", "content": "hi"}]
    refused(openai.NotFoundError,
            lambda: api.chat.completions.create(model="none", messages=question))
    refused(openai.BadRequestError,
            lambda: api.chat.completions.create(model="echo", messages=question, n=2))
    refused(openai.AuthenticationError, lambda: openai.OpenAI(
        base_url=api.base_url, api_key="perch_wrong").models.list())
    refused(openai.InternalServerError,
            lambda: api.chat.completions.create(model="fail", messages=question))
    assert lines_of("runs") == 1, lines_of("runs")
    refused(openai.InternalServerError, lambda: list(
        api.chat.completions.create(model="fail", messages=question, stream=True)))
    assert lines_of("runs") == 2, lines_of("runs")
    agent("half", 'echo \'AGENT_PARTIAL:"half"\'\necho \'AGENT_ERROR:"it broke"\'\nexit 1\n')
    until(lambda: "half" in [model.id for model in api.models.list()], "a new agent is seen")
    refused(openai.APIError, lambda: list(
        api.chat.completions.create(model="half", messages=question, stream=True)))


def check_abort(gate, api):
    stream = api.chat.completions.create(
        model="slow", messages=[{"role": "user", "content": "x"}], stream=True)
    for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    stream.close()
    until(lambda: not gate.get("/api/jobs?state=running").json["jobs"], "it is cancelled")
    # a client that waits too short repeats, and joins: the agent has run once
    started = lines_of("started")
    impatient = client(gate, timeout=1, max_retries=1)
    refused(openai.APITimeoutError, lambda: impatient.chat.completions.create(
        model="slow", messages=[{"role": "user", "content": "y"}]))
    until(lambda: lines_of("started") == started + 1, "it runs, once")
    running = gate.get("/api/jobs?state=running").json["jobs"]
    assert len(running) == 1, running
    gate.ask("DELETE", f"/api/jobs/{running[0]['id']}")
    gate.ended(running[0]["id"])
    # and one that comes again in time has its answer
    patient = client(gate, timeout=1, max_retries=9)
    threading.Timer(1.5, lambda: touch("go")).start()
    whole = patient.chat.completions.create(
        model="slow", messages=[{"role": "user", "content": "z"}])
    assert whole.choices[0].message.content == "begundone", whole
    assert lines_of("started") == started + 2, lines_of("started")


def main():
    agents()
    gate = Gateway()
    api = client(gate)
    check_chat(api)
    check_responses(api)
    check_errors(gate, api)
    check_abort(gate, api)
    assert gate.stop() == 0


def serve():
    """For clients of other languages: says where, and waits for the end of stdin."""
    agents()
    gate = Gateway()
    print(gate.port, gate.token, flush=True)
    sys.stdin.read()
    touch("go")  # nobody waits for what still runs
    gate.stop()


if __name__ == "__main__":
    main() if len(sys.argv) < 2 else serve()
