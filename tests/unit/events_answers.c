/* events: which answers are taken, and which are not. */
#include "harness/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "events/events.h"
#include "harness/rig.h"

static const struct {
	const perch_question *question;
	const char *line;
	const char *heard;
} good[] = {
	{ &rig_prompt, "{\"ask\":3,\"value\":\"\"}\n", "[3:]" },
	{ &rig_prompt, " { \"more\":1, \"value\":\"a \\u00e4\", \"ask\":3.0 } \r\n", "[3:a \xC3\xA4]" },
	{ &rig_prompt, "{\"ask\":3,\"cancel\":true}\n", "[3 cancelled:]" },
	{ &rig_prompt, "{\"ask\":3,\"cancel\":false,\"value\":\"v\"}\n", "[3:v]" },
	{ &rig_prompt, "{\"ask\":3,\"value\":\"\xFF\"}\n", "[3:\xEF\xBF\xBD]" },
	{ &rig_count, "{\"ask\":4,\"value\":\"-12\"}\n", "[4:-12]" },
	{ &rig_confirm, "{\"ask\":5,\"value\":true}\n", "[5: yes]" },
	{ &rig_confirm, "{\"ask\":5,\"value\":false}\n", "[5:]" },
	{ &rig_pick, "{\"ask\":6,\"value\":\"blue\"}\n", "[6: 1]" },
	{ &rig_pick, "{\"ask\":6,\"value\":\"red\"}\n", "[6: 0]" },
	{ &rig_pick, "{\"ask\":6,\"value\":\"\"}\n", "[6: 2]" },
	{ &rig_pick, "{\"ask\":6,\"value\":3}\n", "[6: 3]" },
	{ &rig_pick_some, "{\"ask\":7,\"value\":[]}\n", "[7:]" },
	{ &rig_pick_some, "{\"ask\":7,\"value\":[3,\"blue\",\"red\",1,\"blue\"]}\n", "[7: 0 1 3]" },
	{ &rig_pick_some, "{\"ask\":7,\"cancel\":true}\n", "[7 cancelled:]" },
};

START_TEST(answers_that_fit_are_delivered)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct rig rig;
		rig_begin(&rig);
		rig_ask(&rig, good[i].question);
		rig_answer(&rig, good[i].line);
		rig_settle(&rig);
		ck_assert_str_eq(rig.heard, good[i].heard);
		ck_assert_msg(!strstr(rig_said(&rig), "warning"), "%s", rig.said);
		rig_end(&rig);
	}
}
END_TEST

static const struct {
	const perch_question *question;
	const char *line;
	const char *words;
} bad[] = {
	{ &rig_prompt, "blue", "line 1 of the answers is ignored: expected a value" },
	{ &rig_prompt, "{\"ask\":3,\"value\":\"x\"", "line 1 of the answers is ignored" },
	{ &rig_prompt, "[3]", "expected {\\\"ask\\\":NUMBER,\\\"value\\\":…}" },
	{ &rig_prompt, "{\"value\":\"x\"}", "expected {" },
	{ &rig_prompt, "{\"ask\":\"3\",\"value\":\"x\"}", "expected {" },
	{ &rig_prompt, "{\"ask\":-3,\"value\":\"x\"}", "expected {" },
	{ &rig_prompt, "{\"ask\":3.5,\"value\":\"x\"}", "expected {" },
	{ &rig_prompt, "{\"ask\":2,\"value\":\"x\"}", "the answer to question 2 is ignored" },
	{ &rig_prompt, "{\"ask\":3}", "question 3 is still open: the value must be a string" },
	{ &rig_prompt, "{\"ask\":3,\"cancel\":1}", "must be a string" },
	{ &rig_prompt, "{\"ask\":3,\"value\":7}", "must be a string" },
	{ &rig_prompt, "{\"ask\":3,\"value\":null}", "must be a string" },
	{ &rig_count, "{\"ask\":4,\"value\":\"many\"}",
		"question 4 is still open: please enter a whole number" },
	{ &rig_confirm, "{\"ask\":5,\"value\":\"yes\"}", "must be true or false" },
	{ &rig_pick, "{\"ask\":6,\"value\":\"green\"}", "must be one of the options or its index" },
	{ &rig_pick, "{\"ask\":6,\"value\":\"re\"}", "must be one of the options" },
	{ &rig_pick, "{\"ask\":6,\"value\":4}", "must be one of the options" },
	{ &rig_pick, "{\"ask\":6,\"value\":-1}", "must be one of the options" },
	{ &rig_pick, "{\"ask\":6,\"value\":0.5}", "must be one of the options" },
	{ &rig_pick, "{\"ask\":6,\"value\":[0]}", "must be one of the options" },
	{ &rig_pick_some, "{\"ask\":7,\"value\":\"red\"}", "must be a list of options" },
	{ &rig_pick_some, "{\"ask\":7,\"value\":[\"red\",\"green\"]}", "must be a list of options" },
	{ &rig_pick_some, "{\"ask\":7,\"value\":[[]]}", "must be a list of options" },
};

