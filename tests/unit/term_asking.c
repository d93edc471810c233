/* Questions that are open: keys in, pictures and answers out. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/vt.h"

#include <stdlib.h>
#include <string.h>

#include "term/asking.h"
#include "term/plain.h"
#include "term/screen.h"

static const perch_text colors[] = { { "red", 3 }, { "green", 5 }, { "blue", 4 } };
static const size_t first_and_last[] = { 0, 2 };

static const size_t second = 1;
static const perch_question prompt = { .number = 7, .message = { "Where:", 6 } };
static const perch_question prompt_default = { .message = { "Where:", 6 },
	.has_default = true,
	.default_text = { "staging", 7 },
	.validator = PERCH_VALIDATE_INTEGER };
static const perch_question prompt_integer = { .message = { "Count:", 6 },
	.validator = PERCH_VALIDATE_INTEGER };
static const perch_question confirm = { .kind = PERCH_QUESTION_CONFIRM, .message = { "Sure?", 5 } };
static const perch_question confirm_yes = { .kind = PERCH_QUESTION_CONFIRM,
	.message = { "Sure?", 5 },
	.has_default = true,
	.default_yes = true };
static const perch_question deliberate = { .kind = PERCH_QUESTION_CONFIRM,
	.message = { "May it? {\"command\":\"rm -rf /\"}", 31 },
	.has_default = true };
static const perch_question long_confirm = { .kind = PERCH_QUESTION_CONFIRM,
	.message = { "Delete the caches and all logs, and the whole production database?", 66 } };
static const perch_question long_default = { .message = { "Where:", 6 },
	.has_default = true,
	.default_text = { "/srv/backups/daily and /srv/logs", 32 } };
static const struct question_manner with_a_word = { .is_deliberate = true };
static const perch_question choose = { .kind = PERCH_QUESTION_SELECT,
	.message = { "Pick:", 5 },
	.options = colors,
	.option_count = 3,
	.has_default = true,
	.defaults = &second,
	.default_count = 1 };
static const perch_question choose_many = { .kind = PERCH_QUESTION_MULTI_SELECT,
	.message = { "Pick:", 5 },
	.options = colors,
	.option_count = 3,
	.defaults = first_and_last,
	.default_count = 2 };

static const perch_question ways = { .kind = PERCH_QUESTION_CONFIRM, .message = { "May it?", 7 } };
static const char *const further[] = { "session", "always", NULL };
static const struct question_manner with_further_words = {
	.is_deliberate = true, .yes_words = further, .hint = { "(or so)", 7 }
};

static const struct question_manner *manner_of(const perch_question *question)
{
	if (question == &ways)
		return &with_further_words;
	return question == &deliberate ? &with_a_word : NULL;
}

static enum asking_step press(struct asking *asking, const char *bytes)
{
	struct keys keys = { 0 };
	enum asking_step step = ASKING_GOES_ON;
	for (size_t len = strlen(bytes); len;) {
		if (step != ASKING_GOES_ON)
			abort(); /* not ck_assert: that allocates */
		struct key key;
		size_t used = keys_read(&keys, bytes, len, true, &key);
		if (key.code != KEY_NONE)
			step = asking_key(asking, &key);
		bytes += used;
		len -= used;
	}
	return step;
}

/* The answer in words: "text:x", "yes", "chosen:0,2", "cancelled". */
static const char *describe(const struct answer *answer, perch_question_kind kind)
{
	static struct buf out;
	buf_clear(&out);
	if (answer->cancelled) {
		buf_append_text(&out, "cancelled");
	} else if (kind == PERCH_QUESTION_PROMPT) {
		buf_append_text(&out, "text:");
		buf_append(&out, answer->text.data, answer->text.len);
	} else if (kind == PERCH_QUESTION_CONFIRM) {
		buf_append_text(&out, answer->yes ? "yes" : "no");
		buf_append_text(&out, answer->word ? answer->word : "");
	} else {
		buf_append_text(&out, "chosen:");
		for (size_t i = 0; i < answer->chosen_count; i++)
			buf_printf(&out, "%s%zu", i ? "," : "", answer->chosen[i]);
	}
	buf_terminate(&out);
	return out.data;
}

