#!/usr/bin/env bats
# perch tool serve: a resident host.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
# shellcheck disable=SC2030,SC2031 # every test has its own host
load tools

setup() {
    tool_open
    ln -s "$PERCH_BUILD/tests/unruly" "$WORK/tools/unruly"
    binding unruly
}
teardown() { tool_close; }

# call ID DO [MEMBERS]: a line.
line() {
    printf '{"id":"%s","name":"t.unruly","tool":"t.x","input":{"do":"%s"}%s}\n' "$1" "$2" "${3:-}"
}

# serve [WORD…] < LINES
serve() { keep "$perch" tool serve "$@"; }

# verdicts: "id code" of every answer, sorted.
verdicts() {
    "$python" -c 'import json, sys
for line in sys.stdin:
    result = json.loads(line)
    print(json.dumps(result["id"]), result["code"])' <"$WORK/out" | LC_ALL=C sort
}

# say LINE…: to what serve_open has opened.
say() { printf '%s\n' "$@" >&7; }
answers_are() { [ "$(wc -l <"$WORK/out")" -ge "$1" ]; }

@test "calls in, results out, many at once; the end of stdin finishes what is under way" {
    {
        for i in $(seq 20); do line "c$i" slow; done
        line e error
        line k crash
        line h hang ',"timeout":0.2'
    } >"$WORK/lines"
    serve <"$WORK/lines"
    expect_status 0
    [ "$(verdicts | grep -c ' ok$')" -eq 20 ]
    has "$(verdicts)" '"e" execution_error'
    has "$(verdicts)" '"k" crashed'
    has "$(verdicts)" '"h" timeout'
    [ "$(wc -l <"$WORK/out")" -eq 23 ]
    serve < <(cat "$WORK/lines")
    [ "$(wc -l <"$WORK/out")" -eq 23 ]
}

