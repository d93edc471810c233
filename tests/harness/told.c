/* What an embedder was told. */
#include "harness/told.h"

#include <string.h>

#include "harness/proc.h"
#include "harness/suite.h"

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

const perch_fledge_events told_events = {
	.size = sizeof(told_events),
	.show = on_show,
	.ask = on_ask,
	.withdraw = on_withdraw,
	.stderr_line = on_stderr,
	.end = on_end,
};

static struct embedder embedder;

void told_begin(void)
{
	embedder_furnish();
	embedder = embedder_open();
}

void told_end(struct told *told)
{
	embedder_close(&embedder);
	buf_free(&told->log);
	buf_free(&told->err);
	ck_assert_uint_eq(proc_children(), 0);
}

perch_host *told_host(void)
{
	return embedder.host;
}

perch_fledge_run *told_start(const perch_fledge_options *given, struct told *told)
{
	perch_fledge_options options = *given;
	options.events = options.events ? options.events : &told_events;
	options.data = told;
	perch_fledge_run *run;
	perch_err err = { 0 };
	int r = perch_fledge_run_start(embedder.host, &options, &run, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return run;
}

const char *told_run(const perch_fledge_options *options, struct told *told)
{
	perch_fledge_run *run = told_start(options, told);
	proc_until(embedder.host, &told->has_ended);
	if (!told->frees)
		perch_fledge_run_free(run);
	buf_terminate(&told->log);
	return told->log.data;
}