/* As the terminal does it. */
static void draw_or_tell(struct asking *asking, struct frame *frame, size_t rows)
{
	asking->is_told = !asking_fits(asking, &frame->look, rows);
	asking_draw(asking, frame, rows);
}

static const char *picture(struct asking *asking, bool is_over, size_t columns, size_t rows)
{
	static struct vt vt;
	struct look look = { .columns = columns, .rows = rows };
	struct screen screen;
	struct buf bytes = { 0 };
	screen_init(&screen, &look);
	struct frame *frame = screen_begin(&screen);
	if (is_over)
		asking_draw_answered(asking, frame);
	else
		draw_or_tell(asking, frame, rows);
	screen_draw(&screen, &bytes);
	buf_terminate(&bytes);
	vt_init(&vt, columns, rows);
	vt_write(&vt, bytes.data, bytes.len);
	ck_assert_uint_eq(vt.scrolled, 0);
	screen_free(&screen);
	buf_free(&bytes);
	return vt_text(&vt);
}

static const struct {
	const perch_question *question;
	const char *keys;
	const char *answer;
	const char *line; /* that stays */
} answers[] = {
	{ &prompt, "x y\r", "text:x y", "? Where: x y" },
	{ &prompt, "\r", "text:", "? Where:" },
	{ &prompt, "abc\x03", "cancelled", "? Where: (cancelled)" },
	{ &prompt, "\x04", "cancelled", "? Where: (cancelled)" },
	{ &prompt, "a\x02\x04\x04", "cancelled", "? Where: (cancelled)" },
	{ &prompt_default, "\r", "text:staging", "? Where: staging" },
	{ &prompt_default,
		"\t\x15"
		"1\r",
		"text:1", "? Where: 1" },
	{ &prompt_integer,
		"x\r\x7F"
		"12\r",
		"text:12", "? Count: 12" },
	{ &confirm, "\r", "no", "? Sure? no" },
	{ &confirm, "xY", "yes", "? Sure? yes" },
	{ &confirm,
		"\x1B"
		"y\x1B[An",
		"no", "? Sure? no" },
	{ &confirm, "\x1B", "cancelled", "? Sure? (cancelled)" },
	{ &confirm_yes, "\r", "yes", "? Sure? yes" },
	{ &confirm_yes, "N", "no", "? Sure? no" },
	{ &deliberate, "\r", "no", "? May it? {\"command\":\"rm -rf /\"} no" },
	{ &deliberate, "yes\r", "yes", "? May it? {\"command\":\"rm -rf /\"} yes" },
	{ &deliberate, " Y \r", "yes", "? May it? {\"command\":\"rm -rf /\"} yes" },
	{ &deliberate, "no\r", "no", "? May it? {\"command\":\"rm -rf /\"} no" },
	{ &deliberate, "yes please\r\x15n\r", "no", "? May it? {\"command\":\"rm -rf /\"} no" },
	{ &deliberate, "ye\x1B", "cancelled", "? May it? {\"command\":\"rm -rf /\"} (cancelled)" },
	{ &deliberate, "ye\x04", "cancelled", "? May it? {\"command\":\"rm -rf /\"} (cancelled)" },
	{ &deliberate, "\x1B[200~yes\r\x1B[201~\r", "yes", "? May it? {\"command\":\"rm -rf /\"} yes" },
	{ &ways, "\r", "no", "? May it? no" },
	{ &ways, "Y\r", "yes", "? May it? yes" },
	{ &ways, "Always\r", "yesalways", "? May it? always" },
	{ &ways, "alwayss\ralways\r", "yesalways", "? May it? always" },
	{ &choose, "\r", "chosen:1", "? Pick: green" },
	{ &choose, "blu\r", "chosen:2", "? Pick: blue" },
	{ &choose, "x\x1B\x1B", "cancelled", "? Pick: (cancelled)" },
	{ &choose_many, "\r", "chosen:0,2", "? Pick: red, blue" },
	{ &choose_many, " \x1B[B \r", "chosen:1,2", "? Pick: green, blue" },
	{ &choose_many, "\x01\x01\r", "chosen:", "? Pick:" },
	{ &choose_many, "\x04", "cancelled", "? Pick: (cancelled)" },
};

