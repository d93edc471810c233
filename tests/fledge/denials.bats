#!/usr/bin/env bats
# What was kept from a plugin is said when its run fails, or a command of it did: in one line behind
# everything else, with the command that allows it, which works as it is printed.

# shellcheck disable=SC2154,SC2030,SC2031 # what the helpers set; each test is its own
load plugins

setup() {
    fledge_open
    export HOME="$BATS_TEST_TMPDIR/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    mkdir -p "$HOME/.docker" "$WORK/bin"
    echo '{}' >"$HOME/.docker/config.json"
    # Only what a test gives looks like a secret.
    for name in $(compgen -e); do
        if [[ ${name,,} =~ secret|token|passw|key|cred|auth|session|_url$ ]]; then unset "$name"; fi
    done
}
teardown() { fledge_close; }

# show PLUGIN DIRECTORY: it sees the directory and must not write there. A sandbox has its own /tmp,
# and there the directories of tests are.
show() {
    mkdir -p "$2"
    "$perch" plugins allow "fledge-$1" --read "$2" >/dev/null
}

perch() { "$perch" "$@"; }

# follow: does what the last line of stderr advises, as a user would who copies it.
follow() {
    advice=$(sed -n 's/^warning: kept from it: .*; to allow that: //p' "$WORK/err")
    [ -n "$advice" ] || { echo "nothing is advised:"; cat "$WORK/err"; return 1; }
    [ "$(tail -n 1 "$WORK/err")" != "${advice}" ]
    eval "$advice" >"$WORK/followed"
}

# quiet: nothing was kept back.
quiet() { lacks "$errors" "kept from it"; }

@test "a variable that the plugin speaks of: pg tells the user to set what is set" {
    export DATABASE_URL=postgres://me:secret@db OTHER_TOKEN=x
    py pg <<'END'
if "DATABASE_URL" not in os.environ:
    say("Set DATABASE_URL first.")
    sys.exit(1)
say("connected")
END
    call pg
    expect_status 1
    expect "Set DATABASE_URL first."
    [ "$(tail -n 1 "$WORK/err")" = "warning: kept from it: DATABASE_URL; to allow that: perch plugins allow fledge-pg --env DATABASE_URL" ]
    follow
    call pg
    expect_status 0
    expect connected
    quiet
}

@test "a variable that a command speaks of, although the run succeeds" {
    export PGPASSWORD=x
    py -c exec tool <<'END'
result = run('[ -n "$PGPASSWORD" ] || { echo "PGPASSWORD is missing, not XPGPASSWORD" >&2; exit 2; }')
say(result["code"])
END
    call tool
    expect_status 0
    expect 2
    has "$errors" "kept from it: PGPASSWORD; "
    follow
    call tool
    expect 0
    quiet
}

@test "variables that nothing speaks of: their number, when the run fails, and audit names them" {
    export ONE_TOKEN=a TWO_SECRET=b
    py -c exec failing <<'END'
run("exit 3")
sys.exit(1 if args else 0)
END
    call failing
    expect_status 0
    quiet
    call failing now
    expect_status 1
    [ "$(tail -n 1 "$WORK/err")" = "warning: 2 variables that look like secrets were kept from it: perch plugins audit fledge-failing" ]
    "$perch" plugins audit fledge-failing | grep -q "withheld *ONE_TOKEN, TWO_SECRET"
    "$perch" plugins allow fledge-failing --env ONE_TOKEN --env TWO_SECRET >/dev/null
    call failing now
    lacks "$errors" "kept from it"
}

@test "a command that begins with docker: the preset, also when localnet answers \"stopped\" with 0" {
    cat >"$WORK/bin/docker" <<'END'
#!/bin/sh
[ -r ~/.docker/config.json ] && echo running && exit
echo "Cannot connect to the Docker daemon. Is the docker daemon running?" >&2
exit 1
END
    chmod +x "$WORK/bin/docker"
    export PATH="$WORK/bin:$PATH"
    py -c exec localnet <<'END'
result = run("cd . && FORMAT=x docker ps")
say("running" if result["code"] == 0 else "stopped")
END
    call localnet
    expect_status 0
    expect stopped
    has "$errors" "kept from it: what docker uses; to allow that: perch plugins allow fledge-localnet --preset docker"
    follow
    call localnet
    expect running
    quiet
}

