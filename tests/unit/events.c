/* events: what goes out and what comes in, over real descriptors. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "events/events.h"
#include "harness/oom.h"

/* A frontend between two pipes, and a host that writes down what it is told. */
struct rig {
	struct loop loop;
	struct frontend *frontend;
	int write_end; /* of its stdin */
	int read_end;  /* of its stdout */
	int in, out;
	char said[4096];             /* what came out */
	char heard[1024];            /* what the host was told */
	const struct question *next; /* asked as soon as an answer comes */
};

static void note(struct rig *rig, const char *text)
{
	size_t len = strlen(rig->heard);
	snprintf(rig->heard + len, sizeof(rig->heard) - len, "%s", text);
}

static void host_answered(void *data, const struct answer *answer)
{
	struct rig *rig = data;
	char text[256];
	snprintf(text, sizeof(text), "[%d%s:%.*s%s", (int)answer->number,
		answer->cancelled ? " cancelled" : "", (int)answer->text.len,
		answer->text.data ? answer->text.data : "", answer->yes ? " yes" : "");
	note(rig, text);
	for (size_t i = 0; i < answer->chosen_count; i++) {
		snprintf(text, sizeof(text), " %zu", answer->chosen[i]);
		note(rig, text);
	}
	note(rig, "]");
	const struct question *next = rig->next;
	rig->next = NULL;
	if (next)
		rig->frontend->table->ask(rig->frontend, next);
}

static void host_left_alone(void *data)
{
	struct rig *rig = data;
	note(rig, "(alone)");
	rig->frontend->table->withdraw(rig->frontend);
}

static int connect_host(struct rig *rig, int in, int out)
{
	int r = events_new(&rig->loop, in, out, &rig->frontend, NULL);
	if (r < 0)
		return r;
	rig->frontend->answered = host_answered;
	rig->frontend->went_away = host_left_alone;
	rig->frontend->answered_data = rig;
	return 0;
}

/* With `input` in the pipe already, if it is not NULL. */
static void begin_with(struct rig *rig, const char *input)
{
	*rig = (struct rig){ 0 };
	ck_assert_int_eq(loop_init(&rig->loop), 0);
	ck_assert_int_eq(fd_pipe(&rig->in, &rig->write_end), 0);
	ck_assert_int_eq(fd_pipe(&rig->read_end, &rig->out), 0);
	ck_assert_int_eq(fd_set_nonblocking(rig->read_end), 0);
	if (input)
		ck_assert_int_eq(fd_write_all(rig->write_end, input, strlen(input)), 0);
}

static void begin(struct rig *rig)
{
	begin_with(rig, NULL);
	ck_assert_int_eq(connect_host(rig, rig->in, rig->out), 0);
	ck_assert(rig->frontend->is_interactive);
}

static void end(struct rig *rig)
{
	rig->frontend->table->free(rig->frontend);
	ck_assert_uint_eq(rig->loop.timers.promised, 0);
	ck_assert_uint_eq(rig->loop.timers.count, 0);
	loop_close(&rig->loop);
	fd_close(rig->in);
	fd_close(rig->out);
	fd_close(rig->write_end);
	fd_close(rig->read_end);
}

static void answer(struct rig *rig, const char *text)
{
	ck_assert_int_eq(fd_write_all(rig->write_end, text, strlen(text)), 0);
}

static void hang_up(struct rig *rig)
{
	rig->write_end = fd_close(rig->write_end);
}

/* Lets the loop do all there is to do. */
static void settle(struct rig *rig)
{
	int done;
	do {
		done = loop_run(&rig->loop, 0);
		ck_assert_int_ge(done, 0);
	} while (done > 0);
}

/* What was said since the last time. */
static const char *said(struct rig *rig)
{
	rig->frontend->table->flush(rig->frontend);
	ssize_t n = read(rig->read_end, rig->said, sizeof(rig->said) - 1);
	ck_assert(n > 0 || (n < 0 && errno == EAGAIN));
	rig->said[n > 0 ? n : 0] = '\0';
	return rig->said;
}