START_TEST(answers_that_do_not_fit_leave_the_question_open)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct rig rig;
		rig_begin(&rig);
		rig_ask(&rig, bad[i].question);
		rig_said(&rig);
		rig_answer(&rig, bad[i].line);
		rig_answer(&rig, "\n\n");
		rig_settle(&rig);
		ck_assert_str_eq(rig.heard, "");
		rig_said(&rig);
		ck_assert_msg(strstr(rig.said, "{\"event\":\"warning\",\"message\":\"") == rig.said &&
				strstr(rig.said, bad[i].words) && strchr(rig.said, '\n')[1] == '\0',
			"\"%s\" is not in: %s", bad[i].words, rig.said);
		char cancel[64];
		snprintf(
			cancel, sizeof(cancel), "{\"ask\":%d,\"cancel\":true}\n", (int)bad[i].question->number);
		rig_answer(&rig, cancel);
		rig_settle(&rig);
		ck_assert_ptr_nonnull(strstr(rig.heard, "cancelled"));
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_line_in_pieces_is_one_answer)
{
	struct rig rig;
	rig_begin(&rig);
	rig_ask(&rig, &rig_prompt);
	for (const char *c = "{\"ask\":3,\"value\":\"slow\"}\n"; *c; c++) {
		ck_assert_str_eq(rig.heard, "");
		ck_assert_int_eq(fd_write_all(rig.write_end, c, 1), 0);
		rig_settle(&rig);
	}
	ck_assert_str_eq(rig.heard, "[3:slow]");
	rig_answer(&rig, "{\"ask\":3,\"value\":\"again\"}\n");
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:slow]");
	ck_assert_ptr_nonnull(strstr(rig_said(&rig), "question 3 is ignored: it is not open"));
	rig_end(&rig);
}
END_TEST

START_TEST(answers_may_come_ahead)
{
	struct rig rig;
	rig_begin(&rig);
	rig_answer(&rig,
		"{\"ask\":5,\"value\":true}\n{\"ask\":2,\"value\":\"never asked\"}\n"
		"{\"ask\":4,\"value\":\"no number\"}\n{\"ask\":3,\"value\":\"early\"}\n"
		"{\"ask\":4,\"value\":\"44\"}\n");
	rig_settle(&rig);
	ck_assert_str_eq(rig_said(&rig), "");
	/* Never from inside ask. */
	rig.frontend->table->ask(rig.frontend, &rig_prompt, NULL);
	ck_assert_str_eq(rig.heard, "");
	rig.next = &rig_count;
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:early][4:44]");
	rig_said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "the answer to question 2 is ignored"));
	ck_assert_ptr_nonnull(strstr(rig.said, "question 4 is still open"));
	rig_ask(&rig, &rig_confirm);
	ck_assert_str_eq(rig.heard, "[3:early][4:44][5: yes]");
	rig_end(&rig);
}
END_TEST

