#!/usr/bin/env bats
# The conformance kit for ACP, and the example agent of the official SDK.

# shellcheck disable=SC2030,SC2031,SC2154 # what run and kit_open set
load ../foreign/foreign
load ../acp/acp
load beside

setup() { kit_open; }

# Its prompts take five seconds each: some cases are enough. It says yes to a mode of any session: the one case waits
# for a refusal that never comes.
@test "agents: the example of the official SDK" {
    need_foreign node acp-npm
    local agent=("$(foreign_node)" -- "$(foreign_path acp-npm)/node_modules/sdk-with-examples/dist/examples/agent.js")
    beside CP-1 CP-2 CP-3.{1,2,3,4,5,7} CP-4.3 CP-4.4 CP-5.1 CP-6.1 CP-6.2 -- --plugin "${agent[@]}"
    run "$perch" conformance --protocol acp --within 4 --case CP-3.6 --plugin "${agent[@]}"
    echo "$output"
    [ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped; broken: CP-3.6' ]
}
