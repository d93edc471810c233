/* decision: what a profile or a binding allows now against what was approved of it. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "registry/decision.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct decision bot = {
	.kind = GRANT_AGENT,
	.name = "/p/bot.yaml",
	.path = "/p/bot.yaml",
	.sha256 = "now",
	.words = LIST("read /a", "network"),
	.approve_by = "perch agent allow /p/bot.yaml --profile",
};

static struct grant approved(const char *sha256, const char *const *wishes)
{
	return (struct grant){
		.has_approval = true,
		.approval = { .manifest = sha256, .wishes = wishes },
	};
}

START_TEST(words_say_what_is_allowed)
{
	struct arena arena = { 0 };
	const struct policy_widening widening = {
		.read = LIST("/a"), .write = LIST("/b"), .env = LIST("C"), .presets = LIST("ssh")
	};
	const char *const *words = decision_words(&arena, &widening, LIST("network"));
	const char *const *wanted = LIST("read /a", "write /b", "env C", "preset ssh", "network");
	ck_assert_uint_eq(list_count(words), list_count(wanted));
	for (size_t i = 0; wanted[i]; i++)
		ck_assert_str_eq(words[i], wanted[i]);
	ck_assert_str_eq(decision_word(&arena, "directory", ""), "");
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_the_same_or_less_is_fine)
{
	const struct grant none = { 0 };
	const struct grant same = approved("now", LIST("network", "read /a"));
	const struct grant more = approved("then", LIST("network", "read /a", "write /b"));
	const struct grant all = approved("then", LIST(DECISION_NO_SANDBOX));
	perch_err err = { 0 };
	ck_assert_int_eq(decision_check(&bot, &none, &err), 1);
	ck_assert_int_eq(decision_check(&bot, &same, &err), 0);
	ck_assert_int_eq(decision_check(&bot, &more, &err), 1);
	ck_assert_int_eq(decision_check(&bot, &all, &err), 1);
	ck_assert_str_eq(err.text, "");
}
END_TEST

START_TEST(what_is_more_is_refused_with_words)
{
	const struct grant less = approved("then", LIST("read /a"));
	perch_err err = { 0 };
	ck_assert_int_eq(decision_check(&bot, &less, &err), -EPERM);
	ck_assert_str_eq(err.text,
		"/p/bot.yaml was changed since it was approved, and allows more: network; look at it, "
		"then: perch agent allow /p/bot.yaml --profile");
	const struct grant moved = approved("now", LIST("network"));
	ck_assert_int_eq(decision_check(&bot, &moved, &err), -EPERM);
	ck_assert_ptr_nonnull(
		strstr(err.text, "or where a path of it leads, and allows more: read /a;"));
	struct decision hostile = bot;
	hostile.words = LIST("read /\033[2J", "b", "c", "d", "e", "f");
	ck_assert_int_eq(decision_check(&hostile, &less, &err), -EPERM);
	ck_assert_ptr_null(strchr(err.text, '\033'));
	ck_assert_ptr_nonnull(strstr(err.text, "b, c, d …"));
	ck_assert_int_eq(decision_check(&hostile, &less, NULL), -EPERM);
}
END_TEST

/* What was approved, what is there now, and whether that is more. */
static const struct {
	const char *const *then;
	const char *const *now;
	const char *more; /* NULL = it is not */
} pairs[] = {
	{ LIST("without asking"), LIST("without asking a"), NULL },
	{ LIST("without asking a"), LIST("without asking"), "more: without asking;" },
	{ LIST("without asking a"), LIST("without asking b"), "more: without asking b;" },
	{ LIST("without asking a"), LIST("network"), "more: network;" },
	{ LIST("pin /a 1", "pin /b 2"), LIST("pin /b 2", "pin /a 1", "pin /c 3"), NULL },
	{ LIST("pin /a 1"), LIST("pin /b 2"), "more: no pin /a 1;" },
	{ LIST("pin /a 1"), LIST("pin /a 2"), "more: no pin /a 1;" },
	{ LIST("limit memory 200"), LIST("limit memory 200"), NULL },
	{ LIST("limit memory 200"), LIST("limit memory 30"), NULL },
	{ LIST("limit memory 200"), LIST("limit memory 1000"), "more: no limit memory 200;" },
	{ LIST("limit memory 200"), LIST("limit files 200"), "more: no limit memory 200;" },
	{ LIST("read /x"), LIST("limit memory 1"), NULL },
	{ LIST("write /limit memory 1"), LIST("limit memory 1"), NULL },
	/* Without a sandbox. */
	{ LIST("sandbox off"), LIST("network", "read /"), NULL },
	{ LIST("sandbox off"), LIST("command /x"), "more: command /x;" },
	{ LIST("sandbox off"), LIST("argument 1 -c"), "more: argument 1 -c;" },
	{ LIST("sandbox off"), LIST("set LD_PRELOAD=x"), "more: set LD_PRELOAD=x;" },
	{ LIST("sandbox off"), LIST("without asking"), "more: without asking;" },
	{ LIST("sandbox off", "pin /a 1"), LIST("sandbox off"), "more: no pin /a 1;" },
};

