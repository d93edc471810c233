/* fledge-v1 from strings: lines in, what the engine does about them out. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "fledge/engine.h"

/* A transcript: one line per effect.
 *   > line         sent to the plugin
 *   show KIND text, ask N KIND, withdraw, store T k=v, load T k, exec T cmd,
 *   metadata T keys, drop T, stop, hold 0|1 */
struct transcript {
	struct buf text;
	struct fledge_engine *engine;
	bool answers_at_once; /* load, store and exec get their result in the call */
	uint64_t last_ticket;
	struct question question; /* the open one */
};

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
	[SHOWN_OUTPUT] = "output",
	[SHOWN_LOG] = "log",
	[SHOWN_PROGRESS] = "progress",
	[SHOWN_PROGRESS_DONE] = "progress-done",
	[SHOWN_STORE] = "store",
	[SHOWN_LOAD] = "load",
	[SHOWN_EXEC] = "exec",
	[SHOWN_METADATA] = "metadata",
	[SHOWN_WARNING] = "warning",
	[SHOWN_ERROR] = "error",
	[SHOWN_DEBUG] = "debug",
};

static void on_show(void *data, const struct shown *shown)
{
	/* What is lent is noted when it is asked for. */
	if (shown->kind >= SHOWN_STORE && shown->kind <= SHOWN_METADATA)
		return;
	char amount[64] = "";
	if (shown->has_amount)
		snprintf(amount, sizeof(amount), " %g/%g", shown->current, shown->total);
	note(data, "show %s%s%.*s %.*s%s", kind_names[shown->kind], shown->level.len ? " " : "",
		(int)shown->level.len, shown->level.data, (int)shown->text.len, shown->text.data, amount);
}

static void on_ask(void *data, const struct question *question)
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

static void on_metadata(void *data, uint64_t ticket, const struct str *keys, size_t count)
{
	note(data, "metadata %zu %.*s", count, count ? (int)keys[0].len : 0, count ? keys[0].data : "");
	settle_ticket(data, ticket, STR("{}"));
}

