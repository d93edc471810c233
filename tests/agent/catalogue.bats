#!/usr/bin/env bats
# The agents that come with perch: add, list, names; and each translated from a stand-in that
# prints what the documentation of the real one shows, in its sandbox.

# shellcheck disable=SC2154,SC2016 # what agent_open sets; templates in quotes
load agents

setup() {
    agent_open
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config" HOME="$BATS_TEST_TMPDIR/home"
    export STANDIN_ARGS="$BATS_TEST_TMPDIR/work/args"
    mkdir -p "$HOME" "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || exit 1
    server=
}

teardown() {
    [ -z "$server" ] || { kill "$server"; wait "$server" || true; }
    agent_close
}

# add NAME: of the catalogue, with its stand-in on the PATH.
add() {
    cp -r "$PERCH_SOURCE/tests/agent/standins" . # a tree below /tmp would be hidden
    PATH="$PWD/standins:$PATH"
    keep "$perch" agent add "$1"
    expect_status 0
    sed -i 's|^env:.*|&\n  STANDIN_ARGS: "${STANDIN_ARGS}"|' "$XDG_CONFIG_HOME/perch/agents/$1.yaml"
}

# say NAME MESSAGE [OPTION…]
say() { keep "$perch" agent run "$@"; }

# spent NAME: what the sessions of an agent have used, in and out.
spent() {
    "$perch" agent sessions list --json | jq -c '[.sessions[] | select(.profile | endswith("/'"$1"'.yaml")) | .usage | .input_tokens, .output_tokens]'
}

# session NAME: the id that is stored.
session() {
    "$perch" agent sessions list --json | jq -r '.sessions[] | select(.profile | endswith("/'"$1"'.yaml")) | .session_id'
}

@test "list and add: a name is a file of the user's" {
    keep "$perch" agent list
    has "$output" 'TO ADD'
    for name in aider claude codex copilot cursor gemini goose kimi llm ollama opencode qwen; do has "$output" "$name"; done
    lacks "$output" STATE
    keep "$perch" agent add aider
    expect_status 0
    has "$output" "added aider: $XDG_CONFIG_HOME/perch/agents/aider.yaml"
    has "$output" "it needs the program 'aider', which is not on PATH; install it: python3 -m pip"
    keep "$perch" agent list
    has "$output" 'aider  not ready  it needs the program'
    keep "$perch" agent add aider
    expect_status 1
    has "$errors" '--force replaces it'
    keep "$perch" agent add aider --force --json
    expect_status 0
    [ "$(jq -r .name <<<"$output")" = aider ]
    keep "$perch" agent add nothing
    expect_status 1
    has "$errors" "there is no 'nothing' in the catalogue, which has aider, claude, codex, copilot, cursor, gemini, goose, kimi, llm, ollama, opencode, qwen"
    PATH="$PERCH_SOURCE/tests/agent/standins:$PATH" keep "$perch" agent list --json
    [ "$(jq -c '[.agents[0].name, .agents[0].title, .agents[0].problem, .catalogue[9]]' <<<"$output")" = \
        '["aider","aider",null,"ollama"]' ]
}

@test "add NAME FILE: the profile stays where it is, and is called by its name" {
    agent 'name: My bot' 'description: says it' <<<'echo "it is $AGENT_MESSAGE"'
    keep "$perch" agent add bot "$profile"
    expect_status 0
    say bot hello --no-store
    expect 'it is hello'
    keep "$perch" agent check bot
    expect_status 0
    has "$output" "profile    $(realpath "$profile")"
    has "$output" 'name       My bot'
    keep "$perch" agent list
    has "$output" 'bot   ready  says it'
    keep "$perch" agent allow bot --sandbox on
    expect_status 0
    keep "$perch" agent check bot
    has "$output" 'sandbox    on'
    keep "$perch" agent revoke bot
    expect_status 0
    keep "$perch" agent serve --profile bot < <(echo '{"id":"1","message":"served"}')
    has "$output" 'it is served'
    echo 'command: [' >broken.yaml
    keep "$perch" agent add broken broken.yaml
    expect_status 1
    [ ! -e "$XDG_CONFIG_HOME/perch/agents/broken.yaml" ]
}

