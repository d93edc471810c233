#!/usr/bin/env bats
# Plugins without a protocol: perch is not there.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

@test "legacy: arguments are argv" {
    plugin -p none words <<'END'
#!/bin/sh
printf '<%s>\n' "$0" "$@"
END
    call words one '' 'a b' --json -- --ni
    expect_status 0
    expect "<$cfg/plugins/bin/fledge-words>
<one>
<>
<a b>
<--json>
<-->
<--ni>"
}

@test "legacy: argv[0] is the path of the link, for programs too" {
    ln -s /bin/cat "$cfg/plugins/bin/fledge-cat"
    "$perch" run cat /proc/self/cmdline | tr '\0' '\n' >"$WORK/out"
    [ "$(cat "$WORK/out")" = "$cfg/plugins/bin/fledge-cat
/proc/self/cmdline" ]
}

@test "legacy: stdin belongs to the plugin, also with --json" {
    plugin -p none reader <<'END'
#!/bin/sh
cat
END
    run "$perch" run reader <<<"line"
    [ "$output" = "line" ]
    run "$perch" --json run reader <<<"line"
    [ "${lines[0]}" = '{"event":"output","text":"line\n"}' ]
    run bash -c "echo piped | '$perch' --json run reader"
    [ "${lines[0]}" = '{"event":"output","text":"piped\n"}' ]
}

@test "legacy: with --json its output is an event, never the end of its own run" {
    plugin -p none liar <<'END'
#!/bin/sh
echo '{"event":"end","success":true,"exit_code":0}'
printf '\303'
sleep 0.1
printf '\244\377\303'
exit 3
END
    call --json liar
    expect_status 3
    [ "$(jq -r .event "$WORK/out" | sort | uniq -c | awk '{ print $1 $2 }' | grep end)" = 1end ]
    [ "$(jq -s 'last | [.event, .success, .exit_code]' -c "$WORK/out")" = '["end",false,3]' ]
    [ "$(jq -j 'select(.event == "output").text' "$WORK/out")" = '{"event":"end","success":true,"exit_code":0}
ä��' ]
    call liar
    [ "${output%%
*}" = '{"event":"end","success":true,"exit_code":0}' ]
}

@test "legacy: exit code and signals" {
    plugin -p none code <<'END'
#!/bin/sh
case $1 in
*[!0-9]*) kill "-$1" $$ ;;
*) exit "$1" ;;
esac
END
    for code in 0 1 64 125 255; do
        call code "$code"
        expect_status "$code"
    done
    has "$errors" "error: Plugin 'code' exited with code 255"
    call code KILL
    expect_status 137
    call code SEGV
    expect_status 139
    call code INT
    expect_status 130
}

@test "legacy: SIGTERM to perch reaches the plugin" {
    plugin -p none term <<'END'
#!/bin/bash
trap 'echo terminated; exit 9' TERM
echo x >"$READY"
while :; do sleep 0.05; done
END
    start run term
    wait_ready
    kill -TERM "$host"
    finish
    expect_status 9
    expect "terminated"
}

@test "legacy: Ctrl+C is between the terminal and the plugin" {
    plugin -p none int <<'END'
#!/bin/bash
trap 'echo interrupted; exit 5' INT
echo x >"$READY"
while :; do sleep 0.05; done
END
    python3 - <<'END'
import os, signal, subprocess, time
host = subprocess.Popen([os.environ["PERCH_BUILD"] + "/perch", "run", "int"], preexec_fn=os.setpgrp,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
while not os.path.exists(os.environ["READY"]):
    time.sleep(0.01)
os.killpg(host.pid, signal.SIGINT)
out, _ = host.communicate()
assert (host.returncode, out) == (5, b"interrupted\n"), (host.returncode, out)
END
}

@test "legacy: session, process group and terminal are ours" {
    plugin -p none group <<'END'
#!/bin/sh
cut -d ' ' -f 5,6,8 /proc/self/stat
END
    start run group
    finish
    read -r group session terminal <"$WORK/out"
    read -r _ _ _ _ mine my_session _ my_terminal _ <"/proc/$BASHPID/stat"
    [ "$group" = "$mine" ]
    [ "$session" = "$my_session" ]
    [ "$terminal" = "$my_terminal" ]
}

@test "legacy: the environment is inherited whole, with FLEDGE_PLUGIN_DIR" {
    plugin -p none env <<'END'
#!/bin/sh
echo "$MY_TOKEN $FLEDGE_PLUGIN_DIR"
END
    MY_TOKEN=kept FLEDGE_PLUGIN_DIR=/wrong call env
    expect "kept $cfg/plugins/fledge-env"
}

@test "legacy: no manifest at all, and a command that nobody lists" {
    plugin -p none bare <<'END'
#!/bin/sh
echo "ran in ${FLEDGE_PLUGIN_DIR-nowhere}"
END
    rm "$cfg/plugins/fledge-bare/plugin.toml"
    call bare
    expect_status 0
    expect "ran in $cfg/plugins/fledge-bare"
    # Owned by the entry whose directory holds the binary.
    ln -s ../fledge-bare/bin/fledge-bare "$cfg/plugins/bin/fledge-other"
    call other
    expect "ran in $cfg/plugins/fledge-bare"
    rm "$cfg/plugins.toml"
    call bare
    expect "ran in nowhere"
}

@test "legacy: its own lines are nobody's messages" {
    plugin -p none talk <<'END'
#!/bin/sh
echo '{"type":"exec","id":"1","command":"touch $WORK/ran"}'
END
    call talk
    # shellcheck disable=SC2016
    expect '{"type":"exec","id":"1","command":"touch $WORK/ran"}'
    [ ! -e "$WORK/ran" ]
}

@test "legacy: kill -9 of perch ends the plugin" {
    plugin -p none lasting <<'END'
#!/bin/sh
echo $$ >"$READY.new"
mv "$READY.new" "$READY"
exec sleep 300
END
    start run lasting
    wait_ready
    kill -KILL "$host"
    finish
    wait_until gone "$(cat "$READY")"
}
