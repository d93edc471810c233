#!/usr/bin/env bats
# What is installed: its approval, what it is allowed, its hooks, its end.

# shellcheck disable=SC2154 # what manage_open and plugins set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

# ---- where it is ---------------------------------------------------------------

@test "gone: a plugin whose directory was moved says so, and what to do" {
    source_plugin here hello
    plugins install ./here --yes
    plugins list
    lacks "$output" "gone"
    mv here there
    call --ni hello
    expect_status 126
    has "$errors" "fledge-hello: it is a link to a file that is gone: $WORK/here;\
 perch plugins remove hello, then install it again"
    plugins list
    expect_status 0
    has "$output" "gone: $WORK/here (perch plugins remove hello)"
    plugins list --json
    has "$output" '"gone":true'
    plugins remove hello --yes
    expect_status 0
    plugins install ./there --yes
    expect_status 0
    says hello hello
    # The program alone: its name is known by the link to it.
    rm there/bin/hello
    call --ni hello
    has "$errors" "it is a link to a file that is gone: "
    has "$errors" "bin/hello; perch plugins remove hello"
}

# ---- what was approved ------------------------------------------------------

@test "approved: a manifest that asks for more is refused until it is allowed" {
    source_plugin here hello '[capabilities]
store = true'
    plugins install ./here --yes
    says hello hello
    echo 'exec = true' >>here/plugin.toml
    call --ni hello
    expect_status 125
    has "$errors" "the plugin 'hello' is not what was approved: it wants exec"
    has "$errors" "perch plugins allow hello --manifest"
    plugins audit hello
    has "$output" "exec"
    plugins allow hello --manifest
    expect_status 0
    expect "approved: fledge-v1; granted: exec, store"
    says hello hello
    grep -qx 'exec = true' "$cfg/plugins.toml"
}

@test "approved: becoming legacy, gaining a hook, losing the manifest" {
    source_plugin here
    plugins install ./here --yes
    cp here/plugin.toml good
    sed -i /protocol/d here/plugin.toml
    call --ni hello
    expect_status 125
    has "$errors" "it no longer speaks a protocol and would run with all your rights"
    rm here/plugin.toml
    call --ni hello
    expect_status 125
    { cat good && printf '[hooks]\npre_push = "true"\n'; } >here/plugin.toml
    call --ni hello
    expect_status 125
    has "$errors" "it has the hook pre_push"
    cp good here/plugin.toml
    says hello hello
}

@test "approved: narrower network and files may not become wider" {
    source_plugin here hello '[capabilities]
network = false
filesystem = "plugin"'
    plugins install ./here --yes
    says hello hello
    sed -i /network/d here/plugin.toml
    call --ni hello
    expect_status 125
    has "$errors" "it wants network"
    sed -i 's/"plugin"$/"project"/; $a network = false' here/plugin.toml
    call --ni hello
    expect_status 125
    has "$errors" "it wants filesystem project"
    sed -i 's/filesystem = .*/filesystem = "none"/' here/plugin.toml
    says hello hello
}

@test "approved: a change that asks for nothing more goes unnoticed" {
    source_plugin here
    plugins install ./here --yes
    echo '# a comment' >>here/plugin.toml
    says hello hello
}

@test "approved: a record that cannot be read stops the run" {
    source_plugin here
    plugins install ./here --yes
    echo 'broken' >>"$grants"
    call --ni hello
    expect_status 125
    has "$errors" "grants.toml:"
}

# ---- entries of other programs ----------------------------------------------

@test "others: entries without capabilities and links outside are listed and run" {
    mkdir -p "$cfg/plugins/bin" elsewhere
    source_plugin elsewhere theirs '[capabilities]
store = true'
    ln -s "$WORK/elsewhere/bin/theirs" "$cfg/plugins/bin/fledge-theirs"
    ln -s "$WORK/elsewhere" "$cfg/plugins/theirs"
    printf '# theirs\n[[plugins]]\nname = "theirs"\ncommands = ["theirs"]\nextra = { x = 1 }\n' >"$cfg/plugins.toml"
    says theirs theirs
    plugins list
    has "$output" theirs
    source_plugin here
    plugins install ./here --yes
    expect_status 0
    has "$(cat "$cfg/plugins.toml")" '# theirs
[[plugins]]
name = "theirs"
commands = ["theirs"]
extra = { x = 1 }'
    says theirs theirs
    source_plugin two theirs
    refused install ./two --yes -- "the plugin 'theirs' is installed already"
    consistent
}

