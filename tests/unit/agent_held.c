/* Turns of one process of an agent of ACP, one of which is held since nobody takes what it says:
 * the others go on, nothing of it is lost, and what waits for it has a limit. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile.h"
#include "agent/resident.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "proc/host.h"

/* ---- the agent ----------------------------------------------------------------- */

/* A prompt is a number of pieces, the bytes of each, and what is done behind them. It writes all
 * of them before it reads on: a process that is not read serves nobody. */
#define AGENT                                                                                \
	"import json, sys, os\n"                                                                 \
	"def say(**message):\n"                                                                  \
	"    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\\n')\n"              \
	"sessions, waiting = 0, {}\n"                                                            \
	"while line := sys.stdin.readline():\n"                                                  \
	"    heard = json.loads(line)\n"                                                         \
	"    what, params = heard.get('method'), heard.get('params', {})\n"                      \
	"    if what == 'initialize':\n"                                                         \
	"        say(id=heard['id'], result={'protocolVersion': 1})\n"                           \
	"    elif what == 'session/new':\n"                                                      \
	"        sessions += 1\n"                                                                \
	"        say(id=heard['id'], result={'sessionId': f's{sessions}'})\n"                    \
	"    elif what == 'session/cancel' and params['sessionId'] in waiting:\n"                \
	"        say(id=waiting.pop(params['sessionId']), result={'stopReason': 'cancelled'})\n" \
	"    elif what == 'session/prompt':\n"                                                   \
	"        count, size, last = params['prompt'][0]['text'].split()\n"                      \
	"        for i in range(int(count)):\n"                                                  \
	"            say(method='session/update', params={'sessionId': params['sessionId'],\n"   \
	"                'update': {'sessionUpdate': 'agent_message_chunk', 'content':\n"        \
	"                {'type': 'text', 'text': f'{os.getpid()} {i} ' + 'x' * int(size)}}})\n" \
	"        if last == 'ask':\n"                                                            \
	"            say(id='q', method='session/request_permission', params={'sessionId':\n"    \
	"                params['sessionId'], 'toolCall': {'toolCallId': 'c'}, 'options': [\n"   \
	"                {'optionId': 'y', 'name': 'Y', 'kind': 'allow_once'}]})\n"              \
	"            say(method='$/cancel_request', params={'requestId': 'q'})\n"                \
	"        if last == 'die':\n"                                                            \
	"            sys.stdout.flush(); os._exit(3)\n"                                          \
	"        if last == 'wait':\n"                                                           \
	"            waiting[params['sessionId']] = heard['id']\n"                               \
	"        else:\n"                                                                        \
	"            say(id=heard['id'], result={'stopReason': 'end_turn'})\n"                   \
	"    sys.stdout.flush()\n"

static struct world {
	perch_host *host;
	struct arena arena;
	struct agent_profile profile;
	struct residents *residents;
} world;

static void world_open(void)
{
	static const char profile[] = "command: python3\nargs: ['-SE', '{{PROFILE_DIR}}/agent']\n"
								  "protocol: acp\ntimeout_secs: 60\nkill_grace_secs: 1\n"
								  "max_reply_chars: 100000000\n";
	perch_err err = { 0 };
	setenv("HOME", folder_new(), 1);
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	folder_write("agent", AGENT);
	folder_write("bot.yaml", profile);
	world = (struct world){ .host = proc_host() };
	int r = agent_profile_read(folder_path("bot.yaml"), &world.arena, &world.profile, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_int_eq(residents_new(world.host, &world.residents), 0);
}

static void world_close(void)
{
	residents_free(world.residents);
	while (world.host->child_count)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	perch_host_free(world.host);
	arena_free(&world.arena);
	ck_assert_uint_eq(proc_children(), 0);
}

/* ---- turns --------------------------------------------------------------------- */

struct told {
	struct agent_turn *turn;
	bool is_slow;    /* it is held from its first piece on … */
	bool is_held;    /* … and now */
	bool holds_each; /* and again at each */
	bool has_begun, has_ended, has_succeeded;
	long pid, count;
	char why[256];
};

static void told_partial(void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)raw;
	struct told *told = data;
	char copy[64];
	long number = -1;
	snprintf(copy, sizeof(copy), "%.*s", (int)(text.len < 60 ? text.len : 60), text.data);
	ck_assert_int_eq(sscanf(copy, "%ld %ld", &told->pid, &number), 2);
	ck_assert_int_eq(number, told->count);
	told->count++;
	told->has_begun = true;
	if ((told->is_slow && number == 0) || told->holds_each)
		agent_turn_hold(turn, told->is_held = true);
}

