/* What is written of a job, as the service takes it: every kind, bent ones, and without memory. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "queue/job_request.h"

struct played {
	perch_entry_kind kind;
	const char *request;
};

static int play(void *data)
{
	const struct played *played = data;
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct uploads uploads = { .arena = &arena, .id = "j00000000000000000000" };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	const struct queue_job job = {
		.name = STR("bot"), .owner = STR("me"), .request = str_from(played->request)
	};
	int r = job_request_fill(&job, played->kind, &uploads, &request, NULL);
	uploads_remove(&uploads);
	return r;
}

START_TEST(every_kind_without_memory)
{
	static const struct played kinds[] = {
		{ PERCH_ENTRY_AGENT,
			"{\"message\":\"x\",\"timeout\":2,\"attachments\":[{\"url\":"
			"\"data:text/plain;base64,aGVsbG8=\",\"name\":\"a.txt\"},{\"url\":\"https://"
			"e.com\"}]}" },
		{ PERCH_ENTRY_TOOL, "{\"input\":{\"a\":1}}" },
		{ PERCH_ENTRY_COMMAND, "{\"args\":[\"a\",\"b\"],\"answers\":[\"q=c\"]}" },
	};
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct played played = kinds[i];
		ck_assert_int_eq(play(&played), 0);
		oom_every(play, &played);
	}
	ck_assert_uint_eq(folder_count(folder_path("state/perch/attachments"), "j"), 0);
}
END_TEST

START_TEST(what_is_none)
{
	static const char *const wrong[] = { "", "{", "\"x\"]" };
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct played played = { PERCH_ENTRY_AGENT, wrong[i] };
		ck_assert_int_lt(play(&played), 0);
	}
}
END_TEST

SUITE_MAIN("job-request", every_kind_without_memory, what_is_none)
