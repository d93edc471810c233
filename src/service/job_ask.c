/* The open questions of a job: one number for all kinds, texts of their own. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "service/service_parts.h"

static void job_ask_free(struct job_ask *open)
{
	if (!open)
		return;
	arena_free(&open->arena);
	free(open);
}
DEFINE_POINTER_CLEANUP(cleanup_job_ask, struct job_ask, job_ask_free)

static int job_ask_copy(struct job_ask *open, perch_text *text)
{
	const char *copy = arena_dup(&open->arena, (struct str){ text->data, text->len });
	text->data = copy;
	return copy ? 0 : -ENOMEM;
}

static int job_ask_copy_options(struct job_ask *open)
{
	size_t count = open->ask.option_count;
	perch_ask_option *copies = arena_alloc(&open->arena, count * sizeof(*copies));
	for (size_t i = 0; copies && i < count; i++) {
		copies[i] = open->ask.options[i];
		if (job_ask_copy(open, &copies[i].id) < 0 || job_ask_copy(open, &copies[i].name) < 0 ||
			job_ask_copy(open, &copies[i].kind) < 0)
			return -ENOMEM;
	}
	open->ask.options = copies;
	return copies ? 0 : -ENOMEM;
}

static int job_ask_copy_texts(struct job_ask *open)
{
	perch_text *texts[] = { &open->ask.message, &open->ask.id, &open->ask.subject,
		&open->ask.description, &open->ask.detail, &open->ask.call };
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (job_ask_copy(open, texts[i]) < 0)
			return -ENOMEM;
	}
	return job_ask_copy_options(open);
}

int job_ask(perch_job *job, const perch_ask *ask, uint64_t inner)
{
	_cleanup_(cleanup_job_ask) struct job_ask *open = calloc(1, sizeof(*open));
	if (!open)
		return -ENOMEM;
	open->ask = *ask;
	open->inner = inner;
	if (job_ask_copy_texts(open) < 0)
		return -ENOMEM;
	open->ask.number = ++job->asked;
	struct job_ask *told = steal(&open);
	list_append(&job->asks, told);
	const perch_event event = {
		.kind = PERCH_EVENT_ASK,
		.text = { "", 0 },
		.number = told->ask.number,
		.ask = &told->ask,
	};
	job_tell(job, &event);
	return 0;
}

struct job_ask *job_ask_find(const perch_job *job, uint64_t number)
{
	struct job_ask *open = list_first(&job->asks);
	while (open && open->ask.number != number)
		open = list_next(open);
	return open;
}

void job_ask_close(perch_job *job, struct job_ask *ask)
{
	list_remove(&job->asks, ask);
	job_ask_free(ask);
}

void job_ask_withdraw(perch_job *job, struct job_ask *ask)
{
	const perch_event event = {
		.kind = PERCH_EVENT_WITHDRAW,
		.text = { "", 0 },
		.number = ask->ask.number,
	};
	job_ask_close(job, ask);
	job_tell(job, &event);
}

void job_ask_withdraw_all(perch_job *job)
{
	struct job_ask *open;
	while ((open = list_first(&job->asks)))
		job_ask_withdraw(job, open);
}

void job_ask_free_all(perch_job *job)
{
	struct job_ask *open;
	while ((open = list_first(&job->asks)))
		job_ask_close(job, open);
}
