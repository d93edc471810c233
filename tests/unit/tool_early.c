/* verdict = "response": the caller has its answer, and the exit is judged behind it. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/served.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "perch/perch.h"
#include "tool/audit_log.h"
#include "tool/binding.h"
#include "sandbox/reuse/dir_cache.h"

/* ---- a call ---------------------------------------------------------------- */

/* What a call has told, in its order. */
struct early {
	struct called called; /* first: `done` and `stderr` of the harness take it */
	bool has_left;
	bool frees; /* in `left` */
	bool frees_at_done;
	bool counts_lines;
	unsigned lines; /* of the audit log, when `done` came */
	perch_tool_code code;
};

static perch_host *host;
static struct audit audit;
static struct tool_binding binding;

static unsigned audit_lines(void)
{
	char *text = folder_run("cat state/perch/audit.jsonl 2>/dev/null | wc -l");
	unsigned lines = (unsigned)atoi(text);
	free(text);
	return lines;
}

static void on_done(void *data, struct tool_call *call)
{
	struct early *early = data;
	ck_assert(!early->has_left && !early->called.is_done);
	ck_assert_ptr_eq(early->called.call, call);
	if (early->counts_lines)
		early->lines = audit_lines();
	early->called.is_done = true;
	early->code = tool_call_result(call)->code;
	if (early->frees_at_done)
		tool_call_free(call);
}

static void on_left(void *data, struct tool_call *call)
{
	struct early *early = data;
	ck_assert(early->called.is_done && !early->has_left);
	ck_assert(!tool_call_is_leaving(call));
	early->has_left = true;
	if (early->frees)
		tool_call_free(call);
}

static void begin(const char *const *args)
{
	host = tool_begin();
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	ck_assert_int_eq(audit_settings(&audit, NULL), 0);
	binding = tool_bind(args);
	binding.verdict = TOOL_VERDICT_RESPONSE;
}

static struct tool_call_options options_of(struct early *early)
{
	struct tool_call_options options = tool_options(&binding, &early->called);
	options.done = on_done;
	options.left = on_left;
	options.origin.audit = &audit;
	return options;
}

static const perch_tool_result *answer_of(struct early *early)
{
	const struct tool_call_options options = options_of(early);
	tool_start(host, &options, &early->called);
	return tool_wait(host, &early->called);
}

/* In the audit log; no line is NULL. */
static char *last_line(void)
{
	return folder_run("tail -n 1 state/perch/audit.jsonl");
}

START_TEST(the_answer_does_not_wait_for_the_exit)
{
	struct early early = { 0 };
	begin(TOOL("stay"));
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert(result->by_response && result->responded && !result->has_left);
	ck_assert(!result->has_exit_status && result->duration_ns);
	ck_assert_str_eq(result->stage, "response");
	ck_assert_str_eq(result->output.data, "\"done\"");
	ck_assert(str_is(str_of(result->plugin_id), "t.p"));
	ck_assert(tool_call_is_leaving(early.called.call));
	ck_assert_uint_eq(perch_host_children(host), 1); /* it never leaves by itself */
	tool_call_cancel(early.called.call);
	proc_until(host, &early.has_left);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert(result->has_left);
	ck_assert_int_eq(result->exit_verdict, PERCH_TOOL_CANCELLED);
	tool_end(&early.called);
	tool_finish(host);
}
END_TEST

START_TEST(by_default_the_exit_decides)
{
	struct early early = { 0 };
	begin(TOOL("late-exit", "3"));
	binding.verdict = tool_binding_default().verdict;
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_CRASHED);
	ck_assert(!result->by_response && result->responded);
	ck_assert(!tool_call_is_leaving(early.called.call));
	ck_assert_uint_eq(audit_lines(), 1);
	tool_end(&early.called);
	ck_assert(!early.has_left);
	tool_finish(host);
}
END_TEST

