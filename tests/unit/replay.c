/* Replays from strings: the same recording is the same, a changed byte of what the host
 * said is found, and whatever else is changed ends in an answer. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perch/base.h"
#include "replay/replay.h"

/* ---- recordings ------------------------------------------------------------------ */

/* In a list of lines: '<' the host sends, '>' comes from the other side, '*' an event
 * and its facts, '!' the same as '<' and masked. */
static const char *const fledge[] = {
	"*start {\"protocol\":\"fledge-v1\",\"plugin\":\"p\",\"exec\":true,\"store\":true,"
	"\"metadata\":false,\"asking\":\"ask\",\"prompt_timeout_ns\":1000000000,"
	"\"answers\":[{\"message\":\"given\",\"value\":\"yes\"}]}",
	">{\"type\":\"load\",\"id\":\"0\",\"key\":\"early\"}",
	"*result {\"ticket\":1,\"value\":null}",
	"<{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":\"deploy\",\"args\":[\"a\","
	"\"\\\"\"],"
	"\"project\":{\"name\":\"n\",\"root\":\"/r\",\"language\":\"go\",\"git\":{\"branch\":\"main\","
	"\"dirty\":true,\"remote\":\"origin\",\"remote_url\":\"\"}},\"plugin\":{\"name\":\"p\","
	"\"version\":\"1\",\"dir\":\"/d\"},\"fledge\":{\"version\":\"1.8.0\"},\"capabilities\":"
	"{\"exec\":true,\"store\":true,\"metadata\":false},\"host\":{\"name\":\"perch\",\"version\":"
	"\"0.0.9\"}}",
	"<{\"type\":\"response\",\"id\":\"0\",\"value\":null}",
	">{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}",
	">{\"type\":\"exec\",\"id\":\"2\",\"command\":\"fast\"}",
	"*result {\"ticket\":3,\"value\":{\"code\":2}}",
	"*result {\"ticket\":2,\"value\":{\"code\":1}}",
	"<{\"type\":\"response\",\"id\":\"1\",\"value\":{\"code\":1}}",
	"<{\"type\":\"response\",\"id\":\"2\",\"value\":{\"code\":2}}",
	">{\"type\":\"prompt\",\"id\":\"3\",\"message\":\"who?\"}",
	"*answer {\"ticket\":4,\"cancelled\":false,\"text\":\"me\",\"yes\":false,\"chosen\":[]}",
	"<{\"type\":\"response\",\"id\":\"3\",\"value\":\"me\"}",
	">{\"type\":\"select\",\"id\":\"4\",\"message\":\"which?\",\"options\":[\"x\",\"y\"]}",
	"*answer {\"ticket\":5,\"cancelled\":false,\"text\":\"\",\"yes\":false,\"chosen\":[1]}",
	"<{\"type\":\"response\",\"id\":\"4\",\"value\":\"y\"}",
	">{\"type\":\"multi_select\",\"id\":\"5\",\"message\":\"all?\",\"options\":[\"x\",\"y\"]}",
	"*answer {\"ticket\":6,\"cancelled\":false,\"text\":\"\",\"yes\":false,\"chosen\":[0,1]}",
	"<{\"type\":\"response\",\"id\":\"5\",\"value\":[\"x\",\"y\"]}",
	">{\"type\":\"confirm\",\"id\":\"6\",\"message\":\"given\"}",
	"<{\"type\":\"response\",\"id\":\"6\",\"value\":true}",
	">{\"type\":\"metadata\",\"id\":\"7\",\"keys\":[\"env\"]}",
	"<{\"type\":\"response\",\"id\":\"7\",\"value\":{}}",
	">{\"type\":\"load\",\"id\":\"8\",\"key\":\"k\"}",
	"*result {\"ticket\":9,\"value\":\"****\"}",
	"!{\"type\":\"response\",\"id\":\"8\",\"value\":\"****\"}",
	">{\"type\":\"nonsense\",\"id\":9}",
	"<{\"type\":\"cancel\",\"id\":9,\"reason\":\"unsupported\"}",
	">{\"type\":\"confirm\",\"id\":\"10\",\"message\":\"now?\"}",
	"*interrupt {\"signal\":15}",
	"<{\"type\":\"cancel\",\"id\":\"10\",\"reason\":\"user_interrupt\"}",
	"*exit {\"status\":0,\"signal\":0}",
	"*end {\"exit_code\":143}",
	NULL,
};