@test "ids are strings or numbers, and come back as they were" {
    serve < <(
        printf '%s\n' '{"id":7,"name":"t.unruly","tool":"t.x","input":{"do":"echo"}}' \
            '{"id":"\u0061","name":"t.unruly","tool":"t.x","input":{"do":"echo"}}'
    )
    [ "$(verdicts)" = '"a" ok
7 ok' ]
}

@test "context and input are passed on" {
    tool echo <<'END'
request = greet()
respond(request, [request["context"], request["input"]])
END
    serve <<<'{"id":1,"name":"t.echo","tool":"t.x","context":{"role_id":"r","mode_id":null},"input":[1e2]}'
    has "$output" '"output":[{"role_id": "r"}, [100.0]]'
}

@test "a bad line is answered with an error, and the next one is served" {
    serve < <(
        printf '%s\n' nonsense '[1]' '{}' '{"id":"a"}' '{"id":"b","name":"t.unruly"}' '' \
            '{"id":"c","name":1,"tool":"t.x"}' '{"id":"d","name":"t.unruly","tool":"t.x","inptu":1}' \
            '{"id":[],"name":"t.unruly","tool":"t.x"}' '{"id":"e","name":"t.unrule","tool":"t.x"}' \
            '{"id":"f","name":"t.unruly","tool":"t.x","timeout":-1}' '{"cancel":"nobody"}' \
            '{"id":"g","name":"t.unruly","tool":"t.x","context":{"rol_id":"x"}}' \
            '{"id":"h","id":"h","name":"t.unruly","tool":"t.x"}' '{"cancel":"x","id":"y"}'
        head -c 3000000 /dev/zero | tr '\0' x
        echo
        line z echo
    )
    expect_status 0
    [ "$(verdicts | grep -v null)" = '"a" invalid_request
"b" invalid_request
"c" invalid_request
"d" invalid_request
"e" invalid_request
"f" invalid_request
"g" invalid_request
"y" invalid_request
"z" ok' ] || { verdicts; return 1; }
    [ "$(verdicts | grep -c null)" -eq 6 ]
    has "$output" 'did you mean \"input\"?'
    has "$output" "no tool is bound as 't.unrule'; did you mean 't.unruly'?"
    has "$output" 'did you mean \"role_id\"?'
    has "$output" 'line 1: '
}

@test "an id that is under way is not taken twice" {
    serve < <(
        line a slow
        line a echo
        line b echo
    )
    has "$(verdicts)" '"a" ok'
    has "$(verdicts)" 'null invalid_request'
    [ "$(wc -l <"$WORK/out")" -eq 3 ]
}

@test "a call is cancelled, also one that waits" {
    serve_open "$WORK/out" tool serve --jobs 1
    say "$(line a hang ',"timeout":60')" "$(line b echo)" '{"cancel":"b"}' '{"cancel":"a"}' "$(line c echo)"
    wait_until answers_are 3
    exec 7>&-
    finish
    expect_status 0
    [ "$(verdicts)" = '"a" cancelled
"b" cancelled
"c" ok' ]
}

@test "SIGTERM and SIGINT cancel what is under way; every call is answered" {
    for signal in TERM INT; do
        rm -f "$WORK/in"
        serve_open "$WORK/out" tool serve --jobs 2
        say "$(line a hang ',"timeout":60')" "$(line b hang ',"timeout":60')" "$(line c hang)" "$(line d echo ',"oops":1')"
        wait_until answers_are 1
        kill -s "$signal" "$host"
        finish
        exec 7>&-
        [ "$status" -eq "$([ "$signal" = TERM ] && echo 143 || echo 130)" ]
        [ "$(verdicts)" = '"a" cancelled
"b" cancelled
"c" cancelled
"d" invalid_request' ] || { verdicts; return 1; }
    done
}

@test "more calls than may wait are read when there is room" {
    for i in $(seq 1500); do line "$i" echo; done >"$WORK/lines"
    serve --jobs 16 < <(cat "$WORK/lines")
    expect_status 0
    [ "$(verdicts | grep -c ' ok$')" -eq 1500 ]
}

@test "the limit of open files is the hard one for the host, and what it was for tools" {
    ulimit -Sn 64
    serve_open "$WORK/out" tool serve
    for i in $(seq 40); do say "$(line "$i" hang ',"timeout":60')"; done
    say "$(line now echo ',"oops":1')"
    wait_until answers_are 1
    kill "$host"
    finish
    exec 7>&-
    [ "$(verdicts | grep -c ' cancelled$')" -eq 40 ] || { verdicts; return 1; }
    tool files <<'END'
import resource
respond(greet(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
END
    echo 'mode = "off"' >>"$bindings/t.files.toml" # a sandbox has a limit of its own
    serve <<<'{"id":1,"name":"t.files","tool":"t.x"}'
    has "$output" '"output":64'
}

# So many calls that need no process: nobody is bound by that name.
in_vain() {
    for ((i = 0; i < $1; i++)); do printf '{"id":"v%d","name":"t.nobody","tool":"t.x"}\n' "$i"; done
}

@test "the line behind the one that filled the queue is served, and the last one without a newline" {
    serve_open "$WORK/out" tool serve --jobs 1
    say "$(line a hang ',"timeout":1')" "$(in_vain 1024)"
    wait_until answers_are 1025
    say "$(line b echo)"
    wait_until answers_are 1026
    printf '%s' "$(line c echo)" >&7
    exec 7>&-
    finish
    expect_status 0
    [ "$(verdicts | grep -v '"v')" = '"a" timeout
"b" ok
"c" ok' ]
}

@test "a reader that is slow stops nobody's clock, and gets everything" {
    mkfifo "$WORK/results"
    # Four hundred, as many at once as may, on any machine.
    binding unruly '[timeouts]' 'handshake = 30' 'teardown = 30'
    for i in $(seq 400); do line "$i" echo ',"timeout":30'; done >"$WORK/lines"
    "$perch" tool serve <"$WORK/lines" >"$WORK/results" 2>"$WORK/err" 3>&- &
    host=$!
    exec 8<"$WORK/results"
    wait_until audited 200 # the pipe is full long before
    cat <&8 >"$WORK/out"
    exec 8<&-
    finish
    [ "$status" -eq 0 ]
    [ "$(verdicts | grep -c ' ok$')" -eq 400 ]
}
audited() { [ -e "$audit" ] && [ "$(wc -l <"$audit")" -ge "$1" ]; }

@test "a second signal does not wait for a reader that never reads" {
    mkfifo "$WORK/results"
    for i in $(seq 400); do line "$i" echo ',"timeout":30'; done >"$WORK/lines"
    "$perch" tool serve <"$WORK/lines" >"$WORK/results" 2>"$WORK/err" 3>&- &
    host=$!
    exec 8<"$WORK/results"
    wait_until audited 400
    kill "$host"
    while kill "$host" 2>/dev/null; do sleep 0.1; done
    finish || true
    exec 8<&-
    [ "$status" -eq 143 ]
}

@test "a reader that is gone ends it" {
    mkfifo "$WORK/in" "$WORK/results"
    "$perch" tool serve <"$WORK/in" >"$WORK/results" 2>"$WORK/err" 3>&- &
    host=$!
    exec 7>"$WORK/in"
    say "$(line a echo)" "$(line b hang ',"timeout":600')"
    head -n 1 <"$WORK/results" >"$WORK/out"
    finish
    exec 7>&-
    [ "$status" -eq 1 ]
    [ "$(verdicts)" = '"a" ok' ]
}

@test "a reader that is gone ends it, also when lines are held back or stdin is at its end" {
    mkfifo "$WORK/results"
    {
        line a hang ',"timeout":600'
        in_vain 1023
        line now echo ',"oops":1'
        in_vain 100 | sed 's/"v/"w/'
    } >"$WORK/many"
    { line a hang ',"timeout":600' && line now echo ',"oops":1'; } >"$WORK/few"
    for lines in many few; do
        "$perch" tool serve --jobs 1 <"$WORK/$lines" >"$WORK/results" 2>"$WORK/err" 3>&- &
        host=$!
        head -n 1 <"$WORK/results" >"$WORK/out"
        finish
        [ "$status" -eq 1 ]
        [ "$(verdicts)" = '"now" invalid_request' ]
    done
}

@test "--binding may be repeated; a name finds the others" {
    mv "$bindings/t.unruly.toml" "$WORK/one.toml"
    program two <<'END'
respond(greet(), "two")
END
    binding two
    mv "$bindings/t.two.toml" "$WORK/two.toml"
    serve --binding "$WORK/one.toml" --binding "$WORK/two.toml" < <(
        line a echo
        echo '{"id":"b","name":"t.two","tool":"t.x"}'
    )
    [ "$(verdicts)" = '"a" ok
"b" ok' ]
    serve --binding "$WORK/one.toml" --binding "$WORK/one.toml" </dev/null
    expect_status 125
    has "$errors" "two bindings"
    serve --binding "$WORK/none.toml" </dev/null
    expect_status 125
}

@test "a binding that is changed or taken away counts from the next call on" {
    serve_open "$WORK/out" tool serve
    say "$(line a echo)"
    wait_until answers_are 1
    say "$(line h hang ',"timeout":60')"
    wait_until child_runs
    sed -i 's/^command/capabilities = ["x"]\ncommand/' "$bindings/t.unruly.toml"
    say "$(line b echo)"
    wait_until answers_are 2
    say '{"cancel":"h"}'
    wait_until answers_are 3
    rm "$bindings/t.unruly.toml"
    say "$(line c echo)"
    wait_until answers_are 4
    exec 7>&-
    finish
    [ "$(verdicts)" = '"a" ok
"b" capability_not_declared
"c" invalid_request
"h" cancelled' ]
}
child_runs() { left | grep -qvx "$host"; }

@test "spares are used where a binding has them" {
    binding unruly 'spares = 2'
    serve_open "$WORK/out" tool serve
    say "$(line warm echo)"
    wait_until answers_are 1
    wait_until used_a_spare
    exec 7>&-
    finish
    expect_status 0
}
used_a_spare() {
    seq_number=$((${seq_number:-0} + 1))
    say "$(line "s$seq_number" echo)"
    wait_until answers_are $((seq_number + 1))
    grep -q '"used_spare":true' "$WORK/out"
}

@test "a tool that asks is refused, unless serve --yes" {
    binding unruly '[[tools]]' 'name = "t.x"' 'ask = true'
    serve < <(line a echo)
    has "$output" '"code":"invalid_request"'
    has "$output" "nobody can be asked"
    serve --yes < <(line a echo)
    has "$output" '"ok":true'
    has "$(last_audit)" '"approval":"--yes"'
}

@test "64 callers at once with crashes, timeouts and cancels: every call is answered once" {
    binding unruly 'spares = 4'
    run "$python" "$here/../tool/storm.py" "${PERCH_STORM_SECONDS:-6}" "$perch" "$bindings/t.unruly.toml"
    echo "$output"
    [ "$status" -eq 0 ]
}