/* The record of the call is there before its caller knows the answer; the exit has its own. */
START_TEST(a_bad_exit_is_recorded_behind_the_call)
{
	struct early early = { .counts_lines = true };
	begin(TOOL("late-exit", "3"));
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_uint_ge(early.lines, 1);
	proc_until(host, &early.has_left);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_int_eq(result->exit_verdict, PERCH_TOOL_CRASHED);
	ck_assert(tool_says(result->exit_message, "exited with status 3 after its response"));
	ck_assert(result->has_exit_status && result->exit_status == 3);
	ck_assert_uint_eq(audit_lines(), 2);
	char *line = last_line();
	char id[64];
	snprintf(id, sizeof(id), "\"request_id\":\"%.*s\"", (int)result->request_id.len,
		result->request_id.data);
	ck_assert_ptr_nonnull(strstr(line, "\"kind\":\"exit\""));
	ck_assert_ptr_nonnull(strstr(line, "\"verdict\":\"crashed\""));
	ck_assert_ptr_nonnull(strstr(line, "\"exit_status\":3"));
	ck_assert_ptr_nonnull(strstr(line, id));
	free(line);
	tool_end(&early.called);
	tool_finish(host);
}
END_TEST

START_TEST(a_good_exit_leaves_one_line)
{
	struct early early = { .frees = true };
	begin(TOOL("fast"));
	const struct tool_call_options options = options_of(&early);
	tool_start(host, &options, &early.called);
	proc_until(host, &early.has_left); /* the call is gone then */
	ck_assert_int_eq(early.code, PERCH_TOOL_OK);
	ck_assert_uint_eq(audit_lines(), 1);
	char *line = last_line();
	ck_assert_ptr_nonnull(strstr(line, "\"verdict\":\"ok\""));
	ck_assert_ptr_null(strstr(line, "\"kind\""));
	free(line);
	tool_finish(host);
}
END_TEST

/* The clocks of the call go on behind the answer. */
static void ends_by_clock(uint64_t invocation_ns, uint64_t teardown_ns, perch_tool_code code)
{
	struct early early = { 0 };
	begin(TOOL("stay"));
	binding.invocation_ns = invocation_ns;
	binding.teardown_ns = teardown_ns;
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	proc_until(host, &early.has_left);
	ck_assert_int_eq(result->exit_verdict, code);
	ck_assert(!result->has_exit_status); /* it was not its own */
	ck_assert_uint_eq(perch_host_children(host), 0);
	tool_end(&early.called);
	tool_finish(host);
}

START_TEST(who_never_leaves_is_ended_by_its_clocks)
{
	ends_by_clock(60 * NSEC_PER_SEC, 20 * NSEC_PER_MSEC, PERCH_TOOL_CRASHED);
	ends_by_clock(2 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, PERCH_TOOL_TIMEOUT);
}
END_TEST

START_TEST(more_behind_the_response_is_counted)
{
	struct early early = { 0 };
	begin(TOOL("farewell"));
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	proc_until(host, &early.has_left);
	ck_assert_uint_eq(result->extra_bytes, strlen("good bye\n"));
	ck_assert_int_eq(result->exit_verdict, PERCH_TOOL_OK);
	ck_assert_uint_eq(audit_lines(), 1);
	tool_end(&early.called);
	tool_finish(host);
}
END_TEST

/* Strictness is about what stands behind the response. */
START_TEST(a_strict_call_waits_for_the_exit)
{
	struct early early = { 0 };
	begin(TOOL("farewell"));
	struct tool_call_options options = options_of(&early);
	options.strict = true;
	tool_start(host, &options, &early.called);
	const perch_tool_result *result = tool_wait(host, &early.called);
	ck_assert_int_eq(result->code, PERCH_TOOL_MALFORMED_RESPONSE);
	ck_assert(!result->by_response && !tool_call_is_leaving(early.called.call));
	tool_end(&early.called);
	tool_finish(host);
}
END_TEST

START_TEST(an_error_of_the_plugin_is_an_answer)
{
	struct early early = { 0 };
	begin(TOOL("refuse"));
	const perch_tool_result *result = answer_of(&early);
	ck_assert_int_eq(result->code, PERCH_TOOL_EXECUTION_ERROR);
	ck_assert(result->by_response);
	ck_assert_str_eq(result->error_code.data, "E_NO");
	proc_until(host, &early.has_left);
	ck_assert_int_eq(result->exit_verdict, PERCH_TOOL_OK);
	ck_assert_uint_eq(audit_lines(), 1);
	tool_end(&early.called);
	tool_finish(host);
}
END_TEST

