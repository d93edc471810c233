/* Two widenings as one, and what becomes of a policy that is widened. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/policy/hidden_paths.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/policy.h"

static const char *const one[] = { "/one", NULL };
static const char *const one_and_two[] = { "/one", "/two", NULL };
static const char *const names[] = { "TOKEN", NULL };
static const char *const ssh[] = { "ssh", NULL };

static void expect_list(const char *const *list, const char *const *wanted)
{
	ck_assert_uint_eq(list_count(list), list_count(wanted));
	for (size_t i = 0; wanted[i]; i++)
		ck_assert_str_eq(list[i], wanted[i]);
}

START_TEST(the_lists_of_both_and_nothing_twice)
{
	struct arena arena = { 0 };
	struct policy_widening widening = { .read = one, .env = names };
	const struct policy_widening more = { .read = one_and_two, .write = one, .presets = ssh };
	ck_assert_int_eq(policy_widening_join(&arena, &more, &widening), 0);
	expect_list(widening.read, one_and_two);
	expect_list(widening.write, one);
	expect_list(widening.env, names);
	expect_list(widening.presets, ssh);
	arena_free(&arena);
}
END_TEST

START_TEST(nothing_joined_changes_nothing)
{
	struct arena arena = { 0 };
	struct policy_widening widening = { .read = one, .is_on = true, .net = WIDENING_NET_NONE };
	const struct policy_widening nothing = { 0 };
	ck_assert_int_eq(policy_widening_join(&arena, &nothing, &widening), 0);
	ck_assert_ptr_eq(widening.read, one);
	ck_assert(widening.is_on && !widening.is_off);
	ck_assert_int_eq(widening.net, WIDENING_NET_NONE);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_said_later_of_network_and_sandbox_counts)
{
	static const struct {
		bool was_off, was_on, says_off, says_on, is_off, is_on;
	} rows[] = {
		{ true, false, false, true, false, true },
		{ false, true, true, false, true, false },
		{ true, false, false, false, true, false },
		{ false, false, true, false, true, false },
	};
	struct arena arena = { 0 };
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy_widening widening = { .is_off = rows[i].was_off, .is_on = rows[i].was_on };
		const struct policy_widening more = {
			.is_off = rows[i].says_off, .is_on = rows[i].says_on, .net = WIDENING_NET_FULL
		};
		ck_assert_int_eq(policy_widening_join(&arena, &more, &widening), 0);
		ck_assert_msg(
			widening.is_off == rows[i].is_off && widening.is_on == rows[i].is_on, "row %zu", i);
		ck_assert_int_eq(widening.net, WIDENING_NET_FULL);
	}
	arena_free(&arena);
}
END_TEST

static int join_once(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	const struct policy_widening before = { .read = one };
	struct policy_widening widening = before;
	const struct policy_widening more = {
		.read = one_and_two, .write = one, .env = names, .presets = ssh, .is_on = true
	};
	int r = policy_widening_join(&arena, &more, &widening);
	if (r < 0)
		ck_assert_int_eq(memcmp(&before, &widening, sizeof(before)), 0);
	arena_free(&arena);
	return r;
}

START_TEST(a_failed_join_changes_nothing)
{
	ck_assert_uint_ge(oom_every(join_once, NULL), 1);
}
END_TEST

/* ---- what is told, what is hidden ----------------------------------------- */

static struct policy_plugin at_home(struct arena *arena)
{
	setenv("HOME", "/home/dev", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CACHE_HOME");
	struct policy_plugin plugin = policy_plugin_of(arena, "/home/dev");
	plugin.project = "/home/dev";
	plugin.may_write_project = true;
	return plugin;
}

START_TEST(a_directory_that_is_given_is_no_longer_said_to_be_withheld)
{
	static const char *const elsewhere[] = { "/home/dev/app", NULL };
	static const char *const all[] = { "/home", NULL };
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	const struct policy_plugin plugin = at_home(&arena);
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_nonnull(policy.note);
	const struct policy_widening little = { .write = elsewhere, .read = all };
	ck_assert_int_eq(policy_widen(&arena, plugin.home, &little, &policy, NULL), 0);
	ck_assert_ptr_nonnull(policy.note);
	const struct policy_widening enough = { .write = all };
	ck_assert_int_eq(policy_widen(&arena, plugin.home, &enough, &policy, NULL), 0);
	ck_assert_ptr_null(policy.note);
	arena_free(&arena);
}
END_TEST

/* Without memory a directory of ours must not look like one that there is not. */
static int hide_ours(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	const struct policy_plugin plugin = at_home(&arena);
	int r = policy_for_plugin(&arena, &plugin, &policy);
	if (r == 0) {
		ck_assert(list_has(policy.hide, "/home/dev/.config/fledge"));
		ck_assert(list_has(policy.hide, "/home/dev/.config/perch"));
		ck_assert(list_has(policy.hide, "/home/dev/.local/state/perch"));
		ck_assert(list_has(policy.hide, "/home/dev/.cache/perch"));
	}
	arena_free(&arena);
	return r;
}

START_TEST(our_directories_are_hidden_or_it_fails)
{
	ck_assert_uint_gt(oom_every(hide_ours, NULL), 4);
}
END_TEST

START_TEST(the_stores_of_the_account_are_hidden_whatever_home_says)
{
	const struct passwd *account = getpwuid(getuid());
	if (!account || account->pw_dir[0] != '/' || access(account->pw_dir, F_OK) != 0)
		return;
	static const char *const homes[] = { "", "/somewhere/else" };
	for (size_t i = 0; i < COUNT(homes); i++) {
		struct arena arena = { 0 };
		struct path_list hide;
		path_list_begin(&hide, &arena, NULL);
		hidden_paths_add(&hide, homes[i]);
		for (size_t k = 0; k < hidden_table_count; k++) {
			const char *place = hidden_table[k].place ? hidden_table[k].place : ".ssh";
			char *path = str_join(account->pw_dir, "/", place, NULL);
			ck_assert_msg(access(path, F_OK) != 0 || list_has(hide.items, path), "%s", path);
			free(path);
		}
		arena_free(&arena);
	}
}
END_TEST

SUITE_MAIN("widening", the_lists_of_both_and_nothing_twice, nothing_joined_changes_nothing,
	what_is_said_later_of_network_and_sandbox_counts, a_failed_join_changes_nothing,
	a_directory_that_is_given_is_no_longer_said_to_be_withheld,
	our_directories_are_hidden_or_it_fails, the_stores_of_the_account_are_hidden_whatever_home_says)