START_TEST(keys_become_answers)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct asking asking;
		const perch_question *question = answers[i].question;
		ck_assert_int_eq(asking_open(&asking, question, manner_of(question)), 0);
		enum asking_step step = press(&asking, answers[i].keys);
		ck_assert_int_eq(step, asking.answer.cancelled ? ASKING_CANCELLED : ASKING_ANSWERED);
		ck_assert_uint_eq(asking.answer.number, question->number);
		ck_assert_str_eq(describe(&asking.answer, question->kind), answers[i].answer);
		ck_assert_str_eq(picture(&asking, true, 60, 5), answers[i].line);
		asking_close(&asking);
	}
}
END_TEST

static const struct {
	const perch_question *question;
	const char *keys;
	size_t columns;
	size_t rows;
	const char *picture;
} pictures[] = {
	{ &prompt, "", 40, 5, "? Where:" },
	{ &prompt_default, "pro", 40, 5, "? Where: [staging] pro" },
	{ &prompt_integer, "x\r", 60, 5, "? Count: x\n  ! please enter a whole number" },
	{ &prompt_integer, "x\r", 60, 1, "? Count: x" },
	{ &prompt_integer, "x\r1", 60, 5, "? Count: x1" },
	{ &confirm, "", 40, 5, "? Sure? [y/N]" },
	{ &confirm_yes, "", 40, 5, "? Sure? [Y/n]" },
	{ &deliberate, "", 60, 5, "? May it? {\"command\":\"rm -rf /\"}\n  Type yes or no [no]:" },
	{ &deliberate, "y", 60, 5, "? May it? {\"command\":\"rm -rf /\"}\n  Type yes or no [no]: y" },
	{ &deliberate, "\x1B[200~yes\ryes\n", 60, 5,
		"? May it? {\"command\":\"rm -rf /\"}\n  Type yes or no [no]: yes yes" },
	{ &deliberate, "yy\r", 60, 3,
		"? May it? {\"command\":\"rm -rf /\"}\n  Type yes or no [no]:\n"
		"  ! please type yes or no" },
	{ &deliberate, "yy\r", 60, 2, "? May it? {\"command\":\"rm -rf /\"}\n  Type yes or no [no]:" },
	{ &deliberate, "y", 20, 6, "? May it?\n  {\"command\":\"rm\n  -rf /\"}\n  Type ... y" },
	{ &deliberate, "y", 20, 2, "? (above)\n  Type ... y" },
	{ &deliberate, "y", 40, 1, "? May it? {\"command\":\"rm -rf /\"} ... y" },
	{ &deliberate, "\r", 20, 4, "? May it?\n  {\"command\":\"rm\n  -rf /\"}\n  Type ..." },
	{ &ways, "", 60, 5, "? May it? (or so)\n  Type yes, no, session or always [no]:" },
	{ &ways, "x\r", 60, 5,
		"? May it? (or so)\n  Type yes, no, session or always [no]:\n"
		"  ! please type yes, no, session or always" },
	{ &ways, "always", 40, 5, "? May it? (or so)\n  Type yes, no, session or ... always" },
	{ &long_confirm, "", 40, 5,
		"? Delete the caches and all logs, and\n  the whole production database? [y/N]" },
	{ &long_confirm, "", 41, 2,
		"? Delete the caches and all logs, and\n  the whole production database? [y/N]" },
	{ &long_confirm, "", 40, 1, "? (above) [y/n]" },
	{ &long_confirm, "", 36, 5,
		"? Delete the caches and all logs,\n  and the whole production\n  database? [y/N]" },
	{ &long_confirm, "", 37, 5,
		"? Delete the caches and all logs,\n  and the whole production database?\n  [y/N]" },
	{ &long_default, "x", 30, 5, "? Where: [/srv/backups/daily\n  and /srv/logs]\n  x" },
	{ &long_default, "x", 30, 2, "? (above) x" },
	{ &long_default, "x", 30, 1, "? (above) x" },
	{ &choose, "", 40, 5, "? Pick: (arrows move, typing filters)\n  red\n> green\n  blue" },
	{ &choose, "re", 40, 5, "? Pick: re\n  red\n> green" },
	{ &choose, "", 14, 3, "? Pick:\n> green\n  2-2 of 3" },
	{ &choose, "", 40, 2, "? Pick: (arrows move, typing filters)\n> green" },
	{ &choose_many, "", 60, 5,
		"? Pick: (space marks, ctrl+a marks all, enter ends)\n> [x] red\n  [ ] green\n  [x] blue" },
};

