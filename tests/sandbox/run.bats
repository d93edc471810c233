#!/usr/bin/env bats
# perch sandbox run and check: options, exit codes, signals, limits, words.
# shellcheck disable=SC2030,SC2031,SC2154,SC2317 # what sandbox_open sets; functions for `twice`

load sandbox.bash
load ../harness/users

setup() { sandbox_open; }

# ---- the call ----------------------------------------------------------------

@test "the exit code is the command's; a signal counts from 128" {
    fails_with 7 confined sh -c 'exit 7'
    # shellcheck disable=SC2016 # for the inner shell
    fails_with 143 confined sh -c 'kill -TERM $$'
    fails_with 127 confined no-such-program
    touch plain && fails_with 126 confined ./plain
}

@test "wrong calls end with 64 and say what is right" {
    fails_saying 64 'perch help sandbox' "$perch" sandbox
    fails_saying 64 'did you mean: perch sandbox check' "$perch" sandbox chekc
    fails_saying 64 'A command is missing' "$perch" sandbox run
    fails_saying 64 '--policy' "$perch" sandbox run --polcy tool -- true
    fails_saying 64 'fledge or tool' "$perch" sandbox run --policy strict -- true
    fails_saying 64 'full or none' "$perch" sandbox run --net=some -- true
    fails_saying 64 'contradict' "$perch" sandbox run --net --no-net -- true
    fails_saying 64 'contradict' "$perch" plugins allow x --net full --no-net
    fails_saying 64 'contradict' "$perch" tool add x --net none --net
    fails_saying 64 'perch plugins allow NAME' "$perch" run --net hello
    fails_saying 64 'refuse or warn' "$perch" sandbox run --on-unsupported maybe -- true
    fails_saying 64 'docker, gcloud, gemini, git, github' "$perch" sandbox run --preset gti -- true
    fails_saying 64 'no amount' "$perch" sandbox run --limit memory=lots -- true
    fails_saying 64 'no amount' "$perch" sandbox run --limit memory=-1 -- true
    fails_saying 64 'no amount' "$perch" sandbox run --limit files=1G -- true
    fails_saying 64 'no amount' "$perch" sandbox run --limit memory=99999999999999G -- true
    fails_saying 64 'memory=1G,processes=64' "$perch" sandbox run --limit speed=1 -- true
    fails_saying 64 "takes no 'all'" "$perch" sandbox check all
}

# without_signalfd COMMAND…: a kernel that has none to give.
without_signalfd() {
    python3 - "$@" <<'END'
import ctypes, errno, os, platform, struct, sys
number = {"x86_64": 289, "aarch64": 74}[platform.machine()]
code = b"".join(struct.pack("HBBI", *line) for line in (
    (0x20, 0, 0, 0),  # which call?
    (0x15, 0, 1, number),
    (0x06, 0, 0, 0x50000 | errno.EMFILE),
    (0x06, 0, 0, 0x7FFF0000)))
text = ctypes.create_string_buffer(code)
program = struct.pack("HP", 4, ctypes.addressof(text))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("no filter")
os.execv(sys.argv[1], sys.argv[1:])
END
}

@test "what fails has a reason" {
    case $(uname -m) in x86_64 | aarch64) ;; *) skip "the number of signalfd is not known here" ;; esac
    fails_with 125 without_signalfd "$perch" sandbox run -q -- true
    says 'signals cannot be watched: Too many open files'
}

@test "a path that is to be allowed must exist" {
    fails_saying 125 '/no/such/place' "$perch" sandbox run --read /no/such/place -- true
    fails_saying 125 'missing' "$perch" sandbox run --write missing -- true
    "$perch" sandbox run -q --hide /no/such/place -- true
}

@test "input, output and errors are the command's own" {
    [ "$(echo in | confined cat)" = in ]
    confined sh -c 'echo out; echo err >&2' >out 2>err
    [ "$(cat out)" = out ]
    [ "$(cat err)" = err ]
    # By their names, too.
    confined sh -c 'echo out >/dev/stdout; echo err >/dev/stderr' >out 2>err
    [ "$(cat out)" = out ]
    [ "$(cat err)" = err ]
}

