/* Plugins as another program runs them: through include/perch/fledge.h alone. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/told.h"

static const char *const *const no_args = (const char *const[]){ NULL };

/* ---- what is shown and lent ---------------------------------------------------------- */

START_TEST(everything_is_shown)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.trace = folder_path("trace");
	const char *log = told_run(&options, &told);
	static const char *const parts[] = { "log:warncareful ", "progress:half (1/2) ",
		"done: ", "store:k ", "load:k ", "out:\"v\"\n ", "exec:echo run ", "\"stdout\":\"run",
		"metadata:env ", "warning:", "error:Plugin 'try' exited with code 3 " };
	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_msg(strstr(log, parts[i]), "no '%s' in: %s", parts[i], log);
	ck_assert_int_eq(told.end.exit_code, 3);
	buf_terminate(&told.err);
	ck_assert_str_eq(told.err.data, "to stderr|");
	char *trace = folder_read(folder_path("trace"));
	ck_assert_ptr_nonnull(strstr(trace, "to stderr"));
	free(trace);
	told_end(&told);
}
END_TEST

START_TEST(nothing_is_lent_that_was_not_granted)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.grants = PERCH_GRANT_METADATA;
	const char *log = told_run(&options, &told);
	ck_assert_ptr_null(strstr(log, "exec:"));
	ck_assert_ptr_null(strstr(log, "store:"));
	ck_assert_ptr_nonnull(strstr(log, "metadata:env"));
	told_end(&told);
}
END_TEST

/* ---- the end -------------------------------------------------------------------------- */

START_TEST(a_run_is_cancelled_from_a_callback_and_freed_at_its_end)
{
	told_begin();
	struct told told = { .cancels_by = SIGTERM, .frees = true };
	perch_fledge_options options = embedder_options(ARGS("wait"));
	told_run(&options, &told);
	ck_assert_int_eq(told.end.exit_code, 143);
	told_end(&told);
}
END_TEST

static void leave_open(perch_fledge_run *run, const perch_question *question)
{
	(void)run;
	(void)question;
}

START_TEST(a_run_that_is_freed_is_gone)
{
	told_begin();
	struct told told = { .answer = leave_open };
	perch_fledge_options options = embedder_options(ARGS("wait"));
	perch_fledge_run *waiting = told_start(&options, &told);
	while (!told.log.len)
		perch_host_wait(told_host(), -1);
	perch_fledge_run_cancel(waiting, SIGINT);
	perch_fledge_run_free(waiting);
	perch_fledge_run_free(NULL);
	while (perch_host_children(told_host()))
		perch_host_wait(told_host(), -1);
	ck_assert(!told.has_ended);
	told_end(&told);
}
END_TEST

/* ---- what is run ----------------------------------------------------------------------- */

static void check_refused(perch_fledge_options options, int expected, const char *words)
{
	perch_fledge_run *run = NULL;
	perch_err err = { 0 };
	options.events = &told_events;
	int r = perch_fledge_run_start(told_host(), &options, &run, &err);
	ck_assert_msg(r == expected && strstr(err.text, words), "%d: %s", r, err.text);
	ck_assert_ptr_null(run);
}

START_TEST(what_cannot_be_run_says_why)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options good = embedder_options(no_args);
	perch_fledge_options bad = good;
	bad.command = "other";
	check_refused(bad, -ENOENT, "has no command 'other'");
	bad.plugin_dir = NULL;
	check_refused(bad, -ENOENT, "other");
	bad = good;
	bad.command = NULL;
	check_refused(bad, -EINVAL, "command");
	bad = good;
	bad.plugin_dir = "plugin";
	check_refused(bad, -EINVAL, "absolute");
	bad = good;
	bad.project_dir = ".";
	check_refused(bad, -EINVAL, "absolute");
	bad = good;
	bad.answers = ARGS("nothing");
	check_refused(bad, -EINVAL, "'='");
	bad = good;
	bad.plugin_dir = "/nowhere";
	check_refused(bad, -ENOENT, "/nowhere");
	folder_write("plugin/plugin.toml",
		"[plugin]\nname = \"try\"\nversion = \"1\"\n[[commands]]\nname = \"try\"\nbinary = "
		"\"run\"\n");
	check_refused(good, -EPROTONOSUPPORT, "no protocol");
	told_end(&told);
}
END_TEST

/* As `perch plugins install` leaves it, and in the sandbox that its user gets. */
START_TEST(an_installed_plugin_runs_in_its_sandbox)
{
	told_begin();
	folder_write("fledge/plugins.toml",
		"[[plugins]]\nname = \"try\"\nversion = \"1.0.0\"\nsource = \"x\"\ncommands = [\"try\"]\n"
		"[plugins.capabilities]\nexec = true\n");
	free(folder_run("mkdir -p fledge/plugins/bin && cp -r plugin fledge/plugins/try && "
					"ln -s ../try/run fledge/plugins/bin/fledge-try"));
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.plugin_dir = NULL;
	const char *log = told_run(&options, &told);
	ck_assert_ptr_nonnull(strstr(log, "exec:echo run "));
	ck_assert_ptr_null(strstr(log, "store:"));
	ck_assert(told.has_sandbox);
	told_end(&told);
}
END_TEST

/* A run that has ended well has stored what it was told to store, unless it has said otherwise. */
static int judge_short_of_memory(const struct told *told)
{
	if (!told->end.success || told->log.failed)
		return -ENOMEM;
	if (strstr(told->log.data, "out:hello") || strstr(told->log.data, "out:\"v\""))
		return 0;
	ck_assert_msg(strstr(told->log.data, "warning:") != NULL, "%s", told->log.data);
	return -ENOMEM;
}

/* Whichever allocation fails: an error or a run that ends, and nothing stays. */
static int run_short_of_memory(void *data)
{
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS(data));
	options.events = &told_events;
	options.data = &told;
	perch_fledge_run *run;
	int r = perch_fledge_run_start(told_host(), &options, &run, NULL);
	while (r == 0 && !told.has_ended)
		perch_host_wait(told_host(), -1);
	if (r == 0) {
		perch_fledge_run_free(run);
		buf_terminate(&told.log);
		r = judge_short_of_memory(&told);
	}
	while (perch_host_children(told_host()))
		perch_host_wait(told_host(), -1);
	buf_free(&told.log);
	buf_free(&told.err);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	told_begin();
	struct told told = { 0 };
	char words[][8] = { "hello", "keep" };
	for (size_t i = 0; i < COUNT(words); i++) {
		run_short_of_memory(words[i]); /* the host keeps some for the next */
		oom_every(run_short_of_memory, words[i]);
	}
	told_end(&told);
}
END_TEST

SUITE_MAIN("fledge-api", everything_is_shown, nothing_is_lent_that_was_not_granted,
	a_run_is_cancelled_from_a_callback_and_freed_at_its_end, a_run_that_is_freed_is_gone,
	what_cannot_be_run_says_why, an_installed_plugin_runs_in_its_sandbox, every_allocation_may_fail)
