#!/usr/bin/env bats
# perch tool add, list, show, check, remove; and that a plugin cannot raise its
# own power.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() { tool_open; }
teardown() { tool_close; }

plain() {
    program plain <<'END'
request = greet(capabilities=["a", "b"])
respond(request, request["input"])
END
}

# bundle JSON-MEMBERS: a folder with a bundle for the program plain.
bundle() {
    plain
    mkdir -p "$WORK/bundle"
    cp "$WORK/tools/plain" "$WORK/bundle/plain"
    printf '{"plugin_id":"t.plain","process":{"command":"./plain"}%s}\n' "${1:+,$1}" \
        >"$WORK/bundle/rterm-plugin.json"
}

# add WORD…: with what the interpreter needs to be read.
add() {
    perch_tool add --read "$prefix" "$@"
}

@test "add: an executable, granted in part or as a whole" {
    plain
    add "$WORK/tools/plain" --grant a,b
    expect_status 0
    has "$output" "bound t.plain: 1 tool, $bindings/t.plain.toml"
    [ "$(stat -c %a "$bindings/t.plain.toml")" = 600 ]
    grep -q '^capabilities = \["a", "b"\]' "$bindings/t.plain.toml"
    perch_tool call t.plain t.x --input '[1]'
    expect '[1]'
    add "$WORK/tools/plain" --yes --name again --json
    expect_status 0
    field_is name '"again"'
    field_is plugin_id '"t.plain"'
    field_is capabilities '["a", "b"]'
    perch_tool call again t.x
    expect_status 0
}

@test "add: without a terminal somebody must have decided" {
    plain
    add "$WORK/tools/plain"
    expect_status 64
    has "$errors" "runs         $WORK/tools/plain"
    has "$errors" "sees         $WORK/tools"
    has "$errors" "--yes grants"
    [ ! -e "$bindings/t.plain.toml" ]
    add "$WORK/tools/plain" --json
    expect_status 64
    field_is code '"invalid_request"'
}

@test "add: too little is granted: no binding that could not work" {
    plain
    add "$WORK/tools/plain" --grant a
    expect_status 10
    has "$errors" "capability_not_allowed"
    [ ! -e "$bindings/t.plain.toml" ]
}

@test "add: what is not requested cannot be granted" {
    plain
    add "$WORK/tools/plain" --grant a,bb
    expect_status 64
    has "$errors" "does not request the capability 'bb'"
    add "$WORK/tools/plain" --grant a --yes
    expect_status 64
    [ ! -e "$bindings/t.plain.toml" ]
}

@test "add: on a terminal it asks" {
    bundle '"capabilities":["a","b"]'
    for answer in n y; do
        rm -rf "$bindings"
        printf '%s\n' "$answer" | script -qec \
            "'$perch' tool add --read '$prefix' '$WORK/bundle'" /dev/null >"$WORK/said" || true
        grep -q "Start it, bind it, and grant what it requests?" "$WORK/said"
        if [ "$answer" = y ]; then
            [ -e "$bindings/t.plain.toml" ]
        else
            [ ! -e "$bindings/t.plain.toml" ]
        fi
    done
}

@test "add: a binding that is there is not overwritten" {
    plain
    add "$WORK/tools/plain" --yes
    add "$WORK/tools/plain" --yes
    expect_status 64
    has "$errors" "--replace overwrites it"
    add "$WORK/tools/plain" --yes --replace
    expect_status 0
}

@test "add: a bundle, its folder, with tools and schemas" {
    bundle '"tools":[{"name":"t.x","description":"does it","mutating":true,
        "input_schema":{"type": "object", "required":["q"], "properties":{"q":{}, "n":{"type":"integer"}}},
        "output_schema":{"type":"object","properties":{"found":{"type":"array"}}}}]'
    for source in "$WORK/bundle" "$WORK/bundle/rterm-plugin.json"; do
        add "$source" --yes --replace
        expect_status 0
        perch_tool call t.plain t.x --input '{"q":1}'
        expect '{"q": 1}'
        perch_tool call t.plain t.x --input '{}'
        expect_status 64
        has "$errors" '$.q: is required and missing'
    done
    perch_tool show t.plain
    has "$output" "t.x  (its input is checked)"
    has "$output" "does it"
    has "$output" "takes q* any, n integer"
    has "$output" "gives found [any]"
    add "$WORK/bundle" --yes --replace --ask
    perch_tool call t.plain t.x --input '{"q":1}'
    expect_status 64
    perch_tool call t.plain t.x --input '{"q":1}' --yes
    expect_status 0
}

@test "add: a schema that is not understood is refused, by name" {
    bundle '"tools":[{"name":"t.x","input_schema":{"properties":{"a":{"oneOf":[]}}}}]'
    add "$WORK/bundle" --yes
    expect_status 64
    has "$errors" 't.x: $.properties.a: "oneOf" is not understood'
    [ ! -e "$bindings/t.plain.toml" ]
}

