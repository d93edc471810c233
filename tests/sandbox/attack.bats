#!/usr/bin/env bats
# Ways out that were tried and found open once. Each fails in a room; what holds without one is
# tried without one, too.

# shellcheck disable=SC2154,SC2317 # what sandbox_open sets; what twice calls
load sandbox

setup() {
    sandbox_open
    git init -q
    git config user.name n
    git config user.email e
    git commit -q --allow-empty -m first
    # What git is to execute: it leaves a mark.
    mark="$BATS_TEST_TMPDIR/mark"
    printf '[core]\n\tfsmonitor = touch %s\n' "$mark" >"$project/evil"
}

# in_a_room: else there is nothing to be seen here.
in_a_room() {
    has_rooms || skip "no namespaces here"
}

# git_is_safe DIRECTORY: the next use of git executes nothing.
git_is_safe() {
    git -C "$1" status >/dev/null 2>&1 || true
    [ ! -e "$mark" ]
}

# says_of MADE: the run before said that this was made.
warns_of() {
    [[ "$output" == *"warning: $1 was made in the sandbox"* ]] || { echo "said: $output"; return 1; }
}

@test "git: commondir leads git to another configuration" {
    check() {
        output=$(confined sh -ec 'rm -rf other; mkdir other; cp -r .git/objects .git/refs other; cp evil other/config
            echo ../other >.git/commondir' 2>&1)
        warns_of "$project/.git/commondir"
        [ ! -e .git/commondir ]
        git_is_safe .
    }
    twice check
}

@test "git: what is missing in a repository and made is told" {
    check() {
        rm -rf .git/hooks .git/config.worktree
        output=$(confined sh -c 'mkdir .git/hooks; cp evil .git/config.worktree' 2>&1)
        warns_of "$project/.git/hooks"
        warns_of "$project/.git/config.worktree"
    }
    twice check
    rm -rf .git
    output=$(confined git init 2>&1)
    warns_of "$project/.git"
}

@test "git: hooks and configuration, of every kind of repository" {
    in_a_room
    git config extensions.worktreeConfig true
    touch .git/config.worktree
    git worktree add -q "$BATS_TEST_TMPDIR/tree"
    git clone -q . "$BATS_TEST_TMPDIR/origin"
    git -c protocol.file.allow=always submodule --quiet add "$BATS_TEST_TMPDIR/origin" a/b
    touch .git/worktrees/tree/config.worktree
    for path in .git/config .git/config.worktree .git/hooks/x .git/worktrees/tree/commondir \
        .git/worktrees/tree/config.worktree .git/modules/a/b/config .git/modules/a/b/hooks/x; do
        denied confined cp evil "$path"
        denied confined python3 -c 'import os, sys; os.rename("evil", sys.argv[1])' "$path"
    done
    for path in .git .git/modules .git/modules/a/b .git/worktrees/tree; do
        denied confined python3 -c 'import os, sys; os.rename(*sys.argv[1:])' "$path" moved
    done
    confined sh -c 'git commit -q --allow-empty -m second && git -C a/b log -1' >/dev/null
    git_is_safe .
    git_is_safe a/b
    git_is_safe "$BATS_TEST_TMPDIR/tree"
}

@test "git: a repository that lies elsewhere, by a link, a file, a variable, or is bare" {
    in_a_room
    mv .git .real
    ln -s .real .git
    denied confined rm .git
    denied confined python3 -c 'import os; os.rename(".real", "moved")'
    denied confined cp evil .real/config
    rm .git
    echo 'gitdir: .real' >.git
    denied confined rm .git
    denied confined cp evil .real/config
    rm .git
    (
        export GIT_DIR=.real
        denied confined cp evil .real/config
        denied confined cp evil .real/hooks/x
    )
    cd .real
    denied confined cp ../evil config
    denied confined touch hooks/x
}

@test "shared memory of others" {
    attach() {
        confined python3 - "$memory" <<'END'
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
attached = libc.shmat(int(sys.argv[1]), None, 0) not in (None, 2**64 - 1)
sys.exit("attached" if attached else 0)
END
    }
    memory=$(ipcmk -M 64 | tr -dc '0-9')
    status=0
    twice attach || status=$?
    ipcrm -m "$memory"
    [ "$status" = 0 ]
}

@test "a socket that is in no list: not for tools" {
    knock() {
        "$perch" sandbox run -q --policy tool --read "$project" -- python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$project/socket"
    }
    python3 -c '
import signal, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
signal.pause()' "$project/socket" 3>&- &
    until [ -S "$project/socket" ]; do sleep 0.05; done
    status=0
    twice denied knock || status=$?
    kill $! && wait $! || true
    [ "$status" = 0 ]
}

@test "a terminal's process group is not killed, and that is said where it could be" {
    ABI=$("$perch" sandbox check | sed -n 's/.*landlock:\([0-9]*\).*/\1/p' | head -n 1) python3 - "$perch" <<'END'
import os, pty, sys
def run(abi):
    pid, terminal = pty.fork()
    if pid == 0:
        if abi:
            os.environ["PERCH_LANDLOCK_ABI_MAX"] = abi
        killer = "import os; os.kill(0, 9)"
        os.execv(sys.argv[1], ["perch", "sandbox", "run", "--", "python3", "-c", killer])
    said = b""
    try:
        while chunk := os.read(terminal, 4096):
            said += chunk
    except OSError:
        pass
    return said, os.waitpid(pid, 0)[1]
warning = b"no process outside can be signalled"
said, status = run("5")
assert warning in said and status == 9, (said, status) # perch itself
if os.environ["ABI"] >= "6":
    said, status = run(None)
    assert warning not in said and os.WEXITSTATUS(status) == 128 + 9, (said, status)
END
}

@test "without HOME, the account's keys are hidden all the same" {
    account=$(getent passwd "$(id -u)" | cut -d : -f 6)
    [ -d "$account" ] || skip "the account has no home directory"
    # A place that is there, or one that is made for this and taken away before anything is judged.
    made=
    [ -e "$account/.ssh" ] || { mkdir "$account/.ssh" && made=1; } || skip "it cannot be written"
    for room in 0 1; do
        PERCH_SANDBOX_NO_ROOM=$room env -u HOME "$perch" sandbox run --explain -- true
        PERCH_SANDBOX_NO_ROOM=$room HOME=/nowhere "$perch" sandbox run --explain -- true
    done >said 2>&1 || true
    [ -z "$made" ] || rmdir "$account/.ssh"
    [ "$(grep -c "hide     $account/.ssh" said)" -eq 4 ]
}

@test "TIOCSTI with bits that the kernel does not look at" {
    check() {
        confined python3 - <<'END'
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
TIOCSTI, TIOCLINUX, IOCTL = 0x5412, 0x541C, {"x86_64": 16, "aarch64": 29}[__import__("os").uname().machine]
for request in (TIOCSTI, TIOCLINUX, TIOCSTI | 1 << 32, TIOCSTI | 1 << 63):
    libc.syscall(IOCTL, 0, ctypes.c_ulong(request), b"x")
    if ctypes.get_errno() != errno.EPERM:
        sys.exit("%#x: %d" % (request, ctypes.get_errno()))
END
    }
    twice check
}

# What docs/sandbox.md says of it: if this fails in a room, say there that it is closed.
@test "a hidden file that others replace meanwhile: seen in a room, not without one" {
    replace() {
        rm -f go ready
        echo old >hidden
        mkfifo go ready
        "$perch" sandbox run -q --hide "$project/hidden" -- sh -c 'cat hidden; echo >ready; read -r _ <go; cat hidden' \
            >seen 2>/dev/null &
        read -r _ <ready
        echo new >other
        mv other hidden
        echo >go
        wait $! || true
        [ "$(cat seen)" = "$1" ]
    }
    ! has_rooms || replace new
    PERCH_SANDBOX_NO_ROOM=1 replace ''
}

@test "a device can be written to, and keeps its mode and its times" {
    in_a_room
    before=$(stat -c '%a %x %z' /dev/null)
    confined sh -c 'echo gone >/dev/null && head -c 1 /dev/zero >/dev/null && : >>/dev/null'
    denied confined sh -c 'chmod 666 /dev/null'
    denied confined touch -a /dev/null
    [ "$(stat -c '%a %x %z' /dev/null)" = "$before" ]
}
