/* The parts of the conformance kit that do no I/O: patterns, variables, the host that
 * answers by itself, and the player of a case. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "conformance/case_player.h"

/* ---- patterns ------------------------------------------------------------------- */

static const struct {
	const char *pattern;
	const char *text;
	const char *why; /* NULL = it matches */
} matches[] = {
	{ "{}", "{\"a\":1}", NULL },
	{ "{\"a\":1}", "{\"b\":2,\"a\":1.0}", NULL },
	{ "{\"a\":1}", "{\"a\":2}", "it.a must be 1, but is 2" },
	{ "{\"a\":1}", "{}", "it.a must be 1, but is not there" },
	{ "{\"a\":1}", "[]", "it must be {\"a\":1}, but is []" },
	{ "{\"a\":1}", "nonsense", "it must be JSON, but is nonsense" },
	{ "{\"a\":\"*\"}", "{\"a\":null}", NULL },
	{ "{\"a\":\"*\"}", "{}", "it.a must be" },
	{ "{\"a\":\"!\"}", "{}", NULL },
	{ "{\"a\":\"!\"}", "{\"a\":1}", "it.a must be \"!\", but is 1" },
	{ "{\"a\":\"<string>\"}", "{\"a\":\"\"}", NULL },
	{ "{\"a\":\"<string>\"}", "{\"a\":1}", "it.a must be" },
	{ "{\"a\":\"<list>\",\"b\":\"<bool>\"}", "{\"a\":[1],\"b\":false}", NULL },
	{ "{\"a\":\"<object>\",\"b\":\"<number>\"}", "{\"a\":{},\"b\":1}", NULL },
	{ "{\"a\":\"~^x+$\"}", "{\"a\":\"xx\"}", NULL },
	{ "{\"a\":\"~^x+$\"}", "{\"a\":\"xy\"}", "it.a must be" },
	{ "{\"a\":\"~x\"}", "{\"a\":7}", "it.a must be" },
	{ "[1,{\"a\":[true,null]}]", "[1,{\"a\":[true,null]}]", NULL },
	{ "[1,{\"a\":[true,null]}]", "[1,{\"a\":[true,false]}]",
		"it[1].a[1] must be null, but is false" },
	{ "[1]", "[1,2]", "it must be [1]" },
	{ "\"a\"", "\"\\u0061\"", NULL },
	{ "1e400", "1e400", NULL },
	{ "~^\\{\"a\"", "{\"a\":1}", NULL },
	{ "~^\\{ ", "{\"a\":1}", "it must match" },
	{ "~b$", "a\nb", NULL },
	{ "~a.b", "a\nb", NULL },
	{ "~^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
		"it must match" },
};

START_TEST(patterns_match_or_say_why)
{
	for (size_t i = 0; i < COUNT(matches); i++) {
		struct buf why = { 0 };
		int r = pattern_match(str_from(matches[i].pattern), str_from(matches[i].text), &why);
		buf_terminate(&why);
		ck_assert_msg(r == (matches[i].why == NULL), "%s: %s", matches[i].pattern, why.data);
		if (matches[i].why)
			ck_assert_msg(strstr(why.data, matches[i].why) != NULL, "%s", why.data);
		buf_free(&why);
	}
}
END_TEST

START_TEST(long_and_deep_is_bounded)
{
	struct buf deep = { 0 };
	struct buf why = { 0 };
	for (int i = 0; i < 60; i++)
		buf_append_text(&deep, "{\"a-rather-long-name\":");
	buf_append_text(&deep, "1");
	for (int i = 0; i < 60; i++)
		buf_append_char(&deep, '}');
	struct str pattern = { deep.data, deep.len };
	ck_assert_int_eq(pattern_verify(pattern, NULL), 0);
	ck_assert_int_eq(pattern_match(pattern, pattern, &why), 1);
	ck_assert_int_eq(pattern_match(pattern, STR("{}"), &why), 0);
	ck_assert_uint_lt(why.len, 1000);
	buf_free(&deep);
	buf_free(&why);
}
END_TEST

START_TEST(what_is_quoted_is_whole_characters)
{
	static const char *const starts[] = { "", "x" };
	for (size_t i = 0; i < COUNT(starts); i++) {
		struct buf line = { 0 };
		struct buf why = { 0 };
		buf_append_text(&line, starts[i]);
		for (int n = 0; n < 200; n++)
			buf_append_text(&line, "ä");
		ck_assert_int_eq(pattern_match(STR("{}"), (struct str){ line.data, line.len }, &why), 0);
		ck_assert(utf8_is_valid(why.data, why.len));
		ck_assert_ptr_nonnull(memmem(why.data, why.len, "… (", strlen("… (")));
		buf_free(&line);
		buf_free(&why);
	}
}
END_TEST

