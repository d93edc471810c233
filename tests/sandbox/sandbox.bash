# shellcheck shell=bash
# For tests of `perch sandbox run`: a project, a home, and both ways to be
# confined. To be loaded by the bats files of this directory.

sandbox_open() {
    perch="$PERCH_BUILD/perch"
    project="$BATS_TEST_TMPDIR/project"
    export HOME="$BATS_TEST_TMPDIR/home"
    export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.local/state"
    export XDG_CACHE_HOME="$HOME/.cache"
    mkdir -p "$project" "$HOME/.ssh"
    echo secret >"$HOME/.ssh/id"
    unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX
    cd "$project" || return 1
}

# confined COMMAND…: quietly, in the default policy.
confined() {
    "$perch" sandbox run -q -- "$@"
}

# twice FUNCTION: in a room, where there can be one, and without. Called by itself,
# so that every line of the function counts.
twice() {
    if has_rooms; then
        "$@"
    else
        echo "# no rooms here: without one only" >&3
    fi
    export PERCH_SANDBOX_NO_ROOM=1
    "$@"
    unset PERCH_SANDBOX_NO_ROOM
}

has_rooms() {
    "$perch" sandbox check | grep -q 'layers:.* namespaces'
}

# needs COMMAND: a program that ./dev installs for the tests.
needs() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
}

# fails_with CODE COMMAND…: what it said is in $output.
fails_with() {
    local wanted=$1
    shift
    status=0
    output=$("$@" 2>&1 </dev/null) || status=$?
    [ "$status" = "$wanted" ] || { echo "exit code $status, not $wanted:"; echo "$output"; return 1; }
}

says() {
    [[ "$output" == *"$1"* ]] || { echo "does not say '$1':"; echo "$output"; return 1; }
}

# fails_saying CODE WORDS COMMAND…: both.
fails_saying() {
    local words=$2
    fails_with "$1" "${@:3}" || return 1
    says "$words"
}

# denied COMMAND…: it fails.
denied() {
    ! "$@" >/dev/null 2>&1 </dev/null || { echo "succeeded: $*"; return 1; }
}

# shows_nothing COMMAND…: it fails, or what it reads is empty.
shows_nothing() {
    output=$("$@" 2>/dev/null </dev/null) || true
    [ -z "$output" ] || { echo "shows: $output"; return 1; }
}