static void told_error(void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn;
	struct told *told = data;
	snprintf(told->why, sizeof(told->why), "%s: %.*s", code, (int)text.len, text.data);
}

static void told_permission(
	void *data, struct agent_turn *turn, const struct agent_permission *permission)
{
	(void)data;
	(void)turn;
	(void)permission; /* it is taken back */
}

static void told_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	(void)turn;
	struct told *told = data;
	told->has_ended = true;
	told->has_succeeded = end->success;
}

static const struct agent_turn_events told_events = {
	.partial = told_partial,
	.error = told_error,
	.permission = told_permission,
	.end = told_end,
};

static int told_start(struct told *told, const char *message, bool is_slow)
{
	const struct agent_turn_options options = {
		.profile = &world.profile,
		.residents = world.residents,
		.message = str_from(message),
		.events = &told_events,
		.data = told,
	};
	*told = (struct told){ .is_slow = is_slow };
	return agent_turn_start(world.host, &options, &told->turn, NULL);
}

static void told_finish(struct told *told)
{
	proc_until(world.host, &told->has_ended);
	agent_turn_free(told->turn);
	told->turn = NULL;
}

/* Another turn on the same process, to its end. */
static void others_go_on(const struct told *held)
{
	struct told other;
	ck_assert_int_eq(told_start(&other, "3 10 end", false), 0);
	told_finish(&other);
	ck_assert(other.has_succeeded);
	ck_assert_int_eq(other.count, 3);
	ck_assert_int_eq(other.pid, held->pid);
}

/* ---- what holds ---------------------------------------------------------------- */

/* A megabyte is more than any pipe holds. */
START_TEST(one_that_is_held_does_not_hold_the_others)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "1000 1000 end", true), 0);
	proc_until(world.host, &held.has_begun);
	others_go_on(&held);
	others_go_on(&held);
	ck_assert_int_eq(held.count, 1);
	ck_assert(!held.has_ended);
	agent_turn_hold(held.turn, false);
	told_finish(&held);
	ck_assert_msg(held.has_succeeded, "%s", held.why);
	ck_assert_int_eq(held.count, 1000);
	world_close();
}
END_TEST

/* It is held again at each piece, and let go from the loop: each is told once, in order. */
START_TEST(one_that_takes_a_piece_at_a_time_has_them_all)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "200 2000 ask", true), 0);
	proc_until(world.host, &held.has_begun);
	others_go_on(&held);
	held.holds_each = true;
	while (!held.has_ended) {
		long before = held.count;
		agent_turn_hold(held.turn, held.is_held = false);
		while (!held.is_held && !held.has_ended)
			ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
		ck_assert_int_le(held.count, before + 1);
	}
	told_finish(&held);
	ck_assert_int_eq(held.count, 200);
	ck_assert(held.has_succeeded);
	world_close();
}
END_TEST

/* 20 MB: more than may wait. It fails by itself, and the process stays. */
START_TEST(what_waits_has_a_limit)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "200 100000 end", true), 0);
	proc_until(world.host, &held.has_begun);
	others_go_on(&held);
	told_finish(&held);
	ck_assert(!held.has_succeeded);
	ck_assert_ptr_nonnull(strstr(held.why, "is not read: more than 8 MiB of it wait"));
	ck_assert_int_eq(held.count, 1);
	others_go_on(&held);
	ck_assert_uint_eq(residents_count(world.residents), 1);
	world_close();
}
END_TEST

