/* The default policy of plugins, as data. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <string.h>

#include "sandbox/policy.h"

static const struct policy_plugin usual = {
	.home = "/home/dev",
	.config = "/home/dev/.config/fledge",
	.own_config = "/home/dev/.config/perch",
	.own_state = "/home/dev/.local/state/perch",
	.own_cache = "/home/dev/.cache/perch",
	.project = "/home/dev/app",
	.directory = "/home/dev/.config/fledge/plugins/deploy",
	.may_write_project = true,
	.may_write_directory = true,
};

static bool lists(const char *const *list, const char *path)
{
	for (; *list; list++) {
		if (strcmp(*list, path) == 0)
			return true;
	}
	return false;
}

START_TEST(the_default_policy)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	ck_assert(policy.reads_everything && policy.has_private_tmp);
	ck_assert_int_eq(policy.net, SANDBOX_NET_FULL);
	ck_assert(lists(policy.hide, "/home/dev/.ssh"));
	ck_assert(lists(policy.hide, "/home/dev/.config/fledge"));
	ck_assert(lists(policy.hide, "/home/dev/.local/state/perch"));
	ck_assert(lists(policy.reveal, "/home/dev/.config/fledge/plugins/deploy"));
	ck_assert(lists(policy.reveal, "/home/dev/.config/fledge/plugins/bin"));
	ck_assert(lists(policy.write, "/home/dev/app"));
	ck_assert(lists(policy.write, "/home/dev/.config/fledge/plugins/deploy"));
	ck_assert(lists(policy.protect, "/home/dev/app/.git/hooks"));
	ck_assert(lists(policy.protect, "/home/dev/app/.git/config"));
	ck_assert(lists(policy.protect, "/home/dev/.config/fledge/plugins/deploy/plugin.toml"));
	arena_free(&arena);
}
END_TEST

/* Such a project may be read, not written. */
START_TEST(a_project_that_holds_too_much_is_not_written)
{
	static const char *const projects[] = { "/", "/home", "/home/dev", "/home/dev/.config",
		"/home/dev/.config/fledge/plugins", "/home/dev/.local", "" };
	for (size_t i = 0; i < COUNT(projects); i++) {
		struct arena arena = { 0 };
		struct sandbox_policy policy;
		struct policy_plugin plugin = usual;
		plugin.project = projects[i];
		ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
		ck_assert_msg(!lists(policy.write, projects[i]), "%s", projects[i]);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(a_manifest_narrows)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = usual;
	plugin.may_write_project = false;
	plugin.may_write_directory = false;
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_null(policy.write[0]);
	arena_free(&arena);
}
END_TEST

START_TEST(inside_is_by_whole_names)
{
	ck_assert(policy_is_inside("/a/b", "/a/b"));
	ck_assert(policy_is_inside("/a/b/c", "/a/b"));
	ck_assert(policy_is_inside("/a", "/"));
	ck_assert(!policy_is_inside("/a/bc", "/a/b"));
	ck_assert(!policy_is_inside("/a", "/a/b"));
	ck_assert(!policy_is_inside("/a", ""));
}
END_TEST

static int make_once(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	int r = policy_for_plugin(&arena, &usual, &policy);
	arena_free(&arena);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	ck_assert_uint_gt(oom_every(make_once, NULL), 0);
}
END_TEST

SUITE_MAIN("policy", the_default_policy, a_project_that_holds_too_much_is_not_written,
	a_manifest_narrows, inside_is_by_whole_names, every_failed_allocation_is_reported)