START_TEST(questions_look_as_they_should)
{
	for (size_t i = 0; i < COUNT(pictures); i++) {
		struct asking asking;
		ck_assert_int_eq(
			asking_open(&asking, pictures[i].question, manner_of(pictures[i].question)), 0);
		press(&asking, pictures[i].keys);
		ck_assert_str_eq(
			picture(&asking, false, pictures[i].columns, pictures[i].rows), pictures[i].picture);
		asking_close(&asking);
	}
}
END_TEST

START_TEST(any_size_will_do)
{
	static const perch_question *const questions[] = { &prompt, &prompt_default, &confirm_yes,
		&deliberate, &choose, &choose_many };
	for (size_t i = 0; i < COUNT(questions); i++) {
		struct asking asking;
		ck_assert_int_eq(asking_open(&asking, questions[i], manner_of(questions[i])), 0);
		for (size_t columns = 1; columns < 60; columns++) {
			for (size_t rows = 1; rows < 8; rows++)
				picture(&asking, false, columns, rows);
		}
		asking_close(&asking);
	}
}
END_TEST

START_TEST(enter_answers_only_what_was_seen)
{
	struct asking asking;
	ck_assert_int_eq(asking_open(&asking, &long_confirm, NULL), 0);
	picture(&asking, false, 40, 1);
	ck_assert_int_eq(press(&asking, "\r"), ASKING_GOES_ON);
	ck_assert_ptr_nonnull(asking.note);
	ck_assert_int_eq(plain_take(&asking, STR("")), ASKING_GOES_ON);
	ck_assert_int_eq(press(&asking, "y"), ASKING_ANSWERED);
	ck_assert(asking.answer.yes);
	asking_close(&asking);
	ck_assert_int_eq(asking_open(&asking, &deliberate, &with_a_word), 0);
	picture(&asking, false, 20, 2);
	ck_assert_int_eq(press(&asking, "\r"), ASKING_GOES_ON);
	ck_assert_int_eq(press(&asking, "no\r"), ASKING_ANSWERED);
	asking_close(&asking);
}
END_TEST

START_TEST(other_keys_are_for_the_terminal)
{
	struct asking asking;
	ck_assert_int_eq(asking_open(&asking, &prompt, manner_of(&prompt)), 0);
	ck_assert_int_eq(press(&asking, "\x1A"), ASKING_SUSPENDS);
	ck_assert_int_eq(press(&asking, "\x0C"), ASKING_CLEARS);
	asking_close(&asking);
}
END_TEST