static void ask(struct rig *rig, const struct question *question)
{
	rig->frontend->table->ask(rig->frontend, question);
	settle(rig);
}

static const struct str colors[] = { { "red", 3 }, { "blue", 4 }, { "", 0 }, { "red", 3 } };
static const size_t last_and_first[] = { 3, 0 };

static const struct question prompt = {
	.number = 3, .kind = QUESTION_PROMPT, .message = { "Name?", 5 }
};
static const struct question count_prompt = { .number = 4,
	.kind = QUESTION_PROMPT,
	.message = { "How many?", 9 },
	.has_default = true,
	.default_text = { "1", 1 },
	.validator = VALIDATE_INTEGER };
static const struct question confirm = {
	.number = 5, .kind = QUESTION_CONFIRM, .message = { "Sure?", 5 }
};
static const struct question confirm_no = {
	.number = 5, .kind = QUESTION_CONFIRM, .message = { "Sure?", 5 }, .has_default = true
};
static const struct question pick = { .number = 6,
	.kind = QUESTION_SELECT,
	.message = { "Colour?", 7 },
	.options = colors,
	.option_count = 4 };
static const struct question pick_second = { .number = 6,
	.kind = QUESTION_SELECT,
	.message = { "Colour?", 7 },
	.options = colors,
	.option_count = 2,
	.has_default = true,
	.default_index = 1 };
static const struct question pick_some = { .number = 7,
	.kind = QUESTION_MULTI_SELECT,
	.message = { "Colours?", 8 },
	.options = colors,
	.option_count = 4,
	.has_default = true,
	.defaults = last_and_first,
	.default_count = 2 };

/* ---- what goes out ------------------------------------------------------------ */

#define TEXT(literal)                \
	{                                \
		literal, sizeof(literal) - 1 \
	}

static const struct {
	struct shown shown;
	const char *event;
} shows[] = {
	{ { .kind = SHOWN_OUTPUT, .text = TEXT("a\n\"b\"\x1b\xFF") },
		"{\"event\":\"output\",\"text\":\"a\\n\\\"b\\\"\\u001b\xEF\xBF\xBD\"}\n" },
	{ { .kind = SHOWN_LOG, .level = TEXT("warn"), .text = TEXT("hm"), .plugin = TEXT("p") },
		"{\"event\":\"log\",\"level\":\"warn\",\"message\":\"hm\"}\n" },
	{ { .kind = SHOWN_PROGRESS, .text = TEXT("Up") },
		"{\"event\":\"progress\",\"message\":\"Up\"}\n" },
	{ { .kind = SHOWN_PROGRESS,
		  .text = TEXT("Up"),
		  .has_amount = true,
		  .current = 3,
		  .total = 9.5 },
		"{\"event\":\"progress\",\"message\":\"Up\",\"current\":3,\"total\":9.5}\n" },
	{ { .kind = SHOWN_PROGRESS_DONE }, "{\"event\":\"progress\",\"done\":true}\n" },
	{ { .kind = SHOWN_STORE, .key = TEXT("k") }, "{\"event\":\"store\",\"key\":\"k\"}\n" },
	{ { .kind = SHOWN_LOAD, .key = TEXT("k") }, "{\"event\":\"load\",\"key\":\"k\"}\n" },
	{ { .kind = SHOWN_EXEC, .text = TEXT("make -j") },
		"{\"event\":\"exec\",\"command\":\"make -j\"}\n" },
	{ { .kind = SHOWN_METADATA, .text = TEXT("env, git_log") },
		"{\"event\":\"metadata\",\"keys\":[\"env\",\"git_log\"]}\n" },
	{ { .kind = SHOWN_METADATA }, "{\"event\":\"metadata\",\"keys\":[]}\n" },
	{ { .kind = SHOWN_WARNING, .text = TEXT("w") }, "{\"event\":\"warning\",\"message\":\"w\"}\n" },
	{ { .kind = SHOWN_ERROR, .text = TEXT("e") }, "{\"event\":\"error\",\"message\":\"e\"}\n" },
	{ { .kind = SHOWN_DEBUG, .text = TEXT("d") }, "" },
};

