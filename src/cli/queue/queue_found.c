/* What the shards of a queue have answered, put together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/queue_show.h"

const char *const queue_count_names[QUEUE_COUNTS] = { "waiting", "running", "done", "failed",
	"cancelled", "interrupted", "dead", "fenced" };
const char *const queue_worker_names[QUEUE_WORKER_CELLS] = { "name", "machine", "pid", "state",
	"running", "capacity", "version" };

static const char *queue_found_text(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS ? reply->str : "";
}

/* The value of a member in a list of names and values; "" where there is none. */
static const char *queue_found_member(const redisReply *members, const char *name)
{
	for (size_t i = 0; i + 1 < members->elements; i += 2) {
		if (strcmp(queue_found_text(members->element[i]), name) == 0)
			return queue_found_text(members->element[i + 1]);
	}
	return "";
}

static struct queue_row *queue_found_row(struct queue_found *found, const char *name)
{
	for (size_t i = 0; i < found->count; i++) {
		if (strcmp(found->rows[i].cells[0], name) == 0)
			return &found->rows[i];
	}
	return NULL;
}

static struct queue_row *queue_found_add(
	struct queue_found *found, const char *const *cells, size_t count)
{
	struct queue_row *rows = reallocarray(found->rows, found->count + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	found->rows = rows;
	struct queue_row *row = &rows[found->count++];
	*row = (struct queue_row){ 0 };
	for (size_t i = 0; i < count; i++) {
		row->cells[i] = strdup(cells[i]);
		if (!row->cells[i])
			return NULL;
	}
	return row;
}

/* A worker is in every shard. */
static int queue_found_need(struct queue_found *found, const redisReply *need)
{
	if (need->type != REDIS_REPLY_ARRAY || need->elements != 3)
		return 0;
	const char *name = queue_found_text(need->element[0]);
	struct queue_row *row = queue_found_row(found, name);
	if (!row)
		row = queue_found_add(found, &name, 1);
	if (!row)
		return -ENOMEM;
	row->ready += need->element[1]->integer;
	if (need->element[2]->integer > row->workers)
		row->workers = need->element[2]->integer;
	return 0;
}

int queue_found_status(struct queue_found *found, const redisReply *reply)
{
	int r = 0;
	for (size_t i = 0; reply->elements && i < QUEUE_COUNTS; i++)
		found->counts[i] +=
			strtoll(queue_found_member(reply->element[0], queue_count_names[i]), NULL, 10);
	for (size_t i = 1; r == 0 && i < reply->elements; i++)
		r = queue_found_need(found, reply->element[i]);
	return r;
}

int queue_found_jobs(struct queue_found *found, const redisReply *reply)
{
	for (size_t i = 0; i < reply->elements; i++) {
		const redisReply *job = reply->element[i];
		const char *cells[QUEUE_ROW_CELLS];
		for (size_t k = 0; k < QUEUE_ROW_CELLS; k++)
			cells[k] = k < job->elements ? queue_found_text(job->element[k]) : "";
		if (!queue_found_add(found, cells, QUEUE_ROW_CELLS))
			return -ENOMEM;
	}
	return 0;
}

int queue_found_workers(struct queue_found *found, const redisReply *reply)
{
	for (size_t i = 0; i < reply->elements; i++) {
		const char *cells[QUEUE_WORKER_CELLS];
		for (size_t k = 0; k < QUEUE_WORKER_CELLS; k++)
			cells[k] = queue_found_member(reply->element[i], queue_worker_names[k]);
		if (!queue_found_row(found, cells[0]) && !queue_found_add(found, cells, QUEUE_WORKER_CELLS))
			return -ENOMEM;
	}
	return 0;
}

void queue_found_free(struct queue_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		for (size_t k = 0; k < QUEUE_ROW_CELLS; k++)
			free(found->rows[i].cells[k]);
	}
	free(found->rows);
}
