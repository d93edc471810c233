/* capabilities: one table, and everything that is walked by it. */
#include "harness/suite.h"

#include <string.h>

#include "base/buf.h"
#include "base/macros.h"
#include "perch/fledge.h"
#include "registry/capabilities.h"

START_TEST(each_has_a_name_a_member_and_a_grant_of_its_own)
{
	unsigned grants = 0;
	struct capabilities members = { 0 };
	for (const struct capability *one = capability_table; one->name; one++) {
		ck_assert_ptr_eq(capability_find(str_from(one->name)), one);
		ck_assert(!capabilities_have(&members, one));
		capabilities_put(&members, one, true);
		ck_assert(capabilities_have(&members, one));
		ck_assert_uint_ne(one->grant, 0);
		ck_assert_uint_eq(grants & one->grant, 0);
		grants |= one->grant;
	}
	ck_assert(members.exec && members.store && members.metadata && members.network);
	ck_assert(!members.says_network && members.filesystem == FILESYSTEM_UNSET);
	ck_assert_ptr_null(capability_find(STR("none")));
}
END_TEST

START_TEST(help_names_all_of_them)
{
	struct buf names = { 0 };
	for (const struct capability *one = capability_table; one->name; one++)
		buf_printf(&names, "%s%s", names.len ? ", " : "", one->name);
	ck_assert_int_eq(buf_terminate(&names), 0);
	ck_assert_str_eq(names.data, CAPABILITY_NAMES);
	buf_free(&names);
}
END_TEST

START_TEST(all_of_them_are_words)
{
	const char *words[WISHES_MAX + 1];
	struct capabilities all = capabilities_all();
	all.filesystem = FILESYSTEM_PLUGIN;
	wishes_words(&all, words);
	size_t count = 0;
	for (const struct capability *one = capability_table; one->name; one++)
		ck_assert_str_eq(words[count++], one->name);
	ck_assert_str_eq(words[count++], "filesystem plugin");
	ck_assert_ptr_null(words[count]);
}
END_TEST

START_TEST(the_network_is_open_unless_the_manifest_mentions_it)
{
	struct capabilities force = { 0 };
	ck_assert(capabilities_reach_network(&force));
	force.says_network = true;
	ck_assert(!capabilities_reach_network(&force));
	force.network = true;
	ck_assert(capabilities_reach_network(&force));
}
END_TEST

SUITE_MAIN("capabilities", each_has_a_name_a_member_and_a_grant_of_its_own, help_names_all_of_them,
	all_of_them_are_words, the_network_is_open_unless_the_manifest_mentions_it)