# ---- what it sees ---------------------------------------------------------------

@test "read, write and hide" {
    extra="$BATS_TEST_TMPDIR/extra"
    mkdir "$extra" sub && echo text >"$extra/file" && echo hidden >sub/hidden
    check() {
        shows_nothing confined cat "$extra/file"
        [ "$("$perch" sandbox run -q --read "$extra" -- cat "$extra/file")" = text ]
        denied "$perch" sandbox run -q --read "$extra" -- tee "$extra/made"
        "$perch" sandbox run -q --write ../extra -- tee "$extra/made" </dev/null
        [ "$(confined cat sub/hidden)" = hidden ]
        shows_nothing "$perch" sandbox run -q --hide sub -- cat sub/hidden
        shows_nothing "$perch" sandbox run -q --hide sub/hidden -- cat sub/hidden
        shows_nothing confined cat ~/.ssh/id
    }
    twice check
}

@test "a link to what is hidden hides what it leads to" {
    mkdir dotfiles && mv "$HOME/.ssh" dotfiles/ssh && ln -s "$project/dotfiles/ssh" "$HOME/.ssh"
    check() {
        shows_nothing confined cat dotfiles/ssh/id
    }
    twice check
}

@test "what is hidden by default is shown when it is named, or by a preset" {
    check() {
        [ "$("$perch" sandbox run -q --read ~/.ssh -- cat ~/.ssh/id)" = secret ]
        [ "$("$perch" sandbox run -q --preset ssh -- cat ~/.ssh/id)" = secret ]
        # Not by naming what holds it.
        shows_nothing "$perch" sandbox run -q --read ~ -- cat ~/.ssh/id
    }
    twice check
}

@test "the page lists what is hidden, line by line" {
    python3 - "$PERCH_SOURCE" >table <<'END'
import re, sys
text = open(sys.argv[1] + "/src/sandbox/policy/hidden_table.c").read()
print("| place | or where this says | shown by |\n|---|---|---|")
for row in re.findall(r"\{ (\.(?:place|variable)[^}]*) \}", text):
    has = dict(re.findall(r'\.(\w+) = "([^"]*)"', row))
    moved = "$" + has.get("variable", "") + ("/" + has["below"] if "below" in has else "")
    print("| %s | %s | %s |" % (
        "`~/%s`" % has["place"] if "place" in has else "",
        "`%s`" % moved if "variable" in has else "",
        "`%s`" % has["preset"] if "preset" in has else ""))
END
    [ "$(wc -l <table)" -gt 80 ]
    sed -n '/^<!-- hidden -->$/,/^Beside these/p' "$PERCH_SOURCE/docs/sandbox.md" | grep '^|' | diff - table
}

@test "secrets that a variable has moved are hidden, there and where they were" {
    mkdir -p "$HOME/.config/gh" "$BATS_TEST_TMPDIR/elsewhere/gh"
    echo secret | tee "$HOME/.config/gh/hosts.yml" "$BATS_TEST_TMPDIR/elsewhere/gh/hosts.yml" \
        "$BATS_TEST_TMPDIR/elsewhere/kube" >"$HOME/.bash_history"
    check() {
        for file in "$HOME/.config/gh/hosts.yml" "$HOME/.bash_history" \
            "$BATS_TEST_TMPDIR/elsewhere/gh/hosts.yml" "$BATS_TEST_TMPDIR/elsewhere/kube"; do
            shows_nothing env GH_CONFIG_DIR="$BATS_TEST_TMPDIR/elsewhere/gh" \
                KUBECONFIG="$HOME/none:$BATS_TEST_TMPDIR/elsewhere/kube" \
                "$perch" sandbox run -q -- cat "$file" || return 1
        done
        [ "$(KUBECONFIG="$BATS_TEST_TMPDIR/elsewhere/kube" "$perch" sandbox run -q --preset kube -- \
            sh -c "cat \"\$KUBECONFIG\"")" = secret ]
    }
    twice check
    # In a project it is hidden and stays where it is, and the rest can be written.
    if has_rooms; then
        mkdir .cargo
        echo secret >.cargo/credentials.toml
        export CARGO_HOME="$PWD/.cargo"
        shows_nothing "$perch" sandbox run -q -- cat .cargo/credentials.toml
        denied "$perch" sandbox run -q -- mv .cargo elsewhere
        denied "$perch" sandbox run -q -- mv .cargo/credentials.toml .cargo/other
        "$perch" sandbox run -q -- touch made .cargo/made
        [ -e .cargo/made ]
    fi
}

