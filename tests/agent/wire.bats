#!/usr/bin/env bats
# What an agent is given, and what becomes of its lines: section 1 to 3 of the
# contract with real processes.

# shellcheck disable=SC2154,SC2016,SC2034 # what agent_open and turn set
load agents

setup() { agent_open; }
teardown() { agent_close; }

hostile='${HOME} {{SESSION_ID}} $& $(id) ; rm -rf'

@test "a hostile message arrives unchanged in environment, argv, env value and stdin" {
    agent 'stdin: message' 'env: {COPY: "{{MESSAGE}}"}' <<'END'
printf '%s\n' "$AGENT_MESSAGE" "$COPY"
cat
END
    sed -i "s|agent.sh'\]|agent.sh', 'x{{MESSAGE}}y', '{{MESSAGE}}']|" "$profile"
    cat >>"$BATS_TEST_TMPDIR/agent.sh" <<'END'
echo
printf '%s\n' "$@" $#
END
    turn --prompt "$hostile"
    expect_status 0
    expect "$hostile
$hostile
$hostile
x${hostile}y
$hostile
2"
}

@test "the environment: what is inherited, the profile's, ours" {
    agent 'env: {MY_KEY: "<${FROM_BRIDGE}>", AGENT_FROM_USER: nobody, PLAIN: "$FROM_BRIDGE"}' <<'END'
env | grep -E '^(AGENT_|MY_KEY|PLAIN|FROM_BRIDGE)' | sort
END
    export FROM_BRIDGE=value AGENT_STALE=old AGENT_MESSAGE=old
    turn --from ann --session s-9 --session-name work
    unset AGENT_STALE AGENT_MESSAGE
    expect 'AGENT_FROM_USER=ann
AGENT_MESSAGE=hi
AGENT_PROTOCOL_VERSION=0.1
AGENT_SESSION_ID=s-9
AGENT_SESSION_NAME=work
AGENT_STREAMING=1
FROM_BRIDGE=value
MY_KEY=<value>
PLAIN=$FROM_BRIDGE'
    turn --no-stream --env MY_KEY=mine
    has "$output" "AGENT_STREAMING=0"
    has "$output" "MY_KEY=mine"
    has "$output" "AGENT_SESSION_NAME=default"
}

@test "env_allowlist leaves those, the basic set and the profile's" {
    agent 'env_allowlist: [KEPT]' 'env: {OWN: 1}' <<'END'
env | grep -E '^(KEPT|DROPPED|OWN|HOME|LC_ALL|PATH)=' | cut -d= -f1 | sort
END
    KEPT=1 DROPPED=1 turn
    expect 'HOME
KEPT
LC_ALL
OWN
PATH'
}

@test "attachments: the single ones, and all of them" {
    agent <<'END'
printf '%s|%s|%s\n' "${AGENT_IMAGE_URL-unset}" "${AGENT_FILE_URL-unset}" "${AGENT_ATTACHMENTS-unset}"
END
    turn
    expect 'unset|unset|unset'
    turn --prompt '' --image http://x/a.png --file http://x/1 --file http://x/2?q=3
    expect 'http://x/a.png|unset|[{"type":"image","url":"http://x/a.png","name":"a.png"},{"type":"file","url":"http://x/1","name":"1"},{"type":"file","url":"http://x/2?q=3","name":"2"}]'
    turn --audio http://x/s --video http://x/v
    expect 'unset|unset|[{"type":"audio","url":"http://x/s","name":"s"},{"type":"video","url":"http://x/v","name":"v"}]'
}

@test "cwd: the profile's, relative to it, with ~, and ours instead" {
    mkdir -p "$BATS_TEST_TMPDIR/sub" "$HOME/there"
    printf 'pwd -P\n' >"$BATS_TEST_TMPDIR/agent.sh"
    base=$(cd "$BATS_TEST_TMPDIR" && pwd -P)
    profile_of 'command: sh' "args: ['$BATS_TEST_TMPDIR/agent.sh']" 'cwd: sub'
    turn
    expect "$base/sub"
    turn --cwd /
    expect /
    profile_of 'command: sh' "args: ['$BATS_TEST_TMPDIR/agent.sh']" 'cwd: ~/there'
    turn
    expect "$(cd "$HOME/there" && pwd -P)"
    profile_of 'command: sh' "args: ['$BATS_TEST_TMPDIR/agent.sh']"
    turn
    expect "$(pwd -P)"
    profile_of 'command: sh' "args: ['$BATS_TEST_TMPDIR/agent.sh']" 'cwd: gone'
    turn
    expect_status 125
    has "$errors" "$base/gone"
}

