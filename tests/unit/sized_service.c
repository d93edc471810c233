/* Callers that were built against an earlier version of the library, and a service: its structures
 * have grown, so every length that they have had is tried, with something behind it that must not
 * be looked at. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/served.h"

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Lengths that a structure has had: from the one that ends with its first version's last member. */
#define FIRST_LENGTH(type, member) \
	((SIZED_UP_TO(type, member) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *))
#define EACH_LENGTH(length, type, member)                                    \
	for (size_t length = FIRST_LENGTH(type, member); length <= sizeof(type); \
		 length += sizeof(void *))

/* Behind it lies something else of the caller's, which is neither zero nor an address. */
static void cut(void *structure, size_t size, size_t length)
{
	memset((char *)structure + length, 0x5a, size - length);
	memcpy(structure, &length, sizeof(length));
}

/* ---- jobs -------------------------------------------------------------------------- */

static void check_lengths(perch_job_request whole, const char *wanted)
{
	EACH_LENGTH(length, perch_job_request, allow_shell_message)
	{
		struct served_job job = { .answers = true };
		perch_job_request request = whole;
		cut(&request, sizeof(request), length);
		served_submit(request, &job);
		const char *log = served_wait(&job);
		ck_assert_msg(strstr(log, wanted), "%zu bytes: %s", length, log);
		ck_assert_msg(job.end.success, "%zu bytes: %s", length, log);
		served_free(&job);
	}
}

START_TEST(jobs_of_every_kind)
{
	char agent[8192];
	served_open(NULL);
	served_bind("echo", "echo", "");
	char text[sizeof(agent) + 64];
	snprintf(text, sizeof(text), "command: \"%s\"\nstdin: message\n",
		proc_in_build("agent", agent, sizeof(agent)));
	folder_write("config/perch/agents/bot.yaml", text);
	check_lengths(served_tool("echo/t.x", "{\"n\":1}"), "{\"n\":1}");
	check_lengths(served_command(ARGS("hello")), "shown:hello");
	check_lengths(served_turn("bot", "two words", NULL), "reply:");
	served_close();
}
END_TEST

/* A request of a later version asks for something that this one cannot do. */
START_TEST(a_job_of_a_later_version)
{
	struct {
		perch_job_request known;
		uintptr_t later[2];
	} newer = { .known = PERCH_JOB_REQUEST_INIT };
	struct served_job job = { 0 };
	const struct served *served = served_open(NULL);
	newer.known = served_command(ARGS("hello"));
	newer.known.size = sizeof(newer);
	newer.known.sink = (perch_sink_fn *)(uintptr_t)1; /* never called */
	newer.later[1] = 1;
	ck_assert_int_eq(perch_job_submit(served->service, &newer.known, &job.job, NULL), -EINVAL);
	ck_assert_ptr_null(job.job);
	served_close();
}
END_TEST

/* What a job's options have in them has lengths of its own. */
START_TEST(options_inside_of_a_job)
{
	served_open(NULL);
	perch_fledge_options run = PERCH_FLEDGE_OPTIONS_INIT;
	EACH_LENGTH(length, perch_fledge_options, data)
	{
		struct served_job job = { 0 };
		perch_fledge_options older = run;
		perch_job_request request = served_command(ARGS("hello"));
		cut(&older, sizeof(older), length);
		request.run = &older;
		served_submit(request, &job);
		ck_assert_ptr_nonnull(strstr(served_wait(&job), "shown:hello"));
		ck_assert(job.end.success && job.is_confined);
		served_free(&job);
	}
	served_close();
}
END_TEST

START_TEST(answers)
{
	struct served_job job = { 0 };
	const struct served *served = served_open(NULL);
	served_submit(served_command(ARGS("ask")), &job);
	while (!job.asked)
		perch_host_wait(served->host, -1);
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.text = "me";
	answer.text_len = 2;
	cut(&answer, sizeof(answer), FIRST_LENGTH(perch_answer, content));
	ck_assert_int_eq(perch_job_answer(job.job, job.asked, &answer, NULL), 0);
	while (job.asked < 2)
		perch_host_wait(served->host, -1);
	struct {
		perch_answer known;
		uintptr_t later;
	} newer = { .known.size = sizeof(newer), .later = 1 };
	ck_assert_int_eq(perch_job_answer(job.job, job.asked, &newer.known, NULL), -EINVAL);
	newer.later = 0;
	newer.known.cancel = true;
	ck_assert_int_eq(perch_job_answer(job.job, job.asked, &newer.known, NULL), 0);
	served_wait(&job);
	served_free(&job);
	served_close();
}
END_TEST

/* ---- services ------------------------------------------------------------------------ */

static void make(const perch_service_options *given, int wanted)
{
	perch_host *host = proc_host();
	perch_service *service = NULL;
	perch_err err = { 0 };
	int r = perch_service_new(host, given, &service, &err);
	ck_assert_msg(r == wanted, "%zu bytes: %d %s", given->size, r, err.text);
	perch_service_free(service);
	perch_host_free(host);
}

START_TEST(services)
{
	served_open(NULL); /* a home */
	served_close();
	EACH_LENGTH(length, perch_service_options, data)
	{
		perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
		options.frontend = "mcp";
		cut(&options, sizeof(options), length);
		make(&options, 0);
	}
	struct {
		perch_service_options known;
		uintptr_t later;
	} newer = { .known.size = sizeof(newer), .later = 1 };
	make(&newer.known, -EINVAL);
	newer.later = 0;
	make(&newer.known, 0);
}
END_TEST

/* ---- sandboxes ----------------------------------------------------------------------- */

static int confine(const perch_sandbox_options *options)
{
	perch_host *host = proc_host();
	perch_sandbox *sandbox = NULL;
	perch_err err = { 0 };
	int r = perch_sandbox_open(host, options, &sandbox, &err);
	perch_sandbox_free(sandbox);
	perch_host_free(host);
	return r;
}

START_TEST(sandboxes)
{
	served_open(NULL);
	served_close();
	const char *project = folder_path("project");
	EACH_LENGTH(length, perch_sandbox_options, shares_group)
	{
		perch_sandbox_options options = PERCH_SANDBOX_OPTIONS_INIT;
		options.directory = project;
		cut(&options, sizeof(options), length);
		ck_assert_int_eq(confine(&options), 0);
	}
	struct {
		perch_sandbox_options known;
		uintptr_t later;
	} newer = { .known = { .size = sizeof(newer), .directory = project }, .later = 1 };
	ck_assert_int_eq(confine(&newer.known), -EINVAL);
	newer.later = 0;
	ck_assert_int_eq(confine(&newer.known), 0);
}
END_TEST

SUITE_MAIN("sized-service", jobs_of_every_kind, a_job_of_a_later_version, options_inside_of_a_job,
	answers, services, sandboxes)