@test "variables that look like secrets are kept back, unless they are named" {
    export MY_TOKEN=t0ken GH_TOKEN=gh PLAIN=plain LD_PRELOAD_TEST=x
    # shellcheck disable=SC2016 # for the inner shell
    show='echo "$MY_TOKEN,$GH_TOKEN,$PLAIN"'
    [ "$(confined sh -c "$show")" = ",,plain" ]
    [ "$("$perch" sandbox run -q --env MY_TOKEN -- sh -c "$show")" = "t0ken,,plain" ]
    [ "$("$perch" sandbox run -q --preset github -- sh -c "$show")" = ",gh,plain" ]
}

@test "a home directory, or what holds it, is not writable, and that is said" {
    mkdir "$HOME/app"
    check() {
        cd "$HOME"
        fails_with 1 "$perch" sandbox run -- tee made
        says 'not writable'
        says '--write . allows it'
        cd /
        fails_with 1 "$perch" sandbox run -- tee /made
        says 'not writable'
        cd "$HOME"
        "$perch" sandbox run -q --write . -- tee app/made </dev/null
        shows_nothing "$perch" sandbox run -q --write . -- cat .ssh/id
        cd app
        confined tee made </dev/null
    }
    twice check
}

@test "the temporary directory is its own, and gone afterwards" {
    echo shared >"$TMPDIR/shared"
    check() {
        # shellcheck disable=SC2016 # for the inner shell
        confined sh -ec 'test -d "$TMPDIR"; cd "$TMPDIR"; mkdir -p deep/er; echo x >deep/er/left
            chmod 0 deep/er; test "$(stat -c %a "$TMPDIR")" != 755'
    }
    twice check
    [ -z "$(find "$TMPDIR" -name left)" ]
    rmdir "$TMPDIR/perch-$(id -u)" # it is empty
}

@test "who may read /tmp has a directory of its own all the same" {
    check() {
        # shellcheck disable=SC2016 # for the inner shell
        output=$("$perch" sandbox run -q --read /tmp -- sh -ec 'echo mine >"$TMPDIR/left"; cat "$TMPDIR/left"')
        [ "$output" = mine ]
        [ -z "$(find "$TMPDIR" -name left)" ]
    }
    twice check
}

@test "temporary files of a host that was killed go with the next one's start" {
    export PERCH_SANDBOX_NO_ROOM=1
    # shellcheck disable=SC2016 # for the inner shell
    "$perch" sandbox run -q -- sh -c 'cd "$TMPDIR" && touch left && echo here >'"$project/ready"'; exec sleep 100' 3>&- &
    until [ -s ready ]; do sleep 0.05; done
    confined true
    left=$(find "$TMPDIR" -name left)
    [ -n "$left" ]
    # Other sandboxes do not see it, not even one that may read all around it.
    denied "$perch" sandbox run -q --read "$TMPDIR" -- cat "$left"
    kill -KILL $!
    wait || true
    confined true
    [ -z "$(find "$TMPDIR" -name left)" ]
}

# A tree too deep to be held open, made by what is confined.
@test "a temporary directory that is hard to remove is removed" {
    needs python3
    export PERCH_SANDBOX_NO_ROOM=1
    confined python3 -c '
import os
os.chdir(os.environ["TMPDIR"])
for i in range(300):
    os.mkdir("deep-1")
    open("deep-2", "w").close()
    os.chdir("deep-1")
os.symlink("/", "link")'
    [ -z "$(find "$TMPDIR/perch-$(id -u)" -mindepth 1)" ]
}