@test "others: a program of theirs may be removed by us" {
    mkdir -p "$cfg/plugins/bin" elsewhere
    PROTOCOL='' source_plugin elsewhere theirs
    ln -s "$WORK/elsewhere/bin/theirs" "$cfg/plugins/bin/fledge-theirs"
    printf '[[plugins]]\nname = "theirs"\ncommands = ["theirs"]\n' >"$cfg/plugins.toml"
    plugins remove theirs --yes
    expect_status 0
    [ -x elsewhere/bin/theirs ]
    absent theirs "$cfg/plugins.toml"
}

# ---- removing ---------------------------------------------------------------

@test "remove: by plugin, repository and command name" {
    source_plugin "my tools" kit
    sed -i 's/^name = "kit"$/name = "go"/; 2s/"go"/"kit"/' "my tools/plugin.toml"
    for name in kit go "my tools"; do
        plugins install "./my tools" --yes
        plugins remove "$name" --yes --json
        expect_status 0
        is "['action']" '"remove"'
        is "['removed']" "{\"name\": \"kit\", \"source\": \"$WORK/my tools\", \"version\": \"1.0.0\", \"commands\": [\"go\"]}"
        [ ! -e "$cfg/plugins/kit" ]
        [ ! -L "$cfg/plugins/bin/fledge-go" ]
        absent kit "$cfg/plugins.toml" "$grants"
        consistent
    done
    plugins remove kit --yes
    expect_status 1
    has "$errors" "no plugin 'kit' is installed"
}

@test "remove: where nobody can be asked, one that has stored nothing goes" {
    source_plugin here
    plugins install ./here --yes --copy
    plugins remove hello
    expect_status 0
    expect "removed hello: it has stored nothing"
    [ ! -e "$cfg/plugins/hello" ]
    consistent
}

@test "remove: never touches the source of a live link" {
    source_plugin here
    plugins install ./here --yes
    echo '{}' >here/state.json
    plugins remove hello --yes
    expect_status 0
    expect "removed hello: what it has stored stays in its directory"
    [ -f here/plugin.toml ]
    [ -f here/state.json ]
    [ -x here/bin/hello ]
}

@test "remove: says what becomes of state.json; --keep-state keeps it" {
    source_plugin here
    plugins install ./here --yes --copy
    echo '{"k":"v"}' >"$cfg/plugins/hello/state.json"
    refused remove hello -- "what it has stored (state.json) is deleted: use --yes to remove it, or --keep-state"
    plugins remove hello --keep-state
    expect_status 0
    expect "removed hello: what it has stored (state.json) is kept"
    [ "$(ls "$cfg/plugins/hello")" = state.json ]
    consistent
    plugins install ./here --yes --copy
    expect_status 0
    [ "$(cat "$cfg/plugins/hello/state.json")" = '{"k":"v"}' ]
    plugins remove hello --yes
    expect "removed hello: what it has stored (state.json) is deleted"
    [ ! -e "$cfg/plugins/hello" ]
}

@test "remove: the post_remove hook runs in the plugin's directory; its failure is a warning" {
    grant hello # to write what the test looks for
    source_plugin here hello '[hooks]
post_remove = "pwd >\"$WORK/where\"; exit 5"'
    plugins install ./here --yes --copy
    plugins remove hello --yes
    expect_status 0
    has "$errors" "the post_remove hook failed with status 5"
    [ "$(cat where)" = "$cfg/plugins/hello" ]
    [ ! -e "$cfg/plugins/hello" ]
}