START_TEST(variables_stand_for_values)
{
	static const struct variable variables[] = { { "dir", "\"/d\"" }, { "b.1", "7" }, { 0 } };
	static const struct {
		const char *text;
		const char *expanded;
	} texts[] = {
		{ "a ${dir} ${dir}", "a \"/d\" \"/d\"" },
		{ "${a}${b.0}${b.1}${b.2}${c.d}", "\"x\"1.5070{}" },
		{ "${nothing} ${", "null ${" },
		{ "$ {dir} $", "$ {dir} $" },
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf out = { 0 };
		ck_assert_int_eq(pattern_expand(str_from(texts[i].text), variables,
							 STR("{\"a\":\"x\",\"b\":[1.50,2,0],\"c\":{\"d\":{}}}"), &out),
			0);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, texts[i].expanded);
		buf_free(&out);
	}
}
END_TEST

/* ---- the host that answers ------------------------------------------------------ */

static const struct {
	enum manner manner;
	const char *line;
	const char *answer;
} answers[] = {
	{ MANNER_DEFAULTS, "{\"type\":\"output\",\"text\":\"x\"}", "" },
	{ MANNER_DEFAULTS, "nonsense", "" },
	{ MANNER_DEFAULTS, "{\"type\":\"prompt\",\"id\":1.50,\"message\":\"?\",\"default\":\"d\"}",
		"{\"type\":\"response\",\"id\":1.50,\"value\":\"d\"}\n" },
	{ MANNER_DEFAULTS, "{\"type\":\"select\",\"id\":\"1\",\"options\":[\"a\",\"b\"]}",
		"{\"type\":\"response\",\"id\":\"1\",\"value\":\"a\"}\n" },
	{ MANNER_DEFAULTS, "{\"type\":\"store\",\"id\":\"1\",\"key\":\"k\",\"value\":\"v\"}",
		"{\"type\":\"response\",\"id\":\"1\",\"value\":null}\n" },
	{ MANNER_DENY, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"true\"}",
		"{\"type\":\"response\",\"id\":\"1\",\"value\":{\"code\":126,\"stderr\":"
		"\"exec capability not granted\",\"stdout\":\"\"}}\n" },
	{ MANNER_CANCEL, "{\"type\":\"confirm\",\"id\":\"1\",\"message\":\"?\"}",
		"{\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"user_interrupt\"}\n" },
	{ MANNER_EXTRA, "{\"type\":\"confirm\",\"id\":\"1\",\"message\":\"?\"}",
		"{\"type\":\"of-a-later-version\",\"id\":null,\"x\":[1]}\n"
		"{\"type\":\"response\",\"id\":\"1\",\"value\":true,\"of_a_later_version\":1}\n" },
	{ MANNER_SILENT, "{\"type\":\"confirm\",\"id\":\"1\",\"message\":\"?\"}", "" },
};

START_TEST(requests_are_answered)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct buf out = { 0 };
		int r = answer_request(answers[i].manner, str_from(answers[i].line), &out);
		ck_assert_int_eq(r, strstr(answers[i].line, "\"id\"") != NULL);
		ck_assert_msg(str_eq((struct str){ out.data, out.len }, str_from(answers[i].answer)),
			"%.*s", (int)out.len, out.data);
		buf_free(&out);
	}
}
END_TEST

/* ---- playing -------------------------------------------------------------------- */

#define HEAD                                                                          \
	"section = 4\ntitle = 'x'\n[[case]]\nid = 'F-4.1'\nchecks = 'host'\nrule = 'x'\n" \
	"steps = ["

struct play {
	struct arena arena;
	struct findings findings;
	struct case_file file;
	struct player player;
};

static const struct variable no_variables[] = { { 0 } };

static void begin(struct play *play, const char *text)
{
	*play = (struct play){ .findings.arena = &play->arena };
	case_file_parse(str_from(text), PROTOCOL_FLEDGE, &play->arena, &play->file, &play->findings);
	if (play->file.count)
		player_init(&play->player, &play->file.items[0], no_variables);
}

static void end(struct play *play)
{
	player_free(&play->player);
	findings_free(&play->findings);
	arena_free(&play->arena);
}

static void does(struct play *play, enum act_kind kind, const char *text)
{
	struct act act = player_next(&play->player);
	ck_assert_int_eq(act.kind, kind);
	if (text)
		ck_assert_msg(str_is(act.text, text), "%.*s", (int)act.text.len, act.text.data);
}

static void failed_with(struct play *play, const char *words)
{
	does(play, ACT_DONE, NULL);
	ck_assert(play->player.has_failed);
	buf_terminate(&play->player.problem);
	ck_assert_msg(
		strstr(play->player.problem.data, words) != NULL, "%s", play->player.problem.data);
	end(play);
}

