#!/usr/bin/env bats
# What the documents say holds. Their blocks and names: tests/docs.sh.

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
