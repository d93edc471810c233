#!/usr/bin/env bats
# What stands around perch serve: the units of systemd, ./dev run serve.

# shellcheck disable=SC2154 # what serve_open sets
load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "systemd finds nothing wrong with the units, and they leave namespaces alone" {
    command -v systemd-analyze >/dev/null || skip "there is no systemd-analyze"
    local units="$WORK/units"
    mkdir "$units"
    cp "$PERCH_SOURCE/systemd/perch-serve.socket" "$units"
    sed "s|@PERCH@|$perch|" "$PERCH_SOURCE/systemd/perch-serve.service.in" >"$units/perch-serve.service"
    sed "s|@PERCH@|$perch|" "$PERCH_SOURCE/systemd/perch-worker@.service.in" >"$units/perch-worker@.service"
    ln -s perch-worker@.service "$units/perch-worker@one.service"
    run env SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --user --man=no \
        "$units/perch-serve.service" "$units/perch-serve.socket" "$units/perch-worker@one.service"
    echo "$output"
    [ "$status" = 0 ]
    [[ $output != *perch-serve* ]]
    [[ $output != *perch-worker* ]]
    run grep -E '^(RestrictNamespaces|PrivateUsers|NoNewPrivileges|ProtectSystem|SystemCallFilter)=' \
        "$units/perch-serve.service" "$units/perch-worker@.service"
    [ "$status" = 1 ]
}

@test "./dev run serve: three lines for curl, which work" {
    mkdir "$WORK/clone"
    ln -s "$PERCH_SOURCE/examples" "$WORK/clone/examples"
    ln -s "$PERCH_BUILD" "$WORK/clone/build"
    local port
    port=$("$python" -c 'import socket
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    PERCH_TRY_LISTEN="127.0.0.1:$port" "$PERCH_SOURCE/tools/try_serve.sh" "$WORK/clone" \
        >"$WORK/said" 2>"$WORK/log" 3>&- &
    local server=$!
    wait_until curl -sf -o "$WORK/health" "http://127.0.0.1:$port/healthz"
    sed -n '/^  curl/,$p' "$WORK/said" >"$WORK/lines"
    [ "$(grep -c curl "$WORK/lines")" = 3 ]
    run sh -e "$WORK/lines"
    kill -INT "-$server" 2>/dev/null || kill "$(pgrep -P "$server")"
    wait "$server" || :
    echo "$output"
    [[ $output == *'"id":"calculator"'* ]]
    [[ $output == *'data: [DONE]'* ]]
    [[ $output == *42* ]]
}
