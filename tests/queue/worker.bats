#!/usr/bin/env bats
# perch worker and perch serve --queue, with a redis-server of their own: turns, tools and plugins, and their events.

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
