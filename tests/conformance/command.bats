#!/usr/bin/env bats
# perch conformance: its words, what it prints, the cases as data, the page about them.

setup() {
    perch="$PERCH_BUILD/perch"
    echo_agent="$PERCH_SOURCE/examples/agents/echo.yaml"
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "the help fits the screen, and the list of commands too" {
    [ "$("$perch" help conformance | wc -l)" -le 24 ]
    [ "$("$perch" help | wc -l)" -le 24 ]
    "$perch" help | grep -q '  conformance  *check a host'
}

@test "wrong words are told with what to do" {
    run "$perch" conformance
    [ "$status" -eq 64 ]
    [[ "$output" == *"--host"*"--plugin"* ]]
    run "$perch" conformance --host a --plugin b
    [ "$status" -eq 64 ]
    run "$perch" conformance --host a --protocol fldge
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean: --protocol fledge"* ]]
    run "$perch" conformance --host "host {command}"
    [ "$status" -eq 64 ]
    [[ "$output" == *"--protocol"* ]]
    run "$perch" conformance --plugin /bin/true
    [ "$status" -eq 64 ]
    [[ "$output" == *"--protocol fledge, tool, agent or acp"* ]]
    run "$perch" conformance --plugin /nonexistent
    [ "$status" -eq 127 ]
    run "$perch" conformance --plugin "$echo_agent" --case AP-99.9
    [ "$status" -eq 64 ]
    [[ "$output" == *"there is no such case"* ]]
    run "$perch" conformance --plugin "$echo_agent" --within soon
    [ "$status" -eq 64 ]
    run "$perch" conformance --plugin /bin/true --protocol tool --input '{"a":'
    [ "$status" -eq 64 ]
    [[ "$output" == *"--input is not JSON"* ]]
    run "$perch" conformance --host a --protocol fledge word
    [ "$status" -eq 64 ]
}

@test "every protocol has 25 cases at least, and every id is there once" {
    for protocol in fledge tool agent acp; do
        [ "$("$perch" conformance --list --protocol "$protocol" | tail -n +2 | wc -l)" -ge 25 ]
    done
    [ -z "$("$perch" conformance --list | awk '{ print $1 }' | grep -- - | sort | uniq -d)" ]
}

@test "--json: one object, with the rules that are broken by number" {
    printf '#!/bin/sh\nkill -SEGV $$\n' >crash
    chmod +x crash
    run "$perch" conformance --plugin crash --protocol agent --case AP-4 --json
    [ "$status" -eq 1 ]
    python3 - "$output" <<'END'
import json, sys
answer = json.loads(sys.argv[1])
assert answer["schema_version"] == 1 and answer["checks"] == "plugin", answer
assert answer["summary"]["broken"] == ["AP-4.1", "AP-4.2", "AP-4.3"], answer
assert answer["summary"]["failed"] == answer["summary"]["total"] == 3
case = answer["cases"][0]
assert case["id"] == "AP-4.1" and case["section"] == 4 and case["outcome"] == "failed"
assert case["problems"] and case["rule"] and case["duration_ms"] >= 0
END
    "$perch" conformance --list --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["cases"]) > 150'
}

@test "-q tells what is broken alone, -v what was said" {
    run "$perch" conformance --plugin "$echo_agent" -q
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    run "$perch" conformance --host "$perch" --protocol tool --case T-1.1 -v
    [ "$status" -eq 0 ]
    [[ "$output" == *'host  {"type":"handshake"'* ]]
    [[ "$output" == *'plugin  {"type":"response"'* ]]
}

@test "placeholders that stand for nothing are refused, with those there are" {
    refused() {
        run "$perch" conformance --host "$1" --protocol "$2"
        echo "$output"
        [ "$status" -eq 64 ]
    }
    refused 'host {comand} {args}' fledge
    [[ "$output" == *"fledge has no placeholder {comand}"* ]]
    [[ "$output" == *"did you mean {command}? There are {command}, {args}, "* ]]
    refused 'host --file={profile}' tool
    [[ "$output" == *"{program}, {binding}, {tool}, {input}, {options}, {project}, {dir}"* ]]
    refused 'host {zzz}' agent
    [[ "$output" != *"did you mean"* && "$output" == *"{message}"* ]]
    for wish in '--host=' '--host=  ' '--plugin='; do
        run "$perch" conformance "$wish" --protocol fledge
        [ "$status" -eq 64 ]
        [[ "$output" == *"needs a"* ]]
    done
}