@test "remove: a name goes, a profile of the user's stays, what was edited is asked for" {
    agent <<<'echo mine'
    local agents="$XDG_CONFIG_HOME/perch/agents"
    keep "$perch" agent add bot "$profile"
    keep "$perch" agent allow bot --sandbox on
    keep "$perch" agent remove bot
    expect_status 0
    has "$output" "removed the name bot; its profile stays: $(realpath "$profile")"
    [ ! -e "$agents/bot.yaml" ]
    [ -f "$profile" ]
    keep "$perch" agent check "$profile"
    has "$output" 'sandbox    on' # what it was allowed belongs to the profile

    "$perch" agent add llm
    keep "$perch" agent allow llm --read /srv
    keep "$perch" agent remove llm --json
    expect_status 0
    [ "$(jq -c '[.name, .removed, .kept]' <<<"$output")" = "[\"llm\",\"$agents/llm.yaml\",null]" ]
    [ ! -e "$agents/llm.yaml" ]
    "$perch" agent add llm
    keep "$perch" agent allow llm
    lacks "$output" /srv # the next one of that name has nothing of it

    echo 'timeout_secs: 60' >>"$agents/llm.yaml"
    keep "$perch" agent remove llm </dev/null
    expect_status 1
    has "$errors" 'is not as the catalogue has it, and nobody can be asked here: --yes deletes it'
    [ -f "$agents/llm.yaml" ]
    keep "$perch" agent remove llm --yes
    expect_status 0
    [ ! -e "$agents/llm.yaml" ]

    "$perch" agent add gone "$profile"
    rm "$profile"
    keep "$perch" agent remove gone
    expect 'removed gone'
    keep "$perch" agent remove gone
    expect_status 1
    has "$errors" "there is no agent 'gone'; perch agent list shows"
    keep "$perch" agent remove ../../etc
    expect_status 1
    has "$errors" 'that can be no name of an agent'
    keep "$perch" agent remove
    expect_status 64
}

@test "a name is the user's, not that of a file in a strange directory" {
    agent <<<'echo mine'
    keep "$perch" agent add bot "$profile"
    printf 'command: echo\nargs: [theirs]\n' >bot
    say bot hi --no-store
    expect mine
    say ./bot hi --no-store
    expect theirs
    say nobody hi
    expect_status 125
    has "$errors" "there is no agent 'nobody', and no file of that name"
    mkdir nobody
    say nobody hi
    expect_status 125
    has "$errors" "there is no agent 'nobody', and no file of that name"
    touch nobody/nobody.yaml
    say nobody hi
    has "$errors" "no agent has the name 'nobody'; the profile there is nobody/nobody.yaml"
    say cursor hi
    has "$errors" "the agent 'cursor' is not added yet: perch agent add cursor"
}

@test "run NAME MESSAGE; without a message stdin, where it is a pipe or a file" {
    agent <<<'echo "[$AGENT_MESSAGE]"'
    keep "$perch" agent run "$profile" 'a b' --no-store
    expect '[a b]'
    keep "$perch" agent run "$profile" --no-store -- --help
    expect '[--help]'
    keep "$perch" agent run "$profile" --no-store < <(echo piped)
    expect '[piped]'
    echo filed >message
    keep "$perch" agent run "$profile" --no-store <message
    expect '[filed]'
    keep "$perch" agent run "$profile" --no-store </dev/null
    expect_status 64
    keep "$perch" agent run "$profile" a b
    expect_status 64
    has "$errors" 'needs quotes'
}

@test "check NAME: what is missing, in words" {
    keep "$perch" agent add ollama
    keep "$perch" agent check ollama
    expect_status 1
    has "$output" 'needs      ollama'
    has "$errors" "it needs the program 'ollama', which is not on PATH; install it: see https://ollama.com/download"
    say ollama hi
    expect_status 1
    add copilot
    keep "$perch" agent check copilot
    expect_status 0
    has "$output" "writes   $HOME/.copilot"
    [ -d "$HOME/.copilot" ]
}

@test "the profiles have no mistake, and say what they need" {
    for name in aider claude codex copilot cursor gemini goose kimi llm ollama opencode qwen; do
        add "$name"
        keep "$perch" agent check "$name" --json
        [ "$(jq -c '[.protocol, .sandbox, (.title != null), (.description != null), (.cli_install != null), (.notes != null)]' <<<"$output")" = \
            "[\"$(case $name in aider | copilot | cursor | llm | ollama) echo 0.4 ;; *) echo acp ;; esac)\",true,true,true,true,true]" ]
        lacks "$(jq -c .warnings <<<"$output")" key
    done
}

@test "those that speak ACP: how each is called, and its session" {
    local name words
    while read -r name words; do
        add "$name"
        say "$name" hello
        expect_status 0
        expect "$words: hello"
        say "$name" again
        expect "$words goes on with first: again"
        [ "$(session "$name")" = first ]
    done <<'END'
claude claude-agent-acp
codex codex-acp
gemini gemini --acp
goose goose acp
kimi kimi acp
opencode opencode acp
qwen qwen --acp
END
}

@test "aider: the reply without what is around it, its own history" {
    add aider
    say aider hello
    expect_status 0
    [ "$output" = "$(printf 'You wrote: hello\n\nAider v1 would say this too.\nApplied edit to hello.py')" ]
    grep -qx -- --yes-always args
    say aider -- --again
    has "$output" 'You wrote: --again'
    has "$output" 'Before: hello'
    [ -f ".aider.perch.$(session aider).md" ]
    [ "$(spent aider)" = '[5000,200]' ]
}

