#!/usr/bin/env bats
# What the sandbox denied is explained to those who ask, with the words that allow it.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() {
    fledge_open
    export HOME="$BATS_TEST_TMPDIR/home"
    mkdir -p "$HOME/.aws"
    echo treasure >"$HOME/.aws/credentials"
}
teardown() { fledge_close; }

@test "a command that was denied a file" {
    py -c exec reader <<'END'
say(run("cat ~/.aws/credentials")["stdout"].strip() or "denied")
END
    call reader
    expect denied
    [[ "$errors" != *policy* ]]
    call -v reader
    has "$errors" "policy 'fledge' was in force; perch plugins allow fledge-reader --read $HOME/.aws/credentials"
    "$perch" plugins allow fledge-reader --read "$HOME/.aws/credentials"
    call -v reader
    expect treasure
    [[ "$errors" != *policy* ]]
    "$perch" plugins allow fledge-reader --sandbox off
    call -v reader
    [[ "$errors" != *policy* ]]
}

@test "a preset gives the files and the variables of what it is for" {
    export AWS_SECRET_ACCESS_KEY=key
    py -c exec reader <<'END'
say(run("cat ~/.aws/credentials; echo $AWS_SECRET_ACCESS_KEY")["stdout"].split())
END
    call reader
    expect '[]'
    "$perch" plugins allow fledge-reader --preset aws
    call reader
    expect "['treasure', 'key']"
}

@test "a plugin that failed" {
    py failing <<'END'
sys.exit(3)
END
    call failing
    expect_status 3
    [[ "$errors" != *policy* ]]
    call -v failing
    expect_status 3
    has "$errors" "policy 'fledge' was in force"
    has "$errors" "perch plugins allow fledge-failing --read PATH"
}

@test "audit: the layers that a run has" {
    py plain <<'END'
say("done")
END
    audited=$("$perch" plugins audit fledge-plain --json)
    call --json plain
    expect_status 0
    "$python" - "$audited" "$output" <<'END'
import json, sys
layers = json.loads(sys.argv[1])["audit"][0]["layers"]
ran = json.loads(sys.argv[2].splitlines()[-1])["sandbox"]
assert layers and layers == ran, (layers, ran)
END
    "$perch" plugins audit fledge-plain | grep -q 'layers.*privileges'
    "$perch" plugins allow fledge-plain --sandbox off
    "$perch" plugins audit fledge-plain --json | grep -q '"layers":\[\]'
}
