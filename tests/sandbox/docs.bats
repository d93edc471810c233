#!/usr/bin/env bats
# What docs/sandbox.md says holds: the tests it names are there, and none is left out.

@test "docs: every test that docs/sandbox.md names exists, and those of the sandbox are named" {
    python3 - "$PERCH_SOURCE" <<'END'
import glob, os, re, sys
top = sys.argv[1]
text = open(top + "/docs/sandbox.md").read()
named = re.findall(r'`(\w+/\w+)` "((?:[^"\\]|\\.)*)"', text)
assert len(named) > 60, len(named)
missing = [(file, name) for file, name in named
           if '@test "%s" {' % name not in open("%s/tests/%s.bats" % (top, file)).read()]
missing += [name for name in set(re.findall(r"`unit/([\w-]+)`", text))
            if not os.path.exists("%s/tests/unit/%s.c" % (top, name.replace("-", "_")))]
missing += [name for name in set(re.findall(r"`(bench/\w+\.c)`", text))
            if not os.path.exists("%s/%s" % (top, name))]
assert not missing, missing
for file in ("sandbox/attack", "sandbox/audit", "escape/matrix"):
    for name in re.findall(r'@test "(.*)" {', open("%s/tests/%s.bats" % (top, file)).read()):
        if (file, name) not in named:
            sys.exit("not in docs/sandbox.md: %s %s" % (file, name))
END
}

@test "docs: every property that is judged is in docs/sandbox.md" {
    for name in $("$PERCH_BUILD/perch" sandbox check --json | grep -o '"name":"[a-z-]*"' | cut -d '"' -f 4 | sort -u); do
        grep -q "$name" "$PERCH_SOURCE/docs/sandbox.md" || { echo "missing: $name"; return 1; }
    done
}