START_TEST(everything_shown_is_an_event)
{
	struct rig rig;
	begin(&rig);
	for (size_t i = 0; i < COUNT(shows); i++) {
		rig.frontend->table->show(rig.frontend, &shows[i].shown);
		ck_assert_str_eq(said(&rig), shows[i].event);
	}
	events_show_debug(rig.frontend);
	rig.frontend->table->show(rig.frontend, &shows[COUNT(shows) - 1].shown);
	ck_assert_str_eq(said(&rig), "{\"event\":\"debug\",\"message\":\"d\"}\n");
	end(&rig);
}
END_TEST

static const struct {
	const struct question *question;
	const char *event;
} questions[] = {
	{ &prompt, "{\"event\":\"prompt\",\"ask\":3,\"message\":\"Name?\"}\n" },
	{ &count_prompt,
		"{\"event\":\"prompt\",\"ask\":4,\"message\":\"How many?\",\"default\":\"1\","
		"\"validate\":\"integer\"}\n" },
	{ &confirm, "{\"event\":\"confirm\",\"ask\":5,\"message\":\"Sure?\"}\n" },
	{ &confirm_no, "{\"event\":\"confirm\",\"ask\":5,\"message\":\"Sure?\",\"default\":false}\n" },
	{ &pick,
		"{\"event\":\"select\",\"ask\":6,\"message\":\"Colour?\","
		"\"options\":[\"red\",\"blue\",\"\",\"red\"]}\n" },
	{ &pick_second,
		"{\"event\":\"select\",\"ask\":6,\"message\":\"Colour?\","
		"\"options\":[\"red\",\"blue\"],\"default\":1}\n" },
	{ &pick_some,
		"{\"event\":\"multi_select\",\"ask\":7,\"message\":\"Colours?\","
		"\"options\":[\"red\",\"blue\",\"\",\"red\"],\"defaults\":[3,0]}\n" },
};

START_TEST(questions_are_events)
{
	for (size_t i = 0; i < COUNT(questions); i++) {
		struct rig rig;
		begin(&rig);
		ask(&rig, questions[i].question);
		ck_assert_str_eq(said(&rig), questions[i].event);
		rig.frontend->table->withdraw(rig.frontend);
		rig.frontend->table->withdraw(rig.frontend);
		char expected[64];
		snprintf(expected, sizeof(expected), "{\"event\":\"withdraw\",\"ask\":%d}\n",
			(int)questions[i].question->number);
		ck_assert_str_eq(said(&rig), expected);
		ck_assert_str_eq(rig.heard, "");
		end(&rig);
	}
}
END_TEST

START_TEST(the_end_is_the_last_event)
{
	struct rig rig;
	begin(&rig);
	ask(&rig, &prompt);
	said(&rig);
	static const char *const layers[] = { "landlock", "seccomp", NULL };
	struct outcome outcome = { .success = false,
		.exit_code = 137,
		.signal = 9,
		.duration_ns = UINT64_C(1234567890),
		.reach = PERCH_REACH_GROUP,
		.sandbox = layers };
	rig.frontend->table->done(rig.frontend, &outcome);
	answer(&rig, "nonsense\n{\"ask\":3,\"value\":\"late\"}\n");
	settle(&rig);
	ck_assert_str_eq(said(&rig),
		"{\"event\":\"end\",\"success\":false,\"exit_code\":137,"
		"\"signal\":9,\"duration_ms\":1234,"
		"\"sandbox\":[\"landlock\",\"seccomp\"],\"reach\":\"group\"}\n");
	ck_assert_str_eq(rig.heard, "");
	end(&rig);
	begin(&rig);
	outcome = (struct outcome){ .success = true };
	rig.frontend->table->done(rig.frontend, &outcome);
	ck_assert_ptr_nonnull(strstr(said(&rig),
		"\"success\":true,\"exit_code\":0,\"signal\":null,"
		"\"duration_ms\":0,\"sandbox\":[],"));
	end(&rig);
}
END_TEST

