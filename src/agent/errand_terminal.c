/* Terminals of an agent: commands that run beside it until it lets go of them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/errand_parts.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "data/json.h"

static const struct buf errand_nothing = { .data = (char *)"{}", .len = 2 };

static void errand_write_exit(const struct errand *errand, struct perch_json_writer *out)
{
	char name[32];
	perch_json_write_name(out, "exitCode");
	if (errand->signal || errand->exit_code < 0)
		perch_json_write_null(out);
	else
		perch_json_write_int64(out, errand->exit_code);
	perch_json_write_name(out, "signal");
	if (!errand->signal) {
		perch_json_write_null(out);
		return;
	}
#ifdef __GLIBC__
	const char *known = sigabbrev_np(errand->signal);
#else
	const char *known = NULL;
#endif
	snprintf(name, sizeof(name), known ? "SIG%s" : "%s", known ? known : "unknown");
	perch_json_write_string(out, name);
}

static void errand_tell_exit(struct errand *errand, uint64_t number)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	errand_write_exit(errand, &out);
	perch_json_end_object(&out);
	errand_answer(errand, number, &json);
}

/* A command that its sandbox has hindered is told to the user; the agent sees its output. */
void errand_terminal_done(struct errand *errand, const perch_result *result)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct resident_session *session = errand->session;
	bool is_hindered = false;
	errand->is_done = true;
	errand->signal = result->signal;
	errand->exit_code = result->status_known ? result->exit_code : -1;
	if (errand->exit_code > 0)
		is_hindered = errand_explain(
			errand, "a command of the agent failed", tail_text(&errand->tail), &text);
	for (size_t i = 0; i < errand->waiting_count; i++)
		errand_tell_exit(errand, errand->waiting[i]);
	errand->waiting_count = 0;
	if (is_hindered)
		errand_tell_user(session, &text);
}

void errand_terminal_output(struct errand *errand, uint64_t number)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	_cleanup_(buf_free) struct buf text = { 0 };
	struct str kept = tail_text(&errand->tail);
	utf8_append_replaced(&text, kept.data, kept.len);
	struct perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	json_write_text(&out, "output", (struct str){ text.data, text.len });
	json_write_flag(&out, "truncated", errand->tail.total > kept.len);
	if (errand->is_done) {
		perch_json_write_name(&out, "exitStatus");
		perch_json_begin_object(&out);
		errand_write_exit(errand, &out);
		perch_json_end_object(&out);
	}
	perch_json_end_object(&out);
	json.failed = json.failed || text.failed;
	errand_answer(errand, number, &json);
}

void errand_terminal_wait(struct errand *errand, uint64_t number)
{
	if (errand->is_done)
		errand_tell_exit(errand, number);
	else if (errand->waiting_count < ERRAND_WAITING_MAX)
		errand->waiting[errand->waiting_count++] = number;
	else
		errand_refuse(errand, number, STR("too many requests wait for its end"));
}

void errand_terminal_kill(struct errand *errand, uint64_t number)
{
	if (!errand->is_done)
		perch_child_stop(errand->child);
	errand_answer(errand, number, &errand_nothing);
}

void errand_terminal_release(struct errand *errand, uint64_t number)
{
	errand_answer(errand, number, &errand_nothing);
	for (size_t i = 0; i < errand->waiting_count; i++)
		errand_refuse(errand, errand->waiting[i], STR("the terminal was released"));
	errand_free(errand);
}