@test "remove: a hook that was not approved does not run" {
    source_plugin here
    plugins install ./here --yes
    printf '[hooks]\npost_remove = "touch ran"\n' >>here/plugin.toml
    plugins remove hello --yes
    expect_status 0
    has "$errors" "is not what was approved"
    [ ! -e here/ran ]
}

# ---- allow and revoke -------------------------------------------------------

@test "allow: is recorded, added to and taken back" {
    source_plugin here
    plugins install ./here --yes
    mkdir data
    plugins allow hello --read data --env GH_TOKEN --no-net
    expect_status 0
    expect "plugin hello is allowed, beyond its default:
  read     $WORK/data
  env      GH_TOKEN
  net      none"
    plugins allow hello --write data --read / --net --sandbox off --json
    expect_status 0
    is "['action']" '"allow"'
    is "['read']" "[\"$WORK/data\", \"/\"]"
    is "['write']" "[\"$WORK/data\"]"
    is "['net']" '"full"'
    is "['sandbox']" '"off"'
    plugins revoke hello --read / --sandbox off --env GH_TOKEN --json
    is "['action']" '"revoke"'
    is "['read']" "[\"$WORK/data\"]"
    is "['env']" '[]'
    is "['sandbox']" null
    plugins revoke hello
    expect "plugin hello is allowed nothing beyond its default"
    grep -q approved "$grants"
    says hello hello
}

@test "allow: a variable that looks like a secret" {
    source_plugin here
    printf '#!/bin/sh\nread -r init\nprintf "%%s\\n" "{\\"type\\":\\"output\\",\\"text\\":\\"$MY_TOKEN\\"}"\n' >here/bin/hello
    plugins install ./here --yes
    export MY_TOKEN=sesame
    says "" hello
    plugins allow hello --env MY_TOKEN
    says sesame hello
    plugins revoke hello --env MY_TOKEN
    says "" hello
}

@test "allow: a preset passes on its variables" {
    source_plugin here
    printf '#!/bin/sh\nread -r init\nprintf "%%s\\n" "{\\"type\\":\\"output\\",\\"text\\":\\"$GH_TOKEN\\"}"\n' >here/bin/hello
    plugins install ./here --yes
    export GH_TOKEN=sesame
    says "" hello
    plugins allow hello --preset github
    says sesame hello
}

@test "allow: mistakes" {
    source_plugin here
    plugins install ./here --yes
    refused allow hello -- "allow what?"
    refused allow -- "allow takes one NAME"
    refused allow nothing --net -- "no plugin 'nothing' is installed"
    refused allow hello --read ./missing -- "./missing: No such file"
    refused allow hello --env 'A=B' -- "is no name of a variable"
    refused allow hello --net --no-net -- "contradict"
    refused allow hello --sandbox maybe -- "--sandbox is on or off"
    refused revoke hello --manifest -- "there is no option '--manifest'"
}

@test "allow: stays over an update and a new install" {
    source_plugin here
    plugins install ./here --yes
    plugins allow hello --env MY_TOKEN
    plugins install ./here --yes --force
    grep -qx 'env = \["MY_TOKEN"\]' "$grants"
    plugins remove hello --yes
    absent MY_TOKEN "$grants"
}

# ---- hooks of the life of a project -----------------------------------------

