/* grants: what was granted and approved comes back, and a mistake in the file
 * is never read as "nothing". */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "registry/grants.h"

#define FILE_NAME "perch/grants.toml"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void begin(void)
{
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
}

static const struct grant full = {
	.has_approval = true,
	.approval = { .protocol = "fledge-v1",
		.manifest = "abc",
		.hooks = LIST("build", "pre_push"),
		.wishes = LIST("exec") },
	.widening = { .is_off = true,
		.read = LIST("/srv/data", "/opt"),
		.env = LIST("GH_TOKEN"),
		.presets = LIST("ssh"),
		.net = WIDENING_NET_NONE },
};

static void write_grant(enum grant_kind kind, const char *name, const struct grant *grant)
{
	perch_err err = { 0 };
	ck_assert_msg(grants_write(kind, name, grant, &err) == 0, "%s", err.text);
}

static struct grant read_grant(enum grant_kind kind, const char *name, struct arena *arena)
{
	struct grant grant;
	perch_err err = { 0 };
	ck_assert_msg(grants_read(kind, name, arena, &grant, &err) == 0, "%s", err.text);
	return grant;
}

START_TEST(no_record_is_an_empty_grant)
{
	begin();
	struct arena arena = { 0 };
	struct grant grant = read_grant(GRANT_TOOL, "x", &arena);
	ck_assert(!grant.has_approval && !grant.widening.is_off);
	ck_assert_int_eq(grant.widening.net, WIDENING_NET_KEEP);
	ck_assert_int_eq(grants_remove(GRANT_TOOL, "x", NULL), 0);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_written_is_read)
{
	begin();
	struct arena arena = { 0 };
	write_grant(GRANT_PLUGIN, "de.ploy \"x\"", &full);
	struct grant grant = read_grant(GRANT_PLUGIN, "de.ploy \"x\"", &arena);
	ck_assert(grant.has_approval && grant.widening.is_off);
	ck_assert_str_eq(grant.widening.granted[0], "/srv/data");
	ck_assert_str_eq(grant.widening.granted[1], "/opt");
	ck_assert_ptr_null(grant.widening.granted[2]);
	ck_assert_str_eq(grant.widening.allow_by, "perch plugins allow 'de.ploy \"x\"'");
	ck_assert_str_eq(grant.approval.protocol, "fledge-v1");
	ck_assert_str_eq(grant.approval.manifest, "abc");
	ck_assert_str_eq(grant.approval.hooks[1], "pre_push");
	ck_assert_ptr_null(grant.approval.hooks[2]);
	ck_assert_str_eq(grant.approval.wishes[0], "exec");
	ck_assert_str_eq(grant.widening.read[1], "/opt");
	ck_assert_ptr_null(grant.widening.write[0]);
	ck_assert_str_eq(grant.widening.env[0], "GH_TOKEN");
	ck_assert_str_eq(grant.widening.presets[0], "ssh");
	ck_assert_int_eq(grant.widening.net, WIDENING_NET_NONE);
	ck_assert(!read_grant(GRANT_TOOL, "de.ploy \"x\"", &arena).has_approval);
	struct stat status;
	ck_assert_int_eq(stat(folder_path(FILE_NAME), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	arena_free(&arena);
}
END_TEST

START_TEST(the_rest_of_the_file_stays)
{
	begin();
	write_grant(GRANT_PLUGIN, "deploy", &full);
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_str_eq(text,
		"schema = 1\n\n[plugin.deploy]\nread = [\"/srv/data\", \"/opt\"]\nenv = [\"GH_TOKEN\"]\n"
		"presets = [\"ssh\"]\nnet = \"none\"\nsandbox = \"off\"\n\n"
		"[plugin.deploy.approved]\nprotocol = \"fledge-v1\"\nmanifest = \"abc\"\n"
		"hooks = [\"build\", \"pre_push\"]\ndangerous = []\nwishes = [\"exec\"]\n");
	free(text);
	folder_write(FILE_NAME, "# mine\n[tool.a] # of a tool\nread = [\"/a\"]\n");
	write_grant(GRANT_PLUGIN, "a", &(struct grant){ .widening.net = WIDENING_NET_FULL });
	write_grant(GRANT_PLUGIN, "a", &(struct grant){ .widening.write = LIST("/w") });
	ck_assert_int_eq(grants_remove(GRANT_PLUGIN, "b", NULL), 0);
	text = folder_read(folder_path(FILE_NAME));
	ck_assert_ptr_nonnull(strstr(text, "[tool.a] # of a tool\nread = [\"/a\"]\n"));
	ck_assert_ptr_nonnull(strstr(text, "# mine"));
	ck_assert_ptr_nonnull(strstr(text, "[plugin.a]\nwrite = [\"/w\"]\n"));
	ck_assert_ptr_null(strstr(text, "full"));
	free(text);
	ck_assert_int_eq(grants_remove(GRANT_PLUGIN, "a", NULL), 0);
	text = folder_read(folder_path(FILE_NAME));
	ck_assert_ptr_null(strstr(text, "/w"));
	ck_assert_ptr_nonnull(strstr(text, "[tool.a] # of a tool\nread = [\"/a\"]\n"));
	free(text);
}
END_TEST

START_TEST(mistakes_are_told_with_their_place)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "schema = 2\n", "grants.toml:1:10: this file was written by a later version" },
		{ "schema = \"1\"\n", "grants.toml:1:10:" },
		{ "plugin = 1\n", "grants.toml:1:10:" },
		{ "[plugin]\na = 1\n", "grants.toml:2:5:" },
		{ "[plugin.a]\nread = \"/\"\n", "grants.toml:2:8:" },
		{ "[plugin.a]\nread = [1]\n", "grants.toml:2:9:" },
		{ "[plugin.a]\nnet = \"some\"\n", "`net` must be \"none\" or \"full\"" },
		{ "[plugin.a]\nsandbox = true\n", "grants.toml:2:11:" },
		{ "[plugin.a]\napproved = true\n", "grants.toml:2:12:" },
		{ "[plugin.a.approved]\nhooks = [[]]\n", "grants.toml:2:10:" },
		{ "[plugin.a\n", "grants.toml:1:10:" },
	};
	begin();
	struct arena arena = { 0 };
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct grant grant;
		perch_err err = { 0 };
		folder_write(FILE_NAME, cases[i].text);
		ck_assert_int_eq(grants_read(GRANT_PLUGIN, "a", &arena, &grant, &err), PERCH_ESYNTAX);
		ck_assert_msg(strstr(err.text, cases[i].words) != NULL, "%s", err.text);
	}
	folder_write(FILE_NAME, cases[0].text);
	ck_assert_int_eq(grants_remove(GRANT_PLUGIN, "a", NULL), PERCH_ESYNTAX);
	ck_assert_int_eq(grants_write(GRANT_PLUGIN, "a", &(struct grant){ 0 }, NULL), PERCH_ESYNTAX);
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_str_eq(text, cases[0].text);
	free(text);
	arena_free(&arena);
}
END_TEST

