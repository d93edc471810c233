/* approval: what a manifest may change without being asked about, and what not. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/oom.h"
#include "registry/approval.h"

static struct manifest read_manifest(struct arena *arena, const char *protocol, const char *rest)
{
	char text[1024];
	struct manifest manifest;
	perch_err err = { 0 };
	snprintf(
		text, sizeof(text), "[plugin]\nname = \"p\"\nversion = \"1\"\n%s\n%s\n", protocol, rest);
	ck_assert_msg(
		manifest_parse("p", text, strlen(text), arena, &manifest, &err) == 0, "%s", err.text);
	return manifest;
}

#define DANGEROUS(is) "[[commands]]\nname = \"c\"\nbinary = \"b\"\ndangerous = " is
#define V1 "protocol = \"fledge-v1\""

START_TEST(what_is_more_is_told)
{
	static const struct {
		const char *protocol_then, *then, *protocol_now, *now, *excess;
	} cases[] = {
		{ V1, "", V1, "", "" },
		{ V1, "", V1, "[other]", "" },
		{ V1, "", V1, "[capabilities]\nexec = true", "it wants exec" },
		{ V1, "[capabilities]\nexec = true", V1, "", "" },
		{ V1, "[capabilities]\nexec = true", V1, "[capabilities]\nexec = true\nstore = false", "" },
		{ V1, "", V1, "[capabilities]\nstore = true\nmetadata = true\nnetwork = true",
			"it wants store, metadata, network" },
		{ V1, "[capabilities]\nnetwork = false", V1, "", "it wants network" },
		{ V1, "", V1, "[capabilities]\nnetwork = false", "" },
		{ V1, "[capabilities]\nfilesystem = \"none\"", V1,
			"[capabilities]\nfilesystem = \"plugin\"", "it wants filesystem plugin" },
		{ V1, "[capabilities]\nfilesystem = \"plugin\"", V1, "", "it wants filesystem project" },
		{ V1, "", V1, "[capabilities]\nfilesystem = \"project\"", "" },
		{ V1, "[capabilities]\nfilesystem = \"project\"", V1, "", "" },
		{ V1, "", V1, "[hooks]\npre_push = \"x\"\nbuild = \"y\"",
			"it has the hook build; it has the hook pre_push" },
		{ V1, "[hooks]\nbuild = \"y\"", V1, "[hooks]\nbuild = \"z\"", "it has another hook build" },
		{ V1, "[hooks]\nbuild = \"y\"", V1, "[hooks]\nbuild = \"y\"\n[other]", "" },
		{ V1, DANGEROUS("true"), V1, DANGEROUS("false"), "it no longer says that c is dangerous" },
		{ V1, DANGEROUS("true"), V1, "[[commands]]\nname = \"c\"\nbinary = \"b\"",
			"it no longer says that c is dangerous" },
		{ V1, DANGEROUS("true"), V1, "", "" },
		{ V1, DANGEROUS("false"), V1, DANGEROUS("true"), "" },
		{ V1, "", "", "", "it no longer speaks a protocol and would run with all your rights" },
		{ "", "", V1, "", "it speaks another protocol now" },
		{ "", "", "", "[capabilities]\nexec = true", "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct manifest then = read_manifest(&arena, cases[i].protocol_then, cases[i].then);
		struct manifest now = read_manifest(&arena, cases[i].protocol_now, cases[i].now);
		struct grant_approval approval;
		char excess[APPROVAL_EXCESS_MAX];
		ck_assert_int_eq(approval_of(&then, &arena, &approval), 0);
		approval_excess(&approval, &now, excess);
		ck_assert_str_eq(excess, cases[i].excess);
		approval_excess(&approval, &then, excess);
		ck_assert_str_eq(excess, "");
		ck_assert(approval_is_same(&approval, &then));
		arena_free(&arena);
	}
}
END_TEST

START_TEST(no_manifest_any_more)
{
	char excess[APPROVAL_EXCESS_MAX];
	static const char *const nothing[] = { NULL };
	struct grant_approval approval = { "fledge-v1", "x", nothing, nothing, nothing, nothing };
	approval_excess(&approval, NULL, excess);
	ck_assert_ptr_nonnull(strstr(excess, "all your rights"));
	approval.protocol = "";
	approval_excess(&approval, NULL, excess);
	ck_assert_str_eq(excess, "");
}
END_TEST

START_TEST(what_is_in_force)
{
	const struct capabilities granted = { .exec = true };
	const struct capabilities wishes = {
		.network = true, .says_network = true, .filesystem = FILESYSTEM_PLUGIN
	};
	struct capabilities both = capabilities_in_force(&granted, &wishes);
	ck_assert(both.exec && !both.network && both.says_network);
	ck_assert_int_eq(both.filesystem, FILESYSTEM_PLUGIN);
	const struct capabilities narrow = { .filesystem = FILESYSTEM_NONE };
	both = capabilities_in_force(&narrow, &wishes);
	ck_assert_int_eq(both.filesystem, FILESYSTEM_NONE);
}
END_TEST

static int approve(void *data)
{
	struct arena arena = { 0 };
	struct grant_approval approval;
	int r = approval_of(data, &arena, &approval);
	arena_free(&arena);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	struct manifest manifest = { .protocol = "fledge-v1", .hash = "x", .wishes.exec = true };
	ck_assert_uint_ge(oom_every(approve, &manifest), 1);
}
END_TEST

SUITE_MAIN("approval", what_is_more_is_told, no_manifest_any_more, what_is_in_force,
	every_allocation_may_fail)