START_TEST(without_a_valid_response_nothing_is_early)
{
	const char *const *const bad[] = { TOOL("half"), TOOL("abort"), TOOL("exit", "0"),
		TOOL("respond", "{\"type\":\"response\",\"request_id\":\"x\",\"status\":\"ok\"}") };
	const perch_tool_code codes[] = { PERCH_TOOL_MALFORMED_RESPONSE, PERCH_TOOL_CRASHED,
		PERCH_TOOL_CRASHED, PERCH_TOOL_MALFORMED_RESPONSE };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct early early = { 0 };
		begin(bad[i]);
		const perch_tool_result *result = answer_of(&early);
		ck_assert_msg(result->code == codes[i], "%zu: %s", i, perch_tool_code_name(result->code));
		ck_assert(!result->by_response && !tool_call_is_leaving(early.called.call));
		tool_end(&early.called);
		tool_finish(host);
	}
}
END_TEST

START_TEST(who_frees_the_call_ends_the_process)
{
	struct early early = { .frees_at_done = true };
	begin(TOOL("stay"));
	const struct tool_call_options options = options_of(&early);
	tool_start(host, &options, &early.called);
	proc_until(host, &early.called.is_done);
	ck_assert(!early.has_left);
	tool_finish(host); /* nobody is left */
}
END_TEST

START_TEST(a_spare_answers_early_too)
{
	struct tool_pool *pool;
	bool used_spare = false;
	begin(TOOL("stay"));
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_new(host, &pool), 0);
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	for (int i = 0; !used_spare; i++) {
		struct early early = { 0 };
		const struct tool_call_options options = options_of(&early);
		ck_assert_msg(i < 3000, "no spare has ever answered");
		perch_host_wait(host, 10);
		ck_assert_int_eq(tool_pool_call(pool, &options, &early.called.call, NULL), 0);
		const perch_tool_result *result = tool_wait(host, &early.called);
		ck_assert_int_eq(result->code, PERCH_TOOL_OK);
		ck_assert(result->by_response && !early.has_left);
		used_spare = result->used_spare;
		tool_end(&early.called);
	}
	tool_pool_free(pool);
	tool_finish(host);
}
END_TEST

static int call_without_memory(void *data)
{
	struct early early = { 0 };
	const struct tool_call_options options = options_of(&early);
	(void)data;
	int r = tool_call_start(host, &options, &early.called.call, NULL);
	if (r < 0)
		return r;
	const perch_tool_result *result = tool_wait(host, &early.called);
	bool is_early = result->by_response;
	if (is_early)
		proc_until(host, &early.has_left);
	r = result->code == PERCH_TOOL_OK ? 0 : -ENOMEM;
	tool_end(&early.called);
	return r;
}

START_TEST(each_allocation_may_fail)
{
	begin(TOOL("fast"));
	ck_assert_int_eq(call_without_memory(NULL), 0);
	ck_assert_ptr_nonnull(dir_cache_of(host)); /* kept where rules cannot be made ahead */
	ck_assert_uint_ge(oom_every(call_without_memory, NULL), 10);
	tool_finish(host);
}
END_TEST

/* ---- the library ----------------------------------------------------------- */

static void api_left(perch_tool_call *call, void *data)
{
	(void)call;
	*(bool *)data = true;
}

START_TEST(the_library_says_when_it_has_left)
{
	static const char *const capabilities[] = { "tool.execute", NULL };
	perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	perch_tool_binding *bound;
	perch_tool_call *call;
	perch_text json;
	bool has_left = false;
	begin(TOOL("late-exit", "9"));
	spec.name = "t.p";
	spec.command = tool_path();
	spec.args = TOOL("late-exit", "9");
	spec.capabilities = capabilities;
	spec.no_sandbox = true;
	spec.verdict = PERCH_TOOL_VERDICT_RESPONSE;
	request.tool = "t.x";
	request.left = api_left;
	request.data = &has_left;
	ck_assert_int_eq(perch_tool_binding_new(&spec, &bound, NULL), 0);
	ck_assert_int_eq(perch_tool_call_run(host, bound, &request, &call, NULL), 0);
	const perch_tool_result *result = perch_tool_call_result(call);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert(result->by_response);
	ck_assert_int_eq(perch_tool_call_json(call, &json), 0);
	ck_assert_ptr_nonnull(strstr(json.data, "\"verdict\":\"response\""));
	proc_until(host, &has_left);
	ck_assert_int_eq(result->exit_verdict, PERCH_TOOL_CRASHED);
	ck_assert_int_eq(perch_tool_call_json(call, &json), 0);
	ck_assert_int_eq(strncmp(json.data, "{\"ok\":true,\"output\":\"done\",", 26), 0);
	ck_assert_ptr_nonnull(
		strstr(json.data, "\"exit_verdict\":\"crashed\",\"exit_message\":\"the "));
	perch_tool_call_free(call);
	perch_tool_binding_free(bound);
	tool_finish(host);
}
END_TEST