/* 7 MB for each of five: none is too much, all of them are. Those that go away leave room. */
START_TEST(what_waits_for_all_has_a_limit)
{
	enum { HELD = 5 };
	struct told held[HELD], other;
	int failed = 0;
	world_open();
	ck_assert_int_eq(told_start(&other, "1 1 wait", false), 0);
	proc_until(world.host, &other.has_begun);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < HELD; i++) {
			ck_assert_int_eq(told_start(&held[i], "70 100000 end", true), 0);
			proc_until(world.host, &held[i].has_begun);
			others_go_on(&held[i]);
		}
		for (int i = 0; i < HELD; i++) {
			failed += held[i].has_ended;
			ck_assert(!held[i].has_ended || strstr(held[i].why, "more than 32 MiB wait"));
			agent_turn_free(held[i].turn);
		}
		ck_assert_int_eq(failed, round + 1);
	}
	agent_turn_free(other.turn);
	ck_assert_uint_eq(residents_count(world.residents), 1);
	world_close();
}
END_TEST

/* Nobody else needs the process: it waits, however much it has to say. */
START_TEST(alone_it_is_not_read)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "200 100000 end", true), 0);
	proc_until(world.host, &held.has_begun);
	for (int i = 0; i < 50; i++)
		ck_assert_int_ge(perch_host_wait(world.host, 10), 0);
	ck_assert_int_eq(held.count, 1);
	agent_turn_hold(held.turn, false);
	told_finish(&held);
	ck_assert_msg(held.has_succeeded, "%s", held.why);
	ck_assert_int_eq(held.count, 200);
	world_close();
}
END_TEST

/* The agent obeys, which nobody has taken yet: its process is not to blame. */
START_TEST(one_that_is_held_can_be_cancelled)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "100 1000 wait", true), 0);
	proc_until(world.host, &held.has_begun);
	others_go_on(&held);
	agent_turn_cancel(held.turn, SIGTERM);
	told_finish(&held);
	ck_assert_int_eq(held.count, 100);
	others_go_on(&held);
	ck_assert_uint_eq(residents_count(world.residents), 1);
	world_close();
}
END_TEST

START_TEST(what_a_process_said_before_it_died_is_told)
{
	struct told held, other;
	world_open();
	ck_assert_int_eq(told_start(&other, "1 1 wait", false), 0);
	proc_until(world.host, &other.has_begun);
	ck_assert_int_eq(told_start(&held, "300 1000 die", true), 0);
	told_finish(&held);
	ck_assert_int_eq(held.count, 300);
	ck_assert(!held.has_succeeded);
	told_finish(&other);
	world_close();
}
END_TEST

/* One that goes away leaves nothing behind that somebody waits for. */
START_TEST(one_that_is_held_may_go_away)
{
	struct told held;
	world_open();
	ck_assert_int_eq(told_start(&held, "1000 1000 ask", true), 0);
	proc_until(world.host, &held.has_begun);
	others_go_on(&held);
	agent_turn_free(held.turn);
	others_go_on(&held);
	ck_assert_uint_eq(residents_count(world.residents), 1);
	world_close();
}
END_TEST

/* ---- without memory ------------------------------------------------------------ */

static int live(void *data)
{
	struct told held = { 0 }, other = { 0 };
	(void)data;
	world.residents = NULL;
	int r = residents_new(world.host, &world.residents);
	if (r == 0)
		r = told_start(&held, "40 1000 ask", true);
	while (r == 0 && !held.has_begun && !held.has_ended)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	if (r == 0)
		r = told_start(&other, "1 1 end", false);
	if (r == 0)
		told_finish(&other);
	if (held.turn)
		agent_turn_hold(held.turn, false);
	if (held.turn)
		told_finish(&held);
	residents_free(world.residents);
	world.residents = NULL;
	while (world.host->child_count)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	return r < 0 || !held.has_succeeded || !other.has_succeeded ? -ENOMEM : 0;
}

START_TEST(memory_may_run_out_while_one_is_held)
{
	world_open();
	residents_free(world.residents);
	ck_assert_int_eq(live(NULL), 0);
	ck_assert_uint_ge(oom_every(live, NULL), 40);
	world_close();
}
END_TEST

SUITE_MAIN("agent-held", one_that_is_held_does_not_hold_the_others,
	one_that_takes_a_piece_at_a_time_has_them_all, what_waits_has_a_limit,
	what_waits_for_all_has_a_limit, alone_it_is_not_read, one_that_is_held_can_be_cancelled,
	what_a_process_said_before_it_died_is_told, one_that_is_held_may_go_away,
	memory_may_run_out_while_one_is_held)
