#!/bin/sh
# matrix.sh PLACE ROOM NET: tries every row of the escape matrix in a sandbox, as
# whoever calls it, with Landlock forced down to each ABI that the kernel has; with a room
# (1) or without (0), with the network none or full. PLACE is an empty directory;
# the programs are beside this script. Says what differs from what is expected.
set -eu

place=$1 room=$2 net=$3
here=$(dirname -- "$(readlink -f -- "$0")")
PATH="$here:$PATH"

export HOME="$place/home" TMPDIR="$place/tmp" XDG_RUNTIME_DIR="$place/run"
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.state" XDG_CACHE_HOME="$HOME/.cache"
export OUTSIDE="$place/outside" HIDDEN="$HOME/.config/fledge/plugins/other"
export CONTROL_SOCKET="$XDG_RUNTIME_DIR/control" INHERITED=7 OTHERS_TMP="$place/others"
export PERCH_GUARD="$here/perch-guard"
unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX
[ "$room" = 1 ] || export PERCH_SANDBOX_NO_ROOM=1

# Every run finds the same.
prepare() {
    cd "$place"
    rm -rf outside project others "$HOME"
    mkdir -p tmp run outside project/.git/hooks others "$HOME/.ssh" "$HIDDEN"
    for name in outside/victim outside/to-remove outside/to-rename outside/to-take \
        others/secret "$HOME/.ssh/id" "$HIDDEN/secret" project/.git/config; do
        echo content >"$name"
    done
    [ ! -w /tmp ] || [ "${place#/tmp/}" != "$place" ] || {
        OTHERS_TMP=/tmp/perch-escape-others
        mkdir -p "$OTHERS_TMP"
        echo content >"$OTHERS_TMP/secret"
    }
}

# The victim works in the hidden directory, and answers as long as it is fed.
serve() {
    rm -f "$CONTROL_SOCKET" "$place/feed" "$place/facts"
    mkfifo "$place/feed"
    (cd "$HIDDEN" && exec escape serve <"$place/feed" >"$place/facts") &
    exec 9>"$place/feed"
    until [ "$(wc -l <"$place/facts" 2>/dev/null)" = 4 ]; do sleep 0.05; done
    while IFS= read -r fact; do export "${fact?}"; done <"$place/facts"
}

stop_serving() {
    exec 9>&-
    wait
}

# try FILE COMMAND…: what comes of each row, when COMMAND starts escape. HOST is
# the process that COMMAND becomes.
try() (
    file=$1
    shift
    cd "$place/project"
    # shellcheck disable=SC2016 # for the inner shell
    sh -c 'HOST=$$ exec "$@"' sh "$@" escape try >"$file.full" 2>"$file.errors" 7>>"$OUTSIDE/victim" ||
        { cat "$file.errors"; exit 1; }
    cut -d ' ' -f 1,2 <"$file.full" >"$file"
)

prepare
serve
try "$place/plain" env
stop_serving
# What does not work here without a sandbox either says nothing about one.
grep -v ' done$' "$place/plain" | cut -d ' ' -f 1 >"$place/absent" || true
echo "not possible here anyway: $(tr '\n' ' ' <"$place/absent")"

# What this kernel has. The ABIs from 8 on add nothing that a row could see here.
perch sandbox check --json >"$place/check" || grep -q '"layers"' "$place/check"
newest=$(sed -n 's/.*"landlock:\([0-9]*\)".*/\1/p' "$place/check")
[ "${newest:-0}" -le 7 ] || newest=7

failed=0
abi=$((${newest:-0} > 0))
while [ "$abi" -le "${newest:-0}" ]; do
    prepare
    serve
    try "$place/found" env PERCH_LANDLOCK_ABI_MAX="$abi" \
        perch sandbox run --net "$net" --read "$OUTSIDE" --
    stop_serving
    escape expect "$abi" "$room" "$net" >"$place/expected"
    for file in found expected; do
        awk 'NR == FNR { absent[$1]; next } !($1 in absent)' "$place/absent" "$place/$file" \
            >"$place/$file.here"
    done
    if ! diff "$place/expected.here" "$place/found.here" >"$place/diff"; then
        failed=1
        echo "Landlock ABI $abi, room $room, net $net: expected (<) and found (>)"
        sed -n 's/^[<>]/&/p' "$place/diff"
        sed 's/^/    /' "$place/found.errors"
        grep odd "$place/found.full" || true
    fi
    abi=$((abi + 1))
done
exit $failed