@test "copilot: pieces, an id of ours that is given again, errors" {
    add copilot
    say copilot hello
    expect_status 0
    expect 'You wrote: hello'
    grep -qx -- '--output-format' args
    first=$(grep -- --session-id args)
    say copilot again
    expect 'You wrote: again'
    [ "$(grep -- --session-id args)" = "$first" ]
    [ "--session-id=$(session copilot)" = "$first" ]
    [ "$(spent copilot)" = '[2480,70]' ]
    say copilot thought --json
    has "$output" '{"event":"thinking","text":"hm"}'
    say copilot fail
    expect_status 1
    has "$errors" 'no requests are left'
}

@test "cursor: pieces once, the chat resumed, errors" {
    add cursor
    say cursor hello
    expect_status 0
    expect 'You wrote: hello'
    lacks "$(cat args)" --resume
    [ "$(session cursor)" = c6b62c6f-7ead-4fd6-9922-e952131177ff ]
    say cursor -- -x
    expect 'You wrote: -x'
    grep -qx -- '--resume=c6b62c6f-7ead-4fd6-9922-e952131177ff' args
    say cursor fail
    expect_status 1
    has "$errors" 'the model is away'
}

@test "llm: text, the conversation found in its log, why it failed" {
    add llm
    say llm hello
    expect_status 0
    [ "$output" = "$(printf 'You wrote: hello\n\nand this is llm')" ]
    [ "$(session llm)" = 01h53zma5txeby33t1kbe3xk8q ]
    [ "$(spent llm)" = '[1010,20]' ]
    say llm more
    grep -qx -- '--cid=01h53zma5txeby33t1kbe3xk8q' args
    say llm fail
    expect_status 1
    has "$errors" 'Error: No key found'
}

@test "ollama: the API, what was said before, errors in words" {
    "$python" "$PERCH_SOURCE/tests/agent/standins/ollama_server.py" port requests 3>&- &
    server=$!
    until [ -s port ]; do kill -0 "$server"; done
    OLLAMA_HOST="127.0.0.1:$(cat port)"
    export OLLAMA_HOST
    add ollama
    say ollama 'hello "you"'
    expect_status 0
    expect 'You wrote: hello "you"'
    say ollama again
    expect 'You wrote: again'
    [ "$(tail -n 1 requests | jq -c '[.model, .stream, [.messages[] | [.role, .content]]]')" = \
        '["llama3.2",true,[["user","hello \"you\""],["assistant","You wrote: hello \"you\""],["user","again"]]]' ]
    [ "$(spent ollama)" = '[52,4]' ]
    say ollama thought --json
    has "$output" '{"event":"thinking","text":"hm"}'
    say ollama other --new
    [ "$(tail -n 1 requests | jq -c '.messages | length')" = 1 ]
    OLLAMA_MODEL=none say ollama hi --new
    expect_status 1
    has "$errors" "model 'none' not found"
    kill "$server"
    wait "$server" || true
    server=
    say ollama hi --new
    expect_status 1
    has "$errors" 'no Ollama answers there: start it by `ollama serve`'
}

@test "completion: names behind run, the catalogue behind add" {
    add llm
    keep "$perch" __complete agent run l
    has "$output" llm
    keep "$perch" __complete agent add ol
    has "$output" ollama
    keep "$perch" __complete agent sessions show ''
    [ -z "$output" ]
    [ ! -e "$XDG_STATE_HOME/perch/sessions.db" ]
    say llm hello --session-name work
    say llm hello --session-name 'two words'
    for words in 'agent sessions show' 'agent sessions rm' 'agent chat llm --session-name'; do
        # shellcheck disable=SC2086 # words
        keep "$perch" __complete $words ''
        [ "$(cut -f 1 <<<"$output")" = work ]
    done
    keep "$perch" __complete agent sessions ''
    [ "$(cut -f 1 <<<"$output" | tr '\n' ' ')" = 'list show rm ' ]
    keep "$perch" __complete agent run --thinking f
    [ "$(cut -f 1 <<<"$output")" = fold ]
    keep "$perch" __complete agent run --profile ll
    [ "$(cut -f 1 <<<"$output")" = llm ]
}

@test "create: an agent in every language answers at once" {
    for lang in sh python javascript c; do
        keep "$perch" agent create "my-$lang" --lang "$lang" --description 'says "it"'
        expect_status 0
        has "$output" "perch agent chat my-$lang.yaml"
        [ "$lang" != c ] || make -s -C my-c
        keep "$perch" agent check "my-$lang/my-$lang.yaml"
        expect_status 0
        has "$output" 'what       says "it"'
        say "my-$lang/my-$lang.yaml" hello
        expect_status 0
        has "$output" 'Let me see.'
        has "$output" 'You said in turn 1: hello'
        say "my-$lang/my-$lang.yaml" again
        has "$output" 'You said in turn 2: again'
    done
    keep "$perch" agent create my-sh
    expect_status 1
    has "$errors" 'there is a ./my-sh already'
    keep "$perch" agent create other --lang perl
    expect_status 64
    has "$errors" 'the language is sh, python, javascript or c, not `perl`'
    keep "$perch" agent create 'a b'
    expect_status 64
    keep "$perch" agent create json --json
    [ "$(jq -c .files_created <<<"$output")" = '["json.yaml","json.sh"]' ]
}
