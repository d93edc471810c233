/* Runs of include/perch/fledge.h as a command line has them: a command that is looked up first, one
 * without a protocol, a run that is stopped with its host, a user who goes away. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/told.h"
#include "proc/host.h"

#define MANIFEST "[plugin]\nname = \"try\"\nversion = \"1\"\n"
#define COMMAND "[[commands]]\nname = \"try\"\nbinary = \"run\"\n"

static perch_fledge_command *find(perch_fledge_options options)
{
	perch_fledge_command *command = NULL;
	perch_err err = { 0 };
	ck_assert_msg(perch_fledge_find(&options, &command, &err) == 0, "%s", err.text);
	return command;
}

/* ---- what is found ------------------------------------------------------------------ */

START_TEST(a_command_is_looked_up_once_and_run_often)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("hello"));
	perch_fledge_command *command = find(options);
	const perch_fledge_facts *facts = perch_fledge_command_facts(command);
	ck_assert_int_eq(facts->error, 0);
	ck_assert_str_eq(facts->plugin, "try");
	ck_assert_str_eq(facts->path, folder_path("plugin/run"));
	ck_assert(!facts->is_legacy && !facts->is_called && !facts->shell);
	/* What it was found by is not looked at again. */
	options.found = command;
	options.plugin_dir = NULL;
	ck_assert_str_eq(told_run(&options, &told), "out:hello\n ");
	told.has_ended = false;
	ck_assert_str_eq(told_run(&options, &told), "out:hello\n out:hello\n ");
	perch_fledge_command_free(command);
	perch_fledge_command_free(NULL);
	told_end(&told);
}
END_TEST

/* Whose failure it was decides about an exit code. */
START_TEST(what_cannot_be_run_is_found_too)
{
	told_begin();
	struct told told = { 0 };
	perch_err err = { 0 };
	perch_fledge_run *run;
	perch_fledge_options options = embedder_options(ARGS("hello"));
	options.plugin_dir = NULL;
	options.command = "nothing-of-that-name";
	options.events = &told_events;
	options.data = &told;
	perch_fledge_command *command = find(options);
	ck_assert_int_eq(perch_fledge_command_facts(command)->error, -ENOENT);
	options.found = command;
	ck_assert_int_eq(perch_fledge_run_start(told_host(), &options, &run, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "nothing-of-that-name"));
	ck_assert_ptr_null(err.stage);
	perch_fledge_command_free(command);
	/* The same error, but it is ours: the trace cannot be written. */
	options = embedder_options(ARGS("hello"));
	options.events = &told_events;
	options.trace = folder_path("missing/trace");
	err = (perch_err){ 0 };
	ck_assert_int_eq(perch_fledge_run_start(told_host(), &options, &run, &err), -ENOENT);
	ck_assert_str_eq(err.stage, "prepare");
	options.command = NULL;
	ck_assert_int_eq(perch_fledge_find(&options, &command, NULL), -EINVAL);
	told_end(&told);
}
END_TEST

/* The shell that its user has granted runs its commands, unless the program names another. */
START_TEST(the_shell_that_was_granted)
{
	told_begin();
	struct told told = { 0 };
	folder_write("fledge/plugins.toml",
		"[[plugins]]\nname = \"try\"\nversion = \"1.0.0\"\nsource = \"x\"\ncommands = [\"try\"]\n"
		"[plugins.capabilities]\nexec = true\n");
	folder_write_mode("shell", "#!/bin/sh\necho granted\n", 0755);
	free(folder_run("mkdir -p fledge/plugins/bin perch && cp -r plugin fledge/plugins/try && "
					"ln -s ../try/run fledge/plugins/bin/fledge-try && "
					"printf '[plugin.try]\\nshell = \"%%s\"\\nsandbox = \"off\"\\n' \"$PWD/shell\" "
					">perch/grants.toml && chmod 600 perch/grants.toml"));
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.plugin_dir = NULL;
	perch_fledge_command *command = find(options);
	ck_assert_str_eq(perch_fledge_command_facts(command)->shell, folder_path("shell"));
	perch_fledge_command_free(command);
	ck_assert_ptr_nonnull(strstr(told_run(&options, &told), "\"stdout\":\"granted"));
	buf_clear(&told.log);
	told.has_ended = false;
	options.shell = "sh";
	ck_assert_ptr_nonnull(strstr(told_run(&options, &told), "\"stdout\":\"run"));
	told_end(&told);
}
END_TEST

