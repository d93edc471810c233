/* Callers that were built against another version of the library: every structure with
 * a size may be shorter or longer than ours. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "harness/embedder.h"
#include "harness/folder.h"
#include "harness/proc.h"

struct options {
	size_t size;
	int first;
	int second;
};

START_TEST(what_both_know_is_copied)
{
	struct options ours = { sizeof(ours), 1, 2 };
	const size_t first = SIZED_UP_TO(struct options, first);
	const struct options given = { first, 10, 20 };
	ck_assert_int_eq(sized_copy(&ours, sizeof(ours), &given, first, NULL), 0);
	ck_assert(ours.size == sizeof(ours) && ours.first == 10 && ours.second == 2);
	const struct options all = { sizeof(all), 11, 21 };
	ck_assert_int_eq(sized_copy(&ours, sizeof(ours), &all, first, NULL), 0);
	ck_assert(ours.first == 11 && ours.second == 21);
	const struct options unsaid = { 0, 12, 22 };
	ck_assert_int_eq(sized_copy(&ours, sizeof(ours), &unsaid, first, NULL), 0);
	ck_assert(ours.size == sizeof(ours) && ours.first == 12 && ours.second == 21);
}
END_TEST

START_TEST(what_we_do_not_know_must_be_zero)
{
	struct {
		struct options known;
		char later[8];
	} given = { .known = { sizeof(given), 1, 2 } };
	struct options ours = { 0 };
	perch_err err = { 0 };
	ck_assert_int_eq(sized_copy(&ours, sizeof(ours), &given, sizeof(ours), &err), 0);
	given.later[7] = 1;
	ck_assert_int_eq(sized_copy(&ours, sizeof(ours), &given, sizeof(ours), &err), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_int_eq(ours.second, 2);
}
END_TEST

/* ---- every public structure --------------------------------------------------------- */

/* One of the caller's version: our structure and what a later library added. */
#define NEWER(type)         \
	struct {                \
		type known;         \
		uintptr_t later[4]; \
	}

/* Checks that a longer structure is taken as long as nothing is set in it that we do not
 * know; `call` uses it and gives 0 or an error. */
#define CHECK_NEWER(structure, call)                \
	do {                                            \
		(structure).known.size = sizeof(structure); \
		(structure).later[3] = 1;                   \
		ck_assert_int_eq(call, -EINVAL);            \
		(structure).later[3] = 0;                   \
		ck_assert_int_eq(call, 0);                  \
	} while (0)

static void never(void)
{
	ck_abort_msg("a callback behind the size was called");
}

/* The lengths that a structure has had: from the one that ends with `member`, the last of its first
 * version. */
#define EACH_LENGTH(length, type, member)                                                        \
	for (size_t length =                                                                         \
			 (SIZED_UP_TO(type, member) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *); \
		 length <= sizeof(type); length += sizeof(void *))

/* Our own, cut off behind `member`, with something in the rest that must not be seen. */
#define CUT(structure, member) CUT_AT(structure, SIZED_UP_TO(__typeof__(structure), member))
#define CUT_AT(structure, length)                                                               \
	do {                                                                                        \
		size_t cut = length;                                                                    \
		for (size_t at = cut; at + sizeof(void *) <= sizeof(structure); at += sizeof(void *)) { \
			void (*poison)(void) = never;                                                       \
			memcpy((char *)&(structure) + at, &poison, sizeof(poison));                         \
		}                                                                                       \
		(structure).size = cut;                                                                 \
	} while (0)

static struct embedder embedder;

static void begin(void)
{
	embedder_furnish();
	embedder = embedder_open();
}

static void finish(void)
{
	while (perch_host_children(embedder.host))
		perch_host_wait(embedder.host, -1);
	embedder_close(&embedder);
}

static int make_host(const perch_host_options *options)
{
	perch_host *host;
	int r = perch_host_new(options, &host, NULL);
	if (r == 0)
		perch_host_free(host);
	return r;
}

