/* fledge-v1 from strings: every kind of line, and the order of answers. */
#include "harness/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "harness/transcript.h"

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
		"show debug line 1 of the plugin: there is no message type 'table': ignored\n" },
	{ "unknown type with an id", "{\"type\":\"table\",\"id\":\"9\"}",
		"show warning line 1 of the plugin: there is no message type 'table': answered by "
		"cancel\n"
		"> {\"type\":\"cancel\",\"id\":\"9\",\"reason\":\"unsupported\"}\n" },
	{ "unknown fields", "{\"type\":\"output\",\"text\":\"x\",\"stream\":true}", "show output x\n" },
	{ "an orphaned response", "{\"type\":\"response\",\"id\":\"1\",\"value\":1}",
		"show warning line 1 of the plugin: `response` answers nothing that was asked; ignored\n" },
	{ "not JSON", "hello \x01world",
		"show warning line 1 of the plugin is not JSON and was skipped: hello world\n" },
	{ "letters of any language are kept", "\xE2\x98\x83 sch\xC3\xB6n \xE2\x80\xAE\xFF",
		"show warning line 1 of the plugin is not JSON and was skipped: \xE2\x98\x83 sch\xC3\xB6n "
		"\xEF\xBF\xBD\n" },
	{ "no JSON, but an id", "{\"type\":\"prompt\",\"id\":\"7\",\"message\":\"Hello",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"prompt\",\"id\":\"7\",\"message\":\"Hello\n"
		"show warning column 43 of line 1: expected '\"' at the end of a string, found the end of "
		"the "
		"text\n"
		"> {\"type\":\"cancel\",\"id\":\"7\",\"reason\":\"invalid_request\"}\n" },
	{ "no JSON, but a number as an id",
		" {\"a\":{\"id\":3},\"b\":[{\"id\":4}], \"id\" : 12 , oops}",
		"show warning line 1 of the plugin is not JSON and was skipped:  "
		"{\"a\":{\"id\":3},\"b\":[{\"id\":4}], \"id\" : 12 , oops}\n"
		"show warning column 44 of line 1: expected the name of a member in double quotes behind "
		"',', found 'o'\n"
		"> {\"type\":\"cancel\",\"id\":12,\"reason\":\"invalid_request\"}\n" },
	{ "no JSON, and its id is cut off", "{\"type\":\"prompt\",\"id\":\"7",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"prompt\",\"id\":\"7\n"
		"show warning column 25 of line 1: expected '\"' at the end of a string, found the end of "
		"the text; it may be waiting for an answer to the line that was skipped\n" },
	{ "no JSON, and the id is somebody else's",
		"{\"text\":\"\\\"id\\\":\\\"1\\\"\",\"x\":{\"id\":\"2\"}",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"text\":\"\\\"id\\\":\\\"1\\\"\",\"x\":{\"id\":\"2\"}\n"
		"show warning column 38 of line 1: expected ',' or '}' after a member, found the end of "
		"the text; it may be waiting for an answer to the line that was skipped\n" },
	{ "not an object", "[1,2]",
		"show warning line 1 of the plugin is not a JSON object and was skipped: [1,2]\n" },
	{ "data behind the object", "{} {}",
		"show warning line 1 of the plugin is not JSON and was skipped: {} {}\n"
		"show warning column 4 of line 1: expected nothing behind the value, found '{'; it may be "
		"waiting for an answer to the line that was skipped\n" },
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
		"show warning line 1 of the plugin: `exec`: `timeout` must be more than 0, not 0\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a stored number", "{\"type\":\"store\",\"key\":\"k\",\"value\":1}",
		"show warning line 1 of the plugin: `store`: `value` must be a string, not a number\n" },
	{ "keys that are no list", "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":\"env\"}",
		"show warning line 1 of the plugin: `metadata`: `keys` must be a list of strings, not a "
		"string\n> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "keys that are no strings", "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":[\"env\",1]}",
		"show warning line 1 of the plugin: `metadata`: `keys` must be a list of strings, not a "
		"list with a number in it\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "a select without options",
		"{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[]}",
		"show warning line 1 of the plugin: `select`: `options` must be a list with at least one "
		"string, not []\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}\n" },
	{ "output as others write it", "{\"type\": \"output\", \"text\": \"a\\n\\t\\\"\\\\\\/\"}",
		"show output a\n\t\"\\/\n" },
	{ "output of nothing", "{\"type\":\"output\",\"text\":\"\"}", "show output \n" },
	{ "output with a raw control character", "{\"type\":\"output\",\"text\":\"a\x01\"}",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"output\",\"text\":\"a\"}\n"
		"show warning column 27 of line 1: expected control characters in a string to be escaped, "
		"found the byte 0x01\n" },
	{ "output whose last quote is escaped", "{\"type\":\"output\",\"text\":\"a\\\"}",
		"show warning line 1 of the plugin is not JSON and was skipped: "
		"{\"type\":\"output\",\"text\":\"a\\\"}\n"
		"show warning column 30 of line 1: expected '\"' at the end of a string, found the end of "
		"the text\n" },
	{ "output with another member behind it", "{\"type\":\"output\",\"text\":\"a\",\"id\":\"b\"}",
		"show output a\n> {\"type\":\"response\",\"id\":\"b\",\"value\":null}\n" },
	{ "output with an escape by number", "{\"type\":\"output\",\"text\":\"\\u00e9\"}",
		"show output \xC3\xA9\n" },
	{ "invalid UTF-8 is replaced", "{\"type\":\"output\",\"text\":\"a\xFF\"}",
		"show output a\xEF\xBF\xBD\n" },
};