START_TEST(several_processes_lose_nothing)
{
	begin();
	for (int i = 0; i < 3; i++) {
		if (fork() != 0)
			continue;
		for (int round = 0; round < 30; round++) {
			char name[32];
			snprintf(name, sizeof(name), "p%d-%d", i, round);
			if (grants_write(GRANT_AGENT, name, &(struct grant){ .widening.is_off = true }, NULL))
				_exit(1);
		}
		_exit(0);
	}
	for (int status; wait(&status) > 0;)
		ck_assert_int_eq(status, 0);
	struct arena arena = { 0 };
	for (int i = 0; i < 90; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%d-%d", i / 30, i % 30);
		ck_assert(read_grant(GRANT_AGENT, name, &arena).widening.is_off);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(a_tool_is_added_and_the_rest_stays)
{
	begin();
	struct arena arena = { 0 };
	folder_write(FILE_NAME, "schema = 1 # ours\n[agent.\"/b.yaml\"]\nnet = \"none\" # why\n");
	ck_assert_int_eq(grants_add_tool("/b.yaml", "bash", NULL), 0);
	ck_assert_int_eq(grants_add_tool("/b.yaml", "bash", NULL), 0);
	ck_assert_int_eq(grants_add_tool("/b.yaml", "a \"b\"", NULL), 0);
	ck_assert_int_eq(grants_add_tool("/other.yaml", "ls", NULL), 0);
	struct grant grant = read_grant(GRANT_AGENT, "/b.yaml", &arena);
	ck_assert_int_eq(grant.widening.net, WIDENING_NET_NONE);
	ck_assert_str_eq(grant.tools[0], "bash");
	ck_assert_str_eq(grant.tools[1], "a \"b\"");
	ck_assert_ptr_null(grant.tools[2]);
	ck_assert_str_eq(read_grant(GRANT_AGENT, "/other.yaml", &arena).tools[0], "ls");
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_ptr_nonnull(strstr(text, "net = \"none\" # why"));
	free(text);
	char name[16];
	int r = 0;
	for (int i = 0; i <= GRANT_TOOLS_MAX && r == 0; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		r = grants_add_tool("/b.yaml", name, NULL);
	}
	ck_assert_int_eq(r, -E2BIG);
	arena_free(&arena);
}
END_TEST

static int use_once(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct grant grant = full;
	unlink(folder_path(FILE_NAME));
	int r = grants_write(GRANT_PLUGIN, "a", &grant, NULL);
	if (r == 0)
		r = grants_read(GRANT_PLUGIN, "a", &arena, &grant, NULL);
	if (r == 0)
		r = grants_add_tool("/b.yaml", "bash", NULL);
	if (r == 0)
		r = grants_remove(GRANT_PLUGIN, "a", NULL);
	ck_assert(r == 0 || r == -ENOMEM);
	arena_free(&arena);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	begin();
	ck_assert_uint_gt(oom_every(use_once, NULL), 20);
}
END_TEST

SUITE_MAIN("grants", no_record_is_an_empty_grant, what_is_written_is_read,
	the_rest_of_the_file_stays, mistakes_are_told_with_their_place, several_processes_lose_nothing,
	a_tool_is_added_and_the_rest_stays, every_allocation_may_fail)
