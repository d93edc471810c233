# shellcheck shell=bash disable=SC2034,SC2154
# A conversation in a real terminal; for tests that have loaded terminal and agents.

# chat [OPTION…]: in the terminal, with the agent of $profile. As what it is known:
# $TERM_OF_CHAT; where its stdout goes: $OUTPUT_OF_CHAT; the prompt to wait for: $prompt.
chat() {
    {
        printf 'export %q\n' "XDG_STATE_HOME=$XDG_STATE_HOME" "WORK=$WORK" "TEST_MARK=$TEST_MARK"
        printf 'cd %q\n' "$BATS_TEST_TMPDIR"
        printf 'export TERM=%q\n' "${TERM_OF_CHAT:-screen}"
        printf 'stty -g > before\n'
        printf '%q ' "$perch" agent chat --profile "$profile" "$@"
        printf '%s' "${OUTPUT_OF_CHAT:+>$OUTPUT_OF_CHAT}"
        printf '\necho "[over $?]"\n'
        printf 'stty -g > after\n'
        printf 'exec env -i cat\n'
    } >"$BATS_TEST_TMPDIR/run"
    run_in_terminal "env -u TEST_MARK bash '$BATS_TEST_TMPDIR/run'"
    wait_for "${prompt:-❯}"
}

# Says its parts one by one, each when it is told to.
stepping() {
    profile=step.yaml
    agent step <<'END'
echo "AGENT_SESSION:s-$AGENT_MESSAGE"
echo 'AGENT_PARTIAL:"one "'
while [ ! -e "$WORK/two" ]; do sleep 0.05; done
echo 'AGENT_PARTIAL:"two "'
while [ ! -e "$WORK/three" ]; do sleep 0.05; done
echo 'AGENT_PARTIAL:"three"'
echo "reply to $AGENT_MESSAGE behind ${AGENT_SESSION_ID:-nothing}"
END
}

echoing() {
    profile=echo.yaml
    agent echo <<'END'
echo "AGENT_SESSION:s-$AGENT_MESSAGE"
echo "[$AGENT_MESSAGE] behind ${AGENT_SESSION_ID:-nothing} in $AGENT_SESSION_NAME"
END
}

# The line in which one types is the last one, and this is in it.
typing() {
    [ "$(screen | grep -v '^ *$' | tail -1 | sed 's/ *$//')" = "$1" ]
}