@test "hooks run: in the plugin's directory, with the repository named" {
    grant hello # to write what the test looks for
    source_plugin here hello '[hooks]
pre_push = "pwd >\"$WORK/where\"; echo $FLEDGE_PLUGIN_DIR $FLEDGE_REPO_ROOT >>\"$WORK/where\""
[capabilities]
exec = true'
    plugins install ./here --yes --copy
    git init -q project
    mkdir -p project/below
    cd project/below
    plugins hooks run pre_push --json
    expect_status 0
    is "['results'][0]" '{"name": "hello", "status": "run", "exit_code": 0}'
    [ "$(cat "$WORK/where")" = "$cfg/plugins/hello
$cfg/plugins/hello $WORK/project" ]
    rm "$WORK/where"
    plugins hooks run pre_init
    expect_status 0
    [ ! -e "$WORK/where" ]
}

@test "hooks run: a protocol plugin needs exec; a failure is the command's" {
    source_plugin here hello '[hooks]
pre_push = "touch \"$WORK/ran\""
post_work_start = "exit 7"
[capabilities]
exec = true'
    plugins install ./here --grant none
    plugins hooks run pre_push
    expect_status 0
    has "$errors" "its hooks are not run: exec is not granted"
    [ ! -e ran ]
    plugins install ./here --yes --force
    plugins hooks run pre_push
    expect_status 0
    [ -e ran ]
    plugins hooks run post_work_start
    expect_status 1
    has "$errors" "the hook post_work_start failed with status 7"
    PROTOCOL='' source_plugin old old '[hooks]
pre_push = "touch \"$WORK/old-ran\""'
    plugins install ./old --yes
    plugins hooks run pre_push
    [ -e old-ran ]
}

@test "hooks run: what was changed since is not run" {
    source_plugin here hello '[hooks]
pre_push = "true"
[capabilities]
exec = true'
    plugins install ./here --yes
    sed -i 's/"true"/"touch ran"/' here/plugin.toml
    plugins hooks run pre_push
    has "$errors" "its manifest is not what was approved"
    [ ! -e here/ran ]
    plugins hooks run post_install
    expect_status 64
    plugins hooks
    expect_status 64
}

@test "hooks run: secrets are not in their environment" {
    source_plugin here hello '[hooks]
pre_push = "env >\"$WORK/env\""
[capabilities]
exec = true'
    plugins install ./here --yes
    MY_TOKEN=sesame plugins hooks run pre_push
    [ -s env ]
    absent sesame env
    grep -q "^npm_config_cache=$XDG_CACHE_HOME/perch/plugins/hello/npm$" env
}

# ---- doctor -----------------------------------------------------------------

@test "doctor: links that lead nowhere or are missing" {
    source_plugin here
    plugins install ./here --yes --copy
    ln -s ../gone/bin/x "$cfg/plugins/bin/fledge-x"
    rm "$cfg/plugins/bin/fledge-hello"
    run "$perch" doctor --json
    [ "$status" -eq 0 ]
    has "$output" "the command 'hello' of 'hello' has no link, bin/fledge-x leads nowhere"
    has "$output" '"fix":"perch doctor --fix"'
    "$perch" doctor --fix >"$WORK/log"
    consistent
    says hello hello
    [ ! -L "$cfg/plugins/bin/fledge-x" ]
}

@test "doctor: what it cannot repair it only tells" {
    source_plugin here
    plugins install ./here --yes --copy
    rm -rf "$cfg/plugins/hello"
    run "$perch" doctor --fix
    has "$output" "the program behind bin/fledge-hello is missing: install 'hello' again"
    rm "$cfg/plugins/bin/fledge-hello"
    run "$perch" doctor --fix
    has "$output" "the directory of 'hello' is missing"
    echo '[[plugins' >"$cfg/plugins.toml"
    run "$perch" doctor
    [ "$status" -eq 1 ]
    has "$output" "plugins.toml:1:"
}

# In a mount namespace: nobody else sees the small disk.
remove_on_full_disk() {
    mkdir -p "$XDG_CONFIG_HOME"
    mount -t tmpfs -o size=1m none "$XDG_CONFIG_HOME"
    "$perch" plugins install ./here --copy --yes
    cat /dev/zero >"$XDG_CONFIG_HOME/filler" 2>/dev/null || true
    ! echo x >"$XDG_CONFIG_HOME/more"
    "$perch" plugins remove hello --yes
    "$perch" plugins list
}

@test "remove: works on a full disk" {
    source_plugin here
    head -c 300000 /dev/urandom >here/large
    export -f remove_on_full_disk
    export perch
    run unshare --mount --map-root-user bash -uc remove_on_full_disk
    echo "$output"
    [[ "$output" == *"removed hello"* ]]
    [[ "$output" == *"No plugins are installed"* ]]
}