static void on_drop(void *data, uint64_t ticket)
{
	(void)ticket;
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

static const struct fledge_effects effects = {
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

static struct fledge_engine_options everything(enum fledge_asking asking)
{
	return (struct fledge_engine_options){
		.plugin = { "p", 1 },
		.may_exec = true,
		.may_store = true,
		.may_read_metadata = true,
		.asking = asking,
		.prompt_timeout_ns = 100,
		.answers = given,
		.answer_count = COUNT(given),
	};
}

static void begin(struct transcript *t, const struct fledge_engine_options *options)
{
	*t = (struct transcript){ .answers_at_once = true };
	ck_assert_int_eq(fledge_engine_new(options, &effects, t, &t->engine), 0);
}

static void line(struct transcript *t, const char *text)
{
	fledge_engine_line(t->engine, text, strlen(text), false, 0);
}

static void expect(struct transcript *t, const char *expected)
{
	buf_terminate(&t->text);
	ck_assert_str_eq(t->text.data, expected);
	buf_clear(&t->text);
}

static void end(struct transcript *t)
{
	fledge_engine_free(t->engine);
	buf_free(&t->text);
}

/* ---- one line each ------------------------------------------------------- */

static const struct {
	const char *name;
	const char *line;
	const char *expected;
} lines[] = {
	{ "output", "{\"type\":\"output\",\"text\":\"a\\nb\"}", "show output a\nb\n" },
	{ "output with an id is answered", "{\"type\":\"output\",\"text\":\"x\",\"id\":\"7\"}",
		"show output x\n> {\"type\":\"response\",\"id\":\"7\",\"value\":null}\n" },
	{ "log", "{\"type\":\"log\",\"level\":\"warn\",\"message\":\"m\"}", "show log warn m\n" },
	{ "log of an unknown level", "{\"type\":\"log\",\"level\":\"loud\",\"message\":\"m\"}",
		"show log loud m\n" },
	{ "log without a level", "{\"type\":\"log\",\"message\":\"m\"}", "show log info m\n" },
	{ "progress with amounts",
		"{\"type\":\"progress\",\"message\":\"m\",\"current\":3,\"total\":10.0}",
		"show progress m 3/10\n" },
	{ "progress as a spinner", "{\"type\":\"progress\",\"message\":\"m\"}", "show progress m\n" },
	{ "progress with half an amount", "{\"type\":\"progress\",\"message\":\"m\",\"total\":3}",
		"show progress m\n" },
	{ "progress done", "{\"type\":\"progress\",\"done\":true}", "show progress-done \n" },
	{ "null is absent", "{\"type\":\"progress\",\"message\":\"m\",\"current\":null,\"done\":null}",
		"show progress m\n" },
	{ "store", "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}", "store 0 k=v\n" },
	{ "store with an id", "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\",\"id\":\"s\"}",
		"store 1 k=v\n> {\"type\":\"response\",\"id\":\"s\",\"value\":null}\n" },
	{ "load", "{\"type\":\"load\",\"id\":\"5\",\"key\":\"k\"}",
		"load k\n> {\"type\":\"response\",\"id\":\"5\",\"value\":\"v\"}\n" },
	{ "a numeric id keeps its text", "{\"type\":\"load\",\"id\":1.50e1,\"key\":\"k\"}",
		"load k\n> {\"type\":\"response\",\"id\":1.50e1,\"value\":\"v\"}\n" },
	{ "exec", "{\"type\":\"exec\",\"id\":\"6\",\"command\":\"ls\",\"cwd\":\"src\",\"timeout\":1.5}",
		"exec ls in src\ntimeout 1.5\n> {\"type\":\"response\",\"id\":\"6\",\"value\":{}}\n" },
	{ "metadata", "{\"type\":\"metadata\",\"id\":\"7\",\"keys\":[\"env\",\"git_log\"]}",
		"metadata 2 env\n> {\"type\":\"response\",\"id\":\"7\",\"value\":{}}\n" },
	{ "unknown type", "{\"type\":\"table\"}",
		"show debug line 1 of the plugin: unknown type 'table'; ignored\n" },
	{ "unknown type with an id", "{\"type\":\"table\",\"id\":\"9\"}",
		"show debug line 1 of the plugin: unknown type 'table'; ignored\n"
		"> {\"type\":\"cancel\",\"id\":\"9\",\"reason\":\"unsupported\"}\n" },
	{ "unknown fields", "{\"type\":\"output\",\"text\":\"x\",\"stream\":true}", "show output x\n" },
	{ "an orphaned response", "{\"type\":\"response\",\"id\":\"1\",\"value\":1}",
		"show warning line 1 of the plugin: `response` answers nothing that was asked; ignored\n" },
	{ "not JSON", "hello \x01world",
		"show warning line 1 of the plugin is not JSON and was skipped: hello world\n" },
	{ "not an object", "[1,2]",
		"show warning line 1 of the plugin is not a JSON object and was skipped: [1,2]\n" },
	{ "data behind the object", "{} {}",
		"show warning line 1 of the plugin is not JSON and was skipped: {} {}\n" },
	{ "blank", "  \t ", "" },
	{ "no type", "{\"id\":\"1\"}",
		"show warning line 1 of the plugin: `message`: `type` must be a string, and is missing\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a type that is no string", "{\"type\":5}",
		"show warning line 1 of the plugin: `message`: `type` must be a string, not a number\n" },
	{ "missing id", "{\"type\":\"load\",\"key\":\"k\"}",
		"show warning line 1 of the plugin: `load`: missing id; skipped\n" },
	{ "an id that cannot be echoed", "{\"type\":\"load\",\"id\":[1],\"key\":\"k\"}",
		"show warning line 1 of the plugin: `id` must be a string or a number, not an array\n"
		"show warning line 1 of the plugin: `load`: missing id; skipped\n" },
	{ "a missing field", "{\"type\":\"exec\",\"id\":\"1\"}",
		"show warning line 1 of the plugin: `exec`: `command` must be a string, and is missing\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a field of the wrong type", "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"x\",\"cwd\":1}",
		"show warning line 1 of the plugin: `exec`: `cwd` must be a string, not a number\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a timeout of nothing", "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"x\",\"timeout\":0}",
		"show warning line 1 of the plugin: `exec`: `timeout` must be more than 0, not a number\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a stored number", "{\"type\":\"store\",\"key\":\"k\",\"value\":1}",
		"show warning line 1 of the plugin: `store`: `value` must be a string, not a number\n" },
	{ "keys that are no list", "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":\"env\"}",
		"show warning line 1 of the plugin: `metadata`: `keys` must be a list of strings, not a "
		"string\n> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a select without options",
		"{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[]}",
		"show warning line 1 of the plugin: `select`: `options` must be a list with at least one "
		"string, not an array\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "output as others write it", "{\"type\": \"output\", \"text\": \"a\\n\\t\\\"\\\\\\/\"}",
		"show output a\n\t\"\\/\n" },
	{ "output of nothing", "{\"type\":\"output\",\"text\":\"\"}", "show output \n" },
	{ "output with a raw control character", "{\"type\":\"output\",\"text\":\"a\x01\"}",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"output\",\"text\":\"a\"}\n" },
	{ "output whose last quote is escaped", "{\"type\":\"output\",\"text\":\"a\\\"}",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"output\",\"text\":\"a\\\"}\n" },
	{ "output with another member behind it", "{\"type\":\"output\",\"text\":\"a\",\"id\":\"b\"}",
		"show output a\n> {\"type\":\"response\",\"id\":\"b\",\"value\":null}\n" },
	{ "output with an escape by number", "{\"type\":\"output\",\"text\":\"\\u00e9\"}",
		"show output \xC3\xA9\n" },
	{ "invalid UTF-8 is replaced", "{\"type\":\"output\",\"text\":\"a\xFF\"}",
		"show output a\xEF\xBF\xBD\n" },
};

START_TEST(every_kind_of_line)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct transcript t;
		begin(&t, &options);
		line(&t, lines[i].line);
		buf_terminate(&t.text);
		ck_assert_msg(strcmp(t.text.data, lines[i].expected) == 0, "%s:\n%s\ninstead of\n%s",
			lines[i].name, t.text.data, lines[i].expected);
		end(&t);
	}
}
END_TEST

static void add_pieces(char *text)
{
	static const char *const pieces[] = { "a", "\\n", "\\\"", "\"", "\\", "\x02", "\xC3\xA9",
		"\xFF", "\\u0041", "\\ud800", "\\x", "}", ",", "plain text that is longer than a block",
		"\"}" };
	for (long i = random() % 8; i > 0; i--)
		strcat(text, pieces[(size_t)random() % COUNT(pieces)]);
}

/* The short cuts give what the general way gives: a blank before the first
 * brace takes the line off them. */
START_TEST(the_short_cut_changes_nothing)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	static const char *const heads[] = { " {\"type\":\"output\",\"text\":\"",
		" {\"type\":\"load\",\"id\":\"1\",\"key\":\"", " {\"type\": \"load\", \"id\": \"1" };
	srandom(11);
	for (int round = 0; round < 30000; round++) {
		char text[1200];
		size_t head = (size_t)random() % COUNT(heads);
		strcpy(text, heads[head]);
		add_pieces(text);
		if (head == 2) {
			strcat(text, "\", \"key\": \"");
			add_pieces(text);
		}
		strcat(text, "\"}");
		struct transcript with;
		struct transcript without;
		begin(&with, &options);
		begin(&without, &options);
		line(&with, text + 1);
		line(&without, text);
		buf_terminate(&with.text);
		buf_terminate(&without.text);
		/* A warning quotes the line, with its blank. */
		if (!strstr(without.text.data, "show warning"))
			ck_assert_str_eq(with.text.data, without.text.data);
		else
			ck_assert_ptr_nonnull(strstr(with.text.data, "show warning"));
		end(&with);
		end(&without);
	}
}
END_TEST

