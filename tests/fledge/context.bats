#!/usr/bin/env bats
# What a plugin is told about the project: language, git, metadata.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() {
    fledge_open
    export GIT_CONFIG_GLOBAL=/dev/null
    py -c metadata about <<'END'
what = init["project"]
for name in args:
    what = what[name]
say(json.dumps(what))
END
    py -c metadata meta <<'END'
say(json.dumps(value("metadata", keys=args), sort_keys=True))
END
}
teardown() { fledge_close; }

make_repository() {
    git -c init.defaultBranch=main init -q .
    git config user.name tester
    git config user.email tester@example.org
}

commit() {
    git add -A && git commit -q --allow-empty -m "${1:-message}"
}

@test "project: name, root and language" {
    mkdir "$WORK/my app" && cd "$WORK/my app"
    call about name
    expect '"my app"'
    call about root
    expect "\"$WORK/my app\""
    call about language
    expect '"generic"'
    for pair in pom.xml:java-maven build.gradle.kts:java-gradle Gemfile:ruby setup.py:python \
        go.mod:go package.json:node Cargo.toml:rust; do
        touch "${pair%%:*}"
        call about language
        expect "\"${pair#*:}\""
    done
    cd /
    call about name
    expect '"unknown"'
}

@test "project: null when the directory is gone" {
    mkdir "$WORK/gone" && cd "$WORK/gone" && rmdir "$WORK/gone"
    py -c exec lost <<'END'
say(json.dumps(init["project"]))
say(run("pwd", cwd="/etc")["stderr"])
say(run("pwd")["stderr"])
say(run("pwd", cwd=init["plugin"]["dir"])["code"])
END
    call lost
    cd "$WORK"
    expect_status 0
    expect 'null
exec cwd escapes project and plugin directory
exec cwd '"'.'"' does not exist or is not accessible
0'
}

@test "git: no repository, and one before its first commit" {
    call about git
    expect null
    make_repository
    call about git
    expect null
}

@test "git: branch, dirty, untracked" {
    make_repository
    touch file && commit
    call about git
    expect '{"branch": "main", "dirty": false, "remote": "origin", "remote_url": ""}'
    git checkout -q -b feature/x
    touch new
    call about git
    expect '{"branch": "feature/x", "dirty": true, "remote": "origin", "remote_url": ""}'
    rm new && echo change >file
    call about git dirty
    expect true
    git add file
    call about git dirty
    expect true
    commit
    call about git dirty
    expect false
}

@test "git: detached, packed, in a subdirectory, in a worktree" {
    make_repository
    mkdir sub && touch sub/file && commit
    git pack-refs --all
    git worktree add -q "$WORK/tree" -b side
    cd sub
    call about git branch
    expect '"main"'
    cd "$WORK/tree"
    call about git branch
    expect '"side"'
    cd "$WORK/project"
    git checkout -q --detach
    call about git branch
    expect '"HEAD"'
}

@test "git: remotes, without what is secret in their address" {
    make_repository
    commit
    git remote add zeta https://user:pass@host/zeta.git
    call about git
    expect '{"branch": "main", "dirty": false, "remote": "zeta", "remote_url": "https://host/zeta.git"}'
    git remote add alpha git@host:org/alpha.git
    call about git
    expect '{"branch": "main", "dirty": false, "remote": "alpha", "remote_url": "git@host:org/alpha.git"}'
}

@test "git: a repository cannot run code in the host" {
    make_repository
    touch file && commit
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$WORK" >"$WORK/evil"
    chmod +x "$WORK/evil"
    git config core.fsmonitor "$WORK/evil"
    git config core.hooksPath "$WORK"
    git config alias.status "!$WORK/evil"
    echo change >file
    call about git dirty
    expect true
    call meta git_status git_log git_tags
    [ ! -e "$WORK/ran" ]
}

@test "metadata: the keys, and unknown ones" {
    call meta fledge_config git_tags git_status git_log nonsense
    expect '{"fledge_config": null, "git_log": [], "git_status": [], "git_tags": [], "nonsense": null}'
    make_repository
    touch file && commit one
    for tag in v1.9.0 v1.10.0 v1.2.0; do git tag "$tag"; done
    touch untracked
    printf '[project]\nname = "x"\nports = [1, 2]\n' >fledge.toml
    call meta git_tags git_status
    expect '{"git_status": ["?? fledge.toml", "?? untracked"], "git_tags": ["v1.10.0", "v1.9.0", "v1.2.0"]}'
    call meta git_log
    [[ "$output" =~ ^'{"git_log": ["'[0-9a-f]+' one"]}'$ ]]
    call meta fledge_config
    expect '{"fledge_config": {"project": {"name": "x", "ports": [1, 2]}}}'
}

@test "metadata: at most twenty commits and a hundred tags" {
    make_repository
    for n in $(seq 25); do git commit -q --allow-empty -m "c$n"; done
    for n in $(seq 120); do git tag "v0.$n.0"; done
    call meta git_log git_tags
    echo "$output" | python3 -c '
import json, sys
value = json.load(sys.stdin)
assert len(value["git_log"]) == 20 and value["git_log"][0].endswith("c25")
assert len(value["git_tags"]) == 100 and value["git_tags"][0] == "v0.120.0"'
}

@test "git's room ends when git has answered, unless the plugin may ask for more" {
    "$perch" sandbox check | grep -q 'layers:.* namespaces' || skip "no namespaces here"
    rooms='
def rooms():
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{name}/cmdline").read().split("\0")
            parent = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        found += parent == str(os.getppid()) and words[:2] == ["perch-guard", "room"]
    return found
'
    git init -q .
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
    py gone <<END
import os, time
$rooms
while rooms():
    time.sleep(0.01)
say("gone")
END
    py -c metadata kept <<END
import os
$rooms
say(rooms())
END
    call --sandbox=off gone
    expect gone
    call --sandbox=off kept
    expect 1
}
