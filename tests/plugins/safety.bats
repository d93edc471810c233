#!/usr/bin/env bats
# Whatever happens in the middle: kills, full disks, others at the same time.

# shellcheck disable=SC2154 # what manage_open and plugins set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

# The installed command says one of two things, as the registry says which.
whole() {
    local version
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$cfg/plugins.toml" 2>/dev/null) || version=
    case $version in
    '') [ ! -e "$cfg/plugins/hello" ] && [ ! -L "$cfg/plugins/bin/fledge-hello" ] ;;
    1.0.0) says first hello ;;
    2.0.0) says second hello ;;
    *) echo "version '$version'" && return 1 ;;
    esac
}

points="staging staged built described swap moved-old moved-new hooked commit granted registered linked"

@test "kill: a first install, at every point; doctor repairs it" {
    SAYS=first source_plugin here hello '[hooks]
build = "true"
post_install = "true"'
    for point in $points; do
        rm -rf "$XDG_CONFIG_HOME"
        PERCH_TEST_KILL_AT=$point plugins install ./here --yes --copy
        expect_status 137
        run "$perch" doctor
        [ "$status" -eq 0 ]
        has "$output" "1 change of what is installed was interrupted"
        has "$output" "perch doctor --fix"
        run "$perch" doctor --fix
        has "$output" "repaired: 1 change"
        consistent
        whole
        plugins install ./here --yes --copy --force
        expect_status 0
        says first hello
    done
}

@test "kill: a replacement, at every point; the next install repairs it" {
    SAYS=first source_plugin one
    SAYS=second VERSION=2.0.0 source_plugin two
    echo '[hooks]
build = "true"
post_install = "true"' >>two/plugin.toml
    for point in $points; do
        rm -rf "$XDG_CONFIG_HOME"
        plugins install ./one --yes --copy
        expect_status 0
        echo '{"kept": "yes"}' >"$cfg/plugins/hello/state.json"
        PERCH_TEST_KILL_AT=$point plugins install ./two --yes --copy --force
        expect_status 137
        source_plugin other other
        plugins install ./other --yes --copy
        expect_status 0
        plugins remove other --yes
        expect_status 0
        consistent
        whole
        [ "$(cat "$cfg/plugins/hello/state.json")" = '{"kept": "yes"}' ]
    done
}

@test "kill: before the point of no return the old one stays, behind it the new one is there" {
    SAYS=first source_plugin one
    SAYS=second VERSION=2.0.0 source_plugin two
    plugins install ./one --yes --copy
    PERCH_TEST_KILL_AT=hooked plugins install ./two --yes --copy --force
    "$perch" doctor --fix >"$WORK/doctor"
    says first hello
    PERCH_TEST_KILL_AT=commit plugins install ./two --yes --copy --force
    "$perch" doctor --fix >"$WORK/doctor"
    says second hello
}

@test "kill: a live link, at every point" {
    SAYS=first source_plugin here hello
    for point in $points; do
        rm -rf "$XDG_CONFIG_HOME"
        PERCH_TEST_KILL_AT=$point plugins install ./here --yes
        [ "$status" -eq 137 ]
        "$perch" doctor --fix >"$WORK/doctor"
        consistent
        whole
        [ -f here/plugin.toml ]
    done
}

@test "kill: a removal, at every point" {
    SAYS=first source_plugin here hello
    for point in removing unlinked taken revoked dropped; do
        for option in --yes --keep-state; do
            rm -rf "$XDG_CONFIG_HOME"
            plugins install ./here --yes --copy
            echo '{}' >"$cfg/plugins/hello/state.json"
            PERCH_TEST_KILL_AT=$point plugins remove hello "$option"
            expect_status 137
            "$perch" doctor --fix >"$WORK/doctor"
            consistent
            absent hello "$cfg/plugins.toml" "$grants"
            [ ! -L "$cfg/plugins/bin/fledge-hello" ]
            [ "$option" = --yes ] || [ -f "$cfg/plugins/hello/state.json" ]
            [ "$option" = --keep-state ] || [ ! -e "$cfg/plugins/hello" ]
        done
    done
}

