#!/usr/bin/env bats
# perch under faults, the short form; the long one is ./dev chaos plugins, tools, agents, mcp, serve or questions.

load ../tool/tools

setup() {
    tool_open
    # Faults are many, and disks are slow.
    if [ -w /dev/shm ]; then
        WORK=$(mktemp -d /dev/shm/perch-chaos.XXXXXX)
        export WORK
    fi
}

teardown() {
    case $WORK in /dev/shm/perch-chaos.*) rm -rf "$WORK" ;; esac
    tool_close
}

# chaos KIND: all of them, or the one that CHAOS_KIND names.
# shellcheck disable=SC2154 # what tool_open sets
chaos() {
    [ "${CHAOS_KIND:-$1}" = "$1" ] || return 0
    cd "$WORK" || return
    PYTHONPATH="$PERCH_SOURCE/tests/power" timeout 14000 "$python" "$PERCH_SOURCE/tests/chaos/chaos.py" "$1" >&3
}

@test "plugins: nobody is left, what was stored is there" { chaos plugins; }

@test "tools: nobody is left, calls are recorded" { chaos tools; }

@test "agents: nobody is left, turns are recorded" { chaos agents; }

@test "mcp: nobody is left, calls are recorded" { chaos mcp; }

@test "acp: nobody is left, what was said to an editor is there" { chaos acp; }

@test "serve: nobody is left, accepted turns are over and ran once" { chaos serve; }

@test "questions: a terminal gets its modes back" { chaos questions; }