START_TEST(without_capabilities_nothing_is_lent)
{
	struct fledge_engine_options options = { .plugin = { "p", 1 } };
	struct transcript t;
	begin(&t, &options);
	line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"rm -rf /\"}");
	expect(&t,
		"show warning exec capability not granted: `rm -rf /` was not run\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":{\"code\":126,\"stderr\":\"exec "
		"capability not granted\",\"stdout\":\"\"}}\n");
	line(&t, "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}");
	expect(&t, "");
	line(&t, "{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	expect(&t, "> {\"type\":\"response\",\"id\":\"2\",\"value\":null}\n");
	line(&t, "{\"type\":\"metadata\",\"id\":\"3\",\"keys\":[\"env\"]}");
	expect(&t,
		"show warning metadata capability not granted\n"
		"> {\"type\":\"response\",\"id\":\"3\",\"value\":{}}\n");
	end(&t);
}
END_TEST

/* ---- the queue ----------------------------------------------------------- */

START_TEST(answers_leave_in_the_order_of_the_requests)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	t.answers_at_once = false;
	line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	uint64_t slow = t.last_ticket;
	line(&t, "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}");
	uint64_t quick = t.last_ticket;
	line(&t, "{\"type\":\"output\",\"id\":\"1\",\"text\":\"x\"}");
	expect(&t, "exec slow\nload k\nshow output x\n");
	fledge_engine_result(t.engine, quick, STR("2"), 0);
	expect(&t, "");
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	expect(&t,
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":1}\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":2}\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":null}\n");
	/* A result that comes twice, or for nobody, changes nothing. */
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	fledge_engine_result(t.engine, 999, STR("1"), 0);
	expect(&t, "");
	end(&t);
}
END_TEST