@test "add: what cannot be a source" {
    mkdir "$WORK/empty"
    add "$WORK/empty" --yes
    expect_status 64
    has "$errors" "has no rterm-plugin.json"
    add "$WORK/none" --yes
    expect_status 64
    echo '{"plugin_id":1}' >"$WORK/bad.json"
    add "$WORK/bad.json" --yes
    expect_status 64
    has "$errors" 'bad.json:1:14: "plugin_id" must be a string'
    echo text >"$WORK/text"
    add "$WORK/text" --yes
    expect_status 2
    [ -z "$(ls "$bindings")" ]
}

@test "add: the verdict of a handshake that fails is the exit code" {
    program plain <<'END'
print("hello", flush=True)
END
    add "$WORK/tools/plain" --yes
    expect_status 6
    program silent <<'END'
pass
END
    add "$WORK/tools/silent" --yes
    expect_status 5
    has "$errors" "  it must answer the handshake in one line, flushed at once: see man 7 rterm-tool"
    program fails <<'END'
raise SystemExit(3)
END
    add "$WORK/tools/fails" --yes
    expect_status 5
    has "$errors" "  run its command by hand to see why it ends"
    bundle
    sed -i 's/t.plain/t.other/' "$WORK/bundle/rterm-plugin.json"
    add "$WORK/bundle" --yes
    expect_status 3
}

@test "power: neither manifest nor bundle grants anything" {
    bundle '"capabilities":["a","b","everything"],"granted":["a"],"sandbox":{"mode":"off"}'
    add "$WORK/bundle"
    expect_status 64
    add "$WORK/bundle" --grant a
    expect_status 10
    add "$WORK/bundle" --yes
    expect_status 0
    perch_tool show t.plain --json
    field_is capabilities '["a", "b"]'
    has "$(field sandbox)" '"mode": "on"'
    lacks "$(cat "$bindings/t.plain.toml")" everything
}

@test "power: a manifest that asks for more later is refused" {
    plain
    add "$WORK/tools/plain" --yes
    sed -i 's/"b"\]/"b", "net"]/' "$WORK/tools/plain"
    perch_tool call t.plain t.x
    expect_status 10
    perch_tool check t.plain
    expect_status 10
    has "$output" "net  NOT allowed"
    has "$output" "a  allowed"
}

@test "power: with a pin a changed program does not run" {
    plain
    add "$WORK/tools/plain" --yes --pin
    expect_status 0
    perch_tool call t.plain t.x
    expect_status 0
    echo '# changed' >>"$WORK/tools/plain"
    perch_tool call t.plain t.x
    expect_status 2
    has "$errors" "changed"
}

@test "power: with a pin the script of an interpreter is pinned, too" {
    bundle
    sed -i "s|\"./plain\"|\"python3\",\"args\":[\"plain\"]|" "$WORK/bundle/rterm-plugin.json"
    add "$WORK/bundle" --yes --pin
    expect_status 0
    perch_tool call t.plain t.x
    expect_status 0
    echo '# changed' >>"$WORK/bundle/plain"
    perch_tool call t.plain t.x
    expect_status 2
}

@test "list: what is bound, and what is broken" {
    perch_tool list
    expect_status 0
    expect ""
    plain
    add "$WORK/tools/plain" --yes
    echo 'nam = 1' >"$bindings/broken.toml"
    perch_tool list
    has "$output" "NAME     PLUGIN  TOOLS  COMMAND
t.plain  -       t.x    $WORK/tools/plain
broken is broken: "
    cp "$bindings/t.plain.toml" "$bindings/other.toml"
    perch_tool list
    has "$output" "other    t.plain  t.x    $WORK/tools/plain
t.plain  -        t.x    $WORK/tools/plain"
    rm "$bindings/other.toml"
    perch_tool list --json
    has "$output" '"name":"t.plain","plugin_id":"t.plain"'
    has "$output" '"tools":["t.x"]'
    has "$output" '"error":"'
    "$python" -c 'import json, sys; assert len(json.loads(sys.argv[1])["bindings"]) == 2' "$output"
}

@test "call: a tool that there is not, or none, and those that there are" {
    program plain <<'END'
request = greet(exposed_tools=["t.echo", "t.other"])
respond(request, request["input"])
END
    add "$WORK/tools/plain" --yes
    perch_tool call t.plain t.ecco
    expect_status 7
    has "$errors" "did you mean: t.echo
  there are: t.echo, t.other"
    perch_tool call t.plain unlike-any
    has "$errors" "there are: t.echo, t.other"
    lacks "$errors" "did you mean"
    perch_tool call t.plain
    expect_status 64
    has "$errors" "call which tool of t.plain?
  there are: t.echo, t.other"
    perch_tool call t.plian
    expect_status 64
    has "$errors" "no tool is bound as 't.plian'"
    perch_tool call t.plain t.ecco --json
    lacks "$errors" "there are"
}

