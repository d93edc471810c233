#!/usr/bin/env bats
# What was not granted at the install is granted later, and taken back; what stands between a plugin
# and the network is said; the shell of one plugin.

# shellcheck disable=SC2154 # what the helpers set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

# runner: a plugin that has a command run and tells what came of it.
runner() {
    source_plugin here runner "${1-[capabilities]
exec = true
store = true}"
    cat >here/bin/runner <<'END'
#!/bin/sh
read -r init
echo '{"type":"exec","id":"1","command":"echo ran by $0; [[ -n x ]] && echo bash"}'
read -r answer
printf '{"type":"output","text":%s}\n' "$(printf '%s' "$answer" | sed 's/.*"stdout":\("[^"]*"\).*/\1/')"
END
}

@test "grant: what it asked for is given later by the command that was named, and taken back" {
    runner
    plugins install ./here --grant none
    call runner
    has "$errors" "exec capability not granted: "
    hint=$(sed -n 's/.*to grant it: //p' "$WORK/err")
    [ "$hint" = "perch plugins allow runner --grant exec" ]
    perch() { "$perch" "$@"; }
    eval "$hint" >"$WORK/out"
    has "$(cat "$WORK/out")" "granted: exec"
    grep -qx 'exec = true' "$cfg/plugins.toml"
    call runner
    has "$output" "ran by sh"
    plugins allow runner --grant store --json
    is "['granted']" '"exec, store"'
    plugins revoke runner --grant exec,store
    expect_status 0
    has "$output" "granted: nothing"
    call runner
    has "$errors" "exec capability not granted: "
}

@test "grant: only what its manifest asks for and was approved; all of the words or none" {
    runner
    plugins install ./here --grant none
    refused allow runner --grant metadata -- "does not ask for 'metadata'; it asks for: exec, store"
    refused allow runner --grant exec,bogus -- "does not ask for 'bogus'"
    refused allow runner --grant plugins:nobody -- "no plugin 'nobody' is installed"
    sed -i 's/^store = true/store = true\nmetadata = true/' here/plugin.toml
    refused allow runner --grant metadata -- "perch plugins allow runner --manifest"
    runner '[capabilities]
store = true'
    plugins install ./here --grant none --force
    call runner
    has "$errors" "its plugin.toml does not ask for it"
}

@test "grant: a wish for plugins is shown, granted, recorded, and offered when it is new" {
    runner '[capabilities]
exec = true
plugins = true'
    plugins install ./here --grant exec
    has "$errors" "wants    plugins: run the commands of other plugins, with the rights of those"
    plugins audit runner
    has "$output" "perch plugins allow runner --grant plugins"
    plugins allow runner --grant plugins
    grep -qF 'plugins = ["*"]' "$grants"
    plugins audit runner
    has "$output" 'calls      *'
    plugins revoke runner --grant plugins
    absent '^plugins = ' "$grants"
    plugins install ./here --yes --force
    grep -qF 'plugins = ["*"]' "$grants"
    source_plugin there other '[capabilities]
exec = true'
    plugins install ./there --yes
    echo 'plugins = true' >>there/plugin.toml
    call other
    expect_status 125
    has "$errors" "it wants plugins. To approve that: perch plugins allow other --manifest"
    plugins allow other --manifest
    expect_status 0
    [[ "$output" != *"nothing beyond its default"* ]]
    call other
    expect_status 0
}

@test "grant: --preset plugins is gone; a record of it counts as the grant" {
    runner
    plugins install ./here --yes
    refused allow runner --preset plugins -- "perch plugins allow NAME --grant plugins"
    sed -i 's/^\[plugin.runner\]$/&\npresets = ["plugins"]/' "$grants"
    call runner
    expect_status 0
    plugins allow runner --env TOKEN
    expect_status 0
    grep -qF 'plugins = ["*"]' "$grants"
    absent 'presets' "$grants"
}

@test "network: install, audit and --json say how it stands to it" {
    source_plugin here
    plugins install ./here --yes
    has "$errors" "network  open: its manifest does not say; to close it: perch plugins allow hello --no-net"
    plugins audit hello
    has "$output" "network    open: its manifest does not say"
    plugins allow hello --no-net
    plugins audit hello
    has "$output" "network    none: you said so (--no-net)"
    for wish in true false; do
        source_plugin here hello "[capabilities]
network = $wish"
        plugins install ./here --force --yes --json
        [ $wish = true ] && words='"granted"' || words='"none: it says so itself"'
        is "['installed'][0]['network']" "$words"
    done
    plugins revoke hello
    plugins audit hello --json
    is "['audit'][0]['policy']['network']" '"none: it says so itself"'
    source_plugin here hello '[capabilities]
network = true'
    plugins install ./here --force --grant none --json
    is "['installed'][0]['network']" '"not granted"'
    plugins audit hello
    has "$output" "network    not granted"
    plugins allow hello --grant network
    plugins audit hello
    has "$output" "network    granted"
}

@test "shell: one plugin's commands are run by bash, whatever the others have" {
    runner
    plugins install ./here --yes
    call runner
    lacks "$output" bash
    plugins allow runner --shell bash
    expect_status 0
    has "$output" "shell    bash"
    call runner
    expect 'ran by bash
bash'
    PERCH_SHELL="sh" call runner
    has "$output" "ran by bash"
    call --shell sh runner
    has "$output" "ran by sh"
    plugins audit runner
    has "$output" "shell      bash"
    refused allow runner --shell no-such-shell -- "no-such-shell"
    plugins revoke runner --shell bash
    call runner
    has "$output" "ran by sh"
}

@test "audit takes the name of a command, of a repository, of a plugin" {
    source_plugin "my tools" kit
    sed -i 's/^name = "kit"$/name = "go"/; 2s/"go"/"kit"/' "my tools/plugin.toml"
    plugins install "./my tools" --yes
    for name in kit go "my tools"; do
        plugins audit "$name" --json
        is "['audit'][0]['name']" '"kit"'
    done
}

@test "show: where it comes from, what is granted and allowed, what is stored" {
    source_plugin repo hello
    repository repo
    plugins install "file://$WORK/repo" --yes
    expect_status 0
    echo '{"where":"here","when":"now"}' >"$cfg/plugins/hello/state.json"
    plugins allow hello --env MY_VARIABLE
    plugins show hello
    expect_status 0
    has "$output" "file://$WORK/repo"
    has "$output" "commit     $(git -C "$WORK/repo" rev-parse HEAD | cut -c1-7)"
    has "$output" "copy in    $cfg/plugins/hello"
    has "$output" "MY_VARIABLE"
    has "$output" "stored     where, when"
    plugins show hello --json
    [ "$(jq -c '[.stored_keys, .allowed.env, .link_to]' <<<"$output")" = '[["where","when"],["MY_VARIABLE"],null]' ]
    source_plugin here other
    plugins install ./here --yes
    plugins show other
    has "$output" "live link  $WORK/here"
    has "$output" "stored     nothing"
    plugins show nobody
    expect_status 1
    plugins show
    expect_status 64
}