@test "kill: a build that runs is taken along" {
    grant hello # to write what the test looks for
    source_plugin here hello '[hooks]
build = "echo begun >\"$READY\"; sleep 1000"'
    start plugins install ./here --yes --copy
    wait_ready
    kill -KILL "$host"
    wait "$host" || true
    wait_until nothing_left
    "$perch" doctor --fix >"$WORK/doctor"
    consistent
}

@test "interrupt: Ctrl+C in a build leaves nothing" {
    grant hello # to write what the test looks for
    source_plugin here hello '[hooks]
build = "echo begun >\"$READY\"; sleep 1000"'
    start plugins install ./here --yes --copy
    wait_ready
    kill -INT "$host"
    finish
    expect_status 130
    has "$errors" "error: interrupted"
    consistent
    [ ! -e "$cfg/plugins/hello" ]
}

@test "interrupt: Ctrl+C while a directory is copied leaves nothing" {
    source_plugin here hello
    head -c 300000000 /dev/zero >here/large
    # In its middle, which may be missed: then once more.
    for ((attempt = 0; attempt < 20; attempt++)); do
        start plugins install ./here --yes --copy --force
        until compgen -G "$cfg/plugins/.staging-*/tree/large" >seen || ! kill -0 "$host"; do :; done
        kill -STOP "$host" || true
        if [ "$(stat -c %s "$(head -n 1 seen)" || echo 300000000)" -lt 300000000 ]; then break; fi
        kill -CONT "$host" || true
        finish
    done
    kill -INT "$host"
    kill -CONT "$host"
    finish
    expect_status 130
    has "$errors" "error: interrupted"
    consistent
    [ -z "$(find "$cfg" -path '*.staging*')" ]
}

@test "install --copy: a sparse file stays one, and there is a limit" {
    source_plugin here hello
    truncate -s 20G here/sparse
    plugins install ./here --yes --copy
    expect_status 0
    [ "$(stat -c %s "$cfg/plugins/hello/sparse")" = 21474836480 ]
    [ "$(du -k "$cfg/plugins/hello/sparse" | cut -f 1)" -lt 1000 ]
    head -c 3000000 /dev/zero >here/large
    plugins install ./here --yes --copy --force --copy-max 2M
    expect_status 1
    has "$errors" "there is more than 2 MiB to copy"
    consistent
    [ ! -e "$cfg/plugins/hello/large" ]
    plugins install ./here --yes --copy --copy-max lots
    expect_status 64
}

@test "two at a time: different plugins are both installed" {
    local i pids=()
    for i in 1 2 3 4 5 6; do
        source_plugin "p$i" "p$i"
        "$perch" plugins install "./p$i" --yes --copy >"$WORK/out$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i"
    done
    for i in 1 2 3 4 5 6; do
        says "p$i" "p$i"
    done
    [ "$(grep -c '^name' "$cfg/plugins.toml")" = 6 ]
    consistent
}

@test "two at a time: of one plugin one wins, the others are refused" {
    source_plugin here
    local i won=0 pids=()
    for i in 1 2 3 4; do
        "$perch" plugins install ./here --yes --copy >"$WORK/out$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" && won=$((won + 1))
    done
    [ "$won" -eq 1 ]
    [ "$(grep -l 'is installed already' "$WORK"/out? | wc -l)" -eq 3 ]
    [ "$(grep -c '^name' "$cfg/plugins.toml")" = 1 ]
    says hello hello
    consistent
}

