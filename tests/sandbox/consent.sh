#!/bin/bash
# consent.sh PLACE CASE: what decides a sandbox is not decided from inside of it. Each case is one
# attack, as whoever calls it; it fails when the key was had. PLACE is an empty directory; perch
# and its guard are beside this script.
set -euo pipefail

place=$1
here=$(dirname -- "$(readlink -f -- "$0")")
PATH="$here:/usr/local/bin:/usr/bin:/bin"
export HOME="$place/home" TMPDIR="$place/tmp" PERCH_GUARD="$here/perch-guard"
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.local/state" XDG_CACHE_HOME="$HOME/.cache"
unset PERCH_LANDLOCK_ABI_MAX PERCH_BUILD PERCH_SOURCE XDG_RUNTIME_DIR
project="$HOME/project"
mkdir -p "$TMPDIR" "$HOME/.ssh" "$project"
echo the-key >"$HOME/.ssh/id_rsa"
cd "$project"

# said WORD…: runs it; what it says is in $said, its exit code in $status.
said() {
    status=0
    said=$("$@" 2>&1 </dev/null) || status=$?
}

fail() {
    printf '%s\n' "$1" "exit code $status, said:" "$said"
    exit 1
}

has_no_key() { [[ "$said" != *the-key* ]] || fail "the key was had"; }
has() { [[ "$said" == *"$1"* ]] || fail "does not say: $1"; }
ended() { [ "$status" = "$1" ] || fail "not exit code $1"; }

# ---- tools ---------------------------------------------------------------------

# tool FILE COMMAND: a tool whose version is what the command prints.
tool() {
    mkdir -p "$(dirname "$1")"
    cat >"$1" <<END
#!/bin/bash
read -r _
found=\$($2)
printf '{"type":"handshake","manifest":{"plugin_id":"t.leak","plugin_version":"v%s","protocol_version":"rterm.plugin.v1","exposed_tools":["t.x"]}}\n' "\$found"
read -r request || exit 0
id=\$(sed 's/.*"request_id":"\([^"]*\)".*/\1/' <<<"\$request")
printf '{"type":"response","request_id":"%s","status":"ok","output":"%s"}\n' "\$id" "\$found"
END
    chmod +x "$1"
}

# bundle FOLDER PROCESS-MEMBERS
bundle() {
    mkdir -p "$1"
    printf '{"plugin_id":"t.leak","process":{%s}}\n' "$2" >"$1/rterm-plugin.json"
}

# Wherever it may find the key, from its own folder.
reader="cat $HOME/.ssh/id_rsa id_rsa ../id_rsa | head -n 1"

bundle_names_its_folder() {
    tool "$HOME/stranger/run" "$reader"
    for dir in ../.ssh "$HOME/.ssh" ..; do
        bundle "$HOME/stranger" "\"command\":\"./run\",\"dir\":\"$dir\""
        said perch tool add "$HOME/stranger" --yes --json
        has_no_key
        [ "$status" != 0 ] || fail "bound with dir $dir"
        has "leads out of its folder"
    done
    ln -s ../.ssh "$HOME/stranger/data"
    bundle "$HOME/stranger" '"command":"./run","dir":"data"'
    said perch tool add "$HOME/stranger" --yes --json
    has_no_key
    has "leads out of its folder"
    said perch tool add "$HOME/stranger" --yes --json --dir "$HOME/stranger"
    ended 0
}

bundle_names_its_command() {
    tool "$HOME/other/run" "$reader"
    ln -s "$HOME/other/run" "$project/linked"
    for command in ../other/run "$HOME/other/run" ./linked linked; do
        bundle "$project" "\"command\":\"$command\""
        said perch tool add "$project" --yes --json
        [ "$status" != 0 ] || fail "bound with command $command"
        has "leads out of its folder"
    done
    said perch tool add "$project" --yes --json --command "$HOME/other/run"
    ended 0
    bundle "$HOME/other" '"command":"/bin/bash","args":["run"]'
    said perch tool add "$HOME/other" --yes --json --replace
    ended 0
}

bundle_is_a_link() {
    tool "$HOME/other/run" "$reader"
    bundle "$HOME/other" '"command":"./run"'
    ln -s "$HOME/other/rterm-plugin.json" "$project/rterm-plugin.json"
    said perch tool add "$project" --yes
    [ "$status" != 0 ] || fail "bound"
    has "name the file itself"
}

tool_lies_where_secrets_are() {
    tool "$HOME/.ssh/run" "$reader"
    tool "$HOME/.ssh/below/run" "$reader"
    ln -s .ssh "$HOME/keys"
    ln -s ../.ssh/run "$project/link"
    for source in "$HOME/.ssh/run" "$HOME/.ssh/below/run" "$HOME/keys/below/run" "$project/link"; do
        said perch tool add "$source" --yes --json
        has_no_key
        [ "$status" != 0 ] || fail "bound: $source"
        has "hidden from all tools"
    done
    # What the operator names, and no more.
    said perch tool add "$HOME/.ssh/below/run" --yes --json --read "$HOME/.ssh/below"
    ended 0
    has_no_key
}

consent_comes_before_the_start() {
    tool "$project/run" "touch $project/ran"
    bundle "$project" '"command":"./run","env":{"A":"1"}'
    for source in "$project" "$project/run"; do
        said perch tool add "$source" --write "$project"
        ended 64
        has "runs         $project/run"
        has "sees         $project"
        has "writes       $project"
        has "network      none"
        [ ! -e "$project/ran" ] || fail "it was started before anybody had said yes"
    done
}

tool_in_the_home_directory_is_told() {
    tool "$HOME/run" "cat $XDG_CONFIG_HOME/perch/grants.toml $XDG_STATE_HOME/perch/audit.jsonl"
    mkdir -p "$XDG_CONFIG_HOME/perch" "$XDG_STATE_HOME/perch"
    echo '# the-key' >"$XDG_CONFIG_HOME/perch/grants.toml"
    echo the-key >"$XDG_STATE_HOME/perch/audit.jsonl"
    said perch tool add "$HOME/run" --yes --json
    ended 0
    has_no_key
    has "it sees your home directory, by $HOME"
    tool "$project/run" true
    said perch tool add "$project/run" --yes --name other
    ended 0
    [[ "$said" != *"home directory"* ]] || fail "warned without a reason"
}

"$2"