@test "stdin: none is at its end, message is the message and nothing more" {
    agent <<'END'
cat | wc -c
END
    turn
    expect 0
    echo 'stdin: message' >>"$profile"
    turn --prompt hello
    expect 5
}

@test "--stdin is the message, verbatim but for the newline that ends it" {
    agent 'stdin: message' <<'END'
od -An -c | tr -d ' \n'
END
    turn --stdin < <(printf 'a\nb\n')
    expect 'a\nb'
    turn --stdin < <(printf 'a\n\n')
    expect 'a\n'
}

# message SIZE
message() { head -c "$1" /dev/zero | tr '\0' m; }

@test "1 MiB over stdin to an agent that writes a lot before it reads" {
    py_agent 'stdin: message' 'max_reply_chars: 0' <<'END'
import os, sys
sys.stdout.write("x" * 1000000 + "\n")
sys.stdout.flush()
print(len(sys.stdin.read()), repr(os.environ["AGENT_MESSAGE"]), os.environ["AGENT_MESSAGE_OMITTED"])
END
    turn --stdin < <(message 1048576)
    expect_status 0
    has "$(tail -n 1 "$WORK/out")" "1048576 '' 1"
}

@test "1 MiB over stdin to an agent that never reads" {
    agent 'stdin: message' <<'END'
echo done
END
    turn --stdin < <(message 1048576)
    expect_status 0
    expect 'done'
}

@test "200 KB without stdin is refused, and says what to do" {
    agent <<'END'
echo started
END
    turn --stdin < <(message 200000)
    expect_status 125
    expect ''
    has "$errors" 'stdin: message'
}

@test "a message with a NUL, and no message, are refused" {
    agent <<'END'
echo started
END
    turn --stdin < <(printf 'a\0b')
    expect_status 125
    has "$errors" 'NUL'
    turn --prompt ''
    expect_status 125
    has "$errors" 'empty'
    expect ''
}

@test "a shell that would read the message as a script is refused" {
    profile_of 'command: sh' 'args: [-c, "echo {{MESSAGE}}"]'
    turn --prompt '$(echo got you)'
    expect_status 125
    has "$errors" '--allow-shell-message'
    turn --allow-shell-message
    expect_status 0
    expect hi
}

@test "a shell that would read the name of the session as a script is refused" {
    profile_of 'command: sh' 'args: [-c, "echo {{SESSION_NAME}}"]'
    turn --session-name '$(echo got you)'
    expect_status 125
    has "$errors" 'the name of the session'
    profile_of 'command: sh' "args: [-c, 'echo \"\$1\"', sh, '{{SESSION_NAME}}']"
    turn --session-name '$(echo got you)'
    expect_status 0
    expect '$(echo got you)'
}

@test "a command is split, but never what is put into it" {
    cat >"$BATS_TEST_TMPDIR/count" <<'END'
#!/bin/sh
printf '<%s>' "$@"
END
    chmod +x "$BATS_TEST_TMPDIR/count"
    profile_of 'command: "{{PROFILE_DIR}}/count  a {{MESSAGE}} x{{SESSION_ID}}"'
    turn --prompt 'one two'
    expect '<a><one two><x>'
    mv "$BATS_TEST_TMPDIR/count" "$BATS_TEST_TMPDIR/my count"
    profile_of 'command: "{{PROFILE_DIR}}/my count"' 'args: [b]'
    turn
    expect '<b>'
}

@test "lines: CRLF, no final newline, leading blanks, invalid and split UTF-8" {
    py_agent <<'END'
import os, time
def out(data):
    os.write(1, data)
    time.sleep(0.02)
out(b"one\r\n AGENT_PARTIAL:\"literal\"\r\n")
out("é".encode()[:1]); out("é".encode()[1:] + b"\n")
out(b"bad \xff\xfe end\n")
out("last ✓".encode()[:6]); out("last ✓".encode()[6:])
END
    turn --json
    expect_status 0
    [ "$(events | sed -n 2p)" = '{"event":"reply","text":"one\n AGENT_PARTIAL:\"literal\"\né\nbad �� end\nlast ✓"}' ]
}

@test "invalid JSON behind each prefix is taken as text, with a warning" {
    agent <<'END'
echo 'AGENT_PARTIAL: not json '
echo 'AGENT_PARTIAL:{"a":1}'
echo 'AGENT_SESSION:not a session'
echo 'AGENT_ERROR:went wrong'
END
    turn --json
    expect_status 1
    [ "$(grep -c '"event":"warning"' "$WORK/out")" -eq 4 ]
    has "$output" '{"event":"partial","text":"not json"}'
    has "$output" '{"event":"partial","text":"{\"a\":1}"}'
    has "$output" '{"event":"error","code":"agent_error","message":"went wrong"}'
    lacks "$output" '"event":"session"'
}

