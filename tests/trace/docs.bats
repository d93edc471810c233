#!/usr/bin/env bats
# What docs/trace.md says holds: the tests it names are there, and so is every event.

@test "docs: every test that docs/trace.md names exists" {
    python3 - "$PERCH_SOURCE" <<'END'
import os, re, sys
top = sys.argv[1]
text = open(top + "/docs/trace.md").read()
named = re.findall(r'`trace/(\w+)` "([^"]*)"', text)
assert len(named) >= 7, named
for file, name in named:
    assert '@test "%s" {' % name in open("%s/tests/trace/%s.bats" % (top, file)).read(), name
for name in re.findall(r'`unit/replay` "(\w+)"', text):
    assert "START_TEST(%s)" % name in open(top + "/tests/unit/replay.c").read(), name
END
}

@test "docs: every event that is recorded is in the table" {
    python3 - "$PERCH_SOURCE" <<'END'
import glob, re, sys
top = sys.argv[1]
source = "".join(open(file).read() for file in glob.glob(top + "/src/**/*.c", recursive=True))
events = set(re.findall(r'trace_event\(\s*[^,]+,\s*"(\w+)"', source)) | {"result"}
assert len(events) > 15, events
table = open(top + "/docs/trace.md").read().split("| event | of |")[1].split("\n\n")[0]
rows = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
missing = [event for event in events if "`%s`" % event not in rows]
assert not missing, missing
END
}

@test "docs: the example" {
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    cd "$BATS_TEST_TMPDIR"
    python3 - "$PERCH_SOURCE" <<'END'
import os, re, sys
text = open(sys.argv[1] + "/docs/trace.md").read()
for name, body in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.S):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "w").write(body)
open("commands", "w").write("\n".join(re.findall(r"^\$ (.*)", text, re.M)) + "\n")
END
    run env PATH="$PERCH_BUILD:$PATH" sh -eu commands
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"Hello, you!"* ]]
    [[ "$output" == *"the same: fledge-v1, 3 lines played, 3 lines and events compared"* ]]
}