START_TEST(too_many_requests_stop_the_reading)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	t.answers_at_once = false;
	line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	uint64_t slow = t.last_ticket;
	for (int i = 0; i < 20000; i++)
		line(&t, "{\"type\":\"output\",\"id\":\"1\",\"text\":\"\"}");
	buf_terminate(&t.text);
	const char *held = strstr(t.text.data, "hold 1\n");
	ck_assert_ptr_nonnull(held);
	ck_assert_ptr_null(strstr(held + 1, "hold 1\n"));
	buf_clear(&t.text);
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	buf_terminate(&t.text);
	ck_assert_ptr_nonnull(strstr(t.text.data, "hold 0\n"));
	end(&t);
}
END_TEST

/* ---- questions ----------------------------------------------------------- */

static const struct {
	const char *name;
	enum fledge_asking asking;
	const char *line;
	const char *expected;
} undecided[] = {
#define ASKS(type, rest) "{\"type\":\"" type "\",\"id\":\"1\",\"message\":" rest "}"
#define ANSWER(value) "> {\"type\":\"response\",\"id\":\"1\",\"value\":" value "}\n"
	{ "prompt takes its default", FLEDGE_TAKE_DEFAULTS, ASKS("prompt", "\"m\",\"default\":\"d\""),
		ANSWER("\"d\"") },
	{ "prompt without a default fails", FLEDGE_TAKE_DEFAULTS, ASKS("prompt", "\"m\""),
		"show error the plugin asks 'm' and nobody is there to answer: give --answer 'm=VALUE', or "
		"--answers FILE\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"non_interactive\"}\nstop\n" },
	{ "confirm takes its default", FLEDGE_TAKE_DEFAULTS, ASKS("confirm", "\"m\",\"default\":true"),
		ANSWER("true") },
	{ "confirm without a default is no", FLEDGE_TAKE_DEFAULTS, ASKS("confirm", "\"m\""),
		ANSWER("false") },
	{ "select takes its default", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":1.0"), ANSWER("\"b\"") },
	{ "select without a default takes the first", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"]"), ANSWER("\"a\"") },
	{ "an index out of range is absent", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":2"),
		"show warning line 1 of the plugin: `select`: `default` is not the index of an option; "
		"ignored\n" ANSWER("\"a\"") },
	{ "a negative index is absent", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":-1"),
		"show warning line 1 of the plugin: `select`: `default` is not the index of an option; "
		"ignored\n" ANSWER("\"a\"") },
	{ "multi_select keeps the given order", FLEDGE_TAKE_DEFAULTS,
		ASKS("multi_select", "\"m\",\"options\":[\"a\",\"b\",\"c\"],\"defaults\":[2,0]"),
		ANSWER("[\"c\",\"a\"]") },
	{ "multi_select without defaults is empty", FLEDGE_TAKE_DEFAULTS,
		ASKS("multi_select", "\"m\",\"options\":[\"a\"]"), ANSWER("[]") },
	{ "strict: confirm needs a default", FLEDGE_DEMAND_DEFAULTS, ASKS("confirm", "\"m\""),
		"show error the plugin asks 'm' and nobody is there to answer: give --answer 'm=VALUE', or "
		"--answers FILE\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"non_interactive\"}\nstop\n" },
	{ "strict: an explicit default will do", FLEDGE_DEMAND_DEFAULTS,
		ASKS("confirm", "\"m\",\"default\":false"), ANSWER("false") },
	{ "given text", FLEDGE_ASK, ASKS("prompt", "\"Given text\""), ANSWER("\"from outside\"") },
	{ "given text, without a user", FLEDGE_DEMAND_DEFAULTS, ASKS("prompt", "\" Given text \""),
		ANSWER("\"from outside\"") },
	{ "given text that does not fit", FLEDGE_TAKE_DEFAULTS,
		ASKS("prompt", "\"Given number\",\"validate\":\"integer\",\"default\":\"1\""),
		"show warning the answer given for 'Given number' does not fit: 'twelve'\n" ANSWER(
			"\"1\"") },
	{ "given yes", FLEDGE_ASK, ASKS("confirm", "\"Given yes\""), ANSWER("true") },
	{ "given option", FLEDGE_ASK, ASKS("select", "\"Given option\",\"options\":[\"a\",\"b\"]"),
		ANSWER("\"b\"") },
	{ "given option that is none", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"Given option\",\"options\":[\"x\"]"),
		"show warning the answer given for 'Given option' does not fit: 'b'\n" ANSWER("\"x\"") },
	{ "given list", FLEDGE_ASK,
		ASKS("multi_select", "\"Given list\",\"options\":[\"a\",\"b\",\"c\"]"),
		ANSWER("[\"a\",\"c\"]") },
	{ "an unknown validator accepts", FLEDGE_TAKE_DEFAULTS,
		ASKS("prompt", "\"m\",\"default\":\"d\",\"validate\":\"magic\""),
		"show warning unknown validator 'magic': any answer will do\n" ANSWER("\"d\"") },
};

