/* denials: the line that tells what was kept from a plugin, from what it and its commands say. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fledge/denials.h"
#include "sandbox/policy/explain.h"

static bool exists(const char *path)
{
	(void)path;
	return true;
}

static const struct explain_context *explain(void *data)
{
	static const struct sandbox_policy policy = { .reads_everything = true,
		.net = SANDBOX_NET_FULL };
	static const struct explain_context context = { &policy, "fledge", "x ", NULL, exists };
	(void)data;
	return &context;
}

static const char *const variables[] = { "API_TOKEN", "PGPASSWORD", NULL };
static const struct policy_widening widening = { 0 };
static const struct denials_options options = {
	.plugin = "fledge-p",
	.variables = variables,
	.widening = &widening,
	.explain = explain,
};

/* A home directory that has what docker uses. */
static void go_home(void)
{
	folder_new();
	folder_write("home/.docker/config.json", "{}");
	setenv("HOME", folder_path("home"), 1);
}

static const char *said(struct denials *denials, bool has_failed, struct buf *out)
{
	bool is_told = denials_say(denials, has_failed, out);
	ck_assert_int_eq(buf_terminate(out), 0);
	ck_assert_int_eq(is_told, out->len > 0);
	return out->data;
}

#define ALLOW "to allow that: perch plugins allow fledge-p"

START_TEST(a_failed_command_is_explained)
{
	static const struct {
		const char *command, *err, *line;
	} cases[] = {
		{ "true", "", "" },
		{ "x", "PGPASSWORD?", "kept from it: PGPASSWORD; " ALLOW " --env PGPASSWORD" },
		{ "x", "XPGPASSWORD, PGPASSWORD_2", "" },
		{ "cd . && A=1 exec /usr/bin/docker ps", "",
			"kept from it: what docker uses; " ALLOW " --preset docker" },
		{ "echo docker", "", "" },
		{ "! (fledge sql)", "", "kept from it: other plugins; " ALLOW " --grant plugins" },
		{ "x", "touch: /srv/y: Read-only file system",
			"kept from it: /srv/y; " ALLOW " --write /srv/y" },
		{ "= ; && | ! exec", "", "" },
	};
	go_home();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };
		struct denials *denials = denials_new(&options);
		denials_command(denials, cases[i].command, STR(""), str_from(cases[i].err));
		ck_assert_str_eq(said(denials, false, &out), cases[i].line);
		denials_free(denials);
		buf_free(&out);
	}
}
END_TEST

START_TEST(of_what_it_says_the_end_counts)
{
	static char much[10000];
	struct buf out = { 0 };
	struct denials *denials = denials_new(&options);
	memset(much, ' ', sizeof(much));
	denials_hear(denials, STR("API_TOKEN"));
	for (int i = 0; i < 100; i++)
		denials_hear(denials, (struct str){ much, (size_t)i * 100 });
	denials_hear(denials, STR("PGPASS"));
	denials_hear(denials, STR("WORD"));
	ck_assert_str_eq(
		said(denials, true, &out), "kept from it: PGPASSWORD; " ALLOW " --env PGPASSWORD");
	denials_free(denials);
	buf_free(&out);
}
END_TEST

/* The parts of a line that are there, of a plugin that was denied all of these. What cannot be
 * found without memory is left out as a whole: half an advice would allow something else. */
static size_t parts_of(const char *line)
{
	static const char *const parts[][2] = {
		{ "API_TOKEN", " --env API_TOKEN" },
		{ "PGPASSWORD", " --env PGPASSWORD" },
		{ "what docker uses", " --preset docker" },
		{ "/srv/y", " --write /srv/y" },
		{ "other plugins", " --grant plugins" },
	};
	const char *advice = strstr(line, "; " ALLOW);
	size_t count = 0;
	ck_assert_msg(advice != NULL, "%s", line);
	for (size_t i = 0; i < COUNT(parts); i++) {
		const char *what = strstr(line, parts[i][0]);
		bool is_named = what && what < advice;
		ck_assert_msg(is_named == !!strstr(advice, parts[i][1]), "%s", line);
		count += is_named;
	}
	return count;
}

static int tell(void *data)
{
	(void)data;
	struct buf out = { 0 };
	struct denials *denials = denials_new(&options);
	denials_hear(denials, STR("API_TOKEN"));
	denials_command(denials, "docker ps | fledge x", STR("PGPASSWORD"),
		STR("touch: /srv/y: Read-only file system"));
	bool is_told = denials_say(denials, true, &out) && buf_terminate(&out) == 0;
	size_t parts = is_told ? parts_of(out.data) : 0;
	denials_free(denials);
	buf_free(&out);
	return parts == 5 ? 0 : -ENOMEM;
}

START_TEST(without_memory)
{
	go_home();
	ck_assert_uint_gt(oom_every(tell, NULL), 4);
}
END_TEST

SUITE_MAIN("denials", a_failed_command_is_explained, of_what_it_says_the_end_counts, without_memory)
