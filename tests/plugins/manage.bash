# shellcheck shell=bash
# Plugins to install, repositories to install them from, and perch with a home of its
# own. To be loaded by the bats files of this directory.

load ../fledge/plugins

manage_open() {
    fledge_open
    export HOME="$BATS_TEST_TMPDIR/home" XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    export GIT_CONFIG_GLOBAL="$BATS_TEST_TMPDIR/gitconfig"
    git config --global user.name test
    git config --global user.email test@example.org
    git config --global init.defaultBranch main
    mkdir -p "$HOME"
    rmdir "$cfg/plugins/bin" "$cfg/plugins" "$cfg"
    grants="$XDG_CONFIG_HOME/perch/grants.toml"
    cd "$WORK" || return 1
}

# source_plugin DIRECTORY [NAME [MANIFEST-LINES]]: a plugin with the command NAME that
# says its name, to be installed. The lines go behind its tables.
source_plugin() {
    local name=${2:-hello}
    mkdir -p "$1/bin"
    cat >"$1/plugin.toml" <<END
[plugin]
name = "$name"
version = "${VERSION:-1.0.0}"
${PROTOCOL-protocol = \"fledge-v1\"}
[[commands]]
name = "$name"
binary = "bin/$name"
${3:-}
END
    printf '#!/bin/sh\nread -r init\nprintf "%%s\\n" "{\\"type\\":\\"output\\",\\"text\\":\\"%s\\"}"\n' \
        "${SAYS:-$name}" >"$1/bin/$name"
    chmod +x "$1/bin/$name"
}

# repository DIRECTORY: makes it one, or commits what has changed; TAG… behind it.
repository() {
    local directory=$1
    shift
    [ -d "$directory/.git" ] || git init -q "$directory"
    git -C "$directory" add -A
    git -C "$directory" commit -qm change --allow-empty
    for tag; do
        git -C "$directory" tag "$tag"
    done
}

# plugins ARGUMENT…: perch plugins with nobody there.
plugins() { perch_alone plugins "$@"; }

# refused ARGUMENT… -- WORDS: the command fails, says WORDS, and changes nothing.
refused() {
    local arguments=()
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    snapshot >"$WORK/before"
    plugins "${arguments[@]}"
    [ "$status" -ne 0 ] || { echo "was not refused: ${arguments[*]}"; return 1; }
    has "$errors" "error: "
    has "$errors" "$2"
    snapshot >"$WORK/after"
    diff "$WORK/before" "$WORK/after"
}

# Everything below the config directory but locks: names, contents, where links lead.
snapshot() (
    cd "$XDG_CONFIG_HOME" 2>/dev/null || exit 0
    find . ! -name '*.lock' ! -name .lock \( -type l -printf '%p -> %l\n' -o -type f -printf '%p\n' \
        -exec cat {} \; \) | sort
)

# absent PATTERN FILE…: no line of them has it.
absent() {
    if grep -e "$@"; then
        return 1
    fi
}

# field EXPRESSION: of the JSON in $output, by python: field "['installed'][0]['name']"
field() {
    python3 -c 'import json, sys; print(json.dumps(eval("json.loads(sys.argv[1])" + sys.argv[2])))' \
        "$output" "$1"
}

# is EXPRESSION JSON
is() {
    local found
    found=$(field "$1")
    [ "$found" = "$2" ] || { echo "$1 is $found, not $2, in: $output"; return 1; }
}

# Nothing is left over, and doctor has nothing to repair.
consistent() {
    [ -z "$(find "$cfg/plugins" -maxdepth 1 -name '.staging-*')" ] || { ls -la "$cfg/plugins"; return 1; }
    "$perch" doctor --json >"$WORK/doctor" || { cat "$WORK/doctor"; return 1; }
    grep -q '"name":"installed","status":"ok","detail":"[0-9]*, nothing to repair"' "$WORK/doctor" ||
        { cat "$WORK/doctor"; return 1; }
}

# says TEXT COMMAND: the installed command says it.
says() {
    call --ni "$2"
    expect_status 0
    expect "$1"
}
