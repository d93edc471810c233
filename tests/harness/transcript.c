/* A fledge-v1 engine whose effects are written down. */
#include "harness/transcript.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/suite.h"

static void note(struct transcript *t, const char *format, ...) PERCH_PRINTF(2, 3);

static void note(struct transcript *t, const char *format, ...)
{
	char line[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	buf_append_text(&t->text, line);
	buf_append_char(&t->text, '\n');
}

static void on_send(void *data, struct str line)
{
	struct transcript *t = data;
	buf_append_text(&t->text, "> ");
	buf_append(&t->text, line.data, line.len);
}

static const char *const kind_names[] = {
	[PERCH_SHOWN_OUTPUT] = "output",
	[PERCH_SHOWN_LOG] = "log",
	[PERCH_SHOWN_PROGRESS] = "progress",
	[PERCH_SHOWN_PROGRESS_DONE] = "progress-done",
	[PERCH_SHOWN_STORE] = "store",
	[PERCH_SHOWN_LOAD] = "load",
	[PERCH_SHOWN_EXEC] = "exec",
	[PERCH_SHOWN_METADATA] = "metadata",
	[PERCH_SHOWN_WARNING] = "warning",
	[PERCH_SHOWN_ERROR] = "error",
	[PERCH_SHOWN_DEBUG] = "debug",
};

static void on_show(void *data, const struct shown *shown)
{
	/* What is lent is noted when it is asked for. */
	if (shown->kind >= PERCH_SHOWN_STORE && shown->kind <= PERCH_SHOWN_METADATA)
		return;
	char amount[64] = "";
	if (shown->has_amount)
		snprintf(amount, sizeof(amount), " %g/%g", shown->current, shown->total);
	note(data, "show %s%s%.*s %.*s%s", kind_names[shown->kind], shown->level.len ? " " : "",
		(int)shown->level.len, shown->level.data, (int)shown->text.len, shown->text.data, amount);
}

static void on_ask(void *data, const perch_question *question)
{
	static const char *const kinds[] = { "prompt", "confirm", "select", "multi_select" };
	struct transcript *t = data;
	t->question = *question;
	note(t, "ask %s %.*s", kinds[question->kind], (int)question->message.len,
		question->message.data);
}

static void on_withdraw(void *data)
{
	note(data, "withdraw");
}

static void settle_ticket(struct transcript *t, uint64_t ticket, struct str json)
{
	t->last_ticket = ticket;
	if (t->answers_at_once && ticket)
		fledge_engine_result(t->engine, ticket, json, 0);
}

static void on_store(void *data, uint64_t ticket, struct str key, struct str value)
{
	note(data, "store %d %.*s=%.*s", ticket != 0, (int)key.len, key.data, (int)value.len,
		value.data);
	settle_ticket(data, ticket, STR("null"));
}

static void on_load(void *data, uint64_t ticket, struct str key)
{
	note(data, "load %.*s", (int)key.len, key.data);
	settle_ticket(data, ticket, STR("\"v\""));
}

static void on_exec(void *data, uint64_t ticket, const struct fledge_exec *exec)
{
	note(data, "exec %.*s%s%.*s", (int)exec->command.len, exec->command.data,
		exec->has_cwd ? " in " : "", exec->has_cwd ? (int)exec->cwd.len : 0,
		exec->has_cwd ? exec->cwd.data : "");
	if (exec->has_timeout)
		note(data, "timeout %g", exec->timeout_seconds);
	settle_ticket(data, ticket, STR("{}"));
}

static void on_metadata(void *data, uint64_t ticket, const perch_text *keys, size_t count)
{
	note(data, "metadata %zu %.*s", count, count ? (int)keys[0].len : 0, count ? keys[0].data : "");
	settle_ticket(data, ticket, STR("{}"));
}

static void on_drop(void *data)
{
	note(data, "drop");
}

static void on_stop(void *data)
{
	note(data, "stop");
}

static void on_hold(void *data, bool on)
{
	note(data, "hold %d", on);
}

const struct fledge_effects transcript_effects = {
	.send = on_send,
	.show = on_show,
	.ask = on_ask,
	.withdraw = on_withdraw,
	.store = on_store,
	.load = on_load,
	.exec = on_exec,
	.metadata = on_metadata,
	.drop = on_drop,
	.stop = on_stop,
	.hold = on_hold,
};

static const struct fledge_answer given[] = {
	{ { "Given text", 10 }, { "from outside", 12 } },
	{ { "Given number", 12 }, { "twelve", 6 } },
	{ { "Given yes", 9 }, { "Yes", 3 } },
	{ { "Given option", 12 }, { "b", 1 } },
	{ { "Given list", 10 }, { "a, c", 4 } },
};

struct fledge_engine_options transcript_options(enum fledge_asking asking)
{
	return (struct fledge_engine_options){
		.plugin = { "p", 1 },
		.granted = { .exec = true, .store = true, .metadata = true },
		.asking = asking,
		.prompt_timeout_ns = 100,
		.answers = given,
		.answer_count = COUNT(given),
	};
}

void transcript_begin_with(struct transcript *t, struct fledge_engine_options options)
{
	*t = (struct transcript){ .options = options, .answers_at_once = true };
	ck_assert_int_eq(fledge_engine_new(&t->options, &transcript_effects, t, &t->engine), 0);
}

void transcript_begin(struct transcript *t, enum fledge_asking asking)
{
	transcript_begin_with(t, transcript_options(asking));
}

void transcript_line(struct transcript *t, const char *text)
{
	fledge_engine_line(t->engine, text, strlen(text), false, 0);
}

uint64_t transcript_hold_up(struct transcript *t)
{
	t->answers_at_once = false;
	transcript_line(t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	return t->last_ticket;
}

void transcript_expect_case(struct transcript *t, const char *name, const char *expected)
{
	buf_terminate(&t->text);
	ck_assert_msg(strcmp(t->text.data, expected) == 0, "%s:\n%s\ninstead of\n%s", name,
		t->text.data, expected);
	buf_clear(&t->text);
}

void transcript_expect(struct transcript *t, const char *expected)
{
	buf_terminate(&t->text);
	ck_assert_str_eq(t->text.data, expected);
	buf_clear(&t->text);
}

void transcript_end(struct transcript *t)
{
	fledge_engine_free(t->engine);
	buf_free(&t->text);
}