@test "a path that is hidden, one that must not be written, with the quotes of a locale" {
    mkdir -p "$HOME/.aws"
    echo treasure >"$HOME/.aws/credentials"
    py -c exec reader <<'END'
say(run("cat ~/.aws/credentials")["stdout"].strip() or "denied")
END
    call reader
    expect denied
    has "$errors" "kept from it: $HOME/.aws/credentials; "
    follow
    call reader
    expect treasure
    quiet
    # As GNU's programs write it in a UTF-8 locale.
    local out="$BATS_TEST_TMPDIR/out side"
    py -c exec writer <<END
result = run("touch '$out/file' 2>/dev/null || { echo 'touch: cannot touch ‘$out/file’: Read-only file system' >&2; exit 1; }")
say("written" if result["code"] == 0 else "denied")
END
    show writer "$out"
    touch "$out/file"
    call writer
    expect denied
    has "$errors" "--write '$out/file'"
    follow
    call writer
    expect written
}

@test "a path that does not exist: it is made first, and nothing above it is allowed" {
    local outside="$BATS_TEST_TMPDIR/outside"
    local out="$outside/new"
    py -c exec maker <<END
result = run("mkdir -p '$out/deep' && echo x >'$out/deep/file' && cat '$out/deep/file'")
say(result["stdout"].strip() or "denied")
END
    show maker "$outside"
    call maker
    expect denied
    has "$errors" "to allow that: mkdir -p $out"
    follow
    grep -q "^write = .*\"$out\(/deep\)*\"" "$XDG_CONFIG_HOME/perch/grants.toml"
    call maker
    expect x
    py -c exec filer <<END
say("denied" if run("echo y >'$out-file'")["code"] else "written")
END
    show filer "$outside"
    call filer
    expect denied
    has "$errors" "to allow that: touch $out-file && perch plugins allow fledge-filer --write $out-file"
    follow
    call filer
    expect written
    [ "$(cat "$out-file")" = y ]
}

@test "the network, where it is closed" {
    py -c exec fetcher <<'END'
say("denied" if run("python3 -c 'import socket; socket.socket()'")["code"] else "open")
END
    "$perch" plugins allow fledge-fetcher --no-net >/dev/null
    call fetcher
    expect denied
    has "$errors" "kept from it: the network; to allow that: perch plugins allow fledge-fetcher --net"
    follow
    call fetcher
    expect open
    quiet
}

@test "another plugin, which it may not call" {
    py other <<'END'
say("called")
END
    py -c exec caller <<'END'
say(run("fledge other")["stdout"].strip() or "denied")
END
    call caller
    expect denied
    has "$errors" "kept from it: other plugins; to allow that: perch plugins allow fledge-caller --grant plugins"
    follow
    call caller
    expect called
    quiet
}

@test "several at once are one line and one command; with --json it is a warning" {
    export API_TOKEN=x
    py -c exec both <<'END'
run("cat ~/.docker/config.json; fledge x")
say("API_TOKEN?")
sys.exit(4)
END
    call both
    expect_status 4
    [ "$(grep -c "kept from it" "$WORK/err")" -eq 1 ]
    has "$errors" "perch plugins allow fledge-both --env API_TOKEN"
    follow
    call --json both
    [ "$(grep -c '"kept from it' "$WORK/out")" -le 1 ]
    call -q both
    quiet
}

@test "what a program writes does not end in a command of its own" {
    py -c exec evil <<'END'
run("echo \"cat: /srv/data|touch\\${IFS}PWNED&: Permission denied\" >&2; exit 1")
END
    call evil
    lacks "$errors" 'allow fledge-evil --write /srv/data|'
}
