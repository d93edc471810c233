#!/usr/bin/env bats
# perch tool log: the audit log, read.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools
load ../harness/wait

setup() {
    tool_open
    mkdir -p "$(dirname "$audit")"
}
teardown() { tool_close; }

# record TIME BINDING TOOL VERDICT [FILE]
record() {
    printf '{"time":"%s","binding":"%s","tool":"%s","verdict":"%s","duration_ms":12,"caller":"amy"}\n' \
        "$1" "$2" "$3" "$4" >>"${5:-$audit}"
}

# names: of what is shown, in order.
names() { awk '{ printf "%s ", $3 }' <<<"$output"; }

@test "what was called, in order over all files, with how it ended" {
    record 2026-01-01T10:00:00.000Z acme search ok "$audit.1"
    record 2026-01-02T10:00:00.000Z acme index timeout
    record 2026-01-03T10:00:00.000Z other search crashed
    perch_tool log
    expect_status 0
    [ "$(names)" = "acme/search acme/index other/search " ]
    has "$output" "2026-01-02 10:00:00 acme/index"
    has "$output" "timeout"
    has "$output" "12 ms  amy"
}

@test "by binding, tool, verdict, time, and the last ones" {
    record 2026-01-01T10:00:00.000Z acme search ok
    record 2026-01-02T10:00:00.000Z acme-two search ok
    record 2026-01-03T10:00:00.000Z acme index timeout
    perch_tool log acme
    [ "$(names)" = "acme/search acme/index " ]
    perch_tool log 'acme*/search'
    [ "$(names)" = "acme/search acme-two/search " ]
    perch_tool log --verdict timeout
    [ "$(names)" = "acme/index " ]
    perch_tool log --verdict timeuot
    expect_status 64
    has "$errors" "'timeuot' is no verdict"
    has "$errors" "there are: ok, execution_error, "
    has "$errors" ", cancelled, run, turn, answer, refusal"
    perch_tool log --verdict turn
    expect_status 0
    perch_tool log --since 2026-01-02T10:00
    [ "$(names)" = "acme-two/search acme/index " ]
    perch_tool log --since 2026-01-03
    [ "$(names)" = "acme/index " ]
    record "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" now x ok
    perch_tool log --since 1h
    [ "$(names)" = "now/x " ]
    perch_tool log -n 2
    [ "$(names)" = "acme/index now/x " ]
}

@test "--json: the records as they are" {
    record 2026-01-01T10:00:00.000Z acme search ok
    record 2026-01-01T11:00:00.000Z acme search ok
    perch_tool log --json --lines 1
    [ "$output" = "$(tail -n 1 "$audit")" ]
}

@test "what others have written there: passed over, and no control character" {
    {
        echo 'no record'
        head -c 200000 /dev/zero | tr '\0' x
        printf '\n{"binding":7}\n[]\n'
        printf '{"time":"2026-01-01T10:00:00Z","binding":"a\\u001b[31mb","tool":"t","verdict":"ok"}\n'
    } >"$audit"
    perch_tool log 'a*'
    expect_status 0
    [ "$(names)" = "a[31mb/t " ] || [ "$(names)" = "ab/t " ]
    lacks "$output" $'\e'
}

@test "a log that is not there has no lines; wrong words are explained" {
    rm -rf "$XDG_STATE_HOME"
    perch_tool log
    expect_status 0
    [ -z "$output" ]
    perch_tool log --since yesterday
    expect_status 64
    has "$errors" "--since: 'yesterday' is no time"
    perch_tool log --lines 0
    expect_status 64
}

shown() { [ "$(wc -l <"$WORK/followed")" -eq "$1" ]; }

@test "--follow: each as it comes, through a file that is turned over" {
    record 2026-01-01T10:00:00.000Z acme one ok
    "$perch" tool log --follow >"$WORK/followed" 2>&1 &
    follower=$!
    wait_until shown 1
    record 2026-01-01T10:00:01.000Z acme two ok
    wait_until shown 2
    record 2026-01-01T10:00:02.000Z acme three ok
    mv "$audit" "$audit.1"
    record 2026-01-01T10:00:03.000Z acme four ok
    wait_until shown 4
    kill "$follower"
    wait "$follower" || true
    output=$(cat "$WORK/followed")
    [ "$(names)" = "acme/one acme/two acme/three acme/four " ]
}