START_TEST(steps_come_one_after_the_other)
{
	struct play play;
	begin(&play,
		HEAD "{ read = '{\"n\":1}' }, { send = '${n}' }, { put = 'p' }, { bytes = '00' },\n"
			 "{ fill = 65537 }, { close = 'stdin' }, { close = 'stdout' }, { say = 's' },\n"
			 "{ signal = 'INT' }, { ignore = 'TERM' }, { eof = true }, { exit = 3 }]\n");
	does(&play, ACT_WAIT, NULL);
	does(&play, ACT_WAIT, NULL);
	player_hear(&play.player, STR("{\"n\":1}"));
	does(&play, ACT_WRITE, "1\n");
	does(&play, ACT_WRITE, "p");
	ck_assert_uint_eq(player_next(&play.player).text.len, 1);
	ck_assert_uint_eq(player_next(&play.player).text.len, 65536);
	does(&play, ACT_WRITE, "x");
	does(&play, ACT_CLOSE_STDIN, NULL);
	does(&play, ACT_CLOSE_STDOUT, NULL);
	does(&play, ACT_SAY, "s");
	ck_assert_int_eq(player_next(&play.player).number, 2);
	does(&play, ACT_IGNORE, NULL);
	does(&play, ACT_WAIT, NULL);
	player_hear_end(&play.player);
	ck_assert_int_eq(player_next(&play.player).number, 3);
	does(&play, ACT_DONE, NULL);
	ck_assert(!play.player.has_failed && !play.player.ended_early);
	end(&play);
}
END_TEST

START_TEST(what_is_wrong_is_told_with_its_step)
{
	struct play play;
	begin(&play, HEAD "{ send = 'x' }, { read = '{\"n\":1}' }]\n");
	does(&play, ACT_WRITE, "x\n");
	player_hear(&play.player, STR("{\"n\":2}"));
	player_hear(&play.player, STR("{\"n\":1}"));
	failed_with(&play, "step 2: a line came that is wrong here: it.n must be 1, but is 2");
	begin(&play, HEAD "{ read = '{\"n\":1}' }]\n");
	player_hear_end(&play.player);
	failed_with(&play, "step 1: the other side has ended, where this line should come: {\"n\":1}");
	begin(&play, HEAD "{ eof = true }]\n");
	player_hear(&play.player, STR("more"));
	failed_with(&play, "step 1: nothing more should come, but this did: more");
	begin(&play, HEAD "]\n");
	player_hear(&play.player, STR("more"));
	failed_with(&play, "nothing more should come");
}
END_TEST

START_TEST(serving_ends_after_its_requests)
{
	struct play play;
	begin(&play, HEAD "{ serve = 'defaults', requests = 2 }, { send = 'x' }, { drain = true }]\n");
	does(&play, ACT_WAIT, NULL);
	player_hear(&play.player, STR("{\"type\":\"log\",\"message\":\"m\"}"));
	does(&play, ACT_WAIT, NULL);
	player_hear(&play.player, STR("{\"type\":\"load\",\"id\":1,\"key\":\"k\"}"));
	player_hear(&play.player, STR("{\"type\":\"load\",\"id\":2,\"key\":\"k\"}"));
	does(&play, ACT_WRITE,
		"{\"type\":\"response\",\"id\":1,\"value\":null}\n"
		"{\"type\":\"response\",\"id\":2,\"value\":null}\n");
	does(&play, ACT_WRITE, "x\n");
	player_hear(&play.player, STR("anything"));
	does(&play, ACT_WAIT, NULL);
	player_hear_end(&play.player);
	does(&play, ACT_DONE, NULL);
	ck_assert(!play.player.ended_early);
	end(&play);
	begin(&play, HEAD "{ serve = 'silent', requests = 1 }, { close = 'stdin' }]\n");
	player_hear_end(&play.player);
	does(&play, ACT_DONE, NULL);
	ck_assert(play.player.ended_early && !play.player.has_failed);
	end(&play);
}
END_TEST

static int play_without_memory(void *data)
{
	struct play play;
	begin(&play, data);
	if (play.file.count) {
		player_hear(&play.player, STR("{\"n\":[1,2]}"));
		while (player_next(&play.player).kind == ACT_WRITE)
			;
		player_hear(&play.player, STR("{\"type\":\"exec\",\"id\":\"1\"}"));
		while (player_next(&play.player).kind == ACT_WRITE)
			;
		player_hear_end(&play.player);
	}
	bool is_whole = play.file.count && !play.player.is_out_of_memory;
	end(&play);
	return is_whole ? 0 : -ENOMEM;
}

START_TEST(memory_may_run_out)
{
	static char right[] = HEAD "{ read = '{\"n\":[\"~1\",2]}' }]\n";
	static char served[] =
		HEAD "{ read = '{\"n\":[1,2]}' }, { send = 'a ${n.1}' }, { serve = 'extra' }]\n";
	ck_assert_uint_gt(oom_every(play_without_memory, right), 2);
	ck_assert_uint_gt(oom_every(play_without_memory, served), 2);
}
END_TEST

SUITE_MAIN("conformance-player", patterns_match_or_say_why, long_and_deep_is_bounded,
	what_is_quoted_is_whole_characters, variables_stand_for_values, requests_are_answered,
	steps_come_one_after_the_other, what_is_wrong_is_told_with_its_step,
	serving_ends_after_its_requests, memory_may_run_out)
