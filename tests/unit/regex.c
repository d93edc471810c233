/* Regular expressions of others: what they mean, and that none of them takes the machine. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "data/regex.h"

static int match(const char *pattern, enum regex_kind kind, struct str text)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	perch_err err = { 0 };
	int r = regex_compile(str_from(pattern), kind, &regex, &err);
	ck_assert_msg(r == 0, "%s: %s", pattern, err.text);
	return regex_match(regex, text, 0);
}

static const struct {
	const char *pattern;
	enum regex_kind kind;
	const char *text;
	int result;
} meanings[] = {
	{ "^b$", REGEX_LINES, "a\nb\nc", 1 },
	{ "^b$", REGEX_BYTES, "a\nb\nc", 0 },
	{ "a.b", REGEX_LINES, "a\nb", 0 },
	{ "a.b", REGEX_BYTES, "a\nb", 1 },
	{ "^.$", REGEX_LINES, "ü", 1 },
	{ "^.$", REGEX_BYTES, "ü", 0 },
	{ "^.$", REGEX_SCHEMA, "ü", 1 },
	{ "b$", REGEX_SCHEMA, "b\n", 0 },
	{ "[[:digit:]]{2,3}", REGEX_LINES, "a12", 1 },
	{ "b", REGEX_LINES,
		"\xff"
		"b",
		1 },
	{ "b", REGEX_BYTES,
		"\xff"
		"b",
		1 },
	{ "b", REGEX_SCHEMA,
		"\xff"
		"b",
		-EINVAL },
	{ "", REGEX_BYTES, "", 1 },
};

START_TEST(a_kind_says_what_it_is_matched_against)
{
	for (size_t i = 0; i < COUNT(meanings); i++) {
		struct str text = str_from(meanings[i].text);
		int r = match(meanings[i].pattern, meanings[i].kind, text);
		ck_assert_msg(r == meanings[i].result, "%s (%zu): %d", meanings[i].pattern, i, r);
	}
}
END_TEST

/* 2^40 times the same letter is one of them: what is no longer than a line grows without end. */
static const char *const too_large[] = {
	("((((((((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000}){1,1000}){1,1000}){1,1000}){1,1000})"
	 "{1,1000})"),
	"(((((x{255}){255}){255}){255}){255})",
	"(?:(?:(?:[a-z]{60000}){60000}){60000})",
	"(((.|\\n){1,255}){1,255}){1,255}",
};

static void refuse_large(const char *pattern, enum regex_kind kind)
{
	struct rusage before;
	struct rusage after;
	struct regex *regex = NULL;
	perch_err err = { 0 };
	long live = oom_live();
	getrusage(RUSAGE_SELF, &before);
	uint64_t start_ns = clock_processor_ns();
	int r = regex_compile(str_from(pattern), kind, &regex, &err);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_eq(r, PERCH_ELIMIT);
	ck_assert_str_eq(err.text, "too large once it is compiled");
	ck_assert_uint_lt(clock_processor_ns() - start_ns, 5 * NSEC_PER_SEC);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
	ck_assert_int_eq(oom_live(), live);
}

START_TEST(what_would_grow_without_end_is_refused)
{
	for (size_t i = 0; i < COUNT(too_large); i++)
		for (int kind = REGEX_BYTES; kind <= REGEX_SCHEMA; kind++)
			refuse_large(too_large[i], (enum regex_kind)kind);
}
END_TEST

START_TEST(a_long_one_is_refused)
{
	char text[REGEX_LENGTH_MAX + 2];
	struct regex *regex = NULL;
	perch_err err = { 0 };
	memset(text, 'a', sizeof(text));
	ck_assert_int_eq(
		regex_compile((struct str){ text, REGEX_LENGTH_MAX + 1 }, REGEX_BYTES, &regex, &err),
		PERCH_ELIMIT);
	ck_assert_str_eq(err.text, "longer than 8192 bytes");
	ck_assert_int_eq(
		regex_compile((struct str){ text, REGEX_LENGTH_MAX / 2 }, REGEX_BYTES, &regex, &err), 0);
	regex_free(regex);
}
END_TEST

START_TEST(a_wrong_one_says_where)
{
	struct regex *regex = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(regex_compile(STR("a("), REGEX_LINES, &regex, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "wrong at byte 3: "));
}
END_TEST

/* Each from every place of the text anew: the steps from one place are not all. */
static const char *const too_slow[] = { "(a+)+$", "(a|aa)+$", "(.*)*[bd]\\1", "a*a*a*a*a*a*a*[bd]",
	"(?:(?:a?){30}){30}[bd]", "(?=(a+))\\1+[bd]" };

START_TEST(a_match_ends)
{
	enum { LEN = 1024 * 1024 };
	char *text = malloc(LEN);
	memset(text, 'a', LEN);
	text[LEN - 1] = 'c';
	for (size_t i = 0; i < COUNT(too_slow); i++) {
		uint64_t start_ns = clock_processor_ns();
		int r = match(too_slow[i], (enum regex_kind)(i % 3), (struct str){ text, LEN });
		ck_assert_msg(r == PERCH_ELIMIT, "%s: %d", too_slow[i], r);
		ck_assert_uint_lt(clock_processor_ns() - start_ns, 2 * REGEX_TIME_MAX_NS);
	}
	free(text);
}
END_TEST

START_TEST(an_end_of_the_callers_own_counts)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	char text[4096];
	memset(text, 'a', sizeof(text));
	ck_assert_int_eq(regex_compile(STR("(a+)+[bd]"), REGEX_BYTES, &regex, NULL), 0);
	ck_assert_int_eq(
		regex_match(regex, (struct str){ text, sizeof(text) }, clock_processor_ns()), PERCH_ELIMIT);
}
END_TEST

static int compile_and_match(void *data)
{
	(void)data;
	_cleanup_(regex_freep) struct regex *regex = NULL;
	int r = regex_compile(STR("(a|b)*c"), REGEX_LINES, &regex, NULL);
	if (r == 0)
		r = regex_match(regex, STR("ababc"), 0);
	ck_assert(r == 1 || r == -ENOMEM);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(compile_and_match, NULL), 2);
}
END_TEST

SUITE_MAIN("regex", a_kind_says_what_it_is_matched_against, what_would_grow_without_end_is_refused,
	a_long_one_is_refused, a_wrong_one_says_where, a_match_ends, an_end_of_the_callers_own_counts,
	every_allocation_may_fail)
