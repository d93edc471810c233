#!/usr/bin/env bats
# perch plugins validate: the rules themselves are in tests/unit/plugin_validate.c.

# shellcheck disable=SC2154,SC2016 # what the helpers set; `words` in what is expected
load author

setup() {
    author_open
    subject </dev/null
}
teardown() { author_close; }

@test "validate: nothing to say" {
    plugins validate subject
    expect_status 0
    expect "subject is fine"
    cd subject
    plugins validate --strict
    expect_status 0
    plugins validate --json
    expect_status 0
    expect '{"schema_version":1,"path":".","plugin_name":"subject","errors":[],"warnings":[]}'
}

@test "validate: every mistake with its place" {
    sed -i -e 's/^version.*/version = 1/' -e 's/^\[capabilities\]/&\nexec = "yes"\nexce = true/' subject/plugin.toml
    plugins validate subject
    expect_status 1
    has "$output" 'error: plugin.toml:3:11: `version` must be a string, not an integer
  | version = 1
  |           ^
'
    has "$output" 'error: plugin.toml:11:8: `exec` must be true or false, not a string'
    has "$output" 'warning: plugin.toml:12:1: there is no key `exce` here: did you mean `exec`?'
    has "$output" "subject: 2 errors, 1 warning"
    plugins validate subject --json
    expect_status 1
    answer_has 'assert d["plugin_name"] == "subject" and len(d["errors"]) == 2 and len(d["warnings"]) == 1
assert d["errors"][0].startswith("plugin.toml:3:11: ")'
}

@test "validate: --strict makes warnings errors" {
    sed -i '/^description/d' subject/plugin.toml
    plugins validate subject
    expect_status 0
    has "$output" "0 errors, 2 warnings"
    plugins validate --strict subject
    expect_status 1
    has "$output" "2 errors, 0 warnings"
    plugins validate --strict --json subject
    answer_has 'assert len(d["errors"]) == 2 and d["warnings"] == []'
}

@test "validate: text that is no TOML" {
    echo '[plugin' >subject/plugin.toml
    plugins validate subject
    expect_status 1
    has "$output" "error: plugin.toml:1:8: "
    plugins validate subject --json
    answer_has 'assert d["plugin_name"] is None'
}

@test "validate: there is nothing" {
    plugins validate nowhere
    expect_status 1
    has "$output" "No such file or directory: name the directory of a plugin, where its plugin.toml is"
    mkdir empty
    plugins validate empty
    expect_status 1
    has "$output" "empty/plugin.toml: No such file or directory: name the directory of a plugin"
    plugins validate subject/plugin.toml
    expect_status 1
    has "$output" "Not a directory: name the directory of a plugin"
    plugins validate subject elsewhere
    expect_status 64
}

@test "validate: programs" {
    chmod -x subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" 'plugin.toml:8:10: the program `bin/subject` is not executable: chmod +x '"$PWD/subject/bin/subject"
    rm subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" 'the program `bin/subject` is not there: make it, or name another one (binary in plugin.toml)'
    plugins install ./subject --yes
    expect_status 1
    has "$errors" "is not there: make it, or name another one (binary in plugin.toml)"
    mkdir subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" "is not a regular file"
    rmdir subject/bin/subject
    ln -s /bin/sh subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" 'the program `bin/subject` leads out of the plugin'
    ln -sf nothing subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" "is a link to nothing"
    rm subject/bin/subject
    : >subject/bin/subject
    chmod +x subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" "is empty"
    printf '#!/bin/sh\r\n' >subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" "Windows line ends"
    echo 'just text' >subject/bin/subject
    plugins validate subject
    expect_status 1
    has "$output" "error: plugin.toml:8:10: the program \`bin/subject\` is a text that does not begin with #!"
    has "$output" "name its interpreter in the first line"
    # A binary that some other program runs, by binfmt_misc.
    printf 'MZ\0\0' >subject/bin/subject
    plugins validate subject
    expect_status 0
    has "$output" "warning: plugin.toml:8:10: the program \`bin/subject\` is neither"
}

@test "validate: a program that is built later is only a warning" {
    rm subject/bin/subject
    printf '[hooks]\nbuild = "make"\n' >>subject/plugin.toml
    plugins validate subject
    expect_status 0
    has "$output" "has to be built first"
    sed -i '/hooks/,$d' subject/plugin.toml
    touch subject/Makefile
    plugins validate subject
    expect_status 0
}

@test "validate: hooks that name files" {
    printf '[hooks]\nbuild = "scripts/buidl.sh"\npost_install = "make install"\npost_remove = "hook"\n' \
        >>subject/plugin.toml
    touch subject/hook
    plugins validate subject
    expect_status 1
    has "$output" 'warning: plugin.toml:12:9: the hook looks like a file: `scripts/buidl.sh` is not there'
    has "$output" 'error: plugin.toml:14:15: the hook `hook` is not executable: chmod +x '"$PWD/subject/hook"
    lacks "$output" "make install"
}

@test "validate: links and permissions anywhere in it" {
    mkdir -p subject/a/b subject/.git
    ln -s /etc/passwd subject/a/b/out
    ln -s nothing subject/a/dangling
    ln -s b subject/a/inside
    ln -s /etc subject/.git/ignored
    echo >subject/a/open
    chmod 666 subject/a/open
    plugins validate subject
    expect_status 1
    has "$output" "error: a/b/out is a link that leads out of the plugin"
    has "$output" "warning: a/dangling is a link to nothing"
    has "$output" "warning: a/open can be changed by anybody"
    lacks "$output" inside
    lacks "$output" .git
}

@test "validate: a directory without bottom" {
    python3 - <<'END'
import os
os.chdir("subject")
for _ in range(200):
    os.mkdir("d"); os.chdir("d")
END
    plugins validate subject
    expect_status 0
    has "$output" "not everything was looked at"
}

@test "validate: the cases of perch-test.toml too" {
    printf '[[case]]\nname = "x"\ncommand = "nope"\n' | cases
    plugins validate subject
    expect_status 1
    has "$output" 'error: perch-test.toml:3:11: plugin.toml has no command `nope`'
}

@test "validate: what a file name holds cannot reach the terminal" {
    ln -s nothing "subject/$(printf 'x\033[2Jy')"
    plugins validate subject
    lacks "$output" $'\033'
}
