#!/usr/bin/env bats
# perch acp, and the official TypeScript SDK as an editor (talk.mjs).

# shellcheck disable=SC2154 # what acp_open sets
load ../agent/agents
load ../foreign/foreign
load acp

setup() { acp_open; }

teardown() { agent_close; }

# The plugin that asks, as a slash command.
deploy() {
    printf '%s\n' '[expose.acp]' 'plugins = ["deploy"]' >"$XDG_CONFIG_HOME/perch/config.toml"
    plugin -c store deploy <"$PERCH_SOURCE/examples/plugins/deploy-python/bin/fledge-deploy"
}

@test "hello: version, capabilities, and what is refused" { talk hello; }

@test "turns: chunks, thinking, usage, the directory, the context" { talk turns; }

@test "permissions: allowed, always, rejected, unanswered" { talk permission; }

@test "cancelled: by the session, by the request, with a question open" { talk cancel; }

@test "prompts of a session wait for each other, those of another do not" { talk queue; }

@test "conversations: list, load, close, resume, delete" { talk store; }

@test "without a store a session goes on, and nothing is kept" {
    talk forgets
    [ ! -e "$XDG_STATE_HOME/perch/transcripts.db" ]
}

@test "attachments, resources, links" {
    talk attached
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'perch-acp-*' -user "$(id -u)")" ]
}

@test "several agents: the session chooses" { talk agents; }

@test "an agent of ACP: its tools, its plan, its own options" { talk hosted; }

@test "slash commands with forms" {
    deploy
    talk commands
}

@test "slash commands with numbered questions" {
    deploy
    talk numbers
}

@test "errors: the agent's words, a crash, too much output, no time" { talk errors; }

@test "the end of stdin ends everything" { talk ends; }

@test "every message that perch has sent is valid by the schema" { judged 150; }
