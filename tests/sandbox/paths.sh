#!/usr/bin/env bash
# paths.sh PLACE ATTACK: one attack by way of paths, as the user who runs it. PLACE is a directory
# of this user's alone; the programs lie beside this file. Fails where the attack succeeds, and
# with 77 where it cannot be tried.
set -euo pipefail

bin=$(cd "$(dirname "$0")" && pwd)
place=$1
perch="$bin/perch"
export HOME="$place/home"
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.local/state"
export XDG_CACHE_HOME="$HOME/.cache"
unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX
project="$place/project"
mkdir -p "$HOME/.ssh" "$project"
echo secret >"$HOME/.ssh/id"
cd "$project"

# Else there is nothing to be seen.
needs_room() {
    local layers
    layers=$("$perch" sandbox check | grep 'layers:' || true)
    [[ "$layers" == *" namespaces"* ]] || exit 77
}

confined() {
    "$perch" sandbox run -q -- "$@" </dev/null
}

fail() {
    echo "$*" >&2
    exit 1
}

# ---- while a room is furnished ---------------------------------------------------

readonly STARTS=200

# `modules` is a directory of git's with a module `.ssh`, and a link to the home directory, by
# turns. What would be uncovered for the module is then ~/.ssh.
swapped() {
    needs_room
    git init -q
    mkdir -p .git/modules/.ssh
    touch .git/modules/.ssh/HEAD .git/modules/.ssh/config
    ln -s "$HOME" .git/other
    mkfifo stop
    python3 "$bin/swap.py" .git/modules .git/other <stop >swaps &
    exec 5>stop
    local i seen ran=0
    for ((i = 0; i < STARTS; i++)); do
        seen=$(confined sh -c 'cat .git/modules/.ssh/id .git/other/.ssh/id
            touch .git/modules/.ssh/planted .git/other/.ssh/planted; echo ran' 2>/dev/null) || true
        [[ "$seen" != *secret* ]] || fail "read at start $i"
        [ ! -e "$HOME/.ssh/planted" ] || fail "written at start $i"
        [[ "$seen" != *ran* ]] || ran=$((ran + 1))
    done
    exec 5>&-
    wait $!
    [ "$(cat swaps)" -gt "$STARTS" ] || fail "nothing was swapped: $(cat swaps)"
    # Nobody keeps others from starting at all.
    [ "$ran" -gt $((STARTS / 2)) ] || fail "only $ran have started"
}

"$2"
