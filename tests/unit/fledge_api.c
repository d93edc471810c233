/* Plugins as another program runs them: through include/perch/fledge.h alone. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/embedder.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"

static const char *const *const no_args = (const char *const[]){ NULL };

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What was told, in short: "kind:text " for everything but debug. */
struct told {
	struct buf log;
	struct buf err;
	perch_fledge_end end;
	bool has_ended;
	bool has_sandbox;
	unsigned withdrawn;
	void (*answer)(perch_fledge_run *run, const perch_question *question);
	int cancels_by; /* a signal, when something is shown */
	bool frees;     /* the run, at its end */
};

static void on_show(perch_fledge_run *run, void *data, const perch_shown *shown)
{
	static const char *const names[] = { "out", "log", "progress", "done", "store", "load", "exec",
		"metadata", "warning", "error", "debug" };
	struct told *told = data;
	ck_assert_uint_eq(strlen(shown->text.data), shown->text.len);
	if (shown->kind == PERCH_SHOWN_DEBUG)
		return;
	buf_printf(&told->log, "%s:%s%s%s ", names[shown->kind], shown->level.data, shown->key.data,
		shown->text.data);
	if (shown->has_amount)
		buf_printf(&told->log, "(%g/%g) ", shown->current, shown->total);
	if (told->cancels_by && shown->kind == PERCH_SHOWN_OUTPUT)
		perch_fledge_run_cancel(run, told->cancels_by);
}

static void on_ask(perch_fledge_run *run, void *data, const perch_question *question)
{
	((struct told *)data)->answer(run, question);
}

static void on_withdraw(perch_fledge_run *run, void *data)
{
	(void)run;
	((struct told *)data)->withdrawn++;
}

static void on_stderr(perch_fledge_run *run, void *data, perch_text line)
{
	(void)run;
	buf_printf(&((struct told *)data)->err, "%s|", line.data);
}

static void on_end(perch_fledge_run *run, void *data, const perch_fledge_end *end)
{
	struct told *told = data;
	told->end = *end;
	told->has_sandbox = end->sandbox && end->sandbox[0];
	told->has_ended = true;
	if (told->frees)
		perch_fledge_run_free(run);
}

static const perch_fledge_events events = {
	.size = sizeof(events),
	.show = on_show,
	.ask = on_ask,
	.withdraw = on_withdraw,
	.stderr_line = on_stderr,
	.end = on_end,
};

static struct embedder embedder;

static void begin(void)
{
	embedder_furnish();
	embedder = embedder_open();
}

static void end(struct told *told)
{
	embedder_close(&embedder);
	buf_free(&told->log);
	buf_free(&told->err);
	ck_assert_uint_eq(proc_children(), 0);
}

static perch_fledge_run *start(const perch_fledge_options *given, struct told *told)
{
	perch_fledge_options options = *given;
	options.events = options.events ? options.events : &events;
	options.data = told;
	perch_fledge_run *run;
	perch_err err = { 0 };
	int r = perch_fledge_run_start(embedder.host, &options, &run, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return run;
}

static const char *run_to_end(const perch_fledge_options *options, struct told *told)
{
	perch_fledge_run *run = start(options, told);
	proc_until(embedder.host, &told->has_ended);
	if (!told->frees)
		perch_fledge_run_free(run);
	buf_terminate(&told->log);
	return told->log.data;
}

/* ---- questions --------------------------------------------------------------------- */

static void answer_properly(perch_fledge_run *run, const perch_question *question)
{
	static const size_t one[] = { 2 };
	static const size_t two[] = { 0, 1 };
	uint64_t number = question->number;
	perch_err err = { 0 };
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		ck_assert_str_eq(question->message.data, "Name?");
		ck_assert_int_eq(question->validator, PERCH_VALIDATE_NON_EMPTY);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, " ", 1, &err), -EINVAL);
		ck_assert_uint_gt(strlen(err.text), 0);
		ck_assert_int_eq(perch_fledge_answer_confirm(run, number, true, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_text(run, number + 1, "x", 1, NULL), -ESTALE);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, "Ada!", 3, NULL), 0);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, "Eve", 3, NULL), -ESTALE);
		break;
	case PERCH_QUESTION_CONFIRM:
		ck_assert(question->has_default && question->default_yes);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, one, 1, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_confirm(run, number, false, NULL), 0);
		break;
	case PERCH_QUESTION_SELECT:
		ck_assert_uint_eq(question->option_count, 3);
		ck_assert_str_eq(question->options[2].data, "c");
		ck_assert_uint_eq(question->default_count, 1);
		ck_assert_uint_eq(question->defaults[0], 1);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, two, 2, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, one, 1, NULL), 0);
		break;
	case PERCH_QUESTION_MULTI_SELECT:
		ck_assert_uint_eq(question->default_count, 2);
		ck_assert_uint_eq(question->defaults[1], 2);
		ck_assert_int_eq(
			perch_fledge_answer_choice(run, number, (size_t[]){ 1, 0 }, 2, NULL), -EINVAL);
		ck_assert_int_eq(
			perch_fledge_answer_choice(run, number, (size_t[]){ 3 }, 1, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, two, 2, NULL), 0);
		break;
	}
}