@test "two at a time: a replacement and another, with a slow hook in between" {
    grant slow # to write what the test looks for
    source_plugin slow slow '[hooks]
post_install = "echo begun >\"$READY\"; until [ -e \"$WORK/go\" ]; do sleep 0.05; done"'
    source_plugin quick quick
    start plugins install ./slow --yes --copy
    wait_ready
    "$perch" plugins install ./quick --yes --copy >"$WORK/quick-out" 2>&1 &
    local quick=$!
    touch "$WORK/go"
    finish
    expect_status 0
    wait "$quick"
    says slow slow
    says quick quick
    consistent
}

# on_small_disk COMMAND: with the config directory on a file system of 1 MiB.
on_small_disk() {
    mkdir -p "$XDG_CONFIG_HOME"
    unshare -rm --propagation private sh -c '
        mount -t tmpfs -o size=1m none "$XDG_CONFIG_HOME" || exit 99
        eval "$1"' sh "$1"
}

@test "full disk: an install that does not fit leaves things as they were" {
    unshare -rm true 2>/dev/null || skip "no namespaces here"
    SAYS=first source_plugin one
    SAYS=second VERSION=2.0.0 source_plugin two
    head -c 2000000 /dev/zero >two/big
    source_plugin three other
    export perch
    run on_small_disk '
        cd "$WORK"
        "$perch" plugins install ./one --copy --yes || exit 1
        "$perch" plugins install ./two --copy --yes --force && exit 2
        "$perch" run --ni hello || exit 3
        grep -q "1.0.0" "$XDG_CONFIG_HOME/fledge/plugins.toml" || exit 4
        "$perch" doctor | grep "nothing to repair" || exit 5
        "$perch" plugins install ./three --copy --yes || exit 6'
    [ "$status" -ne 99 ] || skip "no mounts here"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    has "$output" "No space left on device"
    has "$output" "first"
}

@test "full disk: not a byte is free for registry and links" {
    unshare -rm true 2>/dev/null || skip "no namespaces here"
    SAYS=first source_plugin one
    SAYS=second VERSION=2.0.0 source_plugin two
    export perch
    run on_small_disk '
        cd "$WORK"
        "$perch" plugins install ./one --copy --yes || exit 1
        # Less and less room: the disk becomes full at another place each time.
        for left in 0 4096 8192 12288 16384 20480 24576 28672 32768 40960 49152; do
            rm -f "$XDG_CONFIG_HOME/fill"
            dd if=/dev/zero of="$XDG_CONFIG_HOME/fill" bs=4096 2>/dev/null
            [ "$left" = 0 ] || truncate -s -$left "$XDG_CONFIG_HOME/fill"
            "$perch" plugins install ./two --copy --yes --force && said=second || said=first
            rm -f "$XDG_CONFIG_HOME/fill"
            "$perch" doctor --json | grep -q "\"installed\",\"status\":\"ok\",\"detail\":\"1, nothing" || exit 2
            [ "$("$perch" run --ni hello)" = "$said" ] || exit 3
            "$perch" plugins install ./one --copy --yes --force >"$WORK/log" 2>&1 || exit 4
        done'
    [ "$status" -ne 99 ] || skip "no mounts here"
    [ "$status" -eq 0 ] || { echo "$status: $output"; return 1; }
    has "$output" "No space left on device"
    has "$output" "installed hello 2.0.0"
}

# watches_interrupts PID: it reads SIGINT from a descriptor.
watches_interrupts() {
    local blocked
    blocked=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$1/status")
    ((0x$blocked & 2))
}

@test "interrupt: while waiting for another install" {
    grant slow # to write what the test looks for
    source_plugin slow slow '[hooks]
post_install = "echo begun >\"$READY\"; until [ -e \"$WORK/go\" ]; do sleep 0.05; done"'
    source_plugin quick quick
    "$perch" plugins install ./slow --yes --copy >"$WORK/slow-out" 2>&1 3>&- &
    local slow=$!
    wait_ready
    start plugins install ./quick --yes --copy
    wait_until watches_interrupts "$host"
    kill -INT "$host"
    finish
    expect_status 130
    touch go
    wait "$slow"
    says slow slow
    consistent
}
