#!/usr/bin/env bats
# perch plugins list and audit.

# shellcheck disable=SC2154,SC2016 # what the helpers set; `words` in what is expected
load author

setup() { author_open; }
teardown() { author_close; }

# entry NAME LINE…: of plugins.toml.
entry() {
    printf '[[plugins]]\nname = "%s"\n' "$1"
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@"
} >>"$cfg/plugins.toml"

@test "list: nothing is installed" {
    plugins list
    expect_status 0
    has "$output" "No plugins are installed"
    plugins list --json
    expect '{"schema_version":1,"plugins":[]}'
    plugins audit --json
    expect '{"schema_version":1,"audit":[]}'
}

@test "list: a table" {
    printf '[trust]\nofficial = ["org/plugin"]\nusers = ["ada"]\n' >"$cfg/config.toml"
    entry one 'version = "1.2.3"' 'source = "org/plugin"' 'commands = ["a", "b"]'
    entry 二つ 'source = "ada/x"' 'version = "1"'
    entry three 'source = "/srv/x"'
    entry four
    mkdir "$cfg/plugins"/{one,二つ,three,four}
    plugins list
    expect_status 0
    expect "NAME   VERSION  TRUST       COMMANDS  SOURCE
one    1.2.3    official    a, b      org/plugin
二つ   1        team        -         ada/x
three  -        local       -         /srv/x
four   -        unverified  -         -"
}

@test "list: for programs, names and nesting" {
    entry one 'version = "1.2.3"' 'source = "org/plugin"' 'commands = ["a", "b"]' \
        'installed = "2026-01-02"' 'pinned_ref = "v1"' 'runtime = "native"'
    entry two
    mkdir "$cfg/plugins"/{one,two}
    plugins list --json
    expect_status 0
    expect '{"schema_version":1,"plugins":[{"name":"one","version":"1.2.3","source":"org/plugin","installed":"2026-01-02","commands":["a","b"],"pinned_ref":"v1","trust_tier":"unverified","runtime":"native"},{"name":"two","version":"","source":"","installed":"","commands":[],"pinned_ref":null,"trust_tier":"unverified","runtime":"native"}]}'
    [ "$("$perch" --json plugins list)" = "$output" ]
}

@test "list: on a narrow terminal every line fits" {
    entry "$(printf 'n%.0s' {1..40})" 'source = "https://example.org/a/very/long/way/to/go/on"' 'version = "1.0.0"'
    entry short 'source = "日本語日本語日本語日本語日本語"'
    python3 - "$perch" <<'END'
import fcntl, os, pty, struct, sys, termios, unicodedata
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    os.execv(sys.argv[1], [sys.argv[1], "--color", "never", "plugins", "list"])
text = b""
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    text += part
os.waitpid(pid, 0)
lines = text.decode().split("\r\n")[:-1]
assert len(lines) == 3, lines
width = lambda line: sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in line)
assert all(width(line) <= 60 for line in lines), [(width(l), l) for l in lines]
assert "…" in lines[1]
END
}

@test "list: what an entry holds cannot reach the terminal" {
    entry one 'source = "\u001b[2J\u009b"' 'version = "1\n2"'
    plugins list
    lacks "$output" $'\033'
    [ "$(wc -l <"$WORK/out")" -eq 2 ]
}

@test "list: entries that make no sense are told, files that do not are an error" {
    printf '[[plugins]]\nversion = "1"\n' >"$cfg/plugins.toml"
    entry fine
    plugins list
    expect_status 0
    has "$output" fine
    has "$errors" "an entry is skipped"
    echo '[[' >"$cfg/plugins.toml"
    plugins list
    expect_status 125
    has "$errors" "plugins.toml:1:"
    rm "$cfg/plugins.toml"
    echo '[trust]
orgs = 1' >"$cfg/config.toml"
    plugins audit
    expect_status 125
    has "$errors" "config.toml:2:8"
    plugins list extra
    expect_status 64
}

@test "audit: a plugin that is as it should be, but for its approval" {
    py -c exec,store ship <<<'say("x")'
    chmod -R go-w "$cfg"
    plugins audit
    expect_status 0
    has "$output" "  layers     privileges"
    output=$(grep -v '^  layers ' <<<"$output") # which ones, the machine decides
    expect "fledge-ship 0.1.0
  source     test
  trust      unverified
  commands   ship
  granted    exec, store
  requested  exec, store
  hooks      -
  sandbox    yes
  reads      everything but credentials and the directories of fledge and perch
  writes     the project, its own directory, a private /tmp
  network    open: its manifest does not say
  and writes $WORK
  warning    no approval is recorded: another program has installed it"
}