static const char *const fledge_timeout[] = {
	"*start {\"protocol\":\"fledge-v1\",\"plugin\":\"p\",\"asking\":\"ask\"}",
	"<{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":\"c\",\"args\":[],\"project\":null,"
	"\"plugin\":{\"name\":\"p\",\"version\":\"1\",\"dir\":\"\"},\"fledge\":{\"version\":\"1.8.0\"},"
	"\"capabilities\":{\"exec\":false,\"store\":false,\"metadata\":false},\"host\":{\"name\":"
	"\"perch\",\"version\":\"9\"}}",
	">{\"type\":\"confirm\",\"id\":1,\"message\":\"a\",\"default\":true}",
	">{\"type\":\"prompt\",\"id\":2,\"message\":\"b\"}",
	"*went_away {}",
	"<{\"type\":\"response\",\"id\":1,\"value\":true}",
	"<{\"type\":\"cancel\",\"id\":2,\"reason\":\"non_interactive\"}",
	"*exit {\"status\":0,\"signal\":0}",
	"*end {\"exit_code\":1}",
	NULL,
};

#define REQUEST                                                                      \
	"{\"type\":\"request\",\"request_id\":\"r1\",\"tool_name\":\"t.x\",\"context\":" \
	"{\"repo_root\":\"/r\"},\"input\":{\"n\":1.0}}"

static const char *const tool[] = {
	"*start {\"protocol\":\"tool\",\"version\":\"rterm.plugin.v1\",\"plugin\":\"t\","
	"\"capabilities\":[],\"handshake_only\":false,\"strict\":false,\"request\":" REQUEST "}",
	"<{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}",
	">{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t\",\"plugin_version\":\"1\","
	"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"]}}",
	"<" REQUEST,
	">{\"type\":\"response\",\"request_id\":\"r1\",\"status\":\"ok\",\"output\":[1]}",
	"*eof {}",
	"*exit {\"known\":true,\"status\":0,\"signal\":0}",
	"*verdict {\"code\":\"ok\",\"stage\":\"teardown\",\"message\":\"\",\"responded\":true,"
	"\"error_code\":\"\",\"error_message\":\"\",\"output_bytes\":3,\"extra_bytes\":0}",
	NULL,
};

static const char *const tool_timeout[] = {
	"*start {\"protocol\":\"tool\",\"version\":\"v\",\"plugin\":\"t\",\"capabilities\":[],"
	"\"handshake_only\":true,\"request\":null}",
	"<{\"type\":\"handshake\",\"protocol_version\":\"v\"}",
	"*hang_up {}",
	"*clock {\"clock\":\"handshake\",\"after_ns\":2000000000}",
	"*verdict {\"code\":\"timeout\",\"stage\":\"handshake\",\"message\":\"the plugin sent no "
	"handshake within 2 s\",\"responded\":false,\"error_code\":\"\",\"error_message\":\"\","
	"\"output_bytes\":0,\"extra_bytes\":0}",
	NULL,
};

static const char *const agent[] = {
	"*start {\"protocol\":\"agentproc\",\"version\":\"0.4\",\"session_prefix\":\"\",\"streaming\":"
	"true,\"permission\":true,\"max_reply_chars\":0,\"truncation_suffix\":\"\",\"line_limit\":1000,"
	"\"total_limit\":10000,\"send_error_reply\":true,\"include_stderr\":false,\"input\":"
	"\"{\\\"type\\\":\\\"turn\\\",\\\"message\\\":\\\"hi\\\",\\\"session_id\\\":\\\"\\\","
	"\\\"session_name\\\":\\\"default\\\",\\\"attachments\\\":[{\\\"kind\\\":\\\"file\\\","
	"\\\"url\\\":\\\"u\\\",\\\"name\\\":\\\"n\\\"}],\\\"permission\\\":true,"
	"\\\"protocol_version\\\":\\\"0.4\\\"}\\n\"}",
	"<{\"type\":\"turn\",\"message\":\"hi\",\"session_id\":\"\",\"session_name\":\"default\","
	"\"attachments\":[{\"kind\":\"file\",\"url\":\"u\",\"name\":\"n\"}],\"permission\":true,"
	"\"protocol_version\":\"0.4\"}",
	">{\"type\":\"partial\",\"text\":\"wait\",\"session_id\":\"s1\"}",
	"*session {\"id\":\"s1\"}",
	">{\"type\":\"permission_request\",\"request_id\":\"p1\",\"tool_name\":\"rm\",\"input\":{}}",
	"*permit {\"request_id\":\"p1\",\"allowed\":false,\"message\":\"no\"}",
	"<{\"type\":\"permission_response\",\"request_id\":\"p1\",\"behavior\":\"deny\","
	"\"message\":\"no\"}",
	">{\"type\":\"result\",\"text\":\"done\"}",
	"*exit {\"status\":3,\"signal\":0,\"stderr\":\"\"}",
	"*error {\"code\":\"exit\",\"text\":\"the agent failed with exit status 3\"}",
	"*end {\"exit_code\":3,\"partials\":1,\"partial_bytes\":4}",
	NULL,
};

