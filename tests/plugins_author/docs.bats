#!/usr/bin/env bats
# The examples of docs/plugin-authors.md run.

# shellcheck disable=SC2154,SC2016 # what the helpers set; `words` in what is expected
load author

setup() {
    author_open
    page="$PERCH_SOURCE/docs/plugin-authors.md"
    mkdir "$WORK/path"
    ln -s "$perch" "$WORK/path/perch"
    PATH="$WORK/path:$PATH"
    # The guard stands beside the real one.
    export PERCH_GUARD="$PERCH_BUILD/perch-guard"
}
teardown() { author_close; }

# blocks LANGUAGE: what stands in the page between ```LANGUAGE and ```.
blocks() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$page" | sed '/^```/d'
}

@test "docs: the commands of the page, one after the other" {
    { echo 'set -e' && blocks sh; } >"$WORK/commands"
    grep -q "plugins validate --strict" "$WORK/commands"
    sh "$WORK/commands" >"$WORK/out"
    grep -q "5 passed, 0 failed" "$WORK/out"
    grep -q "fledge-hello is fine" "$WORK/out"
}

@test "docs: the cases of the page" {
    plugins create fledge-hello
    blocks toml >fledge-hello/perch-test.toml
    plugins test fledge-hello
    expect_status 0
    has "$output" "2 passed, 0 failed"
}

@test "docs: what the page shows of a failure" {
    subject </dev/null
    printf '#!/bin/sh\nread -r init\n%s\n' "echo '{\"type\":\"prompt\",\"message\":\"Your name:\"}'" \
        >subject/bin/subject
    printf '[[case]]\nname = "asks for a name"\n' | cases
    plugins test subject
    expect_status 1
    has "$output" "$(blocks text | tail -n 2)"
}

@test "docs: every key of the page is one, and the other way round" {
    python3 - "$page" "$PERCH_SOURCE/src/plugins/cases.c" <<'END'
import re, sys
page, code = (open(name).read() for name in sys.argv[1:])
def table(head):
    rows = page.split("| key of `%s`" % head)[1].split("\n\n")[0]
    return set(re.findall(r"^\| `(\w+)` \|", rows, re.M))
def known(first):
    return set(re.findall(r'"(\w+)"', re.search(r'names\[\] = \{\s*("%s".*?)NULL' % first, code, re.S)[1]))
assert table("[[case]]") == known("name"), table("[[case]]") ^ known("name")
assert table("[case.expect]") == known("exit"), table("[case.expect]") ^ known("exit")
END
}