static void *drain(void *data)
{
	struct rig *rig = data;
	struct buf *all = calloc(1, sizeof(*all));
	fcntl(rig->read_end, F_SETFL, 0);
	char chunk[1000];
	for (ssize_t n; (n = read(rig->read_end, chunk, sizeof(chunk))) > 0;)
		buf_append(all, chunk, (size_t)n);
	return all;
}

/* More than a pipe holds, into a descriptor that does not wait by itself. */
START_TEST(a_full_pipe_is_waited_for)
{
	struct rig rig;
	begin(&rig);
	fd_set_nonblocking(rig.out);
	pthread_t reader;
	pthread_create(&reader, NULL, drain, &rig);
	static char text[1000];
	memset(text, 'x', sizeof(text));
	const struct shown shown = { .kind = SHOWN_OUTPUT, .text = { text, sizeof(text) } };
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
	end(&rig);
}
END_TEST

START_TEST(a_reader_that_is_gone_is_remembered)
{
	struct rig rig;
	begin(&rig);
	signal(SIGPIPE, SIG_DFL);
	rig.read_end = fd_close(rig.read_end);
	rig.frontend->table->show(rig.frontend, &shows[0].shown);
	ck_assert_int_eq(events_error(rig.frontend), 0);
	rig.frontend->table->flush(rig.frontend);
	ck_assert_int_eq(events_error(rig.frontend), -EPIPE);
	for (int i = 0; i < 100000; i++)
		rig.frontend->table->show(rig.frontend, &shows[0].shown);
	rig.frontend->table->done(rig.frontend, &(struct outcome){ 0 });
	ck_assert_int_eq(events_error(rig.frontend), -EPIPE);
	end(&rig);
}
END_TEST

/* ---- what comes in -------------------------------------------------------------- */

static const struct {
	const struct question *question;
	const char *line;
	const char *heard;
} good[] = {
	{ &prompt, "{\"ask\":3,\"value\":\"\"}\n", "[3:]" },
	{ &prompt, " { \"more\":1, \"value\":\"a \\u00e4\", \"ask\":3.0 } \r\n", "[3:a \xC3\xA4]" },
	{ &prompt, "{\"ask\":3,\"cancel\":true}\n", "[3 cancelled:]" },
	{ &prompt, "{\"ask\":3,\"cancel\":false,\"value\":\"v\"}\n", "[3:v]" },
	{ &prompt, "{\"ask\":3,\"value\":\"\xFF\"}\n", "[3:\xEF\xBF\xBD]" },
	{ &count_prompt, "{\"ask\":4,\"value\":\"-12\"}\n", "[4:-12]" },
	{ &confirm, "{\"ask\":5,\"value\":true}\n", "[5: yes]" },
	{ &confirm, "{\"ask\":5,\"value\":false}\n", "[5:]" },
	{ &pick, "{\"ask\":6,\"value\":\"blue\"}\n", "[6: 1]" },
	{ &pick, "{\"ask\":6,\"value\":\"red\"}\n", "[6: 0]" },
	{ &pick, "{\"ask\":6,\"value\":\"\"}\n", "[6: 2]" },
	{ &pick, "{\"ask\":6,\"value\":3}\n", "[6: 3]" },
	{ &pick_some, "{\"ask\":7,\"value\":[]}\n", "[7:]" },
	{ &pick_some, "{\"ask\":7,\"value\":[3,\"blue\",\"red\",1,\"blue\"]}\n", "[7: 0 1 3]" },
	{ &pick_some, "{\"ask\":7,\"cancel\":true}\n", "[7 cancelled:]" },
};