static const char *const agent_older[] = {
	"*start {\"protocol\":\"agentproc\",\"version\":\"0.1\",\"session_prefix\":\"AGENT_SESSION:\","
	"\"streaming\":true,\"permission\":false,\"max_reply_chars\":3,\"truncation_suffix\":\"~\","
	"\"line_limit\":1000,\"total_limit\":10000,\"send_error_reply\":true,\"include_stderr\":true,"
	"\"input\":\"hello\"}",
	"<hello",
	">abcdef",
	"*exit {\"status\":0,\"signal\":0,\"stderr\":\"oops\\n\"}",
	"*reply {\"text\":\"abc~\\n\\noops\"}",
	"*end {\"exit_code\":0,\"partials\":0,\"partial_bytes\":0}",
	NULL,
};

static const char *const *const recordings[] = { fledge, fledge_timeout, tool, tool_timeout, agent,
	agent_older };

/* ---- playing ----------------------------------------------------------------------- */

static void append_string(struct buf *out, const char *text)
{
	buf_append_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, *text);
	}
	buf_append_char(out, '"');
}

/* The i-th line of a recording as a record of a trace. */
static void append_record(struct buf *out, const char *line)
{
	if (line[0] == '*') {
		const char *facts = strchr(line, ' ') + 1;
		buf_printf(out,
			"{\"t\":0,\"dir\":\"host\",\"event\":\"%.*s\",\"facts\":%s,\"line\":\"\"}\n",
			(int)(facts - line - 2), line + 1, facts);
		return;
	}
	buf_printf(out, "{\"t\":0,\"dir\":\"%s\",\"line\":", line[0] == '>' ? "out" : "in");
	append_string(out, line + 1);
	buf_append_text(out, line[0] == '!' ? ",\"masked\":true}\n" : "}\n");
}

static void append_recording(struct buf *out, const char *const *lines)
{
	buf_append_text(out, "{\"trace\":1,\"perch\":\"0.0.9\",\"command\":\"c\",\"args\":[]}\n");
	for (; *lines; lines++)
		append_record(out, *lines);
}

/* As replay_take; *ret_replay is the caller's. */
static int play_bytes(const char *bytes, size_t len, struct replay **ret_replay)
{
	struct trace_reader *reader = NULL;
	struct replay *replay = NULL;
	int r = replay_new(&replay);
	const struct trace_reader_options options = { .take = replay_take, .data = replay };
	if (r == 0)
		r = trace_reader_new(&options, &reader);
	char *copy = malloc(len + 1);
	if (r == 0 && !copy)
		r = -ENOMEM;
	if (r == 0) {
		memcpy(copy, bytes, len);
		r = trace_reader_feed(reader, copy, len);
	}
	if (r == 0)
		r = trace_reader_finish(reader);
	if (r == 0)
		r = replay_finish(replay);
	free(copy);
	trace_reader_free(reader);
	*ret_replay = replay;
	return r;
}

static int play(const char *const *lines, struct replay **ret_replay)
{
	struct buf text = { 0 };
	append_recording(&text, lines);
	int r = play_bytes(text.data, text.len, ret_replay);
	buf_free(&text);
	return r;
}

