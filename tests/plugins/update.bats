#!/usr/bin/env bats
# Updating: what is due, what is skipped and why, and new wishes.

# shellcheck disable=SC2154 # what manage_open and plugins set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

@test "update: fetches and builds; again there is nothing to do" {
    SAYS=first source_plugin repo
    repository repo
    plugins install "file://$WORK/repo" --yes
    echo '{"k":"v"}' >"$cfg/plugins/hello/state.json"
    SAYS=second VERSION=1.1.0 source_plugin repo hello '[hooks]
build = "touch built"'
    repository repo
    plugins update hello --json
    expect_status 1
    has "$(field "['results'][0]['detail']")" "it has the hook build"
    plugins update hello --yes --json
    expect_status 0
    is "['action']" '"update"'
    is "['results'][0]['status']" '"updated"'
    is "['results'][0]['version']" '"1.1.0"'
    is "['summary']" '{"total": 1, "updated": 1, "skipped": 0, "failed": 0}'
    says second hello
    [ -e "$cfg/plugins/hello/built" ]
    [ "$(cat "$cfg/plugins/hello/state.json")" = '{"k":"v"}' ]
    plugins update --json
    expect_status 0
    is "['scope']" '"all"'
    is "['results'][0]" '{"name": "hello", "status": "skipped", "version": "1.1.0", "detail": "up to date"}'
    plugins update
    expect "skipped hello: up to date"
    consistent
}

@test "update: what was granted stays, and not more" {
    source_plugin repo hello '[capabilities]
store = true
metadata = true'
    repository repo
    plugins install "file://$WORK/repo" --grant store
    VERSION=2.0.0 source_plugin repo hello '[capabilities]
store = true
metadata = true'
    repository repo
    plugins update hello
    expect_status 0
    grep -qx 'store = true' "$cfg/plugins.toml"
    grep -qx 'metadata = false' "$cfg/plugins.toml"
}

@test "update: new wishes ask again, and are never granted quietly" {
    SAYS=first source_plugin repo hello '[capabilities]
store = true'
    repository repo
    plugins install "file://$WORK/repo" --yes
    SAYS=second source_plugin repo hello '[capabilities]
store = true
metadata = true'
    repository repo
    refused update hello -- "it asks for more now: it wants metadata"
    has "$errors" "--yes"
    says first hello
    SAYS=second source_plugin repo hello '[capabilities]
store = true
exec = true'
    repository repo
    refused update hello --yes -- "the source is unverified, and it wants to run commands"
    plugins update hello --yes --trust --json
    expect_status 0
    says second hello
    grep -qx 'exec = true' "$cfg/plugins.toml"
    SAYS=third PROTOCOL='' source_plugin repo
    repository repo
    refused update hello --yes -- "it speaks no protocol"
    refused update hello --trust -- "no longer speaks a protocol and would run with all your rights"
}

@test "update: pinned to a tag, newer tags are looked for" {
    source_plugin repo
    repository repo v1.9.0 v1.9.0-rc1
    VERSION=1.10.0 SAYS=ten source_plugin repo
    repository repo v1.10.0 v2.0.0-rc1 unrelated
    plugins install "file://$WORK/repo@v1.9.0" --yes
    plugins update hello --json
    expect_status 0
    is "['results'][0]" '{"name": "hello", "status": "skipped", "version": "1.0.0", "detail": "pinned to v1.9.0; v1.10.0 is newer: use --latest to move to it", "pinned_ref": "v1.9.0", "latest_tag": "v1.10.0"}'
    says hello hello
    plugins update hello --latest --json
    is "['results'][0]" '{"name": "hello", "status": "updated", "version": "1.10.0", "pinned_ref": "v1.10.0", "latest_tag": "v1.10.0"}'
    says ten hello
    plugins update hello --latest --json
    is "['results'][0]['detail']" '"pinned to v1.10.0, and no newer tag is there"'
}

@test "update: pinned to a branch or a commit" {
    source_plugin repo
    repository repo
    git -C repo switch -qc topic
    plugins install "file://$WORK/repo@topic" --yes
    plugins update hello
    expect "skipped hello: up to date"
    SAYS=moved source_plugin repo
    repository repo
    git -C repo switch -q main
    plugins update hello
    expect_status 0
    says moved hello
    local commit
    commit=$(git -C repo rev-parse main)
    plugins install "file://$WORK/repo@$commit" --yes --force
    plugins update hello
    expect "skipped hello: pinned to the commit $commit; perch plugins unpin hello lets it follow"
}

@test "update: local ones are skipped with a reason" {
    source_plugin here
    plugins install ./here --yes
    plugins update --json
    expect_status 0
    is "['results'][0]['status']" '"skipped"'
    is "['results'][0]['detail']" "\"installed from the local directory $WORK/here\""
    plugins update nothing
    expect_status 1
    has "$errors" "no plugin 'nothing' is installed"
    plugins update helo
    has "$errors" "did you mean 'hello'?"
}

@test "update: a repository that is gone, or another plugin now, changes nothing" {
    SAYS=first source_plugin repo
    repository repo
    plugins install "file://$WORK/repo" --yes
    source_plugin repo other
    repository repo
    refused update hello --yes -- "the plugin is now called 'other'"
    mv repo away
    refused update hello -- "git: "
    says first hello
    consistent
}

@test "update: a build that fails leaves the old one" {
    SAYS=first source_plugin repo hello '[hooks]
build = "true"'
    repository repo
    plugins install "file://$WORK/repo" --yes
    SAYS=second source_plugin repo hello '[hooks]
build = "exit 9"'
    repository repo
    refused update hello -- "it asks for more now: it has another hook build"
    refused update hello --yes -- "the build failed with status 9"
    says first hello
}

@test "update NAME@REF moves and pins; pin keeps what is installed, unpin lets it follow" {
    SAYS=first source_plugin repo
    repository repo first
    plugins install "file://$WORK/repo" --yes
    SAYS=second VERSION=1.1.0 source_plugin repo
    repository repo
    plugins pin hello
    expect_status 0
    has "$output" "hello is pinned to $(git -C repo rev-parse first)"
    plugins update hello
    has "$output" "skipped hello: pinned to the commit"
    says first hello
    plugins unpin hello
    expect_status 0
    plugins update hello
    says second hello
    plugins update hello@first
    expect_status 0
    says first hello
    plugins show hello --json
    is "['pinned_ref']" '"first"'
    refused update hello@-x -- "the ref of 'hello@-x'"
    plugins update hello@nowhere
    expect_status 1
    says first hello
    plugins unpin hello
    refused unpin hello -- "hello is not pinned"
    source_plugin here other
    plugins install ./here --yes
    refused pin other -- "there is nothing to pin it to"
    consistent
}