START_TEST(hosts)
{
	NEWER(perch_host_options) newer = { 0 };
	CHECK_NEWER(newer, make_host(&newer.known));
	perch_host_options older = { 0 };
	CUT(older, guard);
	ck_assert_int_eq(make_host(&older), 0);
}
END_TEST

static int make_json(const perch_json_options *options)
{
	perch_json *json;
	int r = perch_json_new(options, &json);
	if (r == 0)
		perch_json_free(json);
	return r;
}

START_TEST(documents)
{
	NEWER(perch_json_options) newer = { 0 };
	CHECK_NEWER(newer, make_json(&newer.known));
	perch_json_options older = { 0 };
	CUT(older, text_max);
	ck_assert_int_eq(make_json(&older), 0);
}
END_TEST

static int run_child(const perch_child_spec *spec)
{
	perch_child *child;
	int r = perch_child_start(embedder.host, spec, &child, NULL);
	while (r == 0 && perch_host_children(embedder.host))
		perch_host_wait(embedder.host, -1);
	if (r == 0)
		perch_child_free(child);
	return r;
}

static void count_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	(void)line;
	++*(int *)data;
}

START_TEST(children)
{
	begin();
	int lines = 0;
	NEWER(perch_child_events) events = { .known.line = count_line, .later = { 1, 1, 1, 1 } };
	events.known.size = sizeof(events);
	NEWER(perch_child_spec) newer = { .known = PERCH_CHILD_SPEC_INIT };
	newer.known.argv = SHELL("echo line");
	newer.known.stdout_mode = PERCH_OUTPUT_LINES;
	newer.known.events = &events.known;
	newer.known.data = &lines;
	CHECK_NEWER(newer, run_child(&newer.known));
	ck_assert_int_eq(lines, 1);
	perch_child_events few = { .line = count_line };
	CUT(few, line);
	newer.known.events = &few;
	ck_assert_int_eq(run_child(&newer.known), 0);
	ck_assert_int_eq(lines, 2);
	perch_child_spec older = { .argv = SHELL("exit 0") };
	CUT(older, cwd);
	ck_assert_int_eq(run_child(&older), 0);
	finish();
}
END_TEST

static int bind(const perch_tool_spec *spec)
{
	perch_tool_binding *binding;
	int r = perch_tool_binding_new(spec, &binding, NULL);
	if (r == 0)
		perch_tool_binding_free(binding);
	return r;
}

static int call(const perch_tool_request *request)
{
	perch_tool_call *call;
	int r = perch_tool_call_run(embedder.host, embedder.binding, request, &call, NULL);
	if (r == 0) {
		ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_OK);
		perch_tool_call_free(call);
	}
	return r;
}

START_TEST(tools)
{
	begin();
	NEWER(perch_tool_spec) newer = { .known = { .name = "t.p", .command = "/bin/true" } };
	CHECK_NEWER(newer, bind(&newer.known));
	perch_tool_spec older = newer.known;
	CUT(older, args);
	ck_assert_int_eq(bind(&older), 0);
	NEWER(perch_tool_request) request = { .known.tool = "t.x" };
	CHECK_NEWER(request, call(&request.known));
	perch_tool_request short_request = { .tool = "t.x" };
	CUT(short_request, input_length);
	ck_assert_int_eq(call(&short_request), 0);
	EACH_LENGTH(length, perch_tool_request, data)
	{
		perch_tool_request earlier = { .tool = "t.x" };
		CUT_AT(earlier, length);
		ck_assert_int_eq(call(&earlier), 0);
	}
	EACH_LENGTH(length, perch_tool_spec, presets)
	{
		perch_tool_spec earlier = newer.known;
		CUT_AT(earlier, length);
		ck_assert_int_eq(bind(&earlier), 0);
	}
	finish();
}
END_TEST

static void turn_ended(perch_agent_turn *turn, void *data, const perch_agent_end *end)
{
	(void)turn;
	(void)end;
	*(bool *)data = true;
}

