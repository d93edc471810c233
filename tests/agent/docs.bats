#!/usr/bin/env bats
# What docs/agent.md says holds: the tests it names are there.

@test "docs: every test that docs/agent.md names exists" {
    python3 - "$PERCH_SOURCE" <<'END'
import os, re, sys
top = sys.argv[1]
text = open(top + "/docs/agent.md").read()
named = re.findall(r'`((?:agent|term)/\w+)` "((?:[^"\\]|\\.)*)"', text)
assert len(named) > 40, len(named)
missing = [(file, name) for file, name in named
           if '@test "%s" {' % name not in open("%s/tests/%s.bats" % (top, file)).read()]
units = {name for name in re.findall(r"`unit/([\w-]+)`", text)}
missing += [name for name in units
            if not os.path.exists("%s/tests/unit/%s.c" % (top, name.replace("-", "_")))]
assert not missing, missing
END
}

@test "docs: every key of a profile is in docs/agent.md" {
    grep -o '{ "[a-z_]*", KIND' "$PERCH_SOURCE/src/agent/profile_keys.c" | cut -d '"' -f 2 |
        while read -r key; do
            grep -q "\`*$key" "$PERCH_SOURCE/docs/agent.md" || { echo "missing: $key"; exit 1; }
        done
}
