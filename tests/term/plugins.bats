#!/usr/bin/env bats
# Installing and removing in a real terminal: somebody is asked.

# shellcheck disable=SC2154 # what manage_open and plugins set
load terminal
load ../plugins/manage

setup() {
    terminal_open
    manage_open
    columns=100
}

teardown() {
    terminal_close
    fledge_close
}

# in_terminal WORD…: perch plugins with these words, between two looks at the terminal.
in_terminal() {
    terminal_anew
    between_looks "$WORK" "$perch" plugins "$@"
}

# Up from "do not install it", which stands there first.
up() {
    for ((i = 0; i < $1; i++)); do keys Up; done
}

@test "install asks: all that it wants" {
    source_plugin here hello '[capabilities]
store = true'
    in_terminal install ./here
    wait_for "Install hello?"
    wait_for "do not install it"
    has "$(screen)" "wants    store: store values, and load them again"
    up 3
    keys Enter
    wait_for "installed hello 1.0.0"
    wait_over 0
    grep -qx 'store = true' "$cfg/plugins.toml"
}

@test "install asks: one by one, and nothing" {
    source_plugin here hello '[capabilities]
exec = true
store = true'
    in_terminal install ./here
    wait_for "do not install it"
    up 2
    keys Enter
    wait_for "Grant exec? It may have commands run in its sandbox."
    keys y
    wait_for "Grant store? It may store values, and load them again."
    keys n
    wait_for "installed hello 1.0.0"
    wait_over 0
    grep -qx 'exec = true' "$cfg/plugins.toml"
    grep -qx 'store = false' "$cfg/plugins.toml"
    in_terminal install ./here --force
    wait_for "do not install it"
    up 1
    keys Enter
    wait_for "installed hello 1.0.0"
    wait_over 0
    grep -qx 'exec = false' "$cfg/plugins.toml"
    in_terminal install ./here --force
    wait_for "do not install it"
    keys Enter
    wait_for "nothing was changed"
    wait_over 1
}

@test "install from an unverified source: its files are shown, and it asks" {
    source_plugin here hello '[capabilities]
exec = true'
    repository here
    in_terminal install "file://$WORK/here"
    wait_for "The source is unverified, and it wants to run commands."
    has "$(screen)" "file     bin/hello"
    keys n
    wait_for "nothing was changed"
    wait_over 1
    [ ! -e "$cfg/plugins.toml" ]
    in_terminal install "file://$WORK/here"
    wait_for "The source is unverified"
    keys y
    wait_for "do not install it"
    up 3
    keys Enter
    wait_for "installed hello 1.0.0"
    wait_over 0
    in_terminal install "file://$WORK/here" --force --yes
    wait_for "then use --trust"
    wait_over 1
}

@test "install asks, and no changes nothing" {
    source_plugin here
    in_terminal install ./here
    wait_for "Install hello"
    keys n Enter
    wait_for "nothing was changed"
    lacks "$(screen)" "error:"
    wait_over 1
    [ ! -e "$cfg/plugins.toml" ]
    in_terminal install ./here
    wait_for "Install hello"
    keys C-c
    wait_for "nothing was changed"
    wait_over 130
    [ ! -e "$cfg/plugins.toml" ]
    [ -z "$(find "$cfg/plugins" -maxdepth 1 -name '.staging-*')" ]
}

@test "Ctrl+Z at a question stops install as a job; the question comes back with it" {
    source_plugin here
    shell_in_terminal "$WORK"
    keys "clear; '$perch' plugins install ./here" Enter
    wait_for "Install hello"
    keys C-z
    wait_for "Stopped"
    keys "clear" Enter
    wait_for "%>"
    wait_until screen_lacks "Install hello"
    keys "fg" Enter
    wait_for "Install hello"
    keys y
    wait_for "installed hello 1.0.0"
    keys "exit" Enter
}

@test "install shows a spinner and the output of a build" {
    grant hello
    source_plugin here hello '[hooks]
build = "echo compiling; until [ -e \"$WORK/go\" ]; do sleep 0.05; done"'
    in_terminal install ./here --yes --copy
    wait_for "compiling"
    wait_for "build of hello"
    touch go
    wait_for "installed hello"
    wait_gone "build of hello"
    wait_over 0
}

@test "remove asks and says what becomes of what was stored" {
    source_plugin here
    plugins install ./here --yes --copy
    echo '{}' >"$cfg/plugins/hello/state.json"
    in_terminal remove hello
    wait_for "Remove hello? what it has stored (state.json) is deleted."
    keys y Enter
    wait_for "removed hello"
    wait_over 0
    [ ! -e "$cfg/plugins/hello" ]
}

# An update that wants more than the version before.
update_that_asks() {
    source_plugin repo
    repository repo
    plugins install "file://$WORK/repo" --yes
    VERSION=2.0.0 source_plugin repo hello '[capabilities]
store = true'
    repository repo
    in_terminal update hello
    wait_for "hello asks for more now: it wants store."
}

@test "update asks for what is wanted anew" {
    update_that_asks
    keys y Enter
    wait_for "updated hello"
    wait_over 0
    grep -qx 'store = true' "$cfg/plugins.toml"
}

@test "update asks, and no changes nothing" {
    update_that_asks
    keys n Enter
    wait_for "hello: nothing was changed"
    lacks "$(screen)" "error:"
    wait_over 1
    grep -qx 'store = false' "$cfg/plugins.toml"
}

@test "allow offers to make the directory that is to be written" {
    source_plugin here
    "$perch" plugins install ./here --yes
    in_terminal allow hello --write "$WORK/new/deep"
    wait_for "directory?"
    keys n
    wait_for "to make it: mkdir -p"
    wait_over 1
    [ ! -e "$WORK/new" ]
    in_terminal allow hello --write "$WORK/new/deep"
    wait_for "directory?"
    keys y
    wait_for "is allowed, beyond its default"
    wait_over 0
    [ -d "$WORK/new/deep" ]
    in_terminal allow hello --read "$WORK/none"
    wait_for "No such file or directory"
    wait_over 1
}

@test "on forty columns: what is consented to is broken at words, errors hang, tables fit" {
    columns=40
    source_plugin here
    in_terminal install ./here
    wait_for "Install hello"
    [[ "$(screen)" == *"  network  open: its manifest does not"$'\n'"           say; to close it: perch"* ]]
    keys C-c
    wait_over 130
    in_terminal install nothing
    wait_over 1
    [[ "$(screen)" == *"error: the source 'nothing' is not"$'\n'"  understood: write ./PATH,"* ]]
    plugins install ./here --yes
    in_terminal list
    wait_over
    [[ "$(line 3)" == "[over 0]" ]]
}

@test "test names the case that runs, until its verdict takes the place" {
    source_plugin here
    # shellcheck disable=SC2016 # for the plugin's shell
    sed -i '1a until [ -e "$(dirname "$(readlink -f "$0")")/go" ]; do sleep 0.1; done' here/bin/hello
    printf '[[case]]\nname = "waits for us"\ntimeout = 600\n' >here/perch-test.toml
    in_terminal test here
    wait_for "runs    waits for us"
    touch here/bin/go
    wait_over 0
    has "$(screen)" "waits for us"
    [[ "$(screen)" != *"runs    "* ]]
}