START_TEST(every_kind_of_word_counts)
{
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct decision now = bot;
		now.words = pairs[i].now;
		const struct grant then = approved("then", pairs[i].then);
		perch_err err = { 0 };
		int r = decision_check(&now, &then, &err);
		ck_assert_msg(r == (pairs[i].more ? -EPERM : 1), "%zu: %d %s", i, r, err.text);
		ck_assert_msg(!pairs[i].more || strstr(err.text, pairs[i].more), "%zu: %s", i, err.text);
	}
}
END_TEST

static struct grant read_bot(struct arena *arena)
{
	struct grant grant;
	perch_err err = { 0 };
	ck_assert_msg(grants_read(GRANT_AGENT, bot.name, arena, &grant, &err) == 0, "%s", err.text);
	return grant;
}

START_TEST(a_record_leaves_what_was_granted_and_is_found_by_all_sandboxes)
{
	struct arena arena = { 0 };
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	const char *const *paths = NULL;
	ck_assert_int_eq(grants_deciding(&arena, &paths, NULL), 0);
	ck_assert_ptr_null(paths[0]);
	const struct grant granted = { .widening.read = LIST("/srv") };
	ck_assert_int_eq(grants_write(GRANT_AGENT, bot.name, &granted, NULL), 0);
	for (int again = 0; again < 2; again++) {
		perch_err err = { 0 };
		ck_assert_msg(decision_record(&bot, LIST("/p/run"), NULL, &err) == 0, "%s", err.text);
		struct grant grant = read_bot(&arena);
		ck_assert_str_eq(grant.widening.read[0], "/srv");
		ck_assert_str_eq(grant.approval.manifest, "now");
		ck_assert_str_eq(grant.approval.files[0], "/p/run");
		ck_assert_int_eq(decision_check(&bot, &grant, NULL), 0);
	}
	const struct grant plugin = { .has_approval = true, .approval.manifest = "x" };
	ck_assert_int_eq(grants_write(GRANT_PLUGIN, "p", &plugin, NULL), 0);
	ck_assert_int_eq(grants_deciding(&arena, &paths, NULL), 0);
	ck_assert_uint_eq(list_count(paths), 2);
	ck_assert(list_has(paths, "/p/bot.yaml") && list_has(paths, "/p/run"));
	arena_free(&arena);
}
END_TEST

START_TEST(what_was_approved_before_stays_approved)
{
	struct arena arena = { 0 };
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	const struct grant before = approved("then", LIST("network", "read /a", "write /b"));
	ck_assert_int_eq(decision_record(&bot, NULL, &before, NULL), 0);
	struct grant grant = read_bot(&arena);
	ck_assert_str_eq(grant.approval.manifest, "now");
	ck_assert(list_has(grant.approval.wishes, "write /b"));
	arena_free(&arena);
}
END_TEST

static int record_once(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	const char *const *paths = NULL;
	const struct policy_widening widening = { .read = LIST("/a") };
	int r = decision_words(&arena, &widening, LIST("network")) ? 0 : -ENOMEM;
	if (r == 0)
		r = decision_record(&bot, LIST("/p/run"), NULL, NULL);
	if (r == 0)
		r = grants_deciding(&arena, &paths, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	ck_assert_uint_gt(oom_every(record_once, NULL), 0);
}
END_TEST

SUITE_MAIN("decision", words_say_what_is_allowed, what_is_the_same_or_less_is_fine,
	what_is_more_is_refused_with_words, every_kind_of_word_counts,
	a_record_leaves_what_was_granted_and_is_found_by_all_sandboxes,
	what_was_approved_before_stays_approved, every_failed_allocation_is_reported)