START_TEST(answers_that_fit_are_delivered)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct rig rig;
		begin(&rig);
		ask(&rig, good[i].question);
		answer(&rig, good[i].line);
		settle(&rig);
		ck_assert_str_eq(rig.heard, good[i].heard);
		ck_assert_msg(!strstr(said(&rig), "warning"), "%s", rig.said);
		end(&rig);
	}
}
END_TEST

static const struct {
	const struct question *question;
	const char *line;
	const char *words;
} bad[] = {
	{ &prompt, "blue", "line 1 of the answers is ignored: expected a value" },
	{ &prompt, "{\"ask\":3,\"value\":\"x\"", "line 1 of the answers is ignored" },
	{ &prompt, "[3]", "expected {\\\"ask\\\":NUMBER,\\\"value\\\":…}" },
	{ &prompt, "{\"value\":\"x\"}", "expected {" },
	{ &prompt, "{\"ask\":\"3\",\"value\":\"x\"}", "expected {" },
	{ &prompt, "{\"ask\":-3,\"value\":\"x\"}", "expected {" },
	{ &prompt, "{\"ask\":3.5,\"value\":\"x\"}", "expected {" },
	{ &prompt, "{\"ask\":2,\"value\":\"x\"}", "the answer to question 2 is ignored" },
	{ &prompt, "{\"ask\":3}", "question 3 is still open: the value must be a string" },
	{ &prompt, "{\"ask\":3,\"cancel\":1}", "must be a string" },
	{ &prompt, "{\"ask\":3,\"value\":7}", "must be a string" },
	{ &prompt, "{\"ask\":3,\"value\":null}", "must be a string" },
	{ &count_prompt, "{\"ask\":4,\"value\":\"many\"}",
		"question 4 is still open: please enter a whole number" },
	{ &confirm, "{\"ask\":5,\"value\":\"yes\"}", "must be true or false" },
	{ &pick, "{\"ask\":6,\"value\":\"green\"}", "must be one of the options or its index" },
	{ &pick, "{\"ask\":6,\"value\":\"re\"}", "must be one of the options" },
	{ &pick, "{\"ask\":6,\"value\":4}", "must be one of the options" },
	{ &pick, "{\"ask\":6,\"value\":-1}", "must be one of the options" },
	{ &pick, "{\"ask\":6,\"value\":0.5}", "must be one of the options" },
	{ &pick, "{\"ask\":6,\"value\":[0]}", "must be one of the options" },
	{ &pick_some, "{\"ask\":7,\"value\":\"red\"}", "must be a list of options" },
	{ &pick_some, "{\"ask\":7,\"value\":[\"red\",\"green\"]}", "must be a list of options" },
	{ &pick_some, "{\"ask\":7,\"value\":[[]]}", "must be a list of options" },
};

START_TEST(answers_that_do_not_fit_leave_the_question_open)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct rig rig;
		begin(&rig);
		ask(&rig, bad[i].question);
		said(&rig);
		answer(&rig, bad[i].line);
		answer(&rig, "\n\n");
		settle(&rig);
		ck_assert_str_eq(rig.heard, "");
		said(&rig);
		ck_assert_msg(strstr(rig.said, "{\"event\":\"warning\",\"message\":\"") == rig.said &&
				strstr(rig.said, bad[i].words) && strchr(rig.said, '\n')[1] == '\0',
			"\"%s\" is not in: %s", bad[i].words, rig.said);
		char cancel[64];
		snprintf(
			cancel, sizeof(cancel), "{\"ask\":%d,\"cancel\":true}\n", (int)bad[i].question->number);
		answer(&rig, cancel);
		settle(&rig);
		ck_assert_ptr_nonnull(strstr(rig.heard, "cancelled"));
		end(&rig);
	}
}
END_TEST

