#!/usr/bin/env bats
# perch tool allow and revoke: what the user gives a tool beyond its binding, as the
# kernel sees it.

# shellcheck disable=SC2154 # what tool_open and perch_tool set
load tools

setup() {
    tool_open
    vault="$BATS_TEST_TMPDIR/vault"
    mkdir -p "$vault"
    echo treasure >"$vault/file"
    tool reader <<'END'
request = greet()
wanted = request["input"]
try:
    if wanted.get("write"):
        open(wanted["write"], "w").close()
    text = open(wanted["path"]).read().strip() if "path" in wanted else ""
    respond(request, [text, os.environ.get("WANTED")])
except OSError as error:
    print(error, file=sys.stderr)
    send({"type": "response", "request_id": request["request_id"], "status": "error",
          "error": {"code": "denied", "message": str(error)}})
END
    # The directory of the test is not to be read as a whole.
    sed -i "s|, \"$WORK\"\]|, \"$WORK/tools\"]|; s|^write = .*||" "$bindings/t.reader.toml"
}
teardown() { tool_close; }

read_vault() {
    perch_tool call t.reader t.x --input "{\"path\":\"$vault/file\"}" "$@"
}

@test "allow --read: denied before, given, and taken back" {
    read_vault
    expect_status 1
    perch_tool allow t.reader --read "$vault"
    expect_status 0
    has "$output" "$vault"
    read_vault
    expect_status 0
    has "$output" treasure
    perch_tool show t.reader
    has "$output" "$vault"
    perch_tool show t.reader --json
    has "$(field sandbox)" "$vault"
    perch_tool revoke t.reader --read "$vault"
    expect_status 0
    read_vault
    expect_status 1
    perch_tool show t.reader
    [[ "$output" != *"$vault"* ]]
}

@test "allow --write and --env; revoke without options takes all" {
    export WANTED=yes
    perch_tool call t.reader t.x --input "{\"write\":\"$vault/new\"}"
    expect_status 1
    perch_tool allow t.reader --write "$vault" --env WANTED
    expect_status 0
    perch_tool call t.reader t.x --input "{\"write\":\"$vault/new\"}"
    expect '["", "yes"]'
    [ -e "$vault/new" ]
    perch_tool revoke t.reader
    has "$output" "nothing beyond its default"
    sed -i 's/"WANTED"/"GH_TOKEN"/' "$WORK/tools/reader"
    export GH_TOKEN=token
    perch_tool allow t.reader --preset github
    perch_tool call t.reader t.x
    expect '["", "token"]'
    perch_tool revoke t.reader --preset github
    perch_tool call t.reader t.x
    expect '["", null]'
    perch_tool call t.reader t.x --input "{\"write\":\"$vault/new\"}"
    expect_status 1
}

@test "allow --sandbox off, and on against the binding" {
    perch_tool allow t.reader --sandbox off
    read_vault --json
    expect_status 0
    field_is sandbox '[]'
    perch_tool revoke t.reader
    sed -i 's|^\[sandbox\]|[sandbox]\nmode = "off"|' "$bindings/t.reader.toml"
    read_vault
    expect_status 64
    has "$errors" "allows more: sandbox off, set "
    has "$errors" "; look at it, then: perch tool allow t.reader --binding"
    perch_tool allow t.reader --binding
    has "$output" "approved: "
    read_vault
    expect_status 0
    perch_tool allow t.reader --sandbox on
    read_vault
    expect_status 1
}

@test "a tool that serves sees what was allowed, and what was taken back, at once" {
    coproc SERVE { "$perch" tool serve 2>"$WORK/err"; }
    ask() {
        printf '{"id":"1","name":"t.reader","tool":"t.x","input":{"path":"%s"}}\n' \
            "$vault/file" >&"${SERVE[1]}"
        read -r output <&"${SERVE[0]}"
    }
    ask
    field_is code '"execution_error"'
    "$perch" tool allow t.reader --read "$vault"
    ask
    field_is code '"ok"'
    "$perch" tool revoke t.reader
    ask
    field_is code '"execution_error"'
    pid=$SERVE_PID
    eval "exec ${SERVE[1]}>&-"
    wait "$pid"
}

@test "a grant goes with its binding, and belongs to no file" {
    perch_tool allow t.reader --read "$vault"
    perch_tool call --binding "$bindings/t.reader.toml" t.x --input "{\"path\":\"$vault/file\"}"
    expect_status 1
    cp "$bindings/t.reader.toml" "$WORK/kept.toml"
    perch_tool remove t.reader
    expect_status 0
    cp "$WORK/kept.toml" "$bindings/t.reader.toml"
    read_vault
    expect_status 1
}

