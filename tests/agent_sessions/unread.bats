#!/usr/bin/env bats
# Nobody reads stdout: timeouts, signals and cancelling work all the same, and nothing is lost
# when it is read at last.

# shellcheck disable=SC2154 # what agents_open sets
# shellcheck disable=SC2016 # scripts in quotes
load agents

setup() { agents_open; }
teardown() { agents_close; }

# endless PROFILE-LINE…: writes partials of 5000 characters that are counted, without end.
endless() {
    cat >endless.py <<'END'
#!/usr/bin/env python3
import os, signal, sys
def asked(*_):
    open(os.environ["WORK"] + "/asked", "w").close()
signal.signal(signal.SIGTERM, asked)
with open(os.environ["WORK"] + "/pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename(os.environ["WORK"] + "/pid.new", os.environ["WORK"] + "/pid")
n = 0
while True:
    line = b'AGENT_PARTIAL:"%07d%s"\n' % (n, b"x" * 4993)
    while line:
        line = line[os.write(1, line):]
    n += 1
END
    chmod +x endless.py
    {
        echo 'command: "{{PROFILE_DIR}}/endless.py"'
        echo 'max_reply_chars: 0'
        printf '%s\n' "$@"
    } >endless.yaml
}

# unread CASE ARGUMENT…: stdout is a pipe, or what $where says.
unread() {
    rm -f pid asked
    timeout 120 python3 "$PERCH_SOURCE/tests/agent_sessions/unread.py" "$1" "${where:-pipe}" "$perch" agent "${@:2}" -p endless.yaml
}

@test "a timeout ends the agent; then perch waits for its reader, who gets everything" {
    endless 'timeout_secs: 1' 'kill_grace_secs: 1'
    unread timeout run --prompt x
    unread timeout run --prompt x --json
    unread timeout serve
}

@test "a turn of serve can be cancelled" {
    endless 'kill_grace_secs: 1'
    unread cancel serve
}

@test "SIGTERM ends the agent and perch, behind the grace at the latest" {
    endless 'kill_grace_secs: 1'
    unread term run --prompt x
    unread term run --prompt x --json
    unread term serve
}

@test "a second signal waits neither for the agent nor for the reader" {
    endless 'kill_grace_secs: 300'
    unread twice run --prompt x
    unread twice run --prompt x --json
    unread twice serve
}

@test "an agent that waits for our reader is not silent" {
    endless 'idle_timeout_secs: 4' 'timeout_secs: 8' 'kill_grace_secs: 1' # so slow may Python start
    unread timeout run --prompt x --json
}

@test "stdout and stderr in one pipe: what is said keeps its place, and nothing hangs" {
    endless 'timeout_secs: 1' 'kill_grace_secs: 1'
    where=both unread timeout run --prompt x
    where=both unread term run --prompt x
    where=both unread term run --prompt x --verbose
    endless 'kill_grace_secs: 300'
    where=both unread twice run --prompt x
}

@test "a terminal that stands still: signals work" {
    endless 'kill_grace_secs: 1'
    where=terminal unread term run --prompt x
    where=terminal unread term serve
    endless 'kill_grace_secs: 300'
    where=terminal unread twice run --prompt x
}

@test "lines that want answers are not taken without end, and each is answered" {
    endless
    timeout 120 python3 "$PERCH_SOURCE/tests/agent_sessions/flooded.py" "$perch" agent serve -p endless.yaml
}
