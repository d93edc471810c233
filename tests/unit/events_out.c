/* events: what goes out. */
#include "harness/suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "events/events.h"
#include "harness/rig.h"

static const size_t second = 1;
static const perch_question confirm_no = {
	.number = 5, .kind = PERCH_QUESTION_CONFIRM, .message = { "Sure?", 5 }, .has_default = true
};
static const perch_question pick_second = { .number = 6,
	.kind = PERCH_QUESTION_SELECT,
	.message = { "Colour?", 7 },
	.options = rig_colors,
	.option_count = 2,
	.has_default = true,
	.defaults = &second,
	.default_count = 1 };

#define TEXT(literal)                \
	{                                \
		literal, sizeof(literal) - 1 \
	}

static const struct {
	struct shown shown;
	const char *event;
} shows[] = {
	{ { .kind = PERCH_SHOWN_OUTPUT, .text = TEXT("a\n\"b\"\x1b\xFF") },
		"{\"event\":\"output\",\"text\":\"a\\n\\\"b\\\"\\u001b\xEF\xBF\xBD\"}\n" },
	{ { .kind = PERCH_SHOWN_LOG, .level = TEXT("warn"), .text = TEXT("hm"), .plugin = TEXT("p") },
		"{\"event\":\"log\",\"level\":\"warn\",\"message\":\"hm\"}\n" },
	{ { .kind = PERCH_SHOWN_PROGRESS, .text = TEXT("Up") },
		"{\"event\":\"progress\",\"message\":\"Up\"}\n" },
	{ { .kind = PERCH_SHOWN_PROGRESS,
		  .text = TEXT("Up"),
		  .has_amount = true,
		  .current = 3,
		  .total = 9.5 },
		"{\"event\":\"progress\",\"message\":\"Up\",\"current\":3,\"total\":9.5}\n" },
	{ { .kind = PERCH_SHOWN_PROGRESS_DONE }, "{\"event\":\"progress\",\"done\":true}\n" },
	{ { .kind = PERCH_SHOWN_STORE, .key = TEXT("k") }, "{\"event\":\"store\",\"key\":\"k\"}\n" },
	{ { .kind = PERCH_SHOWN_LOAD, .key = TEXT("k") }, "{\"event\":\"load\",\"key\":\"k\"}\n" },
	{ { .kind = PERCH_SHOWN_EXEC, .text = TEXT("make -j") },
		"{\"event\":\"exec\",\"command\":\"make -j\"}\n" },
	{ { .kind = PERCH_SHOWN_METADATA, .text = TEXT("env, git_log") },
		"{\"event\":\"metadata\",\"keys\":[\"env\",\"git_log\"]}\n" },
	{ { .kind = PERCH_SHOWN_METADATA }, "{\"event\":\"metadata\",\"keys\":[]}\n" },
	{ { .kind = PERCH_SHOWN_WARNING, .text = TEXT("w") },
		"{\"event\":\"warning\",\"message\":\"w\"}\n" },
	{ { .kind = PERCH_SHOWN_ERROR, .text = TEXT("e") },
		"{\"event\":\"error\",\"message\":\"e\"}\n" },
	{ { .kind = PERCH_SHOWN_DEBUG, .text = TEXT("d") }, "" },
};

START_TEST(everything_shown_is_an_event)
{
	struct rig rig;
	rig_begin(&rig);
	for (size_t i = 0; i < COUNT(shows); i++) {
		rig.frontend->table->show(rig.frontend, &shows[i].shown);
		ck_assert_str_eq(rig_said(&rig), shows[i].event);
	}
	events_show_debug(rig.frontend);
	rig.frontend->table->show(rig.frontend, &shows[COUNT(shows) - 1].shown);
	ck_assert_str_eq(rig_said(&rig), "{\"event\":\"debug\",\"message\":\"d\"}\n");
	rig_end(&rig);
}
END_TEST

static const struct {
	const perch_question *question;
	const char *event;
} questions[] = {
	{ &rig_prompt, "{\"event\":\"prompt\",\"ask\":3,\"message\":\"Name?\"}\n" },
	{ &rig_count,
		"{\"event\":\"prompt\",\"ask\":4,\"message\":\"How many?\",\"default\":\"1\","
		"\"validate\":\"integer\"}\n" },
	{ &rig_confirm, "{\"event\":\"confirm\",\"ask\":5,\"message\":\"Sure?\"}\n" },
	{ &confirm_no, "{\"event\":\"confirm\",\"ask\":5,\"message\":\"Sure?\",\"default\":false}\n" },
	{ &rig_pick,
		"{\"event\":\"select\",\"ask\":6,\"message\":\"Colour?\","
		"\"options\":[\"red\",\"blue\",\"\",\"red\"]}\n" },
	{ &pick_second,
		"{\"event\":\"select\",\"ask\":6,\"message\":\"Colour?\","
		"\"options\":[\"red\",\"blue\"],\"default\":1}\n" },
	{ &rig_pick_some,
		"{\"event\":\"multi_select\",\"ask\":7,\"message\":\"Colours?\","
		"\"options\":[\"red\",\"blue\",\"\",\"red\"],\"defaults\":[3,0]}\n" },
};