static void turn_failed(perch_agent_turn *turn, void *data, const char *code, const char *text)
{
	(void)turn;
	(void)code;
	ck_abort_msg("%s %d", text, *(bool *)data);
}

static int take_turn(const perch_agent_turn_options *options, const bool *has_ended)
{
	perch_agent_turn *turn;
	int r = perch_agent_turn_start(embedder.host, options, &turn, NULL);
	if (r == 0) {
		while (has_ended ? !*has_ended : perch_host_children(embedder.host))
			perch_host_wait(embedder.host, -1);
		perch_agent_turn_free(turn);
	}
	return r;
}

START_TEST(agents)
{
	begin();
	bool has_ended = false;
	NEWER(perch_agent_events) events = { .known.end = turn_ended, .later = { 1, 1, 1, 1 } };
	events.known.error = turn_failed;
	events.known.size = sizeof(events);
	NEWER(perch_agent_turn_options) newer = { .known.profile = embedder.profile };
	newer.known.message = "one two";
	newer.known.message_len = 7;
	newer.known.events = &events.known;
	newer.known.data = &has_ended;
	CHECK_NEWER(newer, take_turn(&newer.known, &has_ended));
	perch_agent_events few = { .error = turn_failed };
	CUT(few, error);
	newer.known.events = &few;
	ck_assert_int_eq(take_turn(&newer.known, NULL), 0);
	perch_agent_turn_options older = newer.known;
	older.size = offsetof(perch_agent_turn_options, events);
	ck_assert_int_eq(take_turn(&older, NULL), -EINVAL); /* events are needed, and not in it */
	EACH_LENGTH(length, perch_agent_turn_options, data)
	{
		older = newer.known;
		CUT_AT(older, length);
		ck_assert_int_eq(take_turn(&older, NULL), 0);
	}
	finish();
}
END_TEST

static void run_ended(perch_fledge_run *run, void *data, const perch_fledge_end *end)
{
	(void)run;
	ck_assert(end->success);
	*(bool *)data = true;
}

static void run_shows(perch_fledge_run *run, void *data, const perch_shown *shown)
{
	(void)run;
	(void)data;
	(void)shown;
}

static int run_plugin(const perch_fledge_options *options, const bool *has_ended)
{
	perch_fledge_run *run;
	int r = perch_fledge_run_start(embedder.host, options, &run, NULL);
	if (r == 0) {
		while (has_ended ? !*has_ended : perch_host_children(embedder.host))
			perch_host_wait(embedder.host, -1);
		perch_fledge_run_free(run);
	}
	return r;
}

START_TEST(plugins)
{
	begin();
	bool has_ended = false;
	const char *const args[] = { "hello", NULL };
	NEWER(perch_fledge_events) events = { .known.end = run_ended, .later = { 1, 1, 1, 1 } };
	events.known.size = sizeof(events);
	NEWER(perch_fledge_options) newer = { .known = embedder_options(args) };
	newer.known.events = &events.known;
	newer.known.data = &has_ended;
	CHECK_NEWER(newer, run_plugin(&newer.known, &has_ended));
	perch_fledge_events few = { .show = run_shows };
	CUT(few, show);
	newer.known.events = &few;
	ck_assert_int_eq(run_plugin(&newer.known, NULL), 0);
	EACH_LENGTH(length, perch_fledge_options, data)
	{
		perch_fledge_options older = newer.known;
		CUT_AT(older, length);
		ck_assert_int_eq(run_plugin(&older, NULL), 0);
		perch_fledge_command *command;
		ck_assert_int_eq(perch_fledge_find(&older, &command, NULL), 0);
		perch_fledge_command_free(command);
	}
	finish();
}
END_TEST

SUITE_MAIN("sized", what_both_know_is_copied, what_we_do_not_know_must_be_zero, hosts, documents,
	children, tools, agents, plugins)