START_TEST(a_line_in_pieces_is_one_answer)
{
	struct rig rig;
	begin(&rig);
	ask(&rig, &prompt);
	for (const char *c = "{\"ask\":3,\"value\":\"slow\"}\n"; *c; c++) {
		ck_assert_str_eq(rig.heard, "");
		ck_assert_int_eq(fd_write_all(rig.write_end, c, 1), 0);
		settle(&rig);
	}
	ck_assert_str_eq(rig.heard, "[3:slow]");
	answer(&rig, "{\"ask\":3,\"value\":\"again\"}\n");
	settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:slow]");
	ck_assert_ptr_nonnull(strstr(said(&rig), "question 3 is ignored: it is not open"));
	end(&rig);
}
END_TEST

START_TEST(answers_may_come_ahead)
{
	struct rig rig;
	begin(&rig);
	answer(&rig,
		"{\"ask\":5,\"value\":true}\n{\"ask\":2,\"value\":\"never asked\"}\n"
		"{\"ask\":4,\"value\":\"no number\"}\n{\"ask\":3,\"value\":\"early\"}\n"
		"{\"ask\":4,\"value\":\"44\"}\n");
	settle(&rig);
	ck_assert_str_eq(said(&rig), "");
	/* Never from inside ask. */
	rig.frontend->table->ask(rig.frontend, &prompt);
	ck_assert_str_eq(rig.heard, "");
	rig.next = &count_prompt;
	settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:early][4:44]");
	said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "the answer to question 2 is ignored"));
	ck_assert_ptr_nonnull(strstr(rig.said, "question 4 is still open"));
	ask(&rig, &confirm);
	ck_assert_str_eq(rig.heard, "[3:early][4:44][5: yes]");
	end(&rig);
}
END_TEST

START_TEST(answers_ahead_are_bounded)
{
	struct rig rig;
	begin(&rig);
	for (int i = 0; i <= EVENTS_AHEAD_MAX; i++) {
		char line[64];
		snprintf(line, sizeof(line), "{\"ask\":%d,\"value\":true}\n", 100 + i);
		answer(&rig, line);
		settle(&rig);
	}
	said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "the answer to question 1124 came too early"));
	ck_assert_ptr_null(strstr(rig.said, "question 1123"));
	ask(&rig, &confirm);
	answer(&rig, "{\"ask\":5,\"value\":true}\n");
	settle(&rig);
	ck_assert_str_eq(rig.heard, "[5: yes]");
	end(&rig);
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
	begin(&rig);
	ask(&rig, &prompt);
	said(&rig);
	pthread_t writer;
	pthread_create(&writer, NULL, write_long_lines, &rig);
	while (!rig.heard[0])
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	pthread_join(writer, NULL);
	ck_assert_str_eq(rig.heard, "[3:short]");
	said(&rig);
	ck_assert_ptr_nonnull(strstr(rig.said, "question 9 came too early"));
	ck_assert_ptr_nonnull(strstr(rig.said, "line 4 of the answers is ignored: too long"));
	end(&rig);
}
END_TEST

/* A plugin with very many options and a program that takes them all. */
START_TEST(many_options_take_no_longer_than_they_must)
{
	enum { MANY = 100000 };
	struct rig rig;
	begin(&rig);
	static char texts[MANY][8];
	static struct str options[MANY];
	struct buf line = { 0 };
	buf_append_text(&line, "{\"ask\":8,\"value\":[");
	for (int i = 0; i < MANY; i++) {
		int len = snprintf(texts[i], sizeof(texts[i]), "%d", i);
		options[i] = (struct str){ texts[i], (size_t)len };
		buf_printf(&line, "%s\"%d\"", i ? "," : "", MANY - 1 - i);
	}
	buf_append_text(&line, "]}\n");
	const struct question many = {
		.number = 8, .kind = QUESTION_MULTI_SELECT, .options = options, .option_count = MANY
	};
	/* The event itself is larger than the pipe. */
	pthread_t reader;
	pthread_create(&reader, NULL, drain, &rig);
	rig.frontend->table->ask(rig.frontend, &many);
	char path[] = "/tmp/perch-events-XXXXXX";
	int file = mkstemp(path);
	ck_assert_int_eq(fd_write_all(file, line.data, line.len), 0);
	lseek(file, 0, SEEK_SET);
	unlink(path);
	char chunk[4096];
	for (ssize_t n; (n = read(file, chunk, sizeof(chunk))) > 0;) {
		ck_assert_int_eq(fd_write_all(rig.write_end, chunk, (size_t)n), 0);
		settle(&rig);
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
	end(&rig);
}
END_TEST

/* ---- nobody there ------------------------------------------------------------------ */

START_TEST(the_end_of_input_is_told)
{
	struct rig rig;
	begin(&rig);
	ask(&rig, &prompt);
	said(&rig);
	hang_up(&rig);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "(alone)");
	ck_assert(!rig.frontend->is_interactive);
	ck_assert_str_eq(said(&rig), "{\"event\":\"withdraw\",\"ask\":3}\n");
	end(&rig);

	begin(&rig);
	hang_up(&rig);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "(alone)");
	end(&rig);

	/* A host that does not care gets a no. */
	begin(&rig);
	rig.frontend->went_away = NULL;
	ask(&rig, &prompt);
	hang_up(&rig);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "[3 cancelled:]");
	end(&rig);
}
END_TEST