START_TEST(questions_are_asked_and_answered)
{
	begin();
	struct told told = { .answer = answer_properly };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	ck_assert_str_eq(
		run_to_end(&options, &told), "out:\"Ada\"\n out:false\n out:\"c\"\n out:[\"x\",\"y\"]\n ");
	ck_assert(told.end.success);
	ck_assert_int_eq(told.end.exit_code, 0);
	ck_assert_uint_gt(told.end.duration_ns, 0);
	end(&told);
}
END_TEST

static const perch_question *waiting_question;

static void answer_later(perch_fledge_run *run, const perch_question *question)
{
	(void)run;
	waiting_question = question;
}

/* As a program with a window does it: when the user is ready, outside of any callback. */
START_TEST(an_answer_may_come_later)
{
	begin();
	struct told told = { .answer = answer_later };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	perch_fledge_run *run = start(&options, &told);
	while (!told.has_ended) {
		if (waiting_question) {
			const perch_question *question = waiting_question;
			waiting_question = NULL;
			answer_properly(run, question);
		}
		ck_assert_int_ge(perch_host_wait(embedder.host, -1), 0);
	}
	buf_terminate(&told.log);
	ck_assert_str_eq(told.log.data, "out:\"Ada\"\n out:false\n out:\"c\"\n out:[\"x\",\"y\"]\n ");
	ck_assert_int_eq(perch_fledge_decline(run, 1), -ESTALE);
	perch_fledge_run_free(run);
	end(&told);
}
END_TEST

START_TEST(a_question_that_waits_too_long_is_withdrawn)
{
	begin();
	struct told told = { .answer = answer_later };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	options.prompt_timeout_ns = 1000000;
	run_to_end(&options, &told);
	ck_assert_uint_eq(told.withdrawn, 1);
	ck_assert(!told.end.success);
	end(&told);
}
END_TEST

static void refuse(perch_fledge_run *run, const perch_question *question)
{
	ck_assert_int_eq(perch_fledge_decline(run, question->number + 1), -ESTALE);
	ck_assert_int_eq(perch_fledge_decline(run, question->number), 0);
}

START_TEST(declining_is_an_interrupt)
{
	begin();
	struct told told = { .answer = refuse };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	run_to_end(&options, &told);
	ck_assert_int_eq(told.end.exit_code, 130);
	end(&told);
}
END_TEST

START_TEST(answers_may_be_given_in_advance)
{
	begin();
	struct told told = { 0 };
	static const perch_fledge_events without_ask = {
		.size = sizeof(without_ask),
		.show = on_show,
		.end = on_end,
	};
	perch_fledge_options options = embedder_options(ARGS("ask"));
	options.events = &without_ask;
	options.answers = ARGS("Name?=Bob", "Any?=z");
	ck_assert_str_eq(
		run_to_end(&options, &told), "out:\"Bob\"\n out:true\n out:\"b\"\n out:[\"z\"]\n ");
	buf_clear(&told.log);
	told.has_ended = false;
	options.answers = NULL;
	options.asking = PERCH_ASKING_STRICT;
	run_to_end(&options, &told);
	ck_assert_int_ne(told.end.exit_code, 0);
	end(&told);
}
END_TEST

/* ---- what is shown and lent ---------------------------------------------------------- */

START_TEST(everything_is_shown)
{
	begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.trace = folder_path("trace");
	const char *log = run_to_end(&options, &told);
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
	end(&told);
}
END_TEST

