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
unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX TMPDIR
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

STARTS=${PATHS_STARTS:-200}

# swapping A B COMMAND…: exchanges two names while the command runs, often.
swapping() {
    local swapper code=0
    mkfifo "$place/stop"
    python3 "$bin/swap.py" "$1" "$2" <"$place/stop" >"$place/swaps" &
    swapper=$!
    exec 5>"$place/stop"
    until [ -s "$place/swaps" ]; do sleep 0.02; done
    "${@:3}" || code=$?
    exec 5>&-
    wait "$swapper"
    [ "$code" = 0 ] || exit "$code"
    [ "$(tail -n 1 "$place/swaps")" -gt "$STARTS" ] || fail "hardly anything was swapped"
}

# starts LEAST COMMAND…: each of them sees nothing, and at least so many of them run.
starts() {
    local i seen ran=0 least=$1
    shift
    for ((i = 0; i < STARTS; i++)); do
        seen=$(confined "$@" 2>/dev/null) || true
        [[ "$seen" != *secret* ]] || fail "read at start $i"
        [ ! -e "$HOME/.ssh/planted" ] || fail "written at start $i"
        [[ "$seen" != *ran* ]] || ran=$((ran + 1))
    done
    # Nobody keeps others from starting at all.
    [ "$ran" -ge "$least" ] || fail "only $ran have started"
}

# `modules` is a directory of git's with a module `.ssh`, and a link to the home directory, by
# turns. What would be uncovered for the module is then ~/.ssh.
swapped() {
    needs_room
    git init -q
    mkdir -p .git/modules/.ssh
    touch .git/modules/.ssh/HEAD .git/modules/.ssh/config
    ln -s "$HOME" .git/other
    swapping .git/modules .git/other starts $((STARTS / 2)) sh -c 'cat .git/modules/.ssh/id .git/other/.ssh/id
        touch .git/modules/.ssh/planted .git/other/.ssh/planted; echo ran'
}

# The project itself, by who may write what holds it: where its name is a link's, nothing starts.
swapped_project() {
    STARTS=$((STARTS / 4))
    mkdir sub
    ln -s "$HOME/.ssh" other
    cd sub
    swapping "$project/sub" "$project/other" starts 1 sh -c 'cat id ../sub/id ../other/id
        touch planted ../sub/planted ../other/planted; echo ran'
}

# ---- how a place is spelled --------------------------------------------------------

# denied COMMAND…: it fails.
denied() {
    ! "$@" >/dev/null 2>&1 </dev/null || fail "succeeded: $*"
}

# twice COMMAND…: in a room, where there can be one, and without.
twice() {
    "$@"
    PERCH_SANDBOX_NO_ROOM=1 "$@"
}

home_is_written() {
    local said
    said=$("$perch" sandbox run -- touch planted 2>&1 </dev/null) || true
    [ ! -e planted ] || fail "HOME=$HOME is writable"
    [[ "$said" == *"not writable in the sandbox"* ]] || fail "HOME=$HOME: says: $said"
}

home() {
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
    ln -s home "$place/alias"
    mkdir "$HOME/inside"
    cd "$place/home"
    local spelled
    for spelled in "$place/home" "$place/alias" "$place/./home" "/$place/home" "$place//home/" \
        "$place/project/../home" "$place/alias/../alias/."; do
        HOME=$spelled twice home_is_written
    done
    cd "$place"
    HOME="$place/alias" twice home_is_written
    # What is named by another way is named all the same.
    cd "$place/home"
    HOME="$place/./alias" confined_with --write . touch allowed
    [ -e allowed ] || fail "--write . does not allow it"
}

# A variable that makes the project a place for secrets: it is hidden, and why is said.
hidden_project() {
    echo text >file
    local said
    said=$(GNUPGHOME="$project" "$perch" sandbox run -- cat file 2>&1 </dev/null) || true
    [[ "$said" != *text* ]] || fail "it is not hidden"
    [[ "$said" == *"this directory is hidden in the sandbox"*"as GNUPGHOME says"* ]] || fail "says: $said"
    [[ "$said" == *"--write . allows it"* ]] || fail "says: $said"
    said=$(GNUPGHOME="$project" "$perch" sandbox run -q --write . -- cat file 2>&1 </dev/null)
    [ "$said" = text ] || fail "is not allowed: $said"
    mkdir "$HOME/.gnupg"
    cd "$HOME/.gnupg"
    said=$("$perch" sandbox run -- true 2>&1 </dev/null) || true
    [[ "$said" == *"this directory is hidden in the sandbox"*"a place for secrets;"* ]] || fail "says: $said"
}

variable_hides_project() {
    twice hidden_project_anew
}

hidden_project_anew() {
    cd "$project"
    rm -rf "$HOME/.gnupg"
    hidden_project
}

confined_with() {
    "$perch" sandbox run -q "$1" "$2" -- "${@:3}" </dev/null
}

# ~/.ssh leads into the project: then that holds a place for secrets.
ssh_in_project() {
    mkdir dotfiles
    mv "$HOME/.ssh" dotfiles/ssh
    ln -s "$project/dotfiles/ssh" "$HOME/.ssh"
    twice confined true
    twice denied confined touch planted
    twice denied confined mv dotfiles moved
    twice denied confined_with --write . mv dotfiles moved
    twice denied confined_with --write . mv dotfiles/ssh moved
    twice denied confined_with --write . touch dotfiles/ssh/planted
    twice denied confined_with --write . grep secret dotfiles/ssh/id
    # Nothing is there yet, and it is no place for others to make.
    mv dotfiles/ssh "$place/ssh"
    twice denied confined mkdir dotfiles/ssh
    # The link itself, where the home directory is writable.
    needs_room
    mv "$place/ssh" dotfiles/ssh
    denied confined_with --write "$HOME" rm "$HOME/.ssh"
    denied confined_with --write "$HOME" mv "$HOME/.ssh" "$HOME/moved"
    denied confined_with --write "$HOME" ln -sfn "$project" "$HOME/.ssh"
    [ "$(readlink "$HOME/.ssh")" = "$project/dotfiles/ssh" ]
    [ "$(cat "$HOME/.ssh/id")" = secret ]
}

