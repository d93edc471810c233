#!/usr/bin/env bats
# perch serve: tools, approvals, and plugins that ask.

load serve

setup() { serve_open; }
teardown() { serve_close; }

upper() {
    tool up '[[tools]]' 'name = "t.x"' "$@" <<'END'
request = greet()
respond(request, {"got": request["input"]})
END
}

@test "a call is answered by its result; detached, by a job" {
    upper
    scene ask.py call
}

@test "an approval is not for the token that made the call" {
    upper 'ask = true'
    scene ask.py approval
}

@test "the user of the link that a terminal shows may approve its own call, that of the token beside it not" {
    upper 'ask = true'
    scene ask.py link
}

@test "a plugin's questions are answered over HTTP" {
    plugin ask <<'END'
#!/bin/sh
read -r init
echo '{"type":"prompt","id":"1","message":"Your name?"}'
read -r name
echo '{"type":"confirm","id":"2","message":"Sure?"}'
read -r sure
name=${name##*value\":\"}
sure=${sure##*value\":}
printf '{"type":"output","text":"hello %s %s\\n"}\n' "${name%%\"*}" "${sure%%\}*}"
END
    scene ask.py run
}

@test "an agent of ACP that asks by a form is answered over HTTP" {
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    printf 'command: %s/tests/acp/hosted.py\nprotocol: acp\n' "$PERCH_SOURCE" \
        >"$XDG_CONFIG_HOME/perch/agents/asks.yaml"
    scene ask.py agent
}
