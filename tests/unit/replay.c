/* Replays from strings: the same recording is the same, a changed byte of what the host
 * said is found, and whatever else is changed ends in an answer. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/recording.h"

START_TEST(the_same_is_the_same)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		struct replay *replay = NULL;
		int r = recording_play(recordings[i], &replay);
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
	ck_assert_int_eq(recording_play(recorded_fledge, &replay), 0);
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
	int r = recording_play(lines, &replay);
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
		{ recorded_fledge, "*end ", "*end {\"exit_code\":130}" },
		{ recorded_tool, "*verdict ", "*verdict {\"code\":\"crashed\"}" },
		{ recorded_agent, "*error ", "*error {\"code\":\"exit\",\"text\":\"\"}" },
		{ recorded_agent, "*session ", "*session {\"id\":\"s2\"}" },
		{ recorded_agent_older, "*reply ", "*reply {\"text\":\"abcdef\"}" },
		{ recorded_agent_older, "*end ",
			"*end {\"exit_code\":1,\"partials\":0,\"partial_bytes\":0}" },
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
		{ recorded_fledge_timeout, "*exit {\"status\":0,\"signal\":2147483647}" },
		{ recorded_fledge_timeout, "*exit {\"status\":256,\"signal\":-2}" },
		{ recorded_fledge_timeout, "*exit {\"status\":4294967297,\"signal\":9223372036854775807}" },
		{ recorded_tool, "*exit {\"known\":true,\"status\":2147483648,\"signal\":-2147483648}" },
		{ recorded_agent_older,
			"*exit {\"status\":-2,\"signal\":2147483647,\"stderr\":\"oops\\n\"}" },
		{ recorded_agent_older,
			"*exit {\"status\":4294967298,\"signal\":256,\"stderr\":\"oops\\n\"}" },
	};
	for (size_t i = 0; i < COUNT(exits); i++) {
		const char *lines[64] = { 0 };
		for (size_t n = 0; (lines[n] = exits[i].lines[n]); n++) {
			if (strncmp(lines[n], "*exit ", 6) == 0)
				lines[n] = exits[i].exit;
		}
		struct replay *replay = NULL;
		ck_assert_msg(
			recording_play(lines, &replay) == 0, "%s: %s", exits[i].exit, replay_error(replay));
		replay_free(replay);
	}
}
END_TEST

/* Nor does anybody send such a signal. */
START_TEST(a_signal_that_cannot_be_is_none)
{
	const char *const fledge_lines[] = { recorded_fledge_timeout[0], recorded_fledge_timeout[1],
		"*interrupt {\"signal\":2147483647}",
		"<{\"type\":\"cancel\",\"reason\":\"user_interrupt\"}", "*exit {\"status\":3,\"signal\":0}",
		"*end {\"exit_code\":3}", NULL };
	const char *const agent_lines[] = { recorded_agent_older[0], "<hello",
		"*cancel {\"signal\":2147483647}", "*exit {\"status\":0,\"signal\":0}",
		"*end {\"exit_code\":0,\"partials\":0,\"partial_bytes\":0}", NULL };
	const char *const *const all[] = { fledge_lines, agent_lines };
	for (size_t i = 0; i < COUNT(all); i++) {
		struct replay *replay = NULL;
		int r = recording_play(all[i], &replay);
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
			int r = recording_play(lines, &replay);
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
		int r = recording_play(odd[i].lines, &replay);
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
	recording_append_line(&text, "*start {\"protocol\":\"fledge-v1\",\"exec\":true}");
	for (int i = 0; i < 20000; i++)
		recording_append_line(&text, ">{\"type\":\"exec\",\"id\":1,\"command\":\"x\"}");
	struct replay *replay = NULL;
	ck_assert_int_eq(recording_play_bytes(text.data, text.len, &replay), -EINVAL);
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
		recording_append(&text, recordings[i]);
		for (size_t len = 0; len < text.len - 1; len += 3) {
			struct replay *replay = NULL;
			int r = recording_play_bytes(text.data, len, &replay);
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
	int r = recording_play_bytes(text->data, text->len, &replay);
	if (r > 0)
		ck_abort_msg("a difference in line %llu of: %.200s",
			(unsigned long long)replay_report(replay)->difference.line, text->data);
	replay_free(replay);
	return r;
}

START_TEST(memory_may_run_out_anywhere)
{
	for (size_t i = 0; i < COUNT(recordings); i++) {
		recording_append(&texts[i], recordings[i]);
		ck_assert_uint_gt(oom_every(play_one, &texts[i]), 20);
	}
}
END_TEST

SUITE_MAIN("replay", the_same_is_the_same, it_says_what_was_lent_and_masked,
	every_byte_of_the_host_counts, another_end_is_found, a_status_that_cannot_be_is_none,
	a_signal_that_cannot_be_is_none, a_line_more_or_less_is_found, what_nobody_recorded_is_an_error,
	requests_without_end_are_an_error, a_cut_recording_is_no_crash, memory_may_run_out_anywhere)