START_TEST(the_last_answer_needs_no_newline)
{
	struct rig rig;
	begin(&rig);
	ask(&rig, &prompt);
	answer(&rig, "{\"ask\":3,\"value\":\"last\"}");
	hang_up(&rig);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:last](alone)");
	end(&rig);
}
END_TEST

/* printf … | perch: what was sent counts although nobody is there any more. */
START_TEST(answers_outlive_the_input)
{
	struct rig rig;
	begin_with(&rig, "{\"ask\":4,\"value\":\"4\"}\n{\"ask\":3,\"value\":\"3\"}\n");
	hang_up(&rig);
	ck_assert_int_eq(connect_host(&rig, rig.in, rig.out), 0);
	ck_assert(rig.frontend->is_interactive);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "");
	ask(&rig, &prompt);
	ck_assert_str_eq(rig.heard, "[3:3]");
	ck_assert(rig.frontend->is_interactive);
	rig.next = &confirm;
	ask(&rig, &count_prompt);
	ck_assert_str_eq(rig.heard, "[3:3][4:4](alone)");
	ck_assert(!rig.frontend->is_interactive);
	end(&rig);
}
END_TEST

static void expect_nobody(int in)
{
	struct rig rig;
	begin_with(&rig, NULL);
	ck_assert_int_eq(connect_host(&rig, in, rig.out), 0);
	ck_assert(!rig.frontend->is_interactive);
	settle(&rig);
	ck_assert_str_eq(rig.heard, "");
	ck_assert_str_eq(said(&rig), "");
	end(&rig);
}

START_TEST(inputs_without_anybody_are_known_at_once)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	expect_nobody(null);
	close(null);
	expect_nobody(1000); /* closed */
	expect_nobody(-1);
	int folder = open("/", O_RDONLY | O_CLOEXEC);
	expect_nobody(folder);
	close(folder);
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[1]);
	expect_nobody(ends[0]);
	close(ends[0]);
}
END_TEST

/* perch < FILE, also one that is longer than what is looked at in the beginning. */
START_TEST(a_file_is_an_input)
{
	for (int blanks = 0; blanks <= 4 << 20; blanks += 4 << 20) {
		char path[] = "/tmp/perch-events-XXXXXX";
		int file = mkstemp(path);
		unlink(path);
		char *padding = malloc((size_t)blanks + 1);
		memset(padding, '\n', (size_t)blanks);
		ck_assert_int_eq(fd_write_all(file, padding, (size_t)blanks), 0);
		free(padding);
		ck_assert_int_eq(dprintf(file, "{\"ask\":3,\"value\":\"filed\"}"), 25);
		lseek(file, 0, SEEK_SET);
		struct rig rig;
		begin_with(&rig, NULL);
		ck_assert_int_eq(connect_host(&rig, file, rig.out), 0);
		ck_assert(rig.frontend->is_interactive);
		rig.frontend->table->ask(rig.frontend, &prompt);
		while (rig.frontend->is_interactive)
			ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
		ck_assert_str_eq(rig.heard, "[3:filed](alone)");
		end(&rig);
		close(file);
	}
}
END_TEST