@test "show: what it may and how it is confined, without the values of its variables" {
    tool shown 'capabilities = ["a"]' 'spares = 2' </dev/null
    perch_tool show t.shown
    expect_status 0
    has "$output" "capabilities  a"
    has "$output" "the system and its own folder, $prefix, $WORK"
    has "$output" "writes      a private TMPDIR, $WORK"
    has "$output" "network     none"
    has "$output" "spares        2"
    lacks "$output" "$TEST_MARK"
    perch_tool show t.shown --json
    field_is env '["TEST_MARK"]'
    has "$(field sandbox)" '"net": "none"'
    lacks "$output" "$TEST_MARK"
    perch_tool show t.show
    expect_status 64
    has "$errors" "did you mean 't.shown'?"
    sed -i 's/^read/mode = "off"\nread/' "$bindings/t.shown.toml"
    perch_tool show t.shown
    has "$output" "OFF"
}

@test "check: the manifest and what would be allowed" {
    plain
    add "$WORK/tools/plain" --yes
    perch_tool check t.plain
    expect_status 0
    has "$output" "t.plain 1.0"
    has "$output" "  t.x"
    has "$output" "  b  allowed"
    perch_tool check --binding "$bindings/t.plain.toml" --json
    expect_status 0
    field_is ok true
    has "$output" '"manifest":{'
    sed -i 's/= greet(/= greet(exposed_tools=["t.x", "t.new"], /' "$WORK/tools/plain"
    perch_tool check t.plain
    has "$output" "t.new  new since it was added"
}

@test "remove" {
    plain
    add "$WORK/tools/plain" --yes
    perch_tool remove t.plian
    expect_status 64
    has "$errors" "did you mean 't.plain'?"
    perch_tool remove t.plain
    expect_status 0
    [ ! -e "$bindings/t.plain.toml" ]
    echo 'broken' >"$bindings/b.toml"
    perch_tool remove b
    expect_status 0
    perch_tool remove ../x
    expect_status 64
}

@test "every verb explains itself" {
    for verb in add call check list remove serve show; do
        perch_tool "$verb" --help
        expect_status 0
        has "$output" "usage: perch tool $verb"
        [ "$(wc -l <"$WORK/out")" -le 24 ]
    done
    run "$perch" help tool call
    [ "${#lines[@]}" -le 24 ]
}

# venv: a virtual environment in the home directory, as python3 -m venv makes it.
venv() {
    mkdir -p "$1/bin"
    ln -sf "$python" "$1/bin/python3"
    printf 'home = %s\n' "$(dirname "$(realpath "$python")")" >"$1/pyvenv.cfg"
}

@test "an interpreter in a virtual environment is told before the start, with the option" {
    venv "$WORK/venv"
    echo 'request = greet()
respond(request, sys.prefix)' | program noted
    sed -i "1s|.*|#!$WORK/venv/bin/python3|" "$WORK/tools/noted"
    perch_tool add "$WORK/tools/noted" --yes
    expect_status 64
    has "$errors" "its interpreter lies in $WORK/venv"
    has "$errors" "--read $WORK/venv"
    options=$(sed -n 's/.*do not see: add//p' <<<"$errors")
    # shellcheck disable=SC2086 # what was told, as a shell takes it
    perch_tool add "$WORK/tools/noted" --yes $options --name noted
    expect_status 0
    perch_tool call noted t.x
    has "$output" "$WORK/venv"
}

@test "an interpreter that env finds in a virtual environment is a warning" {
    venv "$WORK/venv"
    echo 'respond(greet(), 1)' | program noted
    sed -i '1s|.*|#!/usr/bin/env python3|' "$WORK/tools/noted"
    PATH="$WORK/venv/bin:$PATH" perch_tool add "$WORK/tools/noted" --yes
    has "$errors" "warning: its interpreter, found on PATH, lies in $WORK/venv"
    perch_tool add "$WORK/tools/noted" --yes --replace
    [[ "$errors" != *"found on PATH"* ]]
}

@test "python3 notes.py that keeps back what it prints is told so" {
    printf 'import sys\nsys.stdin.readline()\nprint("{}")\nsys.stdin.readline()\n' >"$WORK/tools/notes.py"
    printf 'name = "t.n"\ncommand = "%s"\nargs = ["%s"]\n[sandbox]\nread = ["%s", "%s"]\n' \
        "$(realpath "$python")" "$WORK/tools/notes.py" "$prefix" "$WORK" >"$bindings/t.n.toml"
    perch_tool check t.n --timeout 1
    expect_status 4
    has "$errors" 'hint: a Python program must flush stdout'
    sed -i 's|^args = \[|args = ["-u", |' "$bindings/t.n.toml"
    perch_tool check t.n --timeout 2
    [[ "$errors" != *"must flush"* ]]
}