# ---- limits -----------------------------------------------------------------------

@test "limits: open files, size of a file, memory, CPU time" {
    needs python3
    limited() {
        local limit=$1
        shift
        "$perch" sandbox run -q --limit "$limit" -- "$@"
    }
    fails_with 1 limited files=32 python3 -c '
files = [open("/dev/null") for i in range(64)]'
    says 'Too many open files'
    fails_with 153 limited size=1M,files=64 sh -c 'exec head -c 2M /dev/zero >big' # SIGXFSZ
    [ "$(stat -c %s big)" -le 1048576 ]
    fails_with 1 limited memory=256M python3 -c '
memory = bytearray(1 << 30)'
    says 'MemoryError'
    # shellcheck disable=SC2016 # for the inner shell
    fails_with 152 limited cpu=1 sh -c 'while :; do :; done' # SIGXCPU
}

memory_is_limited() {
    for kind in shared small_and_shared grows_down memory_file secret device device_read \
        system_v stack private; do
        status=0
        output=$("$perch" sandbox run -q --limit memory=128M -- python3 kinds.py "$kind" 2>&1) ||
            status=$?
        # By a cgroup it is killed instead.
        if [ "$status" -ne 9 ] && [ "$status" -ne 137 ]; then
            echo "$kind: $status: $output"
            return 1
        fi
    done
    # Files that several map are files.
    "$perch" sandbox run -q --limit memory=128M -- python3 -c '
import mmap
file = open("mapped", "w+b")
file.truncate(4096)
mmap.mmap(file.fileno(), 4096)[0] = 1'
}

# As somebody who may have no cgroup of his own.
memory_is_limited_in() {
    set -euo pipefail
    export HOME="$1/home" TMPDIR="$1/tmp" perch
    perch=$(command -v perch)
    mkdir "$HOME" "$TMPDIR" "$1/work"
    cd "$1/work"
    cp "${perch%/*}/kinds.py" .
    memory_is_limited
    PERCH_SANDBOX_NO_ROOM=1 memory_is_limited
}

@test "limits: memory of every kind counts, or there is none of it" {
    needs python3
    cp "$PERCH_SOURCE/tests/sandbox/kinds.py" .
    twice memory_is_limited
    # Without a limit there is all of it.
    "$perch" sandbox run -q -- python3 kinds.py shared
    "$perch" sandbox run -q -- python3 kinds.py memory_file
}

@test "limits: memory of every kind counts, run by a normal user" {
    needs python3
    users_bring "$PERCH_SOURCE/tests/sandbox/kinds.py"
    export -f memory_is_limited memory_is_limited_in
    as_user normal memory_is_limited_in
}

# A plugin, whose stderr is the terminal: "typed" waits in it.
greedy_at_a_terminal() {
    set -euo pipefail
    export HOME="$1" XDG_CONFIG_HOME="$1/config"
    mkdir -p "$1/greedy/bin" "$1/project"
    cd "$1/greedy"
    cat >plugin.toml <<'END'
[plugin]
name = "greedy"
version = "0.1.0"
protocol = "fledge-v1"

[[commands]]
name = "greedy"
description = "wants keys"
binary = "bin/fledge-greedy"
END
    cat >bin/fledge-greedy <<'END'
#!/bin/sh
read -r init
got=
[ -t 2 ] && got="$got terminal"
timeout 2 head -c 1 <&2 >/dev/null && got="$got read"
timeout 2 head -c 1 </dev/tty >/dev/null && got="$got opened"
stty -echo <&2 && got="$got silenced"
printf '{"type":"output","text":"got:%s\\n"}\n' "$got"
END
    chmod +x bin/fledge-greedy
    perch plugins install "$1/greedy" --trust --yes >/dev/null
    cd "$1/project"
    for room in 0 1; do
        said=$(echo typed | PERCH_SANDBOX_NO_ROOM=$room script -qec \
            'perch run greedy; stty -a | grep -wo -e -echo -e echo' /dev/null | tr -d '\r')
        [[ "$said" == *"got: terminal"$'\n'* && "$said" != *-echo* ]] || { echo "$said"; return 1; }
    done
}