# What holds something hidden cannot be renamed to make room for another.
holders() {
    needs_room
    mkdir -p "$HOME/.config/gh"
    echo secret >"$HOME/.config/gh/hosts"
    denied confined_with --write "$HOME" mv "$HOME/.config" "$HOME/moved"
    denied confined_with --write "$HOME" mv "$HOME/.config/gh" "$HOME/moved"
    denied confined_with --write "$HOME" grep secret "$HOME/.config/gh/hosts"
    confined_with --write "$HOME" touch "$HOME/.config/new"
}

# ---- what was allowed ------------------------------------------------------------------

# An agent that reads and writes `data` of the project.
make_agent() {
    echo 'cat data/id; echo x >data/planted; echo done' >agent.sh
    printf '%s\n' 'command: sh' "args: ['$project/agent.sh']" "cwd: '$project'" \
        "$@" >"$place/agent.yaml"
}

# What the agent says, and perch of it.
turn() {
    "$perch" agent run --profile "$place/agent.yaml" --no-store --prompt hi 2>&1 </dev/null || true
}

is_safe() {
    [[ "$1" != *secret* ]] || fail "read: $1"
    [ ! -e "$HOME/.ssh/planted" ] || fail "written: $1"
}

# refused WORDS: the next turn is, with these words, and nothing was seen.
refused() {
    local said
    said=$(turn)
    is_safe "$said"
    [[ "$said" == *"$1"* ]] || fail "does not say '$1': $said"
}

# What somebody does who may write the project.
plant() {
    rm -rf data
    ln -s "$HOME/.ssh" data
}

grants() {
    mkdir data
    echo plain >data/id
    make_agent 'sandbox: on'
    "$perch" agent allow "$place/agent.yaml" --read data --write data >/dev/null
    [[ "$(turn)" == *plain* ]] || fail "what is allowed is not seen: $(turn)"
    plant
    twice refused "perch agent allow $place/agent.yaml --read $project/data"
    # Nor does a link on the way lead anywhere.
    rm data
    mkdir -p deep/data
    echo plain >deep/data/id
    "$perch" agent revoke "$place/agent.yaml" >/dev/null
    "$perch" agent allow "$place/agent.yaml" --read deep/data >/dev/null
    mv deep moved
    mkdir "$HOME/deep"
    ln -s "$HOME/.ssh" "$HOME/deep/data"
    ln -s "$HOME/deep" deep
    twice refused "perch agent allow"
    # By a link, what is hidden is not allowed either; what is named is.
    plant
    "$perch" agent revoke "$place/agent.yaml" >/dev/null
    denied "$perch" agent allow "$place/agent.yaml" --read data
    is_safe "$(turn)"
    "$perch" agent allow "$place/agent.yaml" --read "$HOME/.ssh" >/dev/null
    [[ "$(turn)" == *secret* ]] || fail "what is named is not allowed: $(turn)"
}

# A grant whose path has become a link is allowed again, or taken back, by the same words.
again() {
    mkdir data "$place/elsewhere"
    echo other >"$place/elsewhere/id"
    make_agent 'sandbox: on'
    "$perch" agent allow "$place/agent.yaml" --read data >/dev/null
    rmdir data
    ln -s "$place/elsewhere" data
    refused "is not what was allowed"
    "$perch" agent allow "$place/agent.yaml" --read data >/dev/null
    [[ "$(turn)" == *other* ]] || fail "is not allowed again: $(turn)"
    grep -q "read = \[\"$place/elsewhere\"\]" "$XDG_CONFIG_HOME/perch/grants.toml"
    "$perch" agent revoke "$place/agent.yaml" --read data >/dev/null
    denied grep -q elsewhere "$XDG_CONFIG_HOME/perch/grants.toml"
}

profiles() {
    mkdir data
    make_agent 'sandbox:' "  read: ['$project/data']" "  write: ['$project/data']"
    plant
    twice refused "'$HOME/.ssh', which is hidden"
    # Not hidden, but not the project either.
    rm data
    mkdir "$HOME/papers"
    echo secret >"$HOME/papers/id"
    ln -s "$HOME/papers" data
    make_agent 'sandbox:' "  write: ['$project/data']"
    twice refused "lies where the sandbox may write"
    [ ! -e "$HOME/papers/planted" ] || fail "written"
}

# The same on a command line: what is hidden is named, or it is not meant.
command_line() {
    plant
    twice denied confined_with --read data cat data/id
    twice denied confined_with --write "$project/data" touch data/planted
    is_safe ""
    [ "$(confined_with --read "$HOME/.ssh" cat "$HOME/.ssh/id")" = secret ]
    [ "$(confined_with --read ../home/.ssh cat "$HOME/.ssh/id")" = secret ]
}

# ---- others on the machine -----------------------------------------------------------

# Somebody else has linked /tmp/.X11-unix, where we look for sockets to hide, to the root.
stranger() {
    [ -L /tmp/.X11-unix ] || fail "the stranger was not here"
    [ "$(twice confined cat /etc/hostname /usr/bin/env | wc -c)" -gt 0 ] || fail "nothing is seen"
    twice confined touch planted
    rm planted
}

"$2"
