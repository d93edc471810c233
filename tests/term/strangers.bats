#!/usr/bin/env bats
# Text of strangers on a terminal: whatever a manifest, a build, a hook, a tool, an agent or the
# name of a file says, the terminal gets no control character of theirs, none of C1, and nothing
# that turns the reading order around.

# shellcheck disable=SC2154 # what the helpers set
load ../tool/tools

setup() {
    tool_open
    export HOME="$BATS_TEST_TMPDIR/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    export GIT_CONFIG_GLOBAL="$BATS_TEST_TMPDIR/gitconfig" LC_ALL=C.UTF-8
    mkdir -p "$HOME"
}
teardown() { tool_close; }

# A title for the terminal, C1's CSI, an override of the reading order; as JSON and as printf.
json='a\u001b]0;x\u0007b\u009b31mc\u202ed'
bytes='a\033]0;x\007b\302\233''31mc\342\200\256d'

# on_terminal WORD…: perch with a terminal for all its streams, what it wrote there in
# $WORK/terminal. Its own colours are off.
on_terminal() {
    "$python" - "$WORK/terminal" "$perch" "$@" <<'END'
import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.environ["NO_COLOR"] = "1"
    os.execv(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        said += os.read(master, 65536)
    except OSError:
        break
open(sys.argv[1], "wb").write(said)
os.waitpid(pid, 0)
END
}

# clean [WORDS]: nothing of it got there, and the words did.
clean() {
    "$python" - "$WORK/terminal" "${1:-}" <<'END'
import re, sys
text = open(sys.argv[1], "rb").read().decode()
# How perch itself draws: it hides the cursor and erases what it drew.
text = re.sub("\x1b\\[(\\?25[lh]|\\?2004[lh]|[0-9]*[ABCDGJK]|0?m)", "", text)
print(ascii(text))
assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
assert sys.argv[2] in text
END
}

# hostile VERSION HOOK: the plugin $WORK/guest.
hostile() {
    mkdir -p "$WORK/guest/bin"
    printf '#!/bin/sh\n' >"$WORK/guest/bin/guest"
    chmod +x "$WORK/guest/bin/guest"
    {
        printf '[plugin]\nname = "guest"\nversion = "%s"\nprotocol = "fledge-v1"\n' "$1"
        printf '[[commands]]\nname = "guest"\nbinary = "bin/guest"\n'
        printf "[hooks]\nbuild = '''%s'''\npost_install = '''%s'''\npre_push = '''%s'''\n" "$2" "$2" "$2"
    } >"$WORK/guest/plugin.toml"
}

@test "the version in a manifest, at install and update; what a build and a hook print" {
    hostile "1$json" true
    on_terminal plugins install --yes "$WORK/guest"
    clean "must not contain control characters"
    hostile 1 "printf '$bytes said\n'"
    git init -q "$WORK/guest"
    git -C "$WORK/guest" add -A
    git -C "$WORK/guest" -c user.name=t -c user.email=t@t commit -qm one
    on_terminal plugins install --yes --trust "file://$WORK/guest"
    clean "said"
    hostile 2 "printf '$bytes said\n'"
    git -C "$WORK/guest" add -A
    git -C "$WORK/guest" -c user.name=t -c user.email=t@t commit -qm two
    on_terminal plugins update --yes
    clean "said"
    # As another program has written it.
    sed -i "s/^version = .*/version = \"3${json//\\/\\\\}\"/" "$XDG_CONFIG_HOME/fledge/plugins.toml"
    on_terminal plugins list
    clean "3a]0;xb31mcd"
    on_terminal --json plugins list
    clean '\u009b31mc\u202ed'
}

@test "what a tool answers, and what it says on stderr" {
    tool loud <<END
request = greet()
def send(message):
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\\n")
    sys.stdout.flush()
sys.stderr.buffer.write(b"$bytes err\\n")
sys.stderr.flush()
respond(request, {"text": "$json"})
END
    on_terminal -v tool call t.loud t.x
    clean 'b\u009b31mc\u202ed'
    on_terminal --json tool call t.loud t.x
    clean 'b\u009b31mc\u202ed'
    # Elsewhere it is as it was.
    "$perch" tool call t.loud t.x >"$WORK/out"
    grep -q $'\302\233' "$WORK/out"
}

@test "what an agent says on stderr, with -v" {
    printf 'cat >/dev/null; printf "%s err\\n" >&2; echo fine\n' "$bytes" >"$WORK/agent.sh"
    printf 'command: sh\nargs: ["%s"]\n' "$WORK/agent.sh" >"$WORK/bot.yaml"
    on_terminal -v agent run --profile "$WORK/bot.yaml" --no-store --prompt hi
    clean "a]0;xb31mcd err"
}

@test "the name of a file that is replayed" {
    py talk <<'END'
value("confirm", message="m")
END
    # shellcheck disable=SC2059 # it is a format
    name=$(printf "$bytes.ndjson")
    "$perch" --trace "$name" run talk
    on_terminal trace replay "$name"
    clean "the same"
    sed -i 's/:false}/:true}/' "$name"
    on_terminal trace replay "$name"
    clean "different"
    on_terminal trace show "$name"
    clean
    on_terminal --json trace show "$name"
    clean
}

@test "events of a plugin, with --json" {
    py talk <<END
raw(r'{"type":"output","text":"$json"}' + "\n")
END
    on_terminal --json run talk
    clean '\u009b31mc\u202ed'
}

@test "what an MCP server answers, also where it refuses" {
    server=("$python" "$PERCH_SOURCE/tests/mcp/server.py")
    on_terminal mcp call echo -- "${server[@]}" rude-later
    clean "rude]0;x31mtext"
    on_terminal mcp inspect -- "${server[@]}" rude
    clean "rude]0;x31mtext"
    on_terminal mcp list -- "${server[@]}" rude
    clean "rude]0;x31mtext"
}

@test "what the README of somebody's profile says" {
    mkdir -p "$WORK/hub/bot"
    printf '%b read me\n' "$bytes" >"$WORK/hub/bot/README.md"
    printf 'command: true\ndescription: "%s"\n' "$json" >"$WORK/hub/bot/profile.yaml"
    ln -s "$perch" "$WORK/agentproc"
    perch=$WORK/agentproc on_terminal hub show bot --hub "$WORK/hub"
    clean "read me"
    perch=$WORK/agentproc on_terminal hub list --hub "$WORK/hub"
    clean
}
