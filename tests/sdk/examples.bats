#!/usr/bin/env bats
# The examples of the SDK, unmodified, under perch: a plugin, a tool and an agent.

# shellcheck disable=SC2154 # what fledge_open and call set
load ../fledge/plugins

setup() {
    fledge_open
    examples="$PERCH_BUILD/examples"
}
teardown() { fledge_close; }

@test "a plugin in C asks, confirms, remembers" {
    plugin -c store deploy <"$examples/sdk-deploy"
    call --answer "Deploy target:=production" --answer "Really to production?=yes" deploy
    expect_status 0
    expect "deployed to production"
    grep -q '"last_target": "production"' "$cfg/plugins/fledge-deploy/state.json"
    call --answer "Deploy target:=production" deploy
    expect_status 0
    expect ""
}

@test "a plugin in C without its capability is told so" {
    plugin deploy <"$examples/sdk-deploy"
    call deploy
    expect_status 1
    has "$errors" "denied"
}

@test "a tool in C: its bundle is imported, its schema holds, its output comes" {
    cp "$examples/sdk-words" "$WORK/words"
    (cd "$WORK" && ./words --bundle >rterm-plugin.json)
    "$perch" tool add "$WORK/rterm-plugin.json" --yes
    run "$perch" tool call example.words words.count --input '{"text":"one two  three"}'
    [ "$status" -eq 0 ]
    [ "$output" = '{"words":3}' ]
    run "$perch" tool call example.words words.count --input '{"text":7}'
    [ "$status" -eq 64 ]
    [[ "$output" == *'$.text'* ]]
}

@test "an agent in C: both dialects, a session that goes on" {
    for dialect in 0.1 0.4; do
        printf 'command: %s\nprotocol: "%s"\n' "$examples/sdk-parrot" "$dialect" \
            >"$WORK/parrot-$dialect.yaml"
        for turn in 1 2; do
            run "$perch" --json agent run --profile "$WORK/parrot-$dialect.yaml" --prompt "a b"
            [ "$status" -eq 0 ]
            [[ "$output" == *'"text":"a "'*'"text":"b"'* ]]
            [[ "${lines[-1]}" == *"\"session_id\":\"turn-$turn\""* ]]
        done
        run "$perch" agent run --profile "$WORK/parrot-$dialect.yaml" --prompt "be quiet" --from you
        [ "$status" -eq 1 ]
        [[ "$output" == *"I am a parrot, you"* ]]
    done
}