@test "the terminal behind stderr: no keys are read, its modes stay, for root and a normal user" {
    users_bring
    export -f greedy_at_a_terminal
    as_both greedy_at_a_terminal
}

@test "limits: the number of processes, where it can be exact" {
    if "$perch" sandbox check | grep -Eq '(namespaces|cgroup) +processes'; then
        # shellcheck disable=SC2016 # for the inner shell
        fails_with 2 "$perch" sandbox run -q --limit processes=16 -- \
            sh -c 'for i in $(seq 40); do sleep 100 & done'
        says fork
    else
        fails_with 125 "$perch" sandbox run --on-unsupported refuse --limit processes=16 -- true
        says 'limit of processes'
        fails_with 0 "$perch" sandbox run --limit processes=16 -- true
        says 'warning: not enforced here: the limit of processes'
    fi
}

# ---- its end ------------------------------------------------------------------------

@test "signals are passed on" {
    for signal in TERM INT HUP USR1; do
        rm -f ready
        # shellcheck disable=SC2016 # for the inner shell
        env --default-signal=INT,QUIT "$perch" sandbox run -q -- sh -c \
            'trap "echo got; exit 5" '"$signal"'; echo >ready; while :; do sleep 0.05; done' \
            >out 3>&- &
        until [ -e ready ]; do sleep 0.05; done
        kill -s "$signal" $!
        status=0
        wait $! || status=$?
        [ "$status" = 5 ]
        [ "$(cat out)" = got ]
    done
}

@test "in a room, nothing stays behind: not even what has a session of its own" {
    has_rooms || skip "no rooms here"
    # shellcheck disable=SC2016 # for the inner shell
    TEST_MARK="left-$BATS_TEST_TMPDIR" confined sh -c \
        'setsid sh -c "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo >started"; until [ -e started ]; do :; done' 3>&-
    denied env TEST_MARK='' grep -lszxF "TEST_MARK=left-$BATS_TEST_TMPDIR" /proc/[0-9]*/environ
}

@test "the host dies, the sandbox dies with it" {
    check() {
        rm -f ready
        TEST_MARK="dies-$BATS_TEST_TMPDIR" "$perch" sandbox run -q -- \
            sh -c 'echo >ready; exec sleep 1000' 3>&- &
        until [ -e ready ]; do sleep 0.05; done
        kill -KILL $!
        wait $! || true
        for _ in $(seq 200); do
            grep -lszxF "TEST_MARK=dies-$BATS_TEST_TMPDIR" /proc/[0-9]*/environ || return 0
            sleep 0.05
        done
        return 1
    }
    twice check
}

# ---- words ------------------------------------------------------------------------------

@test "--explain shows policy and layers" {
    fails_with 0 "$perch" sandbox run --explain --hide sub --env GH_TOKEN --limit cpu=5 -- true
    says "sandbox policy 'fledge'"
    says "write    $project"
    says "hide     $HOME/.ssh"
    says "env      GH_TOKEN"
    says "net      full"
    says "limit    cpu=5"
    says "landlock:"
}

@test "--explain says what would have allowed it" {
    check() {
        fails_with 1 "$perch" sandbox run -q --explain -- touch /usr/made
        says "hint: the sandbox policy 'fledge' was in force; --write /usr/made would allow it"
        fails_with 1 "$perch" sandbox run -q --explain -- cat "$HOME/.ssh/id"
        says "--read $HOME/.ssh/id would show it"
    }
    twice check
    fails_with 1 "$perch" sandbox run -q --explain --no-net -- python3 -c '
import socket; socket.create_connection(("127.0.0.1", 9))'
    says '--net would give it a network'
}

