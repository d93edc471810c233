# shellcheck shell=bash
# The official conformance suite of MCP, and what it is to judge.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load ../foreign/foreign

official_open() {
    need_foreign node conformance
    tool_open
    excused=()
    export XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
    package="$(foreign_path conformance)/node_modules/@modelcontextprotocol/conformance"
}

official_close() {
    [ -z "${gateway:-}" ] || { kill "$gateway" && wait "$gateway"; }
    tool_close
}

# official SIDE WORD…: the suite's command. What it found is in $WORK/results, a folder for each scenario.
official() {
    "$(foreign_node)" ${patience:+"$patience"} "$package/dist/index.js" "$@" --timeout 120000 -o "$WORK/results" >"$WORK/report" 2>&1 || true
}

# $url is /mcp of perch serve, with all that there is exposed. At the end it does not wait for calls that the judges have
# left with a question.
gateway() {
    printf '%s\n' '[expose.http]' 'plugins = ["*"]' 'resources = ["*"]' 'prompts = ["*"]' >"$XDG_CONFIG_HOME/perch/config.toml"
    "$perch" token create official >/dev/null 2>&1
    "$perch" serve --anonymous official --mcp-prefix none --listen 127.0.0.1:0 --drain 0 2>"$WORK/serve.log" 3>&- &
    gateway=$!
    wait_until grep -q 'serves at' "$WORK/serve.log"
    url="$(sed -n 's/.*serves at //p' "$WORK/serve.log")/mcp"
}

# judge REVISION: runs all that it has for a server.
judge() {
    official_words=(server --url "$url")
    official "${official_words[@]}" --requirements "$1"
}

# required REVISION LEG: the scenarios that a revision of the specification wants of a server or a client.
required() { sed -n "/^$2:/,/^\$/s/^  - //p" "$package/requirements/$1.yaml"; }

# excuse CHECK…: what is not to count.
excuse() { excused=("$@"); }

# flaws SCENARIO: the checks that its last run failed, but for those of $excused; `nothing` where none was made at all.
flaws() {
    local results=("$WORK/results"/*"$1"-20[0-9][0-9]-*)
    jq -r 'if any(.[]; .status == "SUCCESS") then
        .[] | select(.status == "FAILURE").id | select(IN($ARGS.positional[]) | not) else "nothing" end' \
        "${results[-1]}/checks.json" --args "${excused[@]}" || echo nothing
}

# conforms REVISION SCENARIO…: each of them, which have been run, passes. One that did not is tried again, by a judge
# with more patience: some want an answer within half a second.
conforms() {
    local revision=$1 scenario try patience="--import=$PERCH_SOURCE/tests/mcp/patient.mjs"
    for scenario in "${@:2}"; do
        for try in 1 2 3; do
            [ -n "$(flaws "$scenario")" ] || continue 2
            [ $try = 3 ] || official "${official_words[@]}" --scenario "$scenario" --spec-version "$revision"
        done
        echo "$scenario: $(flaws "$scenario")"
        cat "$WORK"/serve.log* "$WORK/report"
        return 1
    done
}