START_TEST(the_same_is_the_same)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		struct replay *replay = NULL;
		int r = play(recordings[i], &replay);
		const struct replay_report *report = replay_report(replay);
		ck_assert_msg(r == 0, "%zu: %d %s line %llu\n%.*s\n%.*s", i, r, replay_error(replay),
			(unsigned long long)report->difference.line, (int)report->difference.recorded.len,
			report->difference.recorded.data, (int)report->difference.now.len,
			report->difference.now.data);
		ck_assert(report->has_end);
		ck_assert_uint_gt(report->compared, 1);
		replay_free(replay);
	}
}
END_TEST

START_TEST(it_says_what_was_lent_and_masked)
{
	struct replay *replay = NULL;
	ck_assert_int_eq(play(fledge, &replay), 0);
	const struct replay_report *report = replay_report(replay);
	ck_assert_str_eq(report->protocol, "fledge-v1");
	ck_assert_uint_eq(report->lent, 4);
	ck_assert_uint_eq(report->commands, 2);
	ck_assert_uint_eq(report->masked, 1);
	ck_assert_uint_eq(report->masked_first, 28);
	ck_assert_uint_eq(report->played, 11);
	ck_assert(str_is(report->version, "0.0.9"));
	replay_free(replay);
}
END_TEST

/* Finds where in a text of what the host said a change does not count: inside of init,
 * of which the replay takes the values from the recording. */
static bool is_from_init(const char *line)
{
	return strstr(line, "\"type\":\"init\"") != NULL;
}

static void expect_found(const char *const *lines, size_t line, size_t at, bool is_line)
{
	struct replay *replay = NULL;
	int r = play(lines, &replay);
	const struct replay_difference *difference = &replay_report(replay)->difference;
	ck_assert_msg(r == 1, "%d at %zu of: %s", r, at, lines[line]);
	ck_assert_uint_eq(difference->line, line + 2);
	ck_assert_int_eq(difference->kind, REPLAY_OTHER);
	if (is_line)
		ck_assert_uint_eq(difference->at, at - 1);
	replay_free(replay);
}

/* One byte of one line is another one: it is found, and named. */
START_TEST(every_byte_of_the_host_counts)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		const char *lines[64] = { 0 };
		for (size_t n = 0; (lines[n] = recordings[i][n]); n++)
			continue;
		for (size_t n = 0; lines[n]; n++) {
			if ((lines[n][0] != '<' && lines[n][0] != '!') || is_from_init(lines[n]))
				continue;
			const char *kept = lines[n];
			char *changed = strdup(kept);
			lines[n] = changed;
			for (size_t at = 1; kept[at]; at++) {
				changed[at] = kept[at] == 'z' ? 'y' : 'z';
				expect_found(lines, n, at, true);
				changed[at] = kept[at];
			}
			lines[n] = kept;
			free(changed);
		}
	}
}
END_TEST

/* And so is a fact of how it ended. */
START_TEST(another_end_is_found)
{
	static const struct {
		const char *const *lines;
		const char *event;
		const char *other;
	} ends[] = {
		{ fledge, "*end ", "*end {\"exit_code\":130}" },
		{ tool, "*verdict ", "*verdict {\"code\":\"crashed\"}" },
		{ agent, "*error ", "*error {\"code\":\"exit\",\"text\":\"\"}" },
		{ agent, "*session ", "*session {\"id\":\"s2\"}" },
		{ agent_older, "*reply ", "*reply {\"text\":\"abcdef\"}" },
		{ agent_older, "*end ", "*end {\"exit_code\":1,\"partials\":0,\"partial_bytes\":0}" },
	};
	for (size_t i = 0; i < COUNT(ends); i++) {
		const char *lines[64] = { 0 };
		size_t at = 0;
		for (size_t n = 0; (lines[n] = ends[i].lines[n]); n++) {
			if (strncmp(lines[n], ends[i].event, strlen(ends[i].event)) == 0) {
				lines[n] = ends[i].other;
				at = n;
			}
		}
		expect_found(lines, at, 0, false);
	}
}
END_TEST

