#!/usr/bin/env bats
# perch serve: what its page needs of it.

# shellcheck disable=SC2154 # what serve_open sets
load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "the page's files: packed, with tags, a policy, and no others" { scene for_page.py files; }
@test "jobs, sessions and events have what the page shows" { scene for_page.py members; }
@test "an admin sees the processes that wait for a call or a turn" {
    tool up 'spares = 2' '[[tools]]' 'name = "t.x"' <<'END'
request = greet()
respond(request, {})
END
    printf '{"tools": {"say": "says it"}, "instructions": ""}' >"$WORK/offer"
    : >"$WORK/log"
    perch_tool add --mcp srv --yes --read "$prefix" --read "$PERCH_SOURCE/tests/tool" --read "$WORK/offer" --write "$WORK/log" --env TEST_MARK \
        -- "$python" "$PERCH_SOURCE/tests/tool/bound_server.py" "$WORK/offer" "$WORK/log"
    expect_status 0
    scene for_page.py spares
}
@test "a person is told from a program" { scene for_page.py person; }
