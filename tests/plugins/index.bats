#!/usr/bin/env bats
# search, recommend, install --defaults: from an index that the user names, a file or a repository.

# shellcheck disable=SC2154 # what the helpers set
load manage

setup() {
    manage_open
    mkdir -p "$cfg"
    source_plugin one sql
    source_plugin two docker
    cat >index.toml <<END
[[plugins]]
name = "sql"
source = "$WORK/one"
description = "asks databases"
languages = ["rust", "python"]
default = true
[[plugins]]
name = "docker"
source = "$WORK/two"
description = "containers"
END
}
teardown() { fledge_close; }

configure() { printf '[registry]\nindex = "%s"\n' "$1" >"$cfg/config.toml"; }

@test "without an index: what to write, and where" {
    plugins search sql
    expect_status 1
    has "$errors" "index = \"FILE or REPOSITORY\" under [registry] in $cfg/config.toml"
    plugins install --defaults --yes
    expect_status 1
    has "$errors" "no index of plugins is configured"
}

@test "a file: search by name and description, recommend by language, install the defaults" {
    configure "$WORK/index.toml"
    plugins search DATABASE --json
    is "['plugins']" "[{\"name\": \"sql\", \"source\": \"$WORK/one\", \"description\": \"asks databases\", \"default\": true, \"installed\": false}]"
    plugins search
    has "$output" docker
    plugins search nothing-like-it
    has "$output" "nothing of that"
    plugins recommend --json
    is "['plugins']" "[]"
    touch Cargo.toml
    plugins recommend
    has "$output" "sql"
    lacks "$output" docker
    plugins install --defaults --yes
    expect_status 0
    has "$output" "installed sql"
    lacks "$output" docker
    plugins install --defaults --yes
    expect_status 0
    plugins search sql
    has "$output" "yes"
}

@test "a repository; mistakes have their place; a link in it is not followed" {
    mkdir repo
    cp index.toml repo
    repository repo
    configure "file://$WORK/repo"
    plugins search sql
    expect_status 0
    has "$output" "asks databases"
    [ -z "$(find "$cfg/plugins" -name '.staging-*')" ]
    printf '[[plugins]]\nname = "x"\n' >repo/index.toml
    repository repo
    plugins search
    expect_status 1
    has "$errors" 'needs `source`'
    rm repo/index.toml
    ln -s "$WORK/index.toml" repo/index.toml
    repository repo
    plugins search
    expect_status 1
    has "$errors" "has no file index.toml"
}