START_TEST(questions_are_events)
{
	for (size_t i = 0; i < COUNT(questions); i++) {
		struct rig rig;
		rig_begin(&rig);
		rig_ask(&rig, questions[i].question);
		ck_assert_str_eq(rig_said(&rig), questions[i].event);
		rig.frontend->table->withdraw(rig.frontend);
		rig.frontend->table->withdraw(rig.frontend);
		char expected[64];
		snprintf(expected, sizeof(expected), "{\"event\":\"withdraw\",\"ask\":%d}\n",
			(int)questions[i].question->number);
		ck_assert_str_eq(rig_said(&rig), expected);
		ck_assert_str_eq(rig.heard, "");
		rig_end(&rig);
	}
}
END_TEST

START_TEST(the_end_is_the_last_event)
{
	struct rig rig;
	rig_begin(&rig);
	rig_ask(&rig, &rig_prompt);
	rig_said(&rig);
	static const char *const layers[] = { "landlock", "seccomp", NULL };
	perch_fledge_end outcome = { .success = false,
		.exit_code = 137,
		.signal = 9,
		.duration_ns = UINT64_C(1234567890),
		.reach = PERCH_REACH_GROUP,
		.sandbox = layers };
	rig.frontend->table->done(rig.frontend, &outcome);
	rig_answer(&rig, "nonsense\n{\"ask\":3,\"value\":\"late\"}\n");
	rig_settle(&rig);
	ck_assert_str_eq(rig_said(&rig),
		"{\"event\":\"end\",\"success\":false,\"exit_code\":137,"
		"\"signal\":9,\"duration_ms\":1234,"
		"\"sandbox\":[\"landlock\",\"seccomp\"],\"reach\":\"group\",\"background_ended\":0}\n");
	ck_assert_str_eq(rig.heard, "");
	rig_end(&rig);
	rig_begin(&rig);
	outcome = (perch_fledge_end){ .success = true };
	rig.frontend->table->done(rig.frontend, &outcome);
	ck_assert_ptr_nonnull(strstr(rig_said(&rig),
		"\"success\":true,\"exit_code\":0,\"signal\":null,"
		"\"duration_ms\":0,\"sandbox\":[],"));
	rig_end(&rig);
}
END_TEST

/* More than a pipe holds, into a descriptor that does not wait by itself. */
START_TEST(a_full_pipe_is_waited_for)
{
	struct rig rig;
	rig_begin(&rig);
	fd_set_nonblocking(rig.out);
	pthread_t reader;
	pthread_create(&reader, NULL, rig_drain, &rig);
	static char text[1000];
	memset(text, 'x', sizeof(text));
	const struct shown shown = { .kind = PERCH_SHOWN_OUTPUT, .text = { text, sizeof(text) } };
	for (int i = 0; i < 2000; i++)
		rig.frontend->table->show(rig.frontend, &shown);
	rig.frontend->table->flush(rig.frontend);
	rig.out = fd_close(rig.out);
	void *result;
	pthread_join(reader, &result);
	struct buf *all = result;
	size_t line = strlen("{\"event\":\"output\",\"text\":\"\"}\n") + sizeof(text);
	ck_assert_uint_eq(all->len, 2000 * line);
	for (size_t i = 0; i < 2000; i++)
		ck_assert_int_eq(memcmp(all->data, all->data + i * line, line), 0);
	ck_assert_int_eq(events_error(rig.frontend), 0);
	buf_free(all);
	free(all);
	rig_end(&rig);
}
END_TEST

START_TEST(a_reader_that_is_gone_is_remembered)
{
	struct rig rig;
	rig_begin(&rig);
	signal(SIGPIPE, SIG_DFL);
	rig.read_end = fd_close(rig.read_end);
	rig.frontend->table->show(rig.frontend, &shows[0].shown);
	ck_assert_int_eq(events_error(rig.frontend), 0);
	rig.frontend->table->flush(rig.frontend);
	ck_assert_int_eq(events_error(rig.frontend), -EPIPE);
	for (int i = 0; i < 100000; i++)
		rig.frontend->table->show(rig.frontend, &shows[0].shown);
	rig.frontend->table->done(rig.frontend, &(perch_fledge_end){ 0 });
	ck_assert_int_eq(events_error(rig.frontend), -EPIPE);
	rig_end(&rig);
}
END_TEST

SUITE_MAIN("events-out", everything_shown_is_an_event, questions_are_events,
	the_end_is_the_last_event, a_full_pipe_is_waited_for, a_reader_that_is_gone_is_remembered)