START_TEST(a_terminal_is_an_input)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		suite_skip("no pseudo terminals");
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(terminal, 0);
	struct rig rig;
	begin_with(&rig, NULL);
	ck_assert_int_eq(connect_host(&rig, terminal, rig.out), 0);
	ck_assert(rig.frontend->is_interactive);
	ask(&rig, &prompt);
	ck_assert_int_eq(fd_write_all(master, "{\"ask\":3,\"value\":\"typed\"}\n", 26), 0);
	while (!rig.heard[0])
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	ck_assert_int_eq(fd_write_all(master, "\x04", 1), 0); /* Ctrl+D */
	while (rig.frontend->is_interactive)
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	ck_assert_str_eq(rig.heard, "[3:typed](alone)");
	end(&rig);
	close(terminal);
	close(master);
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------- */

/* Events may be lost then, and answers; but never half a line, and it is told. */
static int converse_once(void *data)
{
	struct rig *rig = data;
	struct frontend *frontend = NULL;
	rig->heard[0] = '\0';
	fd_write_all(rig->write_end, "{\"ask\":5,\"value\":true}\n{\"ask\":7,\"value\":[1]}\n", 46);
	int r = connect_host(rig, rig->in, rig->out);
	char chunk[4096];
	if (r == 0) {
		frontend = rig->frontend;
		frontend->table->show(frontend, &shows[0].shown);
		frontend->table->ask(frontend, &confirm);
		while (loop_run(&rig->loop, 0) > 0)
			;
		frontend->table->ask(frontend, &pick_some);
		while (loop_run(&rig->loop, 0) > 0)
			;
		frontend->table->withdraw(frontend);
		frontend->table->done(frontend, &(struct outcome){ .success = true });
		frontend->table->free(frontend);
		r = strcmp(rig->heard, "[5: yes][7: 1]") == 0 ? 0 : -ENOMEM;
	}
	ssize_t n = read(rig->read_end, chunk, sizeof(chunk) - 1);
	chunk[n > 0 ? n : 0] = '\0';
	if (frontend && (n <= 0 || chunk[n - 1] != '\n' || !strstr(chunk, "\"event\":\"end\"")))
		return 1; /* wrong whatever failed */
	while (r < 0 && !frontend && read(rig->in, chunk, sizeof(chunk)) == (ssize_t)sizeof(chunk))
		;
	return r;
}

static bool ended_well = true;

static int converse_and_watch(void *data)
{
	int r = converse_once(data);
	ended_well &= r <= 0;
	return r;
}

START_TEST(memory_may_run_out)
{
	struct rig rig;
	begin_with(&rig, NULL);
	fd_set_nonblocking(rig.in);
	ck_assert_int_eq(timers_promise(&rig.loop.timers), 0); /* the heap exists */
	ck_assert_uint_gt(oom_every(converse_and_watch, &rig), 3);
	ck_assert(ended_well);
	timers_release(&rig.loop.timers);
	rig.frontend = NULL;
	loop_close(&rig.loop);
}
END_TEST

SUITE_MAIN("events", everything_shown_is_an_event, questions_are_events, the_end_is_the_last_event,
	a_full_pipe_is_waited_for, a_reader_that_is_gone_is_remembered, answers_that_fit_are_delivered,
	answers_that_do_not_fit_leave_the_question_open, a_line_in_pieces_is_one_answer,
	answers_may_come_ahead, answers_ahead_are_bounded, long_lines_are_bounded,
	many_options_take_no_longer_than_they_must, the_end_of_input_is_told,
	the_last_answer_needs_no_newline, answers_outlive_the_input,
	inputs_without_anybody_are_known_at_once, a_file_is_an_input, a_terminal_is_an_input,
	memory_may_run_out)
