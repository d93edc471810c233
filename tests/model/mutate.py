#!/usr/bin/env python3
"""mutate.py BUG IN OUT: a copy of a source file with a bug put back. What is changed must stand in it once: what is
not there cannot be broken."""
import sys

BUGS = {
    # 146 of 800 kills left the init of a room behind, with its own lifeline in its hand.
    "room-lifeline": (
        ("\t{ STAGE_DESCRIPTORS, birth_close_the_rest },\n\t{ STAGE_EXEC, birth_open_program },",
         "\t{ STAGE_EXEC, birth_open_program },"),
        ("birth_is_host_alive() &&\n\t\tbare_call(SYS_read",
         "(false && birth_is_host_alive()) ||\n\t\tbare_call(SYS_read"),
    ),
    # A fork of the host that stays has the other end of the lifeline.
    "unwatched-host": (
        ("birth_is_host_alive() &&\n\t\tbare_call(SYS_read",
         "(false && birth_is_host_alive()) ||\n\t\tbare_call(SYS_read"),
    ),
    "late-entry": (
        ("\t{ STAGE_GUARD, birth_enter_guard_table },\n", ""),
        ("\t{ STAGE_CWD, birth_enter_cwd },\n\t{ STAGE_SIGNALS,",
         "\t{ STAGE_CWD, birth_enter_cwd },\n"
         "\t{ STAGE_GUARD, birth_enter_guard_table },\n\t{ STAGE_SIGNALS,"),
    ),
    # Doorkeepers.
    "unwatched-keeper": (("\t\tif (pidfd_wait(door->pidfd, 0) == 1)\n\t\t\treturn !atomic_load(&page->is_awaited);\n", ""),),
    "forgotten-newborn": (("\tif (!is_told) {", "\tif (!is_told && false) {"),),
    "stale-order": (("\t\treturn room_door_forget(ret_pidfd);\n", "\t\treturn pid;\n"),),
    "left-newborn": (("\tif (door->has_newborn && room_door_is_child", "\tif (false && room_door_is_child"),),
    "late-keeper": ((" || !door_is_host_alive()", ""),),
    "lasting-keeper": (("\tbare_prctl(PR_SET_PDEATHSIG, SIGKILL);\n", ""),),
    "open-seal": (("\t{ DOOR_AT_SECCOMP, door_enter_seal },\n", ""),),
    "no-domain": (("is_settled && things[DOOR_LANDLOCK] >= 0", "false"),),
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
    # Rooms that are used again.
    "unseen-process": ((
        "return room_is_empty(room) &&\n\t\tpicture_is_same", "return picture_is_same"),),
    "unseen-file": ((
        "fingerprint_is_same(&now, &picture->drawn)", "(true || fingerprint_is_same(&now, &picture->drawn))"),),
    "unseen-cover": ((
        "(!picture_may_have_new_covers(picture) &&", "((!picture_may_have_new_covers(picture) || true) &&"),),
    "unseen-move": (("reuse_pool_is_alike, wanted, true", "reuse_pool_is_alike, wanted, false"),),
    "unseen-change": (("fingerprint_is_same(&now, &picture->covers)", "(true || fingerprint_is_same(&now, &picture->covers))"),),
    "unseen-time": ((
        "\tpicture_add_time(out, &info.st_ctim);\n", ""),),
    "unseen-orphan": (("n < 0 ? -EIO : n == 0", "n < 0 ? -EIO : 1"),),
    "dead-init": ((
        "is_empty && pidfd_wait(room->pidfd, 0) == 0", "is_empty"),),
    "two-in-a-room": ((
        "\t\t*link = found->reuse.next;\n\t\tpool->count--;\n\t\tif (reuse_pool_is_as_new(found, may_have_moved))\n\t\t\treturn found;\n",
        "\t\tif (reuse_pool_is_as_new(found, may_have_moved))\n\t\t\treturn found;\n\t\t*link = found->reuse.next;\n\t\tpool->count--;\n"),),
    "pool-of-a-fork": (("return pool->owner != getpid() || ", "return "),),
    "rooms-of-a-fork": (("bool are_ours = pool->owner == getpid();", "bool are_ours = true;"),),
    "old-mounts": (("sandbox->reuse.age != pool->age || ", ""),),
    "old-paths": (("\t\tfingerprint_add_identity(out, &info);\n\t}\n}\n\nstatic void fingerprint_add_mounts",
                   "\t}\n}\n\nstatic void fingerprint_add_mounts"),),
    "any-policy": (("\tbuf_append(out, numbers, sizeof(numbers));\n", "\t(void)out;\n\t(void)numbers;\n"),),
    "unwatched-room": (("(watched && pooled->reuse.watched == watched)", "watched"),),
    # Policies that are remembered.
    "unseen-name": (("watched->number == event->wd && name_watch_may_be(watched->name, event->name)",
                     "watched->number == event->wd && name_watch_may_be(watched->name, event->name) && false"),),
    "unseen-loss": (("event->mask & WATCH_LOSSES || !event->len", "false"),),
    "unseen-mount": (("watch->mounts != mounts || ", ""),),
    "unproven-policy": (("!found->is_proven || ", "!found->age || "),),
    "old-policy": ((" || found->age != policy_memory_age(memory))\n\t\treturn NULL;", ")\n\t\treturn NULL;\n\tpolicy_memory_age(memory);"),),
    "room-for-ever": ((
        "\ttimer_set(&pool->host->loop.timers, &pool->idle,\n\t\tclock_after(loop_now_ns(&pool->host->loop), REUSE_IDLE_NS));\n", ""),),
    "room-left-open": ((
        "pidfd_signal(room->pidfd, room->pid, SIGKILL)", "pidfd_signal(room->pidfd, room->pid, 0)"), ("\troom->lifeline = fd_close(room->lifeline);\n", "")),
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