START_TEST(questions_that_need_no_user)
{
	for (size_t i = 0; i < COUNT(undecided); i++) {
		const struct fledge_engine_options options = everything(undecided[i].asking);
		struct transcript t;
		begin(&t, &options);
		line(&t, undecided[i].line);
		buf_terminate(&t.text);
		ck_assert_msg(strcmp(t.text.data, undecided[i].expected) == 0, "%s:\n%s\ninstead of\n%s",
			undecided[i].name, t.text.data, undecided[i].expected);
		bool is_failure = strstr(undecided[i].expected, "show error") != NULL;
		ck_assert_int_eq(fledge_engine_failed(t.engine), is_failure);
		end(&t);
	}
}
END_TEST

static void answer(struct transcript *t, struct answer given_answer)
{
	given_answer.number = t->question.number;
	fledge_engine_answer(t->engine, &given_answer, 0);
}

START_TEST(questions_are_asked_one_after_the_other)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	line(&t, ASKS("prompt", "\"first\""));
	line(&t, ASKS("confirm", "\"second\""));
	line(&t, ASKS("select", "\"third\",\"options\":[\"a\",\"b\"]"));
	line(&t, ASKS("multi_select", "\"fourth\",\"options\":[\"a\",\"b\"]"));
	expect(&t, "ask prompt first\n");
	answer(&t, (struct answer){ .text = STR("quo\"te") });
	expect(&t, ANSWER("\"quo\\\"te\"") "ask confirm second\n");
	answer(&t, (struct answer){ .yes = true });
	expect(&t, ANSWER("true") "ask select third\n");
	answer(&t, (struct answer){ .chosen = (size_t[]){ 1 }, .chosen_count = 1 });
	expect(&t, ANSWER("\"b\"") "ask multi_select fourth\n");
	answer(&t, (struct answer){ .chosen = (size_t[]){ 0, 1 }, .chosen_count = 2 });
	expect(&t, ANSWER("[\"a\",\"b\"]"));
	/* An answer to a question that is no longer open. */
	answer(&t, (struct answer){ .yes = true });
	expect(&t, "");
	end(&t);
}
END_TEST

START_TEST(an_unanswered_question_times_out)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), NEVER);
	line(&t, ASKS("prompt", "\"first\""));
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), 100);
	fledge_engine_delay(t.engine, 50);
	fledge_engine_tick(t.engine, 149);
	expect(&t, "ask prompt first\n");
	fledge_engine_tick(t.engine, 150);
	expect(&t,
		"show error no answer to 'first' for 0 seconds: cancelled\nwithdraw\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"timeout\"}\nstop\n");
	ck_assert(fledge_engine_failed(t.engine));
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), NEVER);
	end(&t);
}
END_TEST

START_TEST(when_the_user_goes_away_defaults_decide)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	line(&t, ASKS("confirm", "\"first\""));
	line(&t, ASKS("prompt", "\"second\",\"default\":\"d\""));
	fledge_engine_stop_asking(t.engine, 0);
	expect(&t, "ask confirm first\nwithdraw\n" ANSWER("false") ANSWER("\"d\""));
	line(&t, ASKS("confirm", "\"third\""));
	expect(&t, ANSWER("false"));
	end(&t);
}
END_TEST