@test "audit: for programs, names and nesting" {
    py -c exec ship <<<'say("x")'
    sed -i 's/^store = .*/store = true/' "$cfg/plugins/fledge-ship/plugin.toml"
    printf '[hooks]\npre_push = "true"\n' >>"$cfg/plugins/fledge-ship/plugin.toml"
    plugins audit --json
    expect_status 0
    answer_has 'assert list(d) == ["schema_version", "audit"]
a, = d["audit"]
assert list(a)[:10] == ["name", "version", "source", "trust_tier", "runtime", "sandboxed",
    "capabilities", "requested", "commands", "has_lifecycle_hooks"], list(a)
assert a["sandboxed"] is True and a["has_lifecycle_hooks"] is True and a["commands"] == ["ship"]
assert list(a["capabilities"])[:4] == ["exec", "store", "metadata", "network"], a
assert [name for name, is_granted in a["capabilities"].items() if is_granted] == ["exec"], a
assert [name for name, is_wished in a["requested"].items() if is_wished] == ["exec", "store"], a
assert any("wishes for store, which is not granted" in w for w in a["warnings"])'
}

@test "audit: entries of other programs" {
    entry ghost
    entry outside 'commands = ["sh", "gone", "none"]' 'source = "x"'
    mkdir "$cfg/plugins/outside"
    ln -s /bin/sh "$cfg/plugins/bin/fledge-sh"
    ln -s nowhere "$cfg/plugins/bin/fledge-gone"
    plugins audit
    expect_status 0
    has "$output" "plugins/ghost cannot be read"
    has "$output" "the command sh runs a program outside of the plugin"
    has "$output" "the link of the command gone leads to nothing"
    has "$output" "the command none has no link in bin"
    has "$output" "it has no plugin.toml: it runs with all your rights"
    plugins audit --json
    answer_has 'assert [a["sandboxed"] for a in d["audit"]] == [False, False]
assert [a["requested"] for a in d["audit"]] == [None, None]'
}

@test "audit: legacy, live links, links, files that anybody may change" {
    plugin -p none old <<<'#!/bin/sh'
    mv "$cfg/plugins/fledge-old" elsewhere
    ln -s "$PWD/elsewhere" "$cfg/plugins/fledge-old"
    touch elsewhere/open
    chmod 666 elsewhere/open
    ln -s nowhere elsewhere/dangling
    plugins audit
    expect_status 0
    has "$output" "it is a legacy plugin: it runs with all your rights"
    has "$output" "it is a live link to $(realpath elsewhere)"
    has "$output" "open can be changed by anybody"
    has "$output" "dangling is a link to nothing"
    has "$output" "sandbox    no"
}

@test "audit: what the user granted and approved" {
    py -c exec ship <<<'say("x")'
    mkdir -p "$XDG_CONFIG_HOME/perch"
    hash=$(sha256sum "$cfg/plugins/fledge-ship/plugin.toml" | cut -d ' ' -f 1)
    cat >"$XDG_CONFIG_HOME/perch/grants.toml" <<END
schema = 1
[plugin.fledge-ship]
approved = { protocol = "fledge-v1", manifest = "$hash", hooks = [], wishes = ["exec"] }
read = ["/srv/data"]
env = ["GH_TOKEN"]
net = "none"
END
    plugins audit
    expect_status 0
    has "$output" "and reads  /srv/data"
    has "$output" "and sees   GH_TOKEN"
    has "$output" "network    none: you said so (--no-net)"
    lacks "$output" warning
    printf '[hooks]\npre_push = "true"\n' >>"$cfg/plugins/fledge-ship/plugin.toml"
    plugins audit
    has "$output" "plugin.toml asks for more than was approved"
    has "$output" "perch plugins allow fledge-ship --manifest"
    sed -i 's/^net.*/sandbox = "off"/' "$XDG_CONFIG_HOME/perch/grants.toml"
    plugins audit
    has "$output" "you turned the sandbox off"
    echo '[' >"$XDG_CONFIG_HOME/perch/grants.toml"
    plugins audit
    expect_status 0
    has "$output" "what was granted cannot be read"
}

@test "audit: a manifest that cannot be used" {
    py ship <<<'say("x")'
    echo x >"$cfg/plugins/fledge-ship/plugin.toml"
    plugins audit
    expect_status 0
    has "$output" "it cannot be run: "
    has "$output" "plugin.toml:1:"
}

@test "audit: only those that are named" {
    entry one
    entry two
    plugins audit two
    expect_status 0
    lacks "$output" one
    plugins audit tow
    expect_status 1
    has "$errors" "did you mean 'two'?"
}