@test "a sandbox inside of it fails with words that help" {
    check() {
        fails_with 1 confined unshare --user true
        says 'no other sandbox can be made inside it'
        says 'run it without perch sandbox run'
    }
    twice check
    needs bwrap
    nested() {
        fails_with 1 confined bwrap --ro-bind / / true
        says 'no other sandbox can be made inside it'
        # And as part of something else.
        fails_with 1 "$perch" sandbox run -q --explain -- sh -c 'bwrap --ro-bind / / true'
        says 'no other sandbox can be made inside it'
    }
    twice nested
}

@test "what cannot be enforced: a warning for plugins, an error for tools" {
    export PERCH_SANDBOX_NO_ROOM=1
    fails_with 0 "$perch" sandbox run -- true
    says 'warning: not enforced here: protected paths'
    fails_with 0 "$perch" sandbox run -q -- true
    [ -z "$output" ]
    fails_with 125 env PERCH_LANDLOCK_ABI_MAX=2 "$perch" sandbox run --policy tool -- true
    says 'only what may be written is cut short (truncate)'
    says '--on-unsupported warn runs it all the same'
    fails_with 0 env PERCH_LANDLOCK_ABI_MAX=2 "$perch" sandbox run --policy tool \
        --on-unsupported warn -- true
    fails_with 125 env PERCH_LANDLOCK_ABI_MAX=0 "$perch" sandbox run --policy tool -- true
    says 'only what the policy allows is read'
}

@test "a tool that nothing watches over changes no mode and no attribute" {
    local tool=("$perch" sandbox run --policy tool -- sh -c)
    fails_with 1 env PERCH_SANDBOX_NO_ROOM=1 "${tool[@]}" ': >file && chmod 600 file'
    touch file
    if chattr +d file && chattr -d file; then
        fails_with 1 env PERCH_SANDBOX_NO_ROOM=1 "${tool[@]}" ': >file && chattr +d file'
        says 'Operation not permitted'
    fi
    has_rooms || return 0
    "${tool[@]}" ': >file && chmod 600 file'
}

@test "check: for people and for programs" {
    needs jq
    run "$perch" sandbox check
    [ "$status" -le 1 ]
    [[ "$output" == *"hidden paths are neither read nor listed"* ]]
    run "$perch" sandbox check --json
    [ "$status" -le 1 ]
    [ "$(jq -r '.policies[].policy' <<<"$output" | xargs)" = "fledge tool" ]
    [ "$(jq '[.policies[].properties[] | select(.layer == null and .why == null)] | length' <<<"$output")" = 0 ]
    PERCH_SANDBOX_NO_ROOM=1 PERCH_LANDLOCK_ABI_MAX=0 run "$perch" sandbox check --json
    [ "$status" = 1 ]
    [ "$(jq -c '.policies[0].layers - ["cgroup"]' <<<"$output")" = '["privileges","limits","seccomp"]' ]
    [ "$(jq -r '.policies[0].properties[] | select(.name == "hide") | .layer' <<<"$output")" = null ]
    [ "$(jq -r '.policies[0].no_namespaces' <<<"$output")" = 'they are switched off for a test' ]
}

# ---- a terminal -------------------------------------------------------------------------

@test "a terminal is usable, by its names too, and Ctrl+C reaches the command" {
    needs python3
    cat >terminal.py <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
def until(word):
    global said
    while word not in said:
        said += os.read(terminal, 4096)
until(b"ready\r\n")
os.write(terminal, b"typed\n")
until(b"got typed by name and by stdin")
os.write(terminal, b"\x03")
until(b"interrupted")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    check() {
        # shellcheck disable=SC2016 # for the inner shell
        [ "$(python3 terminal.py "$perch" sandbox run -q -- bash -c '
            test -t 0 && test -t 1 && tty >/dev/null || exit 1
            trap "echo interrupted >/dev/tty; exit 9" INT
            echo ready; read -r word </dev/tty
            echo "got $word by name and by stdin" >"$(tty)"
            while :; do sleep 0.1; done')" = 9 ]
    }
    twice check
}