/* ---- cancel -------------------------------------------------------------- */

START_TEST(cancel_reaches_every_pending_request_once)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	t.answers_at_once = false;
	line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	uint64_t slow = t.last_ticket;
	line(&t, "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}");
	fledge_engine_result(t.engine, t.last_ticket, STR("2"), 0);
	line(&t, ASKS("confirm", "\"sure\""));
	buf_clear(&t.text);
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
#define CANCEL "> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"user_interrupt\"}\n"
	expect(&t, "withdraw\ndrop\ndrop\ndrop\n" CANCEL CANCEL CANCEL "stop\n");
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	expect(&t, "");
	/* What comes later is cancelled with the same reason; what only tells goes on. */
	line(&t, "{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	line(&t, "{\"type\":\"output\",\"text\":\"bye\"}");
	line(&t, "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}");
	expect(&t,
		"> {\"type\":\"cancel\",\"id\":\"2\",\"reason\":\"user_interrupt\"}\n"
		"show output bye\nstore 0 k=v\n");
	end(&t);
}
END_TEST

START_TEST(cancel_without_requests_has_no_id)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	expect(&t, "> {\"type\":\"cancel\",\"reason\":\"user_interrupt\"}\nstop\n");
	end(&t);
}
END_TEST

START_TEST(a_user_who_declines_interrupts)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	line(&t, ASKS("confirm", "\"sure\""));
	answer(&t, (struct answer){ .cancelled = true });
	expect(&t, "ask confirm sure\ndrop\n" CANCEL "stop\n");
	ck_assert(fledge_engine_failed(t.engine));
	end(&t);
}
END_TEST

START_TEST(what_is_quoted_ends_in_a_whole_character)
{
	const struct fledge_engine_options options = everything(FLEDGE_TAKE_DEFAULTS);
	struct transcript t;
	begin(&t, &options);
	struct buf message = { 0 };
	buf_append_text(&message, "{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"x");
	for (int i = 0; i < 150; i++)
		buf_append_text(&message, "\xC3\xA4");
	buf_append_text(&message, "\"}");
	fledge_engine_line(t.engine, message.data, message.len, false, 0);
	buf_terminate(&t.text);
	ck_assert(utf8_is_valid(t.text.data, t.text.len));
	ck_assert_ptr_nonnull(strstr(t.text.data, "\xC3\xA4' and nobody"));
	buf_free(&message);
	end(&t);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_told_once)
{
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t;
	begin(&t, &options);
	fledge_engine_line(t.engine, "{\"type\":\"outp", 13, true, 0);
	expect(&t, "show warning line 1 of the plugin is too long and was skipped: {\"type\":\"outp\n");
	end(&t);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int converse(void *data)
{
	(void)data;
	const struct fledge_engine_options options = everything(FLEDGE_ASK);
	struct transcript t = { 0 };
	if (fledge_engine_new(&options, &effects, &t, &t.engine) < 0)
		return -1;
	line(&t, ASKS("multi_select", "\"m\",\"options\":[\"a\",\"b\"],\"defaults\":[0]"));
	line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	line(&t, "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":[\"env\"]}");
	line(&t, ASKS("prompt", "\"Given text\""));
	line(&t, ASKS("multi_select", "\"Given list\",\"options\":[\"a\",\"b\",\"c\"]"));
	if (t.question.message.len)
		answer(&t, (struct answer){ .chosen = (size_t[]){ 0 }, .chosen_count = 1 });
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	bool is_broken = fledge_engine_is_broken(t.engine) || t.text.failed;
	end(&t);
	return is_broken ? -1 : 0;
}

START_TEST(every_failed_allocation_is_noticed)
{
	ck_assert_uint_gt(oom_every(converse, NULL), 10);
}
END_TEST

SUITE_MAIN("engine", every_kind_of_line, the_short_cut_changes_nothing,
	without_capabilities_nothing_is_lent, answers_leave_in_the_order_of_the_requests,
	too_many_requests_stop_the_reading, questions_that_need_no_user,
	questions_are_asked_one_after_the_other, an_unanswered_question_times_out,
	when_the_user_goes_away_defaults_decide, cancel_reaches_every_pending_request_once,
	cancel_without_requests_has_no_id, a_user_who_declines_interrupts,
	a_line_that_is_too_long_is_told_once, what_is_quoted_ends_in_a_whole_character,
	every_failed_allocation_is_noticed)
