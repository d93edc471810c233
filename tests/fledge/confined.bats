#!/usr/bin/env bats
# A plugin without a protocol, in a sandbox because its user says so.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() {
    fledge_open
    export HOME="$BATS_TEST_TMPDIR/home" MY_TOKEN=secret
    mkdir -p "$HOME/.aws"
    echo treasure >"$HOME/.aws/credentials"
    plugin -p none looker <<'END'
#!/bin/sh
cat "$HOME/.aws/credentials" || echo denied
echo "${MY_TOKEN:-none}"
touch here "$HOME/there" || exit 3
END
}
teardown() { fledge_close; }

@test "--sandbox: nothing of the user's but the project" {
    call looker
    expect_status 0
    expect "treasure
secret"
    rm "$HOME/there"
    call --sandbox looker
    expect_status 3
    expect "denied
none"
    has "$errors" "Plugin 'looker' exited with code 3"
    [ -e here ]
    [ ! -e "$HOME/there" ]
    call --sandbox=off looker
    expect_status 0
}

@test "--sandbox: arguments, input and the exit code are as without" {
    plugin -p none words <<'END'
#!/bin/sh
printf '<%s>' "$0" "$@"
cat
exit 7
END
    status=0
    output=$(echo ' piped' | "$perch" run --sandbox words 'a b' --json) || status=$?
    expect_status 7
    expect "<$cfg/plugins/bin/fledge-words><a b><--json> piped"
    plugin -p none killed <<'END'
#!/bin/sh
kill -KILL $$
END
    call --sandbox killed
    expect_status 137
}

@test "--sandbox: which layers, for machines" {
    call --json looker
    has "$output" '"sandbox":[]'
    call --json --sandbox looker
    has "$output" '"sandbox":["privileges"'
}

@test "--sandbox: SIGTERM to perch reaches the plugin, kill -9 ends it" {
    plugin -p none term <<'END'
#!/bin/bash
trap 'echo terminated; exit 9' TERM
echo $$ >"$READY.new"
mv "$READY.new" "$READY"
while :; do sleep 0.05; done
END
    start run --sandbox term
    wait_ready
    kill -TERM "$host"
    finish
    expect_status 9
    expect "terminated"
    rm "$READY"
    start run --sandbox term
    wait_ready
    kill -KILL "$host"
    finish
    wait_until gone "$(cat "$READY")"
}

@test "--sandbox: a protocol plugin is in one anyway, and off is for this run" {
    py reader <<'END'
import os
say(open(os.path.expanduser("~/.aws/credentials")).read().strip())
END
    call reader
    expect_status 1
    call --sandbox reader
    expect_status 1
    call --sandbox=off reader
    expect treasure
    "$perch" plugins allow fledge-reader --sandbox off
    call reader
    expect treasure
    call --sandbox reader
    expect_status 1
}

@test "--sandbox: what it cannot be" {
    call --sandbox=maybe looker
    expect_status 64
    has "$errors" "--sandbox is on or off, not 'maybe'"
}

@test "--sandbox: a command that nobody owns" {
    ln -s /bin/cat "$cfg/plugins/bin/fledge-cat"
    call cat "$HOME/.aws/credentials"
    expect treasure
    call --sandbox -v cat "$HOME/.aws/credentials"
    expect_status 1
    expect ""
}

@test "allow --sandbox on: it is remembered, shown, and taken back" {
    audit() { "$perch" plugins audit fledge-looker "$@"; }
    has "$(audit)" "rights     all of yours: a legacy plugin is not confined without --sandbox"
    has "$(audit)" "it runs with all your rights, unless by perch run --sandbox, or after perch plugins allow fledge-looker --sandbox on"
    has "$(audit --json)" '"sandboxed":false'
    "$perch" plugins allow fledge-looker --sandbox on --read "$HOME/.aws"
    call looker
    expect "treasure
none"
    [ ! -e "$HOME/there" ]
    has "$(audit)" "layers     privileges"
    has "$(audit)" "and reads  $HOME/.aws"
    lacks "$(audit)" "all your rights"
    has "$(audit --json)" '"sandboxed":true'
    call --sandbox=off looker
    expect_status 0
    "$perch" plugins revoke fledge-looker
    call looker
    expect "treasure
secret"
}

@test "-v: what was in force is told when it failed; its stderr is its own" {
    call --sandbox looker
    lacks "$errors" policy
    call --sandbox -v looker
    expect_status 3
    has "$errors" "cannot touch '$HOME/there'"
    has "$errors" "the sandbox policy 'fledge' was in force; if it was denied something, perch plugins allow fledge-looker --read PATH"
    call -v looker
    lacks "$errors" policy
}

@test "git: a grant of what git would execute does not make it writable; --strict removes what is planted" {
    plugin -p none planter <<'END'
#!/bin/sh
echo x >>"$1" && echo written
git init -q nest && git -C nest config core.fsmonitor ./x
END
    repository="$BATS_TEST_TMPDIR/repository"
    git init -q "$repository"
    mkdir "$repository/sub"
    cd "$repository/sub"
    "$perch" plugins allow planter --write "$repository/.git" --write "$repository/.git/config"
    call --sandbox planter "$repository/.git/config"
    expect ''
    has "$errors" "$repository/sub/nest/.git was made in the sandbox"
    has "$errors" "rm -rf $repository/sub/nest/.git"
    rm -rf nest
    call --sandbox --strict planter "$repository/.git/hooks/pre-commit"
    expect ''
    has "$errors" "it was removed"
    [ ! -e nest/.git ]
    [ ! -e "$repository/.git/hooks/pre-commit" ]
    call --strict planter "$repository/made"
    has "$errors" "--strict: there is no sandbox"
}

# As the mounts of a room tell: those of /dev that are made before the policy is known are "early".
@test "--sandbox: /dev is furnished while the policy is made; what is granted in there is found all the same" {
    "$perch" sandbox check | grep -q 'layers:.* namespaces' || skip "no namespaces here"
    plugin -p none devices <<'END'
#!/bin/sh
grep -o '[^ ]* /dev ' /proc/self/mountinfo | tail -n 1
echo x >/dev/null && head -c 1 /dev/zero | wc -c
[ ! -e /dev/ptmx ] || echo ptmx
END
    call --sandbox devices
    expect "/early-0 /dev 
1"
    [ -c /dev/ptmx ] || skip "no /dev/ptmx here"
    "$perch" plugins allow fledge-devices --read /dev/ptmx
    call --sandbox devices
    [[ "$output" != */early-* ]]
    has "$output" ptmx
}
