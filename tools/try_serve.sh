#!/bin/sh
# perch serve with the example agents, in a place of its own that goes with it: `./dev run serve`.
set -eu

top=$1
perch=$top/build/perch
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap : INT TERM # perch serve has them, too, and ends
export XDG_CONFIG_HOME="$place/config" XDG_STATE_HOME="$place/state"
mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME"
token=$("$perch" token create you --role admin 2>/dev/null)
address=${PERCH_TRY_LISTEN:-127.0.0.1:4747}

cat <<END
Ask it, in another terminal:

  curl http://$address/v1/models -H 'Authorization: Bearer $token'
  curl http://$address/v1/chat/completions -H 'Authorization: Bearer $token' \\
      -d '{"model":"stream","stream":true,"messages":[{"role":"user","content":"hello"}]}'
  curl -N http://$address/api/turns -H 'Authorization: Bearer $token' \\
      -H 'Accept: text/event-stream' -d '{"agent":"calculator","message":"6 * 7"}'

END
set --
for profile in echo stream calculator fail; do
    set -- "$@" --agent "$top/examples/agents/$profile.yaml"
done
status=0
"$perch" serve --listen "$address" "$@" || status=$?
exit "$status"
