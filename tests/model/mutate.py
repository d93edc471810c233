#!/usr/bin/env python3
"""mutate.py BUG IN OUT: a copy of a source file with a bug put back. What is changed must stand in it once: what is
not there cannot be broken."""
import sys

BUGS = {
    # 146 of 800 kills left the init of a room behind, with its own lifeline in its hand.
    "room-lifeline": (
        ("\t{ STAGE_DESCRIPTORS, birth_close_the_rest },\n\t{ STAGE_EXEC, birth_open_program },",
         "\t{ STAGE_EXEC, birth_open_program },"),
        ("if (!birth_is_host_alive() || read(", "if ((void)birth_is_host_alive, read("),
    ),
    "late-entry": (
        ("\t{ STAGE_GUARD, birth_enter_guard_table },\n", ""),
        ("\t{ STAGE_CWD, birth_enter_cwd },\n\t{ STAGE_SIGNALS,",
         "\t{ STAGE_GUARD, birth_enter_guard_table },\n\t{ STAGE_SIGNALS,"),
    ),
    # 35 of 60 calls crashed: a spare that was once ready counted as ready.
    "dying-spare": ((
        "exchange->state == EXCHANGE_READY && !tool_engine_has_hung_up(exchange->engine) &&\n\t\t!child_has_output",
        "exchange->state >= EXCHANGE_READY && !child_has_output"),),
    "unheard-end": ((
        "!child_has_output(exchange->child, PERCH_STDOUT);",
        "(true || child_has_output(exchange->child, PERCH_STDOUT));"),),
    "retiring-spare": ((
        "spare && (spare->is_retiring || !exchange_is_ready(spare->exchange))",
        "spare && !exchange_is_ready(spare->exchange) && false"),),
    # The end of a turn was told before it was recorded.
    "early-end": ((
        "\tsession_job_add(turn->sessions, &turn->end, TIMER_THEN);",
        "\tturn->ended = NULL;\n\tif (done)\n\t\tdone(data, NULL, 0, NULL);\n"
        "\tsession_job_add(turn->sessions, &turn->end, TIMER_THEN);"),),
    "no-queue": ((
        "\telse if (turn->first.number == turn->number)\n\t\tsession_turn_make_due(turn);",
        "\telse\n\t\tsession_turn_make_due(turn);"),),
}

bug, source, out = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    text = file.read()
for old, new in BUGS[bug]:
    if text.count(old) != 1:
        sys.exit(f"{source}: {old!r} stands there {text.count(old)} times")
    text = text.replace(old, new)
with open(out, "w", encoding="utf-8") as file:
    file.write(text)
