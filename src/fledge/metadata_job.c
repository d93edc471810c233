/* One `metadata` request. */
#include "fledge/run_services.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "data/json.h"
#include "fledge/surroundings.h"
#include "proc/capture.h"
#include "sandbox/git/own_git.h"

enum {
	GIT_OUTPUT_MAX = 4 * 1024 * 1024,
	GIT_LINES_MAX = 100000,
	GIT_TAGS_MAX = 100,
};
#define GIT_TIMEOUT_NS (30 * NSEC_PER_SEC)

/* A key that was asked for, and its value when it is known. */
struct part {
	struct metadata_job *job;
	char *key;
	size_t key_len;
	struct buf json;
	struct capture *capture; /* git at work */
};

struct metadata_job {
	struct metadata_job *next;
	struct metadata_job **link;
	const struct run_services_options *options;
	uint64_t ticket;
	struct part *parts; /* sorted by key, each once */
	size_t count;
	size_t unknown; /* parts whose value is not known yet */
	bool is_broken; /* out of memory */
	size_t metered;
	struct arena arena; /* the commands of git */
};

static void metadata_job_free_job(struct metadata_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		capture_free(job->parts[i].capture);
		free(job->parts[i].key);
		buf_free(&job->parts[i].json);
	}
	*job->link = job->next;
	if (job->next)
		job->next->link = job->link;
	meter_take(job->options->meter, job->metered);
	arena_free(&job->arena);
	free(job->parts);
	free(job);
}

void metadata_jobs_free(struct metadata_job **list)
{
	while (*list)
		metadata_job_free_job(*list);
}

void metadata_jobs_drop(struct metadata_job *list)
{
	for (; list; list = list->next)
		list->ticket = 0;
}

static void metadata_job_finish(struct metadata_job *job)
{
	struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_begin_object(&writer);
	for (size_t i = 0; i < job->count; i++) {
		const struct part *part = &job->parts[i];
		perch_json_write_name_n(&writer, part->key, part->key_len);
		perch_json_write_raw(&writer, part->json.data, part->json.len);
		job->is_broken |= part->json.failed;
	}
	perch_json_end_object(&writer);
	bool is_broken = job->is_broken || json.failed;
	if (is_broken)
		job->options->warn(job->options->data, "metadata: out of memory");
	if (job->ticket)
		job->options->done(job->options->data, job->ticket,
			is_broken ? STR("{}") : (struct str){ json.data, json.len });
	buf_free(&json);
	metadata_job_free_job(job);
}

static size_t metadata_job_lines_max(const struct part *part)
{
	return strcmp(part->key, "git_tags") == 0 ? GIT_TAGS_MAX : GIT_LINES_MAX;
}

static void metadata_job_git_done(void *data, struct capture *capture)
{
	struct part *part = data;
	struct metadata_job *job = part->job;
	if (capture_code(capture) != 0)
		job->options->warn(job->options->data, "metadata: git failed");
	metadata_lines_json(&part->json, (struct str){ capture->out.data, capture->out.len },
		metadata_job_lines_max(part));
	if (--job->unknown == 0)
		metadata_job_finish(job);
}

static int metadata_job_run_git(struct part *part, const char *const *argv, perch_err *err)
{
	const struct run_services_options *options = part->job->options;
	const struct own_git *own = NULL;
	const char *const *env = surroundings_git_env(options->surroundings);
	int r = env ? surroundings_own_git(options->surroundings, &own, err) : err_no_memory(err);
	if (r < 0)
		return r;
	const struct capture_spec spec = {
		.argv = argv,
		.program_fd = own_git_program(own),
		.confine = own_git_confine(own),
		.env = env,
		.cwd = options->directory,
		.limit = GIT_OUTPUT_MAX,
		.timeout_ns = GIT_TIMEOUT_NS,
		.drop_stderr = true,
		.meter = options->meter,
		.done = metadata_job_git_done,
		.data = part,
	};
	return capture_start(options->host, &spec, &part->capture, err);
}

/* 1 = git was started, 0 = the value is an empty list. */
static int metadata_job_start_git(struct part *part)
{
	const struct run_services_options *options = part->job->options;
	const char *const *argv = NULL;
	git_command(part->key, options->git, &part->job->arena, &argv);
	perch_err err = { 0 };
	if (!argv) {
		buf_append_text(&part->json, "[]");
		return 0;
	}
	if (metadata_job_run_git(part, argv, &err) < 0) {
		options->warn(options->data, err.text);
		buf_append_text(&part->json, "[]");
		return 0;
	}
	return 1;
}

static int metadata_job_config_value(struct part *part)
{
	const struct run_services_options *options = part->job->options;
	struct arena arena = { 0 };
	const char *warning = NULL;
	if (options->directory)
		metadata_config_json(&part->json, options->directory, &arena, &warning);
	else
		buf_append_text(&part->json, "null");
	if (warning)
		options->warn(options->data, warning);
	arena_free(&arena);
	return 0;
}

/* Finds the value, or starts to. Returns 1 when it comes later. */
static int metadata_job_begin(struct part *part)
{
	bool is_public = strncmp(part->key, "git_", 4) == 0;
	if (is_public && git_argv(part->key))
		return metadata_job_start_git(part);
	if (strcmp(part->key, "env") == 0)
		metadata_env_json(&part->json, part->job->options->own_env);
	else if (strcmp(part->key, "fledge_config") == 0)
		return metadata_job_config_value(part);
	else
		buf_append_text(&part->json, "null");
	return 0;
}

static int metadata_job_by_key(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->key, ((const struct part *)b)->key);
}

/* Copies the keys, sorted, each once. */
static int metadata_job_copy_keys(struct metadata_job *job, const perch_text *keys, size_t count)
{
	job->parts = calloc(count + 1, sizeof(*job->parts));
	if (!job->parts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		job->parts[i].job = job;
		job->parts[i].key = str_dup(str_of(keys[i]));
		job->parts[i].key_len = keys[i].len;
		if (!job->parts[i].key)
			return -ENOMEM;
		job->count++;
	}
	qsort(job->parts, job->count, sizeof(*job->parts), metadata_job_by_key);
	size_t kept = 0;
	for (size_t i = 0; i < job->count; i++) {
		if (kept && metadata_job_by_key(&job->parts[kept - 1], &job->parts[i]) == 0)
			free(job->parts[i].key);
		else
			job->parts[kept++] = job->parts[i];
	}
	job->count = kept;
	job->metered = sizeof(*job) + (count + 1) * sizeof(*job->parts);
	for (size_t i = 0; i < kept; i++)
		job->metered += job->parts[i].key_len;
	meter_add(job->options->meter, job->metered);
	return 0;
}

int metadata_job_start(struct metadata_job **list, const struct run_services_options *options,
	uint64_t ticket, const perch_text *keys, size_t count)
{
	struct metadata_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->options = options;
	job->ticket = ticket;
	job->next = *list;
	job->link = list;
	if (job->next)
		job->next->link = &job->next;
	*list = job;
	if (metadata_job_copy_keys(job, keys, count) < 0) {
		metadata_job_free_job(job);
		return -ENOMEM;
	}
	job->unknown = 1; /* this function, until all have begun */
	for (size_t i = 0; i < job->count; i++)
		job->unknown += (size_t)metadata_job_begin(&job->parts[i]);
	if (--job->unknown == 0)
		metadata_job_finish(job);
	return 0;
}