@test "allow: mistakes" {
    perch_tool allow t.reader
    expect_status 64
    has "$errors" "allow what?"
    perch_tool allow t.raeder --net
    expect_status 1
    has "$errors" t.reader
    perch_tool allow t.reader --preset sssh
    expect_status 1
    has "$errors" ssh
    perch_tool allow t.reader --manifest
    expect_status 64
    perch_tool allow t.reader --read "$vault/none"
    expect_status 1
}

@test "what was denied is explained: in the result, and for people" {
    read_vault --json
    expect_status 1
    has "$(field hint)" "policy 'tool' was in force; perch tool allow t.reader --read $vault/file"
    read_vault
    has "$errors" "hint: the sandbox policy 'tool' was in force;
  perch tool allow t.reader --read $vault/file would show it,"
    perch_tool call --binding "$bindings/t.reader.toml" t.x --input "{\"path\":\"$vault/file\"}"
    has "$errors" "read = [\"$vault/file\"] under [sandbox] in"
    # What was told is what helps.
    perch_tool allow t.reader --read "$vault/file"
    read_vault --json
    expect_status 0
    [[ "$output" != *'"hint"'* ]]
    # A failure of its own is not blamed on the sandbox.
    perch_tool call t.reader t.x --json --input "{\"path\":\"$vault/none\"}"
    expect_status 1
    perch_tool allow t.reader --sandbox off
    perch_tool call t.reader t.x --json --input "{\"path\":\"$vault/none\"}"
    expect_status 1
    [[ "$output" != *'"hint"'* ]]
}

@test "show: what is in force is what a call has" {
    for abi in 99 1; do
        export PERCH_LANDLOCK_ABI_MAX=$abi
        perch_tool show t.reader --json
        shown=$("$python" -c 'import json, sys
print(json.dumps(json.loads(sys.argv[1])["sandbox"]["layers"]))' "$output")
        [ "$shown" != '[]' ]
        perch_tool call t.reader t.x --json
        [ "$status" != 0 ] || field_is sandbox "$shown"
    done
    unset PERCH_LANDLOCK_ABI_MAX
    perch_tool show t.reader
    has "$output" "  enforced by privileges"
    perch_tool allow t.reader --sandbox off
    perch_tool show t.reader --json
    has "$output" '"layers":[]'
    perch_tool show t.reader
    has "$output" "OFF: it runs with all your rights"
}

@test "--net, --net full, --net none, --no-net: the same in add, allow and sandbox" {
    local words
    for words in '--net' '--net full' '--net=full' '--net none' '--no-net'; do
        local wanted=full
        [[ "$words" != *no* ]] || wanted=none
        # shellcheck disable=SC2086 # one or two words
        perch_tool allow t.reader $words --json
        [ "$(field net)" = "\"$wanted\"" ]
        # shellcheck disable=SC2086
        perch_alone sandbox run --explain $words -- true
        has "$errors" "net      $wanted"
        # shellcheck disable=SC2086
        perch_tool add "$WORK/tools/reader" --read "$prefix" --name "added" --replace --yes $words
        expect_status 0
        grep -qx "net = \"$wanted\"" "$bindings/added.toml"
    done
}

@test "a binding of a file is told which line of the file to write" {
    mkdir "$WORK/my docs" && touch "$WORK/my docs/a"
    perch_tool add "$WORK/tools/reader" --read "$prefix" --binding "$WORK/b.toml" --yes
    expect_status 0
    perch_tool call --binding "$WORK/b.toml" t.x --input "{\"path\":\"$WORK/my docs/a\"}"
    expect_status 1
    has "$errors" "read = [\"$WORK/my docs/a\"] under [sandbox] in $WORK/b.toml would allow it"
    [[ "$errors" != *--read* ]]
}

@test "behind --read a write that fails is told --write, and blanks are quoted" {
    tool shell <<'END'
request = greet()
os.execv("/bin/sh", ["sh", "-c", 'echo x >"$0/a"', request["input"]["in"]])
END
    sed -i "s|, \"$WORK\"\]|, \"$WORK/tools\"]|; s|^write = .*||" "$bindings/t.shell.toml"
    mkdir "$vault/my docs" && touch "$vault/my docs/a"
    perch_tool allow t.shell --read "$vault"
    perch_tool call t.shell t.x --input "{\"in\":\"$vault/my docs\"}"
    has "$errors" "perch tool allow t.shell --write '$vault/my docs/a' would allow it"
    [[ "$errors" != *--read* ]]
}
