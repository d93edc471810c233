/* Which preset a failed command may have missed, and which variables were kept from a program. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/policy/policy.h"

static const char *variables[] = { "HOME=/nowhere", "GH_TOKEN=x", "PGPASSWORD=y", "SHELL=/bin/sh",
	NULL };

START_TEST(variables_that_look_like_secrets_are_withheld)
{
	static const char *const env[] = { "PGPASSWORD", NULL };
	static const struct policy_widening none = { 0 };
	static const struct policy_widening some = { .env = env };
	struct arena arena = { 0 };
	environ = (char **)variables;
	const char *const *names = policy_withheld(&arena, &none);
	ck_assert_str_eq(names[0], "GH_TOKEN");
	ck_assert_str_eq(names[1], "PGPASSWORD");
	ck_assert_ptr_null(names[2]);
	names = policy_withheld(&arena, &some);
	ck_assert_str_eq(names[0], "GH_TOKEN");
	ck_assert_ptr_null(names[1]);
	arena_free(&arena);
}
END_TEST

/* Of what is not here, nothing was missed. */
START_TEST(a_preset_is_missed_where_it_shows_something)
{
	static const char *const presets[] = { "docker", NULL };
	static const struct policy_widening none = { 0 };
	static const struct policy_widening some = { .presets = presets };
	struct arena arena = { 0 };
	folder_new();
	folder_write("home/.docker/config.json", "{}");
	const char *home = folder_path("home");
	environ = (char **)variables;
	ck_assert_str_eq(policy_missed_preset(&arena, home, &none, STR("docker")), "docker");
	ck_assert_str_eq(policy_missed_preset(&arena, home, &none, STR("gh")), "github");
	ck_assert_ptr_null(policy_missed_preset(&arena, home, &some, STR("docker")));
	ck_assert_ptr_null(policy_missed_preset(&arena, home, &none, STR("kubectl")));
	ck_assert_ptr_null(policy_missed_preset(&arena, home, &none, STR("cat")));
	ck_assert_ptr_null(policy_missed_preset(&arena, home, &none, STR("")));
	arena_free(&arena);
}
END_TEST

/* All names or none: a list that lacks one would hide it. Each has its own arena: one that is not
 * empty asks for no memory. */
static int look(void *data)
{
	static const struct policy_widening none = { 0 };
	struct arena first = { 0 };
	struct arena second = { 0 };
	const char *const *names = policy_withheld(&first, &none);
	ck_assert(!names || list_count(names) == 2);
	const char *preset = policy_missed_preset(&second, data, &none, STR("docker"));
	ck_assert(!preset || strcmp(preset, "docker") == 0);
	arena_free(&first);
	arena_free(&second);
	return names && preset ? 0 : -ENOMEM;
}

START_TEST(without_memory)
{
	folder_new();
	folder_write("home/.docker/config.json", "{}");
	environ = (char **)variables;
	ck_assert_uint_gt(oom_every(look, (void *)folder_path("home")), 1);
}
END_TEST

SUITE_MAIN("policy-missed", variables_that_look_like_secrets_are_withheld,
	a_preset_is_missed_where_it_shows_something, without_memory)