START_TEST(answers_ahead_are_bounded)
{
	struct rig rig;
	rig_begin(&rig);
	for (int i = 0; i <= EVENTS_AHEAD_MAX; i++) {
		char line[64];
		snprintf(line, sizeof(line), "{\"ask\":%d,\"value\":true}\n", 100 + i);
		rig_answer(&rig, line);
		rig_settle(&rig);
	}
	rig_said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "the answer to question 1124 came too early"));
	ck_assert_ptr_null(strstr(rig.said, "question 1123"));
	rig_ask(&rig, &rig_confirm);
	rig_answer(&rig, "{\"ask\":5,\"value\":true}\n");
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "[5: yes]");
	rig_end(&rig);
}
END_TEST

static void *write_long_lines(void *data)
{
	struct rig *rig = data;
	size_t len = EVENTS_LINE_MAX - 100;
	char *text = malloc(len);
	memset(text, 'x', len);
	for (int i = 0; i < 3; i++) {
		fd_write_all(rig->write_end, "{\"ask\":9,\"value\":\"", 18);
		fd_write_all(rig->write_end, text, len);
		fd_write_all(rig->write_end, "\"}\n", 3);
	}
	fd_write_all(rig->write_end, text, len);
	fd_write_all(rig->write_end, text, 101);
	fd_write_all(rig->write_end, "\n{\"ask\":3,\"value\":\"short\"}\n", 27);
	free(text);
	return NULL;
}

START_TEST(long_lines_are_bounded)
{
	struct rig rig;
	rig_begin(&rig);
	rig_ask(&rig, &rig_prompt);
	rig_said(&rig);
	pthread_t writer;
	pthread_create(&writer, NULL, write_long_lines, &rig);
	while (!rig.heard[0])
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	pthread_join(writer, NULL);
	ck_assert_str_eq(rig.heard, "[3:short]");
	rig_said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "question 9 came too early"));
	ck_assert_ptr_nonnull(strstr(rig.said, "line 4 of the answers is ignored: too long"));
	rig_end(&rig);
}
END_TEST

/* A plugin with very many options and a program that takes them all. */
START_TEST(many_options_take_no_longer_than_they_must)
{
	enum { MANY = 100000 };
	struct rig rig;
	rig_begin(&rig);
	static char texts[MANY][8];
	static perch_text options[MANY];
	struct buf line = { 0 };
	buf_append_text(&line, "{\"ask\":8,\"value\":[");
	for (int i = 0; i < MANY; i++) {
		int len = snprintf(texts[i], sizeof(texts[i]), "%d", i);
		options[i] = (perch_text){ texts[i], (size_t)len };
		buf_printf(&line, "%s\"%d\"", i ? "," : "", MANY - 1 - i);
	}
	buf_append_text(&line, "]}\n");
	const perch_question many = {
		.number = 8, .kind = PERCH_QUESTION_MULTI_SELECT, .options = options, .option_count = MANY
	};
	/* The event itself is larger than the pipe. */
	pthread_t reader;
	pthread_create(&reader, NULL, rig_drain, &rig);
	rig.frontend->table->ask(rig.frontend, &many, NULL);
	char path[] = "/tmp/perch-events-XXXXXX";
	int file = mkstemp(path);
	ck_assert_int_eq(fd_write_all(file, line.data, line.len), 0);
	lseek(file, 0, SEEK_SET);
	unlink(path);
	char chunk[4096];
	for (ssize_t n; (n = read(file, chunk, sizeof(chunk))) > 0;) {
		ck_assert_int_eq(fd_write_all(rig.write_end, chunk, (size_t)n), 0);
		rig_settle(&rig);
	}
	ck_assert_msg(strncmp(rig.heard, "[8: 0 1 2 3 4 5 6 7 8 9 10 ", 27) == 0, "%s", rig.heard);
	rig.frontend->table->flush(rig.frontend);
	rig.out = fd_close(rig.out);
	void *result;
	pthread_join(reader, &result);
	buf_free(result);
	free(result);
	buf_free(&line);
	close(file);
	rig_end(&rig);
}
END_TEST

SUITE_MAIN("events-answers", answers_that_fit_are_delivered,
	answers_that_do_not_fit_leave_the_question_open, a_line_in_pieces_is_one_answer,
	answers_may_come_ahead, answers_ahead_are_bounded, long_lines_are_bounded,
	many_options_take_no_longer_than_they_must)