static const struct {
	const perch_question *question;
	const char *line;
	const char *answer; /* NULL: asks again */
} lines[] = {
	{ &prompt, "x y", "text:x y" },
	{ &prompt, "", "text:" },
	{ &prompt_default, "", "text:staging" },
	{ &prompt_default, "x", NULL },
	{ &prompt_integer, "", NULL },
	{ &prompt_integer, "5", "text:5" },
	{ &confirm, "", "no" },
	{ &confirm, " Yes ", "yes" },
	{ &confirm, "what", NULL },
	{ &confirm_yes, "", "yes" },
	{ &confirm_yes, "n", "no" },
	{ &deliberate, "", "no" },
	{ &deliberate, " yes ", "yes" },
	{ &deliberate, "y", "yes" },
	{ &deliberate, "N", "no" },
	{ &deliberate, "yes, but", NULL },
	{ &deliberate, "yessir", NULL },
	{ &choose, "", "chosen:1" },
	{ &choose, "1", "chosen:0" },
	{ &choose, "blue", "chosen:2" },
	{ &choose, "4", NULL },
	{ &choose, "0", NULL },
	{ &choose, "99999999999999999999999", NULL },
	{ &choose_many, "", "chosen:0,2" },
	{ &choose_many, "2", "chosen:1" },
	{ &choose_many, "3, 1,blue", "chosen:0,2" },
	{ &choose_many, "none", "chosen:" },
	{ &choose_many, "0", "chosen:" },
	{ &choose_many, "1,5", NULL },
	{ &choose_many, ",", NULL },
};

START_TEST(lines_become_answers)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct asking asking;
		const perch_question *question = lines[i].question;
		ck_assert_int_eq(asking_open(&asking, question, manner_of(question)), 0);
		enum asking_step step = plain_take(&asking, str_from(lines[i].line));
		ck_assert_int_eq(step, lines[i].answer ? ASKING_ANSWERED : ASKING_GOES_ON);
		ck_assert(!asking.note == !!lines[i].answer);
		if (lines[i].answer)
			ck_assert_str_eq(describe(&asking.answer, question->kind), lines[i].answer);
		asking_close(&asking);
	}
}
END_TEST

START_TEST(plain_questions_are_lines)
{
	static const struct look look = { .columns = 80, .rows = 24 };
	static const struct {
		const perch_question *question;
		const char *text;
	} plain[] = {
		{ &prompt, "? Where: " },
		{ &prompt_default, "? Where: [staging] " },
		{ &confirm, "? Sure? [y/N] " },
		{ &deliberate, "? May it? {\"command\":\"rm -rf /\"} Type yes or no [no]: " },
		{ &ways, "? May it? (or so) Type yes, no, session or always [no]: " },
		{ &choose, "   1) red\n   2) green\n   3) blue\n? Pick: [2] " },
		{ &choose_many, "*  1) red\n   2) green\n*  3) blue\n? Pick: [1,3] " },
	};
	for (size_t i = 0; i < COUNT(plain); i++) {
		struct asking asking;
		struct buf text = { 0 };
		ck_assert_int_eq(asking_open(&asking, plain[i].question, manner_of(plain[i].question)), 0);
		plain_write_options(&asking, &look, &text);
		plain_write_line(&asking, &look, &text);
		buf_terminate(&text);
		ck_assert_str_eq(text.data, plain[i].text);
		buf_free(&text);
		asking_close(&asking);
	}
}
END_TEST

static int ask(void *data)
{
	const perch_question *question = data;
	struct asking asking;
	int r = asking_open(&asking, question, manner_of(question));
	if (r < 0)
		return r;
	struct frame frame = { 0 };
	press(&asking, "b");
	frame_begin(&frame, &(struct look){ .columns = 30, .rows = 9 });
	asking_draw(&asking, &frame, 9);
	if (frame.failed)
		r = -1;
	frame_free(&frame);
	asking_close(&asking);
	return r;
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_ge(oom_every(ask, (void *)&prompt), 2);
	ck_assert_uint_ge(oom_every(ask, (void *)&deliberate), 2);
	ck_assert_uint_ge(oom_every(ask, (void *)&choose_many), 4);
}
END_TEST

SUITE_MAIN("term_asking", keys_become_answers, questions_look_as_they_should, any_size_will_do,
	enter_answers_only_what_was_seen, other_keys_are_for_the_terminal, lines_become_answers,
	plain_questions_are_lines, memory_may_run_out)
