#!/usr/bin/env bats
# What the documents say holds: the tests they name are there, their programs run.

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

# The commands of a section of README.md, as they stand there.
readme_block() {
    sed -n "/^## $1/,/^## /s/^    //p" "$PERCH_SOURCE/README.md"
}

@test "docs: the README's plugin in ten lines runs" {
    export HOME="$BATS_TEST_TMPDIR/home"
    unset XDG_CONFIG_HOME
    mkdir "$HOME"
    readme_block "A plugin in ten lines" |
        sed "s|./dev run run hello|'$PERCH_BUILD/perch' run --ni hello|" >"$BATS_TEST_TMPDIR/block"
    grep -q "run --ni hello" "$BATS_TEST_TMPDIR/block"
    run sh "$BATS_TEST_TMPDIR/block"
    [ "$status" -eq 0 ]
    [ "$output" = "Hello, you" ]
}
