#!/usr/bin/env bats
# The examples as ASan and UBSan see them: those that embed the library, and those of
# the SDK, which are spoken to by the wire alone.

setup() {
    asan="$PERCH_RELEASE-asan"
    [ -x "$asan/examples/embed-poll" ] || skip "there is no build with ASan"
    export PERCH_GUARD="$PERCH_BUILD/perch-guard"
}

# clean STATUS: it exited so, and no sanitizer had a word to say.
clean() {
    echo "$output"
    [ "$status" -eq "$1" ]
    [[ "$output" != *Sanitizer* && "$output" != *"runtime error"* ]]
}

@test "asan: poll" {
    run "$asan/examples/embed-poll" sh -c 'cat; exit 3' <<<hello
    clean 3
    run "$asan/examples/embed-poll" perch-no-such-program </dev/null
    clean 125
}

@test "asan: libuv" {
    run "$asan/examples/embed-libuv" sh -c 'while :; do echo working; sleep 0.1; done'
    clean 143
}

@test "asan: the plugin of the SDK" {
    init='{"type":"init","protocol":"fledge-v1","command":"deploy","args":[],"project":null,"plugin":{"name":"p","version":"1","dir":"/"},"fledge":{"version":"1"},"capabilities":{"exec":false,"store":true,"metadata":false}}'
    run "$asan/examples/sdk-deploy" <<<"$init"
    clean 1
    run "$asan/examples/sdk-deploy" <<<"$init
{\"type\":\"response\",\"id\":\"1\",\"value\":null}
{\"type\":\"response\",\"id\":\"2\",\"value\":\"staging\"}
{\"type\":\"response\",\"id\":\"3\",\"value\":null}"
    clean 0
    [[ "$output" == *"deployed to staging"* ]]
}

@test "asan: the tool of the SDK" {
    run "$asan/examples/sdk-words" <<'END'
{"type":"handshake","protocol_version":"rterm.plugin.v1"}
{"type":"request","request_id":"r1","tool_name":"words.count","context":{},"input":{"text":"a b"}}
END
    clean 0
    [[ "$output" == *'"words":2'* ]]
    run "$asan/examples/sdk-words" <<<nonsense
    [[ "$output" != *Sanitizer* ]]
}

@test "asan: the agent of the SDK" {
    AGENT_PROTOCOL_VERSION=0.1 AGENT_MESSAGE="a b" AGENT_STREAMING=1 \
        run "$asan/examples/sdk-parrot" </dev/null
    clean 0
    [[ "$output" == *"turn-1"* ]]
    run "$asan/examples/sdk-parrot" </dev/null
    clean 1
}