/* ---- the service ----------------------------------------------------------- */

#define EARLY "verdict = \"response\"\n"

/* The keys of the root come before any table. */
static void bind_early(const char *name, const char *behaviour, const char *word)
{
	char text[9000];
	char path[64];
	snprintf(text, sizeof(text),
		"name = \"t.p\"\ncommand = \"%s\"\nargs = [\"%s\", \"%s\"]\n" EARLY
		"capabilities = [\"tool.execute\"]\n[timeouts]\ninvocation = 60\nhandshake = 60\n"
		"teardown = %s\n[sandbox]\nmode = \"off\"\n",
		tool_path(), behaviour, word, strcmp(word, "short") == 0 ? "0.02" : "60");
	snprintf(path, sizeof(path), "config/perch/tools/%s.toml", name);
	folder_write(path, text);
}

/* It has its end, and its place is still taken. */
START_TEST(a_job_ends_with_the_answer_and_keeps_its_place)
{
	struct served_job first = { .frees = true };
	struct served_job second = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	struct served *served = served_open(&options);
	bind_early("stay", "stay", "long");
	bind_early("fast", "fast", "long");
	served_submit(served_tool("stay/t.x", NULL), &first);
	served_wait(&first);
	ck_assert(first.end.success && first.end.exit_code == 0);
	ck_assert_uint_eq(perch_service_jobs(served->service), 1);
	served_submit(served_tool("fast/t.x", NULL), &second);
	for (int i = 0; i < 5; i++)
		perch_host_wait(served->host, 5);
	ck_assert(!second.has_started);
	perch_service_cancel(served->service, SIGTERM); /* both */
	served_wait(&second);
	ck_assert_int_eq(second.code, PERCH_TOOL_CANCELLED);
	while (perch_service_jobs(served->service))
		perch_host_wait(served->host, 100);
	served_free(&first);
	served_free(&second);
	served_close();
}
END_TEST

START_TEST(the_next_one_runs_when_it_has_left)
{
	struct served_job jobs[4] = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	struct served *served = served_open(&options);
	bind_early("stay", "stay", "short");
	for (size_t i = 0; i < COUNT(jobs); i++)
		served_submit(served_tool("stay/t.x", NULL), &jobs[i]);
	for (size_t i = 0; i < COUNT(jobs); i++)
		ck_assert_ptr_nonnull(strstr(served_wait(&jobs[i]), "\"done\""));
	for (size_t i = 0; i < COUNT(jobs); i++)
		served_free(&jobs[i]);
	while (perch_service_jobs(served->service))
		perch_host_wait(served->host, 100);
	ck_assert_uint_eq(perch_service_bad_exits(served->service), COUNT(jobs));
	served_close();
}
END_TEST

START_TEST(users_are_warned_once)
{
	struct served_job jobs[3] = { 0 };
	struct served *served = served_open(NULL);
	bind_early("late", "late-exit", "3");
	for (size_t i = 0; i < COUNT(jobs); i++) {
		served_submit(served_tool("late/t.x", NULL), &jobs[i]);
		served_wait(&jobs[i]);
		ck_assert(jobs[i].end.success);
		served_free(&jobs[i]);
	}
	while (perch_service_jobs(served->service))
		perch_host_wait(served->host, 100);
	ck_assert_uint_eq(perch_service_bad_exits(served->service), 3);
	ck_assert_int_eq(buf_terminate(&served->warnings), 0);
	ck_assert_str_eq(served->warnings.data,
		"late/t.x has given its answer, but then: the plugin exited with status 3 after its "
		"response|");
	served_close();
}
END_TEST

START_TEST(what_is_leaving_goes_with_the_service)
{
	struct served_job orphan = { .frees = true };
	struct served_job kept = { 0 };
	served_open(NULL);
	bind_early("stay", "stay", "long");
	served_submit(served_tool("stay/t.x", NULL), &orphan);
	served_submit(served_tool("stay/t.x", NULL), &kept);
	served_wait(&orphan);
	served_wait(&kept);
	served_free(&orphan);
	buf_free(&kept.log); /* its job goes with the service */
	served_close();      /* no process is left */
}
END_TEST

