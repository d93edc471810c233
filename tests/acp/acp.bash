# shellcheck shell=bash disable=SC2154
# What the suites of ACP share: agents, and the official SDK as an editor.

acp_open() {
    agent_open
    acp_tape
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config" XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
    export PERCH="$perch" WORK MARK="$WORK/mark"
    mkdir -p "$XDG_CONFIG_HOME/perch"
    export AGENT="$BATS_TEST_TMPDIR/bot.yaml" OTHER="$BATS_TEST_TMPDIR/other.yaml"
    export SLOW="$BATS_TEST_TMPDIR/slow.yaml" HOSTED="$BATS_TEST_TMPDIR/hosted.yaml"
    printf '%s\n' "command: $PERCH_SOURCE/tests/acp/hosted.py" 'protocol: acp' >"$HOSTED"
    export REMOTE="$BATS_TEST_TMPDIR/remote.yaml"
    sed 's/hosted.py/& remote/' "$HOSTED" >"$REMOTE"
    acp_profile "$AGENT"
    acp_profile "$SLOW" 'timeout_secs: 1'
    printf '%s\n' 'command: sh' "args: ['-c', 'printf \"the other one%s: %s\" \"\$AGENT_SESSION_ID\" \"\$AGENT_MESSAGE\"']" \
        >"$OTHER"
}

# acp_profile FILE [LINE…]: the agent of agent.py.
acp_profile() {
    local file=$1
    shift
    printf '%s\n' "command: $python" "args: ['$PERCH_SOURCE/tests/acp/agent.py']" \
        "protocol: '0.4'" 'permission: true' 'env:' "  MARK: '$MARK'" "$@" >"$file"
}

# acp_tape: each perch of this file's tests leaves what it says in ACP for judged.
acp_tape() {
    export PERCH_TEST_ACP_TAPE="$BATS_FILE_TMPDIR/tape"
    mkdir -p "$PERCH_TEST_ACP_TAPE"
}

# judged LEAST, the last test of a file: every message that perch has sent in it is valid by the protocol's schema.
judged() {
    need_foreign node acp-npm
    MODULES="$(foreign_path acp-npm)/node_modules" PATH="$(dirname "$(foreign_node)"):$PATH" \
        node "$PERCH_SOURCE/tests/acp/judge.mjs" "$PERCH_TEST_ACP_TAPE" "$1" >&3
}

# talk SCENE
talk() {
    need_foreign node acp-npm
    MODULES="$(foreign_path acp-npm)/node_modules" PATH="$(dirname "$(foreign_node)"):$PATH" \
        timeout 120 node "$PERCH_SOURCE/tests/acp/talk.mjs" "$1"
    wait_until nothing_left
}
