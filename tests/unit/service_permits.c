/* What an agent may without asking again: for a turn, for a session, for good. */
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/served.h"
#include "registry/grants.h"

/* Asks twice for one tool, one after the other, and replies with what it was told. */
static void write_agent(const char *tool)
{
	char text[4200];
	snprintf(text, sizeof(text),
		"read turn\nfor n in 1 2; do\n"
		"printf '%%s\\n' "
		"'{\"type\":\"permission_request\",\"request_id\":\"'$n'\",\"tool_name\":\"%s\"}'\n"
		"read answer\n"
		"case $answer in *allow*) said=\"$said yes\" ;; *) said=\"$said no\" ;; esac\n"
		"done\necho \"{\\\"type\\\":\\\"result\\\",\\\"text\\\":\\\"said$said\\\"}\"\n",
		tool);
	folder_write("asker.sh", text);
	snprintf(text, sizeof(text), "protocol: '0.4'\ncommand: sh\nargs: [\"%s\"]\npermission: true\n",
		folder_path("asker.sh"));
	folder_write("config/perch/agents/asker.yaml", text);
}

/* A turn whose questions are all answered with this option (NULL = plainly no); how many there
 * were. */
static uint64_t turn(perch_job_request request, const char *option, const char *reply)
{
	struct served_job job = { .option = option, .answers = true, .is_no = true };
	served_submit(request, &job);
	ck_assert_msg(strstr(served_wait(&job), reply), "%s", served_log(&job));
	uint64_t asked = job.asked;
	served_free(&job);
	return asked;
}

static perch_job_request in_session(const char *session)
{
	return served_turn("asker", "x", session);
}

START_TEST(yes_is_for_once_session_for_all_of_it)
{
	served_open(NULL);
	write_agent("sh");
	ck_assert_uint_eq(turn(in_session("a"), NULL, "reply:said no no "), 2);
	ck_assert_uint_eq(turn(in_session("a"), "yes", "reply:said yes yes "), 2);
	ck_assert_uint_eq(turn(in_session("a"), "session", "reply:said yes yes "), 1);
	ck_assert_uint_eq(turn(in_session("a"), NULL, "reply:said yes yes "), 0);
	ck_assert_uint_eq(turn(in_session("b"), NULL, "reply:said no no "), 2);
	/* Another service, as another process is one. */
	served_close();
	served_open(NULL);
	ck_assert_uint_eq(turn(in_session("a"), NULL, "reply:said yes yes "), 0);
	perch_job_request afresh = in_session("a");
	afresh.is_new = true;
	ck_assert_uint_eq(turn(afresh, NULL, "reply:said no no "), 2);
	ck_assert_uint_eq(turn(in_session("a"), NULL, "reply:said no no "), 2);
	served_close();
}
END_TEST

START_TEST(always_is_a_grant_and_counts_where_nobody_can_be_asked)
{
	struct arena arena = { 0 };
	struct grant grant;
	served_open(NULL);
	write_agent("sh");
	ck_assert_uint_eq(turn(in_session("a"), "always", "reply:said yes yes "), 1);
	perch_job_request alone = in_session("b");
	alone.non_interactive = true;
	ck_assert_uint_eq(turn(alone, NULL, "reply:said yes yes "), 0);
	char *path = realpath(folder_path("config/perch/agents/asker.yaml"), NULL);
	ck_assert_int_eq(grants_read(GRANT_AGENT, path, &arena, &grant, NULL), 0);
	ck_assert_str_eq(grant.tools[0], "sh");
	ck_assert_ptr_null(grant.tools[1]);
	ck_assert_int_eq(grants_remove(GRANT_AGENT, path, NULL), 0);
	ck_assert_uint_eq(turn(in_session("b"), NULL, "reply:said no no "), 2);
	free(path);
	arena_free(&arena);
	served_close();
}
END_TEST

/* For those behind a frontend grants are not theirs to give; and what cannot be a line is not
 * remembered. */
START_TEST(not_everything_is_offered)
{
	static const struct {
		const char *tool;
		const char *frontend;
		const char *offered;
	} cases[] = {
		{ "sh", NULL, "yes session always no " },
		{ "sh", "chat", "yes session no " },
		{ "", NULL, "yes no " },
		{ "a\\nb", NULL, "yes no " },
		{ "a\\u001bb", NULL, "yes no " },
	};
	served_open(NULL);
	folder_write("config/perch/config.toml", "[expose.chat]\nagents = [\"asker\"]\n");
	served_close();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct served_job job = { .answers = true, .is_no = true };
		perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
		options.frontend = cases[i].frontend;
		served_open(&options);
		write_agent(cases[i].tool);
		served_submit(in_session("c"), &job);
		served_wait(&job);
		buf_terminate(&job.offered);
		ck_assert_ptr_nonnull(strstr(job.offered.data, cases[i].offered));
		ck_assert_uint_eq(strlen(job.offered.data), 2 * strlen(cases[i].offered));
		served_free(&job);
		served_close();
	}
}
END_TEST

SUITE_MAIN("service-permits", yes_is_for_once_session_for_all_of_it,
	always_is_a_grant_and_counts_where_nobody_can_be_asked, not_everything_is_offered)