@test "placeholders that there are stand for something; other braces are text" {
    cat >host <<'END'
#!/bin/sh
printf '%s\n' "$@" >>"$KIT_WORDS"
END
    chmod +x host
    export KIT_WORDS="$PWD/words"
    while read -r protocol names; do
        : >"$KIT_WORDS"
        run "$perch" conformance --host "./host {\"a\":1} $names" --protocol "$protocol" --within 5 \
            --case F-1 --case T-1 --case A-1
        [ "$status" -eq 1 ]
        grep -qxF '{"a":1}' "$KIT_WORDS"
        run grep -E '\{[a-z]+\}' "$KIT_WORDS"
        [ "$status" -eq 1 ]
    done <<'END'
fledge {command} {args} {project} {dir}
tool {program} {binding} {tool} {input} {options} {project} {dir}
agent {program} {profile} {message} {options} {project} {dir}
END
}

@test "what cannot be written is said" {
    run bash -c "'$perch' conformance --list 2>&1 >/dev/full"
    [ "$status" -eq 125 ]
    [[ "$output" == *"the output could not be written"* ]]
    printf '#!/bin/sh\necho hello\n' >"$BATS_TEST_TMPDIR/hello"
    chmod +x "$BATS_TEST_TMPDIR/hello"
    mkdir "$BATS_TEST_TMPDIR/tmp"
    TMPDIR="$BATS_TEST_TMPDIR/tmp" run bash -c \
        "ulimit -f 0; '$perch' conformance --plugin '$BATS_TEST_TMPDIR/hello' --protocol agent 2>&1 | cat; exit \${PIPESTATUS[0]}"
    [ "$status" -eq 125 ]
    [ "$output" = "error: no profile can be written: profile.yaml cannot be written: File too large" ]
    [ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ]
}

@test "cases of one's own, and mistakes in them with their place" {
    mkdir -p own/agent
    cat >own/agent/mine.toml <<'END'
section = 3
title = "Mine"

[[case]]
id = "A-3.1"
checks = "host"
rule = "It says ok."
steps = [{ send = "ok" }]
expect = { exit = 0, lines = ['{"event":"reply","text":"ok"}'] }
END
    run "$perch" conformance --host "$perch" --protocol agent --cases own
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "ok       A-3.1    It says ok." ]
    sed -i 's/send =/sned =/' own/agent/mine.toml
    run "$perch" conformance --host "$perch" --protocol agent --cases own
    [ "$status" -eq 125 ]
    [[ "$output" == *'mine.toml:8:12: '*'did you mean '?'send'* ]]
    run "$perch" conformance --host "$perch" --protocol agent --cases nowhere
    [ "$status" -eq 125 ]
    [[ "$output" == *"nowhere/agent"*"--cases DIRECTORY"* ]]
}

@test "cases of somebody else write nothing outside, and choose nothing" {
    mkdir -p own/agent own/fledge
    case_with() {
        printf 'section = 3\ntitle = "Mine"\n[[case]]\nid = "%s"\nchecks = "host"\nrule = "x"\n' "$1"
        printf 'steps = [{ send = "ok" }]\n%s\n' "$2"
    }
    refused() {
        case_with "$2" "$3" >"own/$1/mine.toml"
        run env TMPDIR="$BATS_TEST_TMPDIR/tmp" \
            "$perch" conformance --host "$perch" --protocol "$1" --cases own
        echo "$output"
        [ "$status" -eq 125 ]
        [[ "$output" == *"mine.toml:8:"*"$4"* ]]
    }
    # The scene's project is two directories below the temporary one.
    mkdir "$BATS_TEST_TMPDIR/tmp"
    refused fledge F-3.1 'files = { "../../outside" = "x" }' 'without ..'
    [ ! -e "$BATS_TEST_TMPDIR/tmp/outside" ]
    refused agent A-3.1 'env = { LD_PRELOAD = "/tmp/x.so" }' 'CONFORM_'
    printf 'command: touch\nargs: ["%s"]\n' "$BATS_TEST_TMPDIR/outside" >evil.yaml
    refused agent A-3.1 "options = [\"--profile\", \"$PWD/evil.yaml\"]" '--profile'
    [ ! -e "$BATS_TEST_TMPDIR/outside" ]
}

@test "Ctrl+C ends the kit, the host and what it started" {
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir "$TMPDIR"
    "$perch" conformance --host "$perch" --protocol fledge --case F-9.6 >out 2>&1 &
    kit=$!
    until find "$TMPDIR" -name kit | grep -q .; do sleep 0.05; done
    kill -TERM "$kit"
    status=0
    wait "$kit" || status=$?
    [ "$status" -eq 143 ]
    [ -z "$(find "$TMPDIR" -maxdepth 1 -name 'perch-conformance-*')" ]
}

@test "docs/conformance.md lists every case, as it is" {
    sed -n '/^<!-- cases -->$/,$p' "$PERCH_SOURCE/docs/conformance.md" | tail -n +2 >page
    "$perch" conformance --list --markdown >now
    diff page now
}