/* ---- without a protocol --------------------------------------------------------------- */

static perch_fledge_options legacy(const char *script)
{
	static const char *const args[] = { "one", "two words", NULL };
	folder_write("plugin/plugin.toml", MANIFEST COMMAND);
	free(folder_run("rm -f plugin/run"));
	folder_write_mode("plugin/run", script, 0755);
	return embedder_options(args);
}

START_TEST(a_program_without_a_protocol_is_told_of)
{
	told_begin();
	struct told told = { .frees = true };
	perch_fledge_options options =
		legacy("#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 4\n");
	perch_fledge_command *command = find(options);
	ck_assert(perch_fledge_command_facts(command)->is_legacy);
	options.found = command;
	options.legacy = PERCH_LEGACY_TELL;
	options.trace = folder_path("trace");
	const char *log = told_run(&options, &told);
	ck_assert_msg(strstr(log, "<one>\n") && strstr(log, "<two words>\n"), "%s", log);
	ck_assert_msg(strstr(log, "error:Plugin 'try' exited with code 4 "), "%s", log);
	ck_assert_int_eq(told.end.exit_code, 4);
	char *trace = folder_read(options.trace);
	ck_assert_ptr_nonnull(strstr(trace, "\"args\":[\"one\",\"two words\"]"));
	free(trace);
	perch_fledge_command_free(command);
	told_end(&told);
}
END_TEST

START_TEST(a_program_without_a_protocol_has_our_streams)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options options = legacy("#!/bin/sh\ncut -d' ' -f5 /proc/$$/stat >group\n"
										  "readlink /proc/$$/fd/0 >in\n");
	options.legacy = PERCH_LEGACY_INHERIT;
	options.project_dir = NULL;
	ck_assert_int_eq(chdir(folder_path("project")), 0);
	told_run(&options, &told);
	ck_assert(told.end.success);
	char *group = folder_read(folder_path("project/group"));
	ck_assert_int_eq(atoi(group), getpgrp());
	free(group);
	char *in = folder_read(folder_path("project/in"));
	char *ours = folder_run("readlink /proc/%d/fd/0", (int)getpid());
	ck_assert_int_eq(strncmp(in, ours, strlen(ours)), 0);
	free(in);
	free(ours);
	told_end(&told);
}
END_TEST

START_TEST(a_program_without_a_protocol_gets_the_signal)
{
	told_begin();
	struct told told = { .cancels_by = SIGTERM };
	perch_fledge_options options =
		legacy("#!/bin/sh\ntrap 'exit 9' TERM\necho ready\nwhile :; do sleep 0.02; done\n");
	options.legacy = PERCH_LEGACY_TELL;
	told_run(&options, &told);
	ck_assert_int_eq(told.end.exit_code, 9);
	told_end(&told);
}
END_TEST

/* Nothing of the one that is held is read; the other comes to its end meanwhile. */
START_TEST(a_run_that_is_held)
{
	told_begin();
	struct told told = { 0 };
	struct told other = { 0 };
	perch_fledge_options options = embedder_options(ARGS("hello"));
	perch_fledge_run *run = told_start(&options, &told);
	perch_fledge_run_hold(run, true);
	ck_assert_str_eq(told_run(&options, &other), "out:hello\n ");
	ck_assert(!told.has_ended && !told.log.len);
	perch_fledge_run_hold(run, false);
	proc_until(told_host(), &told.has_ended);
	ck_assert(told.end.success && told.log.len);
	perch_fledge_run_free(run);
	buf_free(&other.log);
	buf_free(&other.err);
	told_end(&told);
}
END_TEST

/* ---- the user ----------------------------------------------------------------------------- */

static void leave_at_the_second(perch_fledge_run *run, const perch_question *question)
{
	if (question->kind == PERCH_QUESTION_PROMPT)
		ck_assert_int_eq(perch_fledge_answer_text(run, question->number, "Ada", 3, NULL), 0);
	else
		perch_fledge_run_stop_asking(run);
}

START_TEST(a_user_who_goes_away_leaves_the_defaults)
{
	told_begin();
	struct told told = { .answer = leave_at_the_second };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	ck_assert_str_eq(
		told_run(&options, &told), "out:\"Ada\"\n out:true\n out:\"b\"\n out:[\"x\",\"z\"]\n ");
	ck_assert_uint_eq(told.withdrawn, 1);
	told_end(&told);
}
END_TEST

