#!/usr/bin/env bats
# docs/fledge.md names tests: they are there.

@test "docs: every test that docs/fledge.md names exists" {
    python3 - "$PERCH_SOURCE" <<'END'
import re, sys
top = sys.argv[1]
named = re.findall(r'`((?:fledge|term)/\w+)` "((?:[^"\\]|\\.)*)"', open(top + "/docs/fledge.md").read())
assert len(named) > 60, len(named)
missing = [(file, name) for file, name in named
           if '@test "%s" {' % name not in open("%s/tests/%s.bats" % (top, file)).read()]
assert not missing, missing
END
}

@test "docs: every row of both tables is there" {
    python3 - "$PERCH_SOURCE" <<'END'
import re, sys
text = open(sys.argv[1] + "/docs/fledge.md").read()
invariants = text.split("### Invariants")[1].split("###")[0]
assert re.findall(r"^\| (\d+) ", invariants, re.M) == [str(n) for n in range(1, 14)]
errors = text.split("### Error cases")[1].split("###")[0]
assert len(re.findall(r'"error case: ', errors)) == 12
END
}
