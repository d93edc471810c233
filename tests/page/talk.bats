#!/usr/bin/env bats
# The page of perch serve in a real browser: signing in and talking with agents.

load page

setup_file() { page_open chat; }
teardown_file() { page_close; }

@test "one signs in by a token, which is kept nowhere, and signs out" { played door; }
@test "a reply is Markdown as it comes; it is asked again, edited, copied; a failure says why, also after a reload" { played talk; }
@test "conversations are searched, renamed and deleted" { played sessions; }
@test "nothing is lost, doubled or said elsewhere when answers are late, lost or overtaken" { played hurry; }
@test "a tab that was asleep has missed nothing, and has nothing twice" { played sleep; }
@test "what runs is stopped, what waits says where it stands" { played stop; }
@test "two tabs have one stream, and both see everything once" { played tabs; }
@test "two tabs have one stream without SharedWorker, too" { played plain_tabs; }
@test "a server that is killed in the middle of a stream and started again is told, and the page goes on" { played restart; }
@test "files are attached by button, by drop and by paste" { played attach; }
@test "thinking is folded, tools are cards, a permission is a card with its options, usage is told" { played mind; }
@test "nothing of a reply runs: known injections through an agent" { played injections; }