/* What no process can end with counts as nothing. */
START_TEST(a_status_that_cannot_be_is_none)
{
	static const struct {
		const char *const *lines;
		const char *exit;
	} exits[] = {
		{ fledge_timeout, "*exit {\"status\":0,\"signal\":2147483647}" },
		{ fledge_timeout, "*exit {\"status\":256,\"signal\":-2}" },
		{ fledge_timeout, "*exit {\"status\":4294967297,\"signal\":9223372036854775807}" },
		{ tool, "*exit {\"known\":true,\"status\":2147483648,\"signal\":-2147483648}" },
		{ agent_older, "*exit {\"status\":-2,\"signal\":2147483647,\"stderr\":\"oops\\n\"}" },
		{ agent_older, "*exit {\"status\":4294967298,\"signal\":256,\"stderr\":\"oops\\n\"}" },
	};
	for (size_t i = 0; i < COUNT(exits); i++) {
		const char *lines[64] = { 0 };
		for (size_t n = 0; (lines[n] = exits[i].lines[n]); n++) {
			if (strncmp(lines[n], "*exit ", 6) == 0)
				lines[n] = exits[i].exit;
		}
		struct replay *replay = NULL;
		ck_assert_msg(play(lines, &replay) == 0, "%s: %s", exits[i].exit, replay_error(replay));
		replay_free(replay);
	}
}
END_TEST

/* Nor does anybody send such a signal. */
START_TEST(a_signal_that_cannot_be_is_none)
{
	const char *const fledge_lines[] = { fledge_timeout[0], fledge_timeout[1],
		"*interrupt {\"signal\":2147483647}",
		"<{\"type\":\"cancel\",\"reason\":\"user_interrupt\"}", "*exit {\"status\":3,\"signal\":0}",
		"*end {\"exit_code\":3}", NULL };
	const char *const agent_lines[] = { agent_older[0], "<hello", "*cancel {\"signal\":2147483647}",
		"*exit {\"status\":0,\"signal\":0}",
		"*end {\"exit_code\":0,\"partials\":0,\"partial_bytes\":0}", NULL };
	const char *const *const all[] = { fledge_lines, agent_lines };
	for (size_t i = 0; i < COUNT(all); i++) {
		struct replay *replay = NULL;
		int r = play(all[i], &replay);
		struct str now = replay_report(replay)->difference.now;
		ck_assert_msg(r == 0, "%zu: %s%.*s", i, replay_error(replay), (int)now.len, now.data);
		replay_free(replay);
	}
}
END_TEST

/* What the host says does not depend on it. */
static bool is_spare(const char *line)
{
	static const char *const spare[] = { "*eof ", ">{\"type\":\"result\"", "*hang_up ",
		"*exit {\"status\":0,\"signal\":0}" };
	for (size_t i = 0; i < COUNT(spare); i++) {
		if (strncmp(line, spare[i], strlen(spare[i])) == 0)
			return true;
	}
	return false;
}

/* A line that is left out is missing, or one too many. */
START_TEST(a_line_more_or_less_is_found)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		for (size_t skipped = 1; recordings[i][skipped]; skipped++) {
			const char *lines[64] = { 0 };
			size_t count = 0;
			for (size_t n = 0; recordings[i][n]; n++) {
				if (n != skipped)
					lines[count++] = recordings[i][n];
			}
			struct replay *replay = NULL;
			int r = play(lines, &replay);
			bool is_last = !recordings[i][skipped + 1];
			ck_assert_msg(r == 1 || is_last || is_spare(recordings[i][skipped]), "%d without: %s",
				r, recordings[i][skipped]);
			if (is_last && r == 0)
				ck_assert(!replay_report(replay)->has_end);
			replay_free(replay);
		}
	}
}
END_TEST