START_TEST(every_kind_of_line)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct transcript t;
		transcript_begin(&t, FLEDGE_ASK);
		transcript_line(&t, lines[i].line);
		transcript_expect_case(&t, lines[i].name, lines[i].expected);
		transcript_end(&t);
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
		transcript_begin(&with, FLEDGE_ASK);
		transcript_begin(&without, FLEDGE_ASK);
		transcript_line(&with, text + 1);
		transcript_line(&without, text);
		buf_terminate(&with.text);
		buf_terminate(&without.text);
		/* A warning quotes the line, with its blank. */
		if (!strstr(without.text.data, "show warning"))
			ck_assert_str_eq(with.text.data, without.text.data);
		else
			ck_assert_ptr_nonnull(strstr(with.text.data, "show warning"));
		transcript_end(&with);
		transcript_end(&without);
	}
}
END_TEST

START_TEST(without_capabilities_nothing_is_lent)
{
	struct transcript t;
	transcript_begin_with(&t, (struct fledge_engine_options){ .plugin = { "p", 1 } });
	transcript_line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"rm -rf /\"}");
	transcript_expect(&t,
		"show warning exec capability not granted: `rm -rf /` was not run\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":{\"code\":126,\"stderr\":\"exec "
		"capability not granted\",\"stdout\":\"\"}}\n");
	transcript_line(&t, "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}");
	transcript_expect(&t, "");
	transcript_line(&t, "{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	transcript_expect(&t, "> {\"type\":\"response\",\"id\":\"2\",\"value\":null}\n");
	transcript_line(&t, "{\"type\":\"metadata\",\"id\":\"3\",\"keys\":[\"env\"]}");
	transcript_expect(&t,
		"show warning metadata capability not granted\n"
		"> {\"type\":\"response\",\"id\":\"3\",\"value\":{}}\n");
	transcript_end(&t);
}
END_TEST

/* ---- the queue ----------------------------------------------------------- */

START_TEST(answers_leave_in_the_order_of_the_requests)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	uint64_t slow = transcript_hold_up(&t);
	transcript_line(&t, "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}");
	uint64_t quick = t.last_ticket;
	transcript_line(&t, "{\"type\":\"output\",\"id\":\"1\",\"text\":\"x\"}");
	transcript_expect(&t, "exec slow\nload k\nshow output x\n");
	fledge_engine_result(t.engine, quick, STR("2"), 0);
	transcript_expect(&t, "");
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	transcript_expect(&t,
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":1}\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":2}\n"
		"> {\"type\":\"response\",\"id\":\"1\",\"value\":null}\n");
	/* A result that comes twice, or for nobody, changes nothing. */
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	fledge_engine_result(t.engine, 999, STR("1"), 0);
	transcript_expect(&t, "");
	transcript_end(&t);
}
END_TEST

START_TEST(too_many_requests_stop_the_reading)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	uint64_t slow = transcript_hold_up(&t);
	for (int i = 0; i < 20000; i++)
		transcript_line(&t, "{\"type\":\"output\",\"id\":\"1\",\"text\":\"\"}");
	buf_terminate(&t.text);
	const char *held = strstr(t.text.data, "hold 1\n");
	ck_assert_ptr_nonnull(held);
	ck_assert_ptr_null(strstr(held + 1, "hold 1\n"));
	buf_clear(&t.text);
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	buf_terminate(&t.text);
	ck_assert_ptr_nonnull(strstr(t.text.data, "hold 0\n"));
	transcript_end(&t);
}
END_TEST

START_TEST(what_is_quoted_ends_in_a_whole_character)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_TAKE_DEFAULTS);
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
	transcript_end(&t);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_told_once)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	fledge_engine_line(t.engine, "{\"type\":\"outp", 13, true, 0);
	transcript_expect(
		&t, "show warning line 1 of the plugin is too long and was skipped: {\"type\":\"outp\n");
	transcript_end(&t);
}
END_TEST

SUITE_MAIN("fledge-engine", every_kind_of_line, the_short_cut_changes_nothing,
	without_capabilities_nothing_is_lent, answers_leave_in_the_order_of_the_requests,
	too_many_requests_stop_the_reading, what_is_quoted_ends_in_a_whole_character,
	a_line_that_is_too_long_is_told_once)
