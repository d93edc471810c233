#!/usr/bin/env bats
# What docs/agent.md says is all there is to say. Its blocks and names: tests/docs.sh.

@test "docs: every key of a profile is in docs/agent.md" {
    grep -o '{ "[a-z_]*", KIND' "$PERCH_SOURCE/src/agent/profile_keys.c" | cut -d '"' -f 2 |
        while read -r key; do
            grep -q "\`*$key" "$PERCH_SOURCE/docs/agent.md" || { echo "missing: $key"; exit 1; }
        done
}