/* What no host has recorded: an error that says so, and nothing worse. */
static const struct {
	const char *lines[8];
	const char *words; /* NULL = it is a difference */
} odd[] = {
	{ { NULL }, "there is no exchange" },
	{ { "<x" }, "was not recorded" },
	{ { "*start {\"protocol\":\"x\"}" }, "'x' is not known" },
	{ { "*start {}" }, "'' is not known" },
	{ { "*start {\"protocol\":\"tool\"}", "<{\"type\":\"handshake\",\"protocol_version\":\"\"}",
		  "*start {\"protocol\":\"tool\"}" },
		"second exchange" },
	{ { "*failed {}" }, "could not be started" },
	{ { "*start {\"protocol\":\"fledge-v1\"}", "*result {\"ticket\":1}" }, "without its value" },
	{ { "*start {\"protocol\":\"fledge-v1\",\"asking\":\"ask\"}",
		  ">{\"type\":\"select\",\"id\":1,\"message\":\"m\",\"options\":[\"a\"]}",
		  "*answer {\"ticket\":1,\"chosen\":[1]}" },
		"none of the options" },
	{ { "*start {\"protocol\":\"fledge-v1\",\"asking\":\"ask\"}",
		  ">{\"type\":\"select\",\"id\":1,\"message\":\"m\",\"options\":[\"a\"]}",
		  "*answer {\"ticket\":1,\"chosen\":[]}" },
		"none of the options" },
	/* A result for a question is none. */
	{ { "*start {\"protocol\":\"fledge-v1\",\"asking\":\"ask\"}",
		  ">{\"type\":\"confirm\",\"id\":1,\"message\":\"m\"}",
		  "*result {\"ticket\":1,\"value\":true}", "*timeout {}", "*exit {}",
		  "*end {\"exit_code\":7}" },
		NULL },
	{ { "*start {\"protocol\":\"agentproc\",\"version\":\"0.1\"}", "*exit {}",
		  "*end {\"exit_code\":0,\"partials\":0,\"partial_bytes\":0}", "*exit {}" },
		"a second time" },
	{ { "*start {\"protocol\":\"tool\",\"request\":{\"tool_name\":\"x\"}}", "<x" }, NULL },
};

START_TEST(what_nobody_recorded_is_an_error)
{
	for (size_t i = 0; i < COUNT(odd); i++) {
		struct replay *replay = NULL;
		int r = play(odd[i].lines, &replay);
		ck_assert_msg(r == (odd[i].words ? -EINVAL : 1), "%zu: %d %s", i, r, replay_error(replay));
		if (odd[i].words)
			ck_assert_msg(strstr(replay_error(replay), odd[i].words) != NULL, "%zu: %s", i,
				replay_error(replay));
		replay_free(replay);
	}
}
END_TEST

START_TEST(requests_without_end_are_an_error)
{
	struct buf text = { 0 };
	append_record(&text, "*start {\"protocol\":\"fledge-v1\",\"exec\":true}");
	for (int i = 0; i < 20000; i++)
		append_record(&text, ">{\"type\":\"exec\",\"id\":1,\"command\":\"x\"}");
	struct replay *replay = NULL;
	ck_assert_int_eq(play_bytes(text.data, text.len, &replay), -EINVAL);
	ck_assert_msg(strstr(replay_error(replay), "line 16386 ") != NULL, "%s", replay_error(replay));
	replay_free(replay);
	buf_free(&text);
}
END_TEST

/* Cut off anywhere: the same so far, or an error with its line; never a difference, but
 * for what the host had not yet written. */
START_TEST(a_cut_recording_is_no_crash)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		struct buf text = { 0 };
		append_recording(&text, recordings[i]);
		for (size_t len = 0; len < text.len - 1; len += 3) {
			struct replay *replay = NULL;
			int r = play_bytes(text.data, len, &replay);
			const struct replay_report *report = replay_report(replay);
			ck_assert(r == -EINVAL || !report->has_end || r == 0);
			ck_assert(r != 1 || report->difference.kind == REPLAY_EXTRA);
			replay_free(replay);
		}
		buf_free(&text);
	}
}
END_TEST

/* Made before memory runs out. */
static struct buf texts[COUNT(recordings)];

static int play_one(void *data)
{
	const struct buf *text = data;
	struct replay *replay = NULL;
	int r = play_bytes(text->data, text->len, &replay);
	if (r > 0)
		ck_abort_msg("a difference in line %llu of: %.200s",
			(unsigned long long)replay_report(replay)->difference.line, text->data);
	replay_free(replay);
	return r;
}

START_TEST(memory_may_run_out_anywhere)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		append_recording(&texts[i], recordings[i]);
		ck_assert_uint_gt(oom_every(play_one, &texts[i]), 20);
	}
}
END_TEST

SUITE_MAIN("replay", the_same_is_the_same, it_says_what_was_lent_and_masked,
	every_byte_of_the_host_counts, another_end_is_found, a_status_that_cannot_be_is_none,
	a_signal_that_cannot_be_is_none, a_line_more_or_less_is_found, what_nobody_recorded_is_an_error,
	requests_without_end_are_an_error, a_cut_recording_is_no_crash, memory_may_run_out_anywhere)
