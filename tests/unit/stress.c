/* Everything in any order: children that do all sorts of things, and a program
 * that calls every function of theirs from every callback, frees and starts
 * them there included. The seed is fixed; what must hold is checked throughout:
 * nobody is heard after he was freed, nothing is lost or told twice. */
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { ACTORS = 12, STEPS = 3000 };

/* What a child does, and how much of it is heard of one that is left alone. */
static const struct act {
	const char *words[3];
	long bytes; /* on stdout, newlines not counted; -1 = it depends */
	bool leaves_by_itself;
	bool has_family; /* somebody else holds its pipes */
} acts[] = {
	{ { "one-line", "5" }, 6, true, false },
	{ { "flood", "1" }, 127 * 8192, true, false },
	{ { "endless-line", "1" }, 1024 * 1024 + 3, true, false },
	{ { "strange-lines" }, 3 + 7 + 5 + 4, true, false },
	{ { "exit", "3" }, 0, true, false },
	{ { "die-of", "11" }, 0, true, false },
	{ { "echo" }, -1, false, false },
	{ { "count" }, -1, false, false },
	{ { "deaf" }, 5, false, false },
	{ { "ignore-term" }, 5, false, false },
	{ { "stop-itself" }, 5, false, false },
	{ { "close-stdin" }, 6, false, false },
	{ { "family" }, -1, false, true },
};

struct actor {
	perch_child *child; /* NULL = nobody is on stage */
	const struct act *act;
	perch_output_mode mode;
	uint64_t lines;
	uint64_t bytes;
	bool closed[3];
	bool paused[3];
	bool exited;
	bool ended;
	bool touched; /* it was made to stop, or its group was signalled */
};

static perch_host *host;
static struct actor actors[ACTORS];
static uint64_t seed;
static unsigned depth; /* callbacks under way */
static unsigned starts;

static unsigned chance(unsigned sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % sides;
}

static const perch_step steps[] = {
	{ PERCH_STEP_ASK, .after_ns = 0 },
	{ PERCH_STEP_CLOSE_STDIN, .after_ns = NSEC_PER_MSEC },
	{ PERCH_STEP_TERM, .after_ns = 2 * NSEC_PER_MSEC },
	{ PERCH_STEP_KILL, .after_ns = 5 * NSEC_PER_MSEC },
};

static const perch_child_events events;

static void start(struct actor *actor)
{
	static const perch_output_mode modes[] = {
		PERCH_OUTPUT_LINES,
		PERCH_OUTPUT_LINES,
		PERCH_OUTPUT_BYTES,
		PERCH_OUTPUT_TAIL,
		PERCH_OUTPUT_NULL,
	};
	static const uint64_t lingers[] = { 0, 0, NSEC_PER_MSEC, 20 * NSEC_PER_MSEC };
	*actor = (struct actor){ .act = &acts[chance(COUNT(acts))], .mode = modes[chance(5)] };
	const char *const argv[] = { proc_child_path(), actor->act->words[0], actor->act->words[1],
		NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdin_mode = chance(3) ? PERCH_STDIN_PIPE : PERCH_STDIN_NULL;
	spec.stdout_mode = actor->mode;
	spec.stderr_mode = modes[chance(5)];
	spec.session = actor->act->has_family || chance(4) ? PERCH_SESSION_OWN : PERCH_SESSION_SHARED;
	spec.line_limit = chance(2) ? 0 : 100 + chance(5000);
	spec.write_limit = 100000;
	spec.linger_ns = lingers[chance(4)];
	spec.keep_group = chance(3) == 0;
	spec.ladder = steps;
	spec.ladder_len = COUNT(steps);
	spec.events = &events;
	spec.data = actor;
	perch_err err = { 0 };
	int r = perch_child_start(host, &spec, &actor->child, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	starts++;
}

/* Nothing was lost on the way from a child that nobody disturbed. */
static void check_end(const struct actor *actor, const perch_result *result)
{
	const struct act *act = actor->act;
	ck_assert(result->status_known && !result->output_lost);
	if (actor->touched)
		return;
	if (!act->has_family)
		ck_assert_msg(!result->stdout_held && !result->stderr_held, "nobody holds a pipe");
	if (act->leaves_by_itself && strcmp(act->words[0], "die-of") != 0)
		ck_assert_int_eq(result->exit_code, strcmp(act->words[0], "exit") == 0 ? 3 : 0);
	if (actor->mode == PERCH_OUTPUT_LINES && act->bytes >= 0)
		ck_assert_uint_eq(actor->bytes + result->bytes_skipped, (uint64_t)act->bytes);
}

static void free_actor(struct actor *actor)
{
	perch_child *child = actor->child;
	actor->child = NULL;
	perch_child_free(child);
}

static void look_at(struct actor *actor, perch_stream stream)
{
	size_t len;
	uint64_t dropped;
	ck_assert_ptr_eq(perch_child_data(actor->child), actor);
	ck_assert_int_gt(perch_child_pid(actor->child), 0);
	ck_assert_ptr_nonnull(perch_child_tail(actor->child, stream, &len, &dropped));
	ck_assert_ptr_nonnull(perch_child_result(actor->child));
	ck_assert_uint_le(perch_child_unwritten(actor->child), 100000);
}

static void resume(struct actor *actor, perch_stream stream)
{
	actor->paused[stream] = false;
	perch_child_resume(actor->child, stream);
}

/* One random deed to one random child. */
static void meddle(void)
{
	static const char words[60000] = "words\n";
	struct actor *actor = &actors[chance(ACTORS)];
	perch_stream stream = chance(2) ? PERCH_STDOUT : PERCH_STDERR;
	if (!actor->child) {
		start(actor);
		return;
	}
	switch (chance(16)) {
	case 0:
		perch_child_close_stdin(actor->child);
		break;
	case 1:
		actor->touched = true;
		perch_child_stop(actor->child);
		break;
	case 2:
		actor->touched = true;
		perch_child_signal(actor->child, chance(2) ? SIGTERM : SIGKILL);
		break;
	case 3:
		free_actor(actor);
		break;
	case 4:
	case 5:
	case 6:
		actor->paused[stream] = true;
		perch_child_pause(actor->child, stream);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		resume(actor, stream);
		break;
	case 11:
	case 12:
		perch_child_write(actor->child, words, 1 + chance(sizeof(words)));
		break;
	default:
		look_at(actor, stream);
	}
}

/* Every callback begins and ends here: is it the right one at the right time?
 * Then the meddling. */
static struct actor *enter(perch_child *child, void *data)
{
	struct actor *actor = data;
	if (actor->child != child || actor->ended || depth != 0)
		ck_abort_msg("a callback that should not be");
	depth++;
	return actor;
}

static void leave(unsigned one_in)
{
	if (chance(one_in) == 0)
		meddle();
	if (chance(50) == 0)
		ck_assert_int_eq(perch_host_dispatch(host), PERCH_EBUSY);
	depth--;
}

static void hear(struct actor *actor, perch_stream stream, size_t len)
{
	if (actor->closed[stream] || actor->paused[stream])
		ck_abort_msg("a stream that is closed or paused was heard");
	if (stream == PERCH_STDOUT)
		actor->bytes += len;
}

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	struct actor *actor = enter(child, data);
	hear(actor, stream, line->len);
	if (stream == PERCH_STDOUT && line->number != ++actor->lines)
		ck_abort_msg("a line was lost");
	leave(100);
}

static void on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)bytes;
	hear(enter(child, data), stream, len);
	leave(4);
}

