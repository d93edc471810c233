"""perch worker and perch serve --queue: what users see of them."""
from fleet import *


def speaker(name="echo", more=""):
    agent(name, 'echo "$AGENT_MESSAGE" >>"$WORK/ran"\necho \'AGENT_PARTIAL:"partly "\'\n'
                'printf \'said %s from %s in %s\\n\' "$AGENT_MESSAGE" "$AGENT_FROM_USER" '
                '"$AGENT_SESSION_NAME"\n', more)


def test_turn():
    """A turn is run by a worker, its events reach the client, its result is kept."""
    expose()
    speaker()
    redis, gate, (worker,) = fleet()
    number = gate.turn(agent="echo", message="hi", session="s1")
    job = gate.ended(number)
    assert job["state"] == "done", job
    assert "said hi from me in s1" in job["result"]["text"], job
    events = [event["event"] for _, event in gate.events(number)]
    assert events[0] == "start" and events[-1] == "end" and "partial" in events, events
    assert queue(redis, "status")["done"] == 1
    assert [one["state"] for one in queue(redis, "jobs")] == ["done"]
    assert queue(redis, "workers")[0]["capacity"] == 16
    worker.stop()
    assert queue(redis, "workers") == []
    gate.stop()


run(globals())
