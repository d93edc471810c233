#!/usr/bin/env bats
# perch on a disk whose power is cut at every write, the short form; the long one is ./dev chaos power.

load ../tool/tools

setup() {
    tool_open
    # A disk in memory: what is synced is written down, and nothing waits for it.
    if [ -w /dev/shm ]; then
        WORK=$(mktemp -d /dev/shm/perch-power.XXXXXX)
        export WORK
    fi
}

teardown() {
    case $WORK in /dev/shm/perch-power.*) rm -rf "$WORK" ;; esac
    tool_close
}

# shellcheck disable=SC2154 # what tool_open sets
# scene FILE NAME: what was looked at is worth a line of the report.
scene() {
    cd "$WORK" || return
    PYTHONPATH="$PERCH_SOURCE/tests/power" timeout "${PATIENCE_OF_SCENES:-14000}" \
        "$python" "$PERCH_SOURCE/tests/power/$1.py" "$2" >&3
}

@test "state.json is the old one or the new one" { scene files store; }

@test "grants.toml is the old one or the new one" { scene files grants; }

@test "tokens that were told are there" { scene files tokens; }

@test "an install, and one over it, is whole or has not been" { scene files plugins; }

@test "a plugin is there or gone" { scene files removal; }

@test "bindings of tools are there or not" { scene files bindings; }

@test "profiles of agents are there or not" { scene files profiles; }

@test "files of MCP clients that perch changes have their old contents or the new ones" { scene files clients; }

@test "sessions.db may lose the last turns, and is never damaged" { scene databases sessions; }

@test "gateway.db keeps each accepted job with --durable" { scene databases gateway; }

@test "gateway.db may lose the last jobs without it, and is never damaged" { scene databases quick; }
