#!/usr/bin/env bats
# perch worker and perch serve --queue, with a redis-server of their own.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "a turn is run by a worker, its events reach the client, its result is kept" {
    scene worker.py turn
}

@test "what has ended is kept as long as the gateway says" { scene worker.py kept; }

@test "events come while a job runs, through any gateway, from any of them on" { scene worker.py streams; }

@test "turns of a session run in order on several workers, and the agent's id goes with them" {
    scene worker.py order
}

@test "an agent of ACP stays between turns" { scene worker.py acp; }

@test "a tool, and a plugin with its answers in advance" {
    tool up '[[tools]]' 'name = "t.x"' <<'END'
request = greet()
respond(request, {"got": request["input"]})
END
    plugin ask <<'END'
#!/bin/sh
read -r init
echo '{"type":"prompt","id":"1","message":"Your name?"}'
read -r name
name=${name##*value\":\"}
printf '{"type":"output","text":"hello %s\\n"}\n' "${name%%\"*}"
END
    scene worker.py kinds
}

@test "cancelling a job that waits, and one that runs" { scene worker.py cancel; }

@test "the last worker is killed: the gateway ends its jobs" { scene worker.py last; }

@test "SIGTERM drains" { scene worker.py drain; }

@test "what is not done in the time to drain is left to others" { scene worker.py patience; }

@test "an Idempotency-Key is one job on two gateways at once" { scene worker.py key_of_two; }

@test "a job is claimed where it can run: label, hash, patterns, what is exposed" {
    scene worker.py where
}

@test "jobs that are not signed with the worker's key are not run" { scene worker.py keys; }

@test "an id that is none leads neither a worker nor a gateway anywhere" { scene worker.py ids; }

@test "what is no event ends neither a stream nor a job" { scene worker.py events; }

@test "a job over the limit of the queue is refused" { scene worker.py large; }

@test "metrics of the queue on the gateway" { scene worker.py metrics; }