START_TEST(nothing_is_lent_that_was_not_granted)
{
	begin();
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.grants = PERCH_GRANT_METADATA;
	const char *log = run_to_end(&options, &told);
	ck_assert_ptr_null(strstr(log, "exec:"));
	ck_assert_ptr_null(strstr(log, "store:"));
	ck_assert_ptr_nonnull(strstr(log, "metadata:env"));
	end(&told);
}
END_TEST

/* ---- the end -------------------------------------------------------------------------- */

START_TEST(a_run_is_cancelled_from_a_callback_and_freed_at_its_end)
{
	begin();
	struct told told = { .cancels_by = SIGTERM, .frees = true };
	perch_fledge_options options = embedder_options(ARGS("wait"));
	run_to_end(&options, &told);
	ck_assert_int_eq(told.end.exit_code, 143);
	end(&told);
}
END_TEST

START_TEST(a_run_that_is_freed_is_gone)
{
	begin();
	struct told told = { .answer = answer_later };
	perch_fledge_options options = embedder_options(ARGS("wait"));
	perch_fledge_run *waiting = start(&options, &told);
	while (!told.log.len)
		perch_host_wait(embedder.host, -1);
	perch_fledge_run_cancel(waiting, SIGINT);
	perch_fledge_run_free(waiting);
	perch_fledge_run_free(NULL);
	while (perch_host_children(embedder.host))
		perch_host_wait(embedder.host, -1);
	ck_assert(!told.has_ended);
	end(&told);
}
END_TEST

/* ---- what is run ----------------------------------------------------------------------- */

static void check_refused(perch_fledge_options options, int expected, const char *words)
{
	perch_fledge_run *run = NULL;
	perch_err err = { 0 };
	options.events = &events;
	int r = perch_fledge_run_start(embedder.host, &options, &run, &err);
	ck_assert_msg(r == expected && strstr(err.text, words), "%d: %s", r, err.text);
	ck_assert_ptr_null(run);
}

START_TEST(what_cannot_be_run_says_why)
{
	begin();
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
	end(&told);
}
END_TEST

/* As `perch plugins install` leaves it, and in the sandbox that its user gets. */
START_TEST(an_installed_plugin_runs_in_its_sandbox)
{
	begin();
	folder_write("fledge/plugins.toml",
		"[[plugins]]\nname = \"try\"\nversion = \"1.0.0\"\nsource = \"x\"\ncommands = [\"try\"]\n"
		"[plugins.capabilities]\nexec = true\n");
	free(folder_run("mkdir -p fledge/plugins/bin && cp -r plugin fledge/plugins/try && "
					"ln -s ../try/run fledge/plugins/bin/fledge-try"));
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("show"));
	options.plugin_dir = NULL;
	const char *log = run_to_end(&options, &told);
	ck_assert_ptr_nonnull(strstr(log, "exec:echo run "));
	ck_assert_ptr_null(strstr(log, "store:"));
	ck_assert(told.has_sandbox);
	end(&told);
}
END_TEST

/* Whichever allocation fails: an error or a run that ends, and nothing stays. */
static int run_short_of_memory(void *data)
{
	(void)data;
	struct told told = { 0 };
	perch_fledge_options options = embedder_options(ARGS("hello"));
	options.events = &events;
	options.data = &told;
	perch_fledge_run *run;
	int r = perch_fledge_run_start(embedder.host, &options, &run, NULL);
	while (r == 0 && !told.has_ended)
		perch_host_wait(embedder.host, -1);
	if (r == 0) {
		perch_fledge_run_free(run);
		r = told.end.success ? 0 : -ENOMEM;
	}
	while (perch_host_children(embedder.host))
		perch_host_wait(embedder.host, -1);
	buf_free(&told.log);
	buf_free(&told.err);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	begin();
	struct told told = { 0 };
	run_short_of_memory(NULL); /* the host keeps some for the next */
	oom_every(run_short_of_memory, NULL);
	end(&told);
}
END_TEST

SUITE_MAIN("fledge-api", questions_are_asked_and_answered, an_answer_may_come_later,
	a_question_that_waits_too_long_is_withdrawn, declining_is_an_interrupt,
	answers_may_be_given_in_advance, everything_is_shown, nothing_is_lent_that_was_not_granted,
	a_run_is_cancelled_from_a_callback_and_freed_at_its_end, a_run_that_is_freed_is_gone,
	what_cannot_be_run_says_why, an_installed_plugin_runs_in_its_sandbox, every_allocation_may_fail)