START_TEST(a_held_job_is_told_late)
{
	struct served_job job = { 0 };
	struct served *served = served_open(NULL);
	bind_early("late", "late-exit", "3");
	served_submit(served_tool("late/t.x", NULL), &job);
	served_until(&job.has_started);
	perch_job_hold(job.job, true);
	while (!perch_service_bad_exits(served->service)) /* it has left before it was told */
		perch_host_wait(served->host, 100);
	ck_assert(!job.has_ended);
	perch_job_hold(job.job, false);
	served_wait(&job);
	ck_assert(job.end.success);
	ck_assert_uint_eq(perch_service_jobs(served->service), 0);
	served_free(&job);
	served_close();
}
END_TEST

START_TEST(the_catalogue_says_what_is_in_force)
{
	perch_catalog *catalog;
	struct served *served = served_open(NULL);
	bind_early("early", "fast", "long");
	served_bind("usual", "fast", "[[tools]]\nname = \"t.x\"\n");
	free(folder_run(
		"%s", "printf '[[tools]]\\nname = \"t.x\"\\n' >> config/perch/tools/early.toml"));
	ck_assert_int_eq(perch_service_catalog(served->service, &catalog, NULL), 0);
	const perch_entry *early = perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "early/t.x");
	const perch_entry *usual = perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "usual/t.x");
	ck_assert_str_eq(early->verdict, "response");
	ck_assert_str_eq(usual->verdict, "exit");
	perch_catalog_free(catalog);
	served_close();
}
END_TEST

/* ---- the binding ----------------------------------------------------------- */

static int parse(const char *text, struct tool_binding *ret, struct arena *arena, perch_err *err)
{
	return tool_binding_parse("/etc/tools/x.toml", str_from(text), arena, ret, err);
}

START_TEST(a_binding_says_what_decides)
{
	struct arena arena = { 0 };
	struct tool_binding read;
	struct buf text = { 0 };
	perch_err err = { 0 };
	ck_assert_int_eq(parse("name = \"t\"\ncommand = \"c\"\n", &read, &arena, NULL), 0);
	ck_assert_int_eq(read.verdict, TOOL_VERDICT_EXIT);
	ck_assert_int_eq(tool_binding_text(&read, &text, NULL), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_ptr_null(strstr(text.data, "verdict"));
	ck_assert_int_eq(parse("name = \"t\"\ncommand = \"c\"\n" EARLY, &read, &arena, NULL), 0);
	ck_assert_int_eq(read.verdict, TOOL_VERDICT_RESPONSE);
	buf_clear(&text);
	ck_assert_int_eq(tool_binding_text(&read, &text, NULL), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "\n" EARLY));
	ck_assert_int_eq(tool_binding_check(&read, NULL), 0);
	ck_assert_int_eq(parse("verdict = \"soon\"\n", &read, &arena, &err), PERCH_ESYNTAX);
	ck_assert_int_eq(parse("verdict = 1\n", &read, &arena, &err), PERCH_ESYNTAX);
	ck_assert_int_eq(
		parse("name = \"t\"\ncommand = \"c\"\nprotocol = \"mcp\"\n" EARLY, &read, &arena, NULL), 0);
	ck_assert_int_eq(tool_binding_check(&read, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "MCP server"));
	ck_assert_int_eq(tool_binding_set_verdict(&read, "exit", NULL), 0);
	ck_assert_int_eq(tool_binding_check(&read, NULL), 0);
	ck_assert_int_eq(tool_binding_set_verdict(&read, "late", &err), -EINVAL);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("tool-early", the_answer_does_not_wait_for_the_exit, by_default_the_exit_decides,
	a_bad_exit_is_recorded_behind_the_call, a_good_exit_leaves_one_line,
	who_never_leaves_is_ended_by_its_clocks, more_behind_the_response_is_counted,
	a_strict_call_waits_for_the_exit, an_error_of_the_plugin_is_an_answer,
	without_a_valid_response_nothing_is_early, who_frees_the_call_ends_the_process,
	a_spare_answers_early_too, each_allocation_may_fail, the_library_says_when_it_has_left,
	a_job_ends_with_the_answer_and_keeps_its_place, the_next_one_runs_when_it_has_left,
	users_are_warned_once, what_is_leaving_goes_with_the_service, a_held_job_is_told_late,
	the_catalogue_says_what_is_in_force, a_binding_says_what_decides)