@test "several errors: the first one counts; sessions before and after them" {
    agent <<'END'
echo AGENT_SESSION:before
echo 'AGENT_PARTIAL:"a"'
echo body
echo 'AGENT_ERROR:"first"'
echo 'AGENT_PARTIAL:"b"'
echo 'AGENT_ERROR:"second"'
echo AGENT_SESSION:after
END
    turn --json
    expect_status 1
    [ "$(events)" = '{"event":"start","protocol":"0.1","session_id":"","session_name":"default"}
{"event":"session","session_id":"before"}
{"event":"partial","text":"a"}
{"event":"warning","message":"line 6 reports a further error: second"}
{"event":"session","session_id":"after"}
{"event":"error","code":"agent_error","message":"first"}
{"event":"end","success":false,"exit_code":1,"signal":null,"sandbox":[],"reach":"tree","background_ended":0,"status":0,"timed_out":false,"cancelled":false,"session_id":"after"}' ]
}

@test "100,000 partials, each once and in order" {
    py_agent 'max_reply_chars: 0' <<'END'
import json, sys
for i in range(100000):
    sys.stdout.write("AGENT_PARTIAL:" + json.dumps("%d\n" % i) + "\n")
END
    turn
    expect_status 0
    seq 0 99999 | cmp - "$WORK/out"
}

@test "a 10-MiB line is too long, more than 64 MiB are too much; both can be set" {
    py_agent <<'END'
import os, sys
print("AGENT_SESSION:kept")
unit = "x" * int(os.environ["UNIT"])
try:
    for _ in range(int(os.environ["COUNT"])):
        print(unit)
    sys.stdout.flush()
except BrokenPipeError:
    os._exit(0)
END
    UNIT=10485760 COUNT=1 turn --json
    expect_status 1
    has "$output" '"code":"output_limit","message":"the agent wrote a line of more than 8388608 bytes'
    [ "$(field session_id)" = kept ]
    UNIT=1048575 COUNT=70 turn --json
    expect_status 1
    has "$output" 'wrote more than 67108864 bytes'
    UNIT=10485760 COUNT=1 turn --json --line-limit 20000000
    expect_status 0
    UNIT=2000 COUNT=10 turn --json --output-limit 10000
    expect_status 1
    UNIT=2000 COUNT=10 turn --json --line-limit 1500
    expect_status 1
}

@test "max_reply_chars counts characters, the suffix comes once" {
    agent 'max_reply_chars: 5' 'truncation_suffix: "[cut]"' <<'END'
echo 'AGENT_PARTIAL:"äöü"'
echo 'AGENT_PARTIAL:"ßéè"'
echo 'AGENT_PARTIAL:"more"'
echo ÄÖÜäöü
END
    turn --json
    [ "$(grep -E 'partial|reply' "$WORK/out")" = '{"event":"partial","text":"äöü"}
{"event":"partial","text":"ßé[cut]"}
{"event":"reply","text":"ÄÖÜäö[cut]"}' ]
}

@test "streaming off: partials are dropped" {
    agent <<'END'
echo 'AGENT_PARTIAL:"a"'
echo body
END
    turn --no-stream
    expect body
    echo 'streaming: false' >>"$profile"
    turn
    expect body
}

@test "another session_line_prefix" {
    agent 'session_line_prefix: "SID "' <<'END'
echo 'SID one'
echo AGENT_SESSION:two
END
    turn --json
    [ "$(field session_id)" = one ]
    has "$output" '"text":"AGENT_SESSION:two"'
}

@test "partials come while the agent is still at work" {
    agent <<'END'
echo 'AGENT_PARTIAL:"first"'
while ! [ -e "$WORK/seen-it" ]; do sleep 0.02; done
echo done
END
    "$perch" agent run --profile "$profile" --no-store --prompt hi >"$WORK/out" 2>"$WORK/err" 3>&- &
    host=$!
    wait_until grep -qs first "$WORK/out"
    touch "$WORK/seen-it"
    finish
    expect_status 0
    expect 'first
done'
}

@test "partials of Python come while it is at work: PYTHONUNBUFFERED instead of flush" {
    unset PYTHONUNBUFFERED
    py_agent 'env: {PYTHONUNBUFFERED: "1"}' <<'END'
import os, time
print('AGENT_PARTIAL:"first"')
while not os.path.exists(os.environ["WORK"] + "/seen-it"):
    time.sleep(0.02)
END
    start agent run --profile "$profile" --no-store --prompt hi
    wait_until grep -qs first "$WORK/out"
    touch "$WORK/seen-it"
    finish
    expect_status 0
    expect first
}