static void answer_and_leave(perch_fledge_run *run, const perch_question *question)
{
	ck_assert_int_eq(perch_fledge_answer_text(run, question->number, "Ada", 3, NULL), 0);
	perch_fledge_run_stop_asking(run);
}

START_TEST(the_last_answer_of_a_user_who_goes_away_counts)
{
	told_begin();
	struct told told = { .answer = answer_and_leave };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	ck_assert_str_eq(
		told_run(&options, &told), "out:\"Ada\"\n out:true\n out:\"b\"\n out:[\"x\",\"z\"]\n ");
	told_end(&told);
}
END_TEST

/* ---- Ctrl+Z -------------------------------------------------------------------------------- */

static perch_fledge_run *stopped_run;
static uint64_t open_number;

static void note(perch_fledge_run *run, const perch_question *question)
{
	stopped_run = run;
	open_number = question->number;
}

static char state_of(pid_t pid)
{
	char *text = folder_run("sed 's/.*) //' /proc/%d/stat | cut -c1", (int)pid);
	char state = text[0];
	free(text);
	return state;
}

START_TEST(a_run_is_stopped_and_goes_on)
{
	told_begin();
	struct told told = { .answer = note };
	folder_write("plugin/plugin.toml", MANIFEST "protocol = \"fledge-v1\"\n" COMMAND);
	free(folder_run("rm -f plugin/run"));
	folder_write_mode("plugin/run",
		"#!/bin/sh\nread -r init\necho $$ >../pid\n"
		"echo '{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"Name?\"}'\nread -r answer\n"
		"echo '{\"type\":\"output\",\"text\":\"on\"}'\n",
		0755);
	perch_fledge_options options = embedder_options(ARGS("x"));
	perch_fledge_run *run = told_start(&options, &told);
	while (!open_number)
		perch_host_wait(told_host(), -1);
	char *text = folder_read(folder_path("pid"));
	pid_t pid = atoi(text);
	free(text);
	perch_fledge_run_suspend(run);
	while (state_of(pid) != 'T')
		;
	perch_fledge_run_resume(run);
	while (state_of(pid) == 'T')
		;
	ck_assert_int_eq(perch_fledge_answer_text(stopped_run, open_number, "me", 2, NULL), 0);
	proc_until(told_host(), &told.has_ended);
	ck_assert(told.end.success);
	perch_fledge_run_free(run);
	told_end(&told);
}
END_TEST

static void never_due(struct timer *timer, uint64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

/* Two runs were stopped with their process: the time counts once. */
START_TEST(no_deadline_counts_the_time_between)
{
	perch_host *host = proc_host();
	struct timer timer = { .due = never_due };
	uint64_t now = clock_now_ns();
	ck_assert_int_eq(timers_promise(&host->loop.timers), 0);
	timer_set(&host->loop.timers, &timer, now + 1000);
	host_slept(host, now, now + 500);
	ck_assert_uint_eq(timer.when_ns, now + 1500);
	host_slept(host, now + 100, now + 600);
	ck_assert_uint_eq(timer.when_ns, now + 1600);
	host_slept(host, now + 200, now + 300);
	ck_assert_uint_eq(timer.when_ns, now + 1600);
	timer_cancel(&host->loop.timers, &timer);
	timers_release(&host->loop.timers);
	perch_host_free(host);
}
END_TEST

/* ---- memory ----------------------------------------------------------------------------- */

static int find_short_of_memory(void *data)
{
	perch_fledge_command *command;
	int r = perch_fledge_find(data, &command, NULL);
	if (r == 0)
		perch_fledge_command_free(command);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	told_begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("hello"));
	oom_every(find_short_of_memory, &options);
	told_end(&told);
}
END_TEST

SUITE_MAIN("fledge-api-runs", a_command_is_looked_up_once_and_run_often,
	what_cannot_be_run_is_found_too, the_shell_that_was_granted,
	a_program_without_a_protocol_is_told_of, a_program_without_a_protocol_has_our_streams,
	a_program_without_a_protocol_gets_the_signal, a_run_that_is_held,
	a_user_who_goes_away_leaves_the_defaults, the_last_answer_of_a_user_who_goes_away_counts,
	a_run_is_stopped_and_goes_on, no_deadline_counts_the_time_between, every_allocation_may_fail)
