#!/usr/bin/env bats
# perch serve: what its page needs of it.

load serve

setup() { serve_open; }
teardown() { serve_close; }

@test "the page's files: packed, with tags, a policy, and no others" { scene for_page.py files; }
@test "jobs, sessions and events have what the page shows" { scene for_page.py members; }
@test "a person is told from a program" { scene for_page.py person; }