static void on_closed(perch_child *child, void *data, perch_stream stream)
{
	struct actor *actor = enter(child, data);
	hear(actor, stream, 0);
	actor->closed[stream] = true;
	leave(3);
}

static void on_something(perch_child *child, void *data)
{
	enter(child, data);
	leave(2);
}

static void on_exited(perch_child *child, void *data, const perch_result *result)
{
	struct actor *actor = enter(child, data);
	ck_assert(!actor->exited && result->status_known);
	actor->exited = true;
	leave(2);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	struct actor *actor = enter(child, data);
	ck_assert(actor->exited);
	actor->ended = true;
	check_end(actor, result);
	if (chance(2))
		free_actor(actor);
	leave(2);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.bytes = on_bytes,
	.closed = on_closed,
	.drained = on_something,
	.asked = on_something,
	.exited = on_exited,
	.ended = on_ended,
};

/* The children that are left are resumed and stopped until the last has ended. */
static void finish(void)
{
	bool busy = true;
	while (busy) {
		busy = false;
		for (size_t i = 0; i < ACTORS; i++) {
			if (!actors[i].child || actors[i].ended)
				continue;
			busy = true;
			actors[i].touched = true;
			resume(&actors[i], PERCH_STDOUT);
			resume(&actors[i], PERCH_STDERR);
			perch_child_stop(actors[i].child);
		}
		ck_assert_int_ge(perch_host_wait(host, 10), 0);
	}
	for (size_t i = 0; i < ACTORS; i++)
		free_actor(&actors[i]);
}

static void play(uint64_t first_seed, bool to_the_end)
{
	unsigned fds = proc_open_fds();
	long live = oom_live();
	seed = first_seed;
	host = proc_host();
	for (unsigned i = 0; i < STEPS; i++) {
		meddle();
		ck_assert_int_ge(perch_host_wait(host, chance(4) ? 0 : 1), 0);
	}
	ck_assert_uint_gt(starts, STEPS / 20);
	if (to_the_end) {
		finish();
		while (perch_host_children(host))
			ck_assert_int_ge(perch_host_wait(host, 60000), 0);
	}
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_int_eq(oom_live(), live);
}

START_TEST(any_order_is_survived)
{
	play(88172645463325252, true);
}
END_TEST

START_TEST(the_host_may_go_in_the_middle_of_it)
{
	play(0x9E3779B97F4A7C15, false);
}
END_TEST

SUITE_MAIN("stress", any_order_is_survived, the_host_may_go_in_the_middle_of_it)
