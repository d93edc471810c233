#!/bin/sh
# audit.sh PLACE: runs the audit plugin in its default sandbox, as whoever calls it:
# everything it tries is denied; and without a sandbox, where it is not. PLACE is an
# empty directory; perch, its guard and the plugins are beside this script.
set -eu

place=$1
here=$(dirname -- "$(readlink -f -- "$0")")
PATH="$here:/usr/local/bin:/usr/bin:/bin"
export HOME="$place/home" TMPDIR="$place/tmp" XDG_RUNTIME_DIR="$place/run" TMUX_TMPDIR="$place/tmux"
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.local/state" XDG_CACHE_HOME="$HOME/.cache"
export PERCH_GUARD="$here/perch-guard" GIT_CONFIG_NOSYSTEM=1
unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX PERCH_BUILD PERCH_SOURCE

agent="$place/agent/socket" tmux="$TMUX_TMPDIR/tmux-$(id -u)/default" bus="$XDG_RUNTIME_DIR/bus"

# What there is to be had.
plant() {
    mkdir -p "$place/project" "$TMPDIR" "$HOME/.ssh" "$XDG_CONFIG_HOME"
    mkdir -p "${agent%/*}" "${tmux%/*}" "${bus%/*}"
    echo "a key" >"$HOME/.ssh/id_ed25519"
    export SSH_AUTH_SOCK="$agent" DEPLOY_TOKEN=planted AWS_SECRET_ACCESS_KEY=planted
    cd "$place/project"
    git init -q .
    mkdir -p .git/hooks
    perch plugins install "$here/deploy-python" --copy --yes >/dev/null
    echo '{"last_deploy_target":"production"}' >"$XDG_CONFIG_HOME/fledge/plugins/deploy-python/state.json"
    perch plugins install "$here/audit" --copy --grant exec,store,metadata,network >/dev/null
    # Below /tmp everything would be hidden anyway: then only what is hidden by name.
    case $place in
    /tmp/*) perch plugins allow audit --read "$place" >/dev/null ;;
    esac
}

# Listens on every socket until its input ends.
listen() {
    mkfifo "$place/feed" "$place/listening"
    python3 -c '
import socket, sys
sockets = [socket.socket(socket.AF_UNIX) for _ in sys.argv[2:]]
for each, path in zip(sockets, sys.argv[2:]):
    each.bind(path)
    each.listen(64)
open(sys.argv[1], "w").write("ready\n")
sys.stdin.read()
' "$place/listening" "$agent" "$tmux" "$bus" <"$place/feed" &
    exec 9>"$place/feed"
    read -r _ <"$place/listening"
}

# audit WANTED: its exit code; what it said is in the file said.
audit() {
    code=0
    AUDIT_MARK="$place" perch run audit "$agent" "$tmux" "$bus" \
        </dev/null >"$place/said" 2>"$place/errors" 9>&- || code=$?
    [ "$code" = "$1" ] || complain "exit code $code, not $1"
}

complain() {
    echo "$*"
    cat "$place/said" "$place/errors"
    exit 1
}

# said WANTED PATTERN: so many lines of it.
said() {
    count=$(grep -c "$2" "$place/said") || :
    [ "$count" = "$1" ] || complain "$count lines of '$2', not $1"
}

# The processes the plugin left, known by their environment.
left() {
    grep -lszxF "AUDIT_MARK=$place" /proc/[0-9]*/environ | cut -d / -f 3
}

wait_for_nothing_left() {
    tries=1200
    while [ -n "$(left)" ]; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || complain "a process is left: $(left)"
        sleep 0.05
    done
}

# Each of the attempts, both ways, but for what is not a matter of the sandbox: secrets
# are not in the environment in any case, nobody of a tree is left, and the system is root's.
check_without() {
    audit 1
    audit 1
    said 2 '^denied .* leave a process behind$'
    denied=$(grep '^denied' "$place/said" | grep -v 'see a secret in the environment$' |
        grep -v 'leave a process behind$' | grep -v 'connect to a control socket$') || :
    [ "$(id -u)" = 0 ] || denied=$(echo "$denied" | grep -v 'change a file of the system$') || :
    [ -z "$denied" ] || complain "denied without a sandbox: $denied"
}

plant
listen
audit 0
said 0 '^SUCCEEDED'
said 51 '^denied'
wait_for_nothing_left
audit 0
said 0 '^SUCCEEDED'
said 2 '^denied .* leave a process behind$'
wait_for_nothing_left
perch plugins allow audit --sandbox off >/dev/null
check_without
left | xargs -r kill -KILL 2>/dev/null || :
exec 9>&-
wait
