#!/usr/bin/env bats
# Plugins in a real terminal: keys typed, screen compared.

# shellcheck disable=SC2154 # what fledge_open and call set
load terminal
load ../fledge/plugins

setup() {
    terminal_open
    fledge_open
    mkdir "$WORK/names"
    ln -s "$perch" "$WORK/names/fledge"
}

teardown() {
    terminal_close
    fledge_close
}

# example NAME COMMAND CAPABILITIES: a copy, since it keeps its state there.
example() {
    cp -R "$PERCH_SOURCE/examples/plugins/$1" "$cfg/plugins/$1"
    ln -s "../$1/bin/fledge-$2" "$cfg/plugins/bin/fledge-$2"
    register "$1" "$2" "$3"
}

# in_terminal WORD…: fledge with these words, between two looks at the terminal.
in_terminal() {
    terminal_anew
    between_looks "$WORK/project" "$WORK/names/fledge" "$@"
}

# The whole screen, without blanks at the ends of lines and empty ones below.
trimmed() {
    screen | sed 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

shows() {
    [ "$(trimmed)" = "$1" ]
}

expect_screen() {
    wait_until shows "$1" >/dev/null || {
        diff <(printf '%s\n' "$1") <(trimmed)
        return 1
    }
}

@test "the minimal plugin in Python" {
    plugin minimal <<'END'
#!/usr/bin/env python3
import sys, json

def send(msg):
    print(json.dumps(msg), flush=True)

def recv():
    return json.loads(sys.stdin.readline())

# Wait for init
init = recv()
args = init["args"]

# Ask user
send({"type": "prompt", "id": "1", "message": "Deploy target:", "default": "staging"})
resp = recv()
target = resp["value"]

# Confirm
send({"type": "confirm", "id": "2", "message": f"Deploy to {target}?"})
resp = recv()
if not resp["value"]:
    send({"type": "output", "text": "Cancelled.\n"})
    sys.exit(0)

# Do the work
send({"type": "progress", "message": "Deploying", "current": 0, "total": 3})
# ... actual deployment logic ...
send({"type": "progress", "message": "Deploying", "current": 3, "total": 3})
send({"type": "progress", "done": True})
send({"type": "output", "text": f"Deployed to {target}\n"})
END
    in_terminal minimal
    wait_for "? Deploy target: [staging]"
    keys production Enter
    wait_for "? Deploy to production? [y/N]"
    keys y
    wait_over
    expect_screen "? Deploy target: production
? Deploy to production? yes
Deployed to production
[over 0]"
    in_terminal minimal
    wait_for "? Deploy target: [staging]"
    keys Enter
    wait_for "? Deploy to staging? [y/N]"
    keys n
    wait_over
    expect_screen "? Deploy target: staging
? Deploy to staging? no
Cancelled.
[over 0]"
}

@test "the minimal plugin in Bash" {
    example deploy-bash ship ''
    in_terminal ship
    wait_for "? Deploy target: [staging]"
    keys production Enter
    wait_over
    expect_screen "? Deploy target: production
Deploying project to production
[over 0]"
}

@test "the behavioural example: deploy remembers its last target" {
    example deploy-python deploy store
    # Waits at 3 of 10, so that the bar can be looked at.
    sed -i 's|^\( *\)time.sleep(0.02)|\1while step == 3 and not __import__("os").path.exists("go"):\n\1    time.sleep(0.02)|' \
        "$cfg/plugins/deploy-python/bin/fledge-deploy"
    in_terminal deploy
    wait_for "? Deploy target: [staging]"
    keys production Enter
    wait_for "? Deploy to production? [y/N]"
    keys y
    wait_for "▶ Uploading artifacts ["
    wait_for "] 3/10"
    touch go
    wait_over
    [ "$(line 1)" = "? Deploy target: production" ]
    [ "$(line 2)" = "? Deploy to production? yes" ]
    [[ "$(line 3)" == "✅ Deployed to production in "*s ]]
    [ "$(line 4)" = "[over 0]" ]
    in_terminal deploy
    wait_for "? Deploy target: [production]"
    keys C-c
    wait_over 130
}

@test "Ctrl+C at a prompt: cancelled, 130, the terminal as it was" {
    py asks <<'END'
send("prompt", id="p", message="Who?")
recv()
END
    in_terminal asks
    wait_for "? Who?"
    keys typed
    wait_for "typed"
    keys C-c
    wait_over 130
    seen '{"type":"cancel","id":"p","reason":"user_interrupt"}'
    lacks "$(screen)" "exited with code"
}

@test "Ctrl+C at a prompt: twice more for a plugin that ignores it" {
    py deaf <<'END'
signal.signal(signal.SIGTERM, signal.SIG_IGN)
send("select", id="s", message="Which?", options=["a", "b"])
recv()
while True:
    time.sleep(60)
END
    in_terminal deaf
    wait_for "❯ a"
    keys C-c
    wait_until grep -qs cancel "$SEEN"
    keys C-c
    keys C-c
    wait_over 130
}

@test "Ctrl+C while a bar is drawn, and while nothing is" {
    py bar <<'END'
if args:
    send("progress", message="Uploading", current=3, total=10)
ready()
recv()
END
    in_terminal bar yes
    wait_for "3/10"
    keys C-c
    wait_over 130
    rm -f "$READY"
    in_terminal bar
    wait_ready
    keys C-c
    wait_over 130
}

@test "a plugin that crashes at a prompt leaves the terminal as it was" {
    py crash <<'END'
send("prompt", id="p", message="Who?")
while not os.path.exists(os.environ["WORK"] + "/go"):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
END
    in_terminal crash
    wait_for "? Who?"
    keys half
    wait_for half
    touch "$WORK/go"
    wait_over 137
    has "$(screen)" "error: Plugin 'fledge-crash' exited with code 137"
}

# chooser: a plugin with a menu; and a script that becomes perch, known by its number.
chooser() {
    py pick <<'END'
say(ask("select", message="Which?", options=["one", "two"]).get("value"))
END
    printf '#!/bin/bash\necho $$ >%q\nexec %q pick\n' "$WORK/pid" "$WORK/names/fledge" >"$WORK/chooser"
    chmod +x "$WORK/chooser"
}

@test "perch killed by SIGKILL at a question leaves the terminal as it was" {
    chooser
    # shellcheck disable=SC2016 # for the inner shell
    printf '%s\n' "cd '$WORK/project'" "stty -g >'$WORK/before'" "'$WORK/chooser'" \
        "until stty -g | cmp -s - '$WORK/before'; do sleep 0.05; done" \
        'echo "[over]"' 'exec cat' >"$WORK/run"
    run_in_terminal "bash '$WORK/run'"
    wait_for "two"
    kill -KILL "$(cat "$WORK/pid")"
    wait_for "[over]"
    [[ "$(cursor)" == *,1 ]]
    [ "$(tmux -L "$socket" display-message -p '#{bracket_paste_flag}')" != 1 ]
}

@test "a shell whose perch was killed has the terminal as it wants it" {
    chooser
    PATH="$WORK/names:$PATH" shell_in_terminal "$WORK/project"
    for round in 1 2 3 4 5; do
        rm -f "$WORK/pid"
        keys "clear; $WORK/chooser" Enter
        wait_for "two"
        kill -KILL "$(cat "$WORK/pid")"
        wait_for "Killed"
        wait_for "%>"
        keys "echo rou" nothing C-w "echo round $round" Enter
        wait_for "round $round"
    done
}

@test "output and logs are printed above an open question" {
    py busy <<'END'
send("prompt", id="p", message="Who?")
while not os.path.exists(os.environ["WORK"] + "/go"):
    time.sleep(0.01)
say("first line")
send("log", level="warn", message="careful")
raw("stray\n")
say("hello " + recv()["value"])
END
    in_terminal busy
    wait_for "? Who?"
    keys me
    wait_for "? Who? me"
    touch "$WORK/go"
    expect_screen "first line
WARN [fledge-busy] careful
warning: line 4 of the plugin is not JSON and was skipped: stray
? Who? me"
    keys Enter
    wait_over
    wait_for "hello me"
}

@test "Ctrl+Z at a prompt, and fg" {
    py -c exec asks <<'END'
send("exec", id="e", command="echo $$ > $WORK/pid.new; mv $WORK/pid.new $WORK/pid; exec sleep 60")
with open(os.environ["WORK"] + "/plugin", "w") as file:
    file.write(str(os.getpid()))
send("prompt", id="p", message="Who?")
recv()
say("never here")
END
    py plain <<'END'
say("hello " + value("prompt", message="Who?"))
END
    PATH="$WORK/names:$PATH" shell_in_terminal "$WORK/project"
    keys "fledge plain" Enter
    wait_for "? Who?"
    keys half
    wait_for "? Who? half"
    keys C-z
    wait_for "Stopped"
    keys "stty -g > $WORK/after; echo ok" Enter
    wait_for "ok"
    keys "stty -a | grep -o ' echo '; echo again" Enter
    wait_for " echo"
    keys fg Enter
    wait_for "? Who? half"
    keys way Enter
    wait_for "hello halfway"
    # And everything that was started stands still meanwhile.
    keys clear Enter
    keys "fledge asks" Enter
    wait_for "? Who?"
    wait_until test -s "$WORK/pid"
    keys C-z
    wait_for "Stopped"
    wait_until grep -q '^State:.T' "/proc/$(outer "$(cat "$WORK/pid")")/status"
    wait_until grep -q '^State:.T' "/proc/$(outer "$(cat "$WORK/plugin")")/status"
    keys fg Enter
    wait_until grep -q '^State:.[SR]' "/proc/$(outer "$(cat "$WORK/plugin")")/status"
    wait_for "? Who?"
    keys C-c
    wait_until gone "$(cat "$WORK/pid")"
    keys 'echo "status $?"' Enter
    wait_for "status 130"
}

@test "time that perch was stopped does not count for a question" {
    py patient <<'END'
say(ask("prompt", message="Who?").get("reason", "answered"))
END
    PATH="$WORK/names:$PATH" shell_in_terminal "$WORK/project"
    keys "fledge --prompt-timeout 3 patient" Enter
    wait_for "? Who?"
    keys C-z
    wait_for "Stopped"
    sleep 3.5
    keys fg Enter
    wait_for "? Who?"
    keys me Enter
    wait_for "answered"
}

# has_the_terminal [OPTION…]: a legacy plugin that is run so.
has_the_terminal() {
    plugin -p none editor <<'END'
#!/bin/bash
stty raw -echo
echo x >"$READY"
key=$(dd bs=1 count=1 2>/dev/null)
stty sane
[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "got <$(printf %d "'$key")>"
END
    in_terminal "$@" editor
    wait_ready
    keys C-c
    wait_for "got <3>"
    wait_for "[over 0]"
}

# has_job_control [OPTION…]: Ctrl+C is its own, Ctrl+Z and back, the size, the exit code.
has_job_control() {
    plugin -p none sleeper <<'END'
#!/bin/bash
trap 'echo caught' INT
trap 'echo "size $(stty size)"' WINCH
echo x >"$READY"
while [ ! -e "$WORK/go" ]; do sleep 0.05; done
echo finished
exit 5
END
    PATH="$WORK/names:$PATH" shell_in_terminal "$WORK/project"
    keys "fledge $* sleeper" Enter
    wait_ready
    keys C-c
    wait_for "caught"
    tmux -L "$socket" resize-window -x 66 -y 22
    wait_for "size 22 66"
    keys C-z
    wait_for "Stopped"
    keys fg Enter
    touch "$WORK/go"
    wait_for "finished"
    keys "echo code \$?" Enter
    wait_for "code 5"
}

@test "a legacy plugin has the terminal to itself" {
    has_the_terminal
}

@test "a legacy plugin: Ctrl+C, Ctrl+Z, the size and the exit code are its own" {
    has_job_control
}

@test "a legacy plugin in a sandbox has the terminal to itself" {
    has_the_terminal --sandbox
}

@test "a legacy plugin in a sandbox: Ctrl+C, Ctrl+Z, the size and the exit code are its own" {
    has_job_control --sandbox
}

@test "a legacy plugin in a sandbox: a shell with jobs of its own" {
    plugin -p none jobs <<'END'
#!/bin/bash
PS1='inner> ' exec bash --noprofile --norc -i
END
    in_terminal --sandbox jobs
    wait_for "inner>"
    keys "sleep 300" Enter
    keys C-z
    wait_for "Stopped"
    keys fg Enter
    wait_for "inner> fg
sleep 300"
    keys C-c
    keys "exit 4" Enter
    wait_for "[over 4]"
}

@test "a legacy plugin in a sandbox cannot type into the terminal" {
    plugin -p none typist <<'END'
#!/usr/bin/env python3
import fcntl, os, termios
for path in ("/dev/stdin", "/dev/tty"):
    try:
        fcntl.ioctl(os.open(path, os.O_RDWR) if path == "/dev/tty" else 0, termios.TIOCSTI, b"x")
        print("TYPED")
    except OSError as error:
        print("denied", error.errno)
END
    in_terminal --sandbox typist
    wait_for "[over 0]"
    has "$(screen)" "denied 1
denied 1"
}

# A plugin that wants the terminal for itself: tries every way there is, then says what it got.
# shellcheck disable=SC2016
greedy='
import fcntl, termios
got = []
def attempt(name, action):
    try:
        action()
        got.append(name)
    except (OSError, termios.error):
        pass
def silent():
    modes = termios.tcgetattr(2)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(2, termios.TCSANOW, modes)
def readable(path, flags):
    os.close(os.open(path, flags | os.O_NOCTTY | os.O_NONBLOCK))
if fcntl.fcntl(2, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY:
    got.append("a stream to read from")
for path in ("/proc/self/fd/2", "/dev/stderr", "/dev/tty"):
    for name, flags in (("r", os.O_RDONLY), ("rw", os.O_RDWR)):
        attempt(path + " " + name, lambda: readable(path, flags))
attempt("echo off", silent)
attempt("stand still", lambda: termios.tcflow(2, termios.TCIOFF))
attempt("throw keys away", lambda: termios.tcflush(2, termios.TCIFLUSH))
os.write(2, b"stderr is a terminal\n" if os.isatty(2) else b"no terminal\n")
say("got: " + ", ".join(got))
'

@test "a plugin reads no keys from the terminal behind its stderr, and changes nothing of it" {
    echo "$greedy" | py greedy
    for room in 0 1; do
        export PERCH_SANDBOX_NO_ROOM=$room
        in_terminal greedy
        wait_for "[over 0]"
        has "$(screen)" "stderr is a terminal"
        [ "$(screen | grep got: | sed 's/ *$//')" = "got:" ]
        wait_over
    done
}

@test "a plugin without a sandbox that switches echo off: it is on again afterwards" {
    py quiet <<'END'
import termios
modes = termios.tcgetattr(2)
modes[3] &= ~termios.ECHO
termios.tcsetattr(2, termios.TCSANOW, modes)
try:
    os.read(2, 1)
except OSError as error:
    say("read: %d" % error.errno)
END
    in_terminal --sandbox=off quiet
    wait_for "[over 0]"
    has "$(screen)" "read: 9"
    wait_over
}
