/* What a queue has, for people and as JSON: the answers of its shards are put together first. */
#ifndef CLI_QUEUE_QUEUE_SHOW_H
#define CLI_QUEUE_QUEUE_SHOW_H

#include <hiredis/hiredis.h>

#include "cli/cli.h"

enum { QUEUE_JOBS_SHOWN = 100, QUEUE_ROW_CELLS = 11, QUEUE_WORKER_CELLS = 7, QUEUE_COUNTS = 8 };

extern const char *const queue_count_names[QUEUE_COUNTS];
extern const char *const queue_worker_names[QUEUE_WORKER_CELLS];

/* A need, a job or a worker. */
struct queue_row {
	char *cells[QUEUE_ROW_CELLS];
	long long ready, workers; /* of a need */
};

struct queue_found {
	long long counts[QUEUE_COUNTS]; /* jobs by state, and calls that were refused */
	struct queue_row *rows;
	size_t count;
	bool is_of_many; /* shards */
};

/* Adds the answer of a shard, of the function of this name. -ENOMEM. */
int queue_found_status(struct queue_found *found, const redisReply *reply);
int queue_found_jobs(struct queue_found *found, const redisReply *reply);
int queue_found_workers(struct queue_found *found, const redisReply *reply);
void queue_found_free(struct queue_found *found);

/* Return an exit code. */
int queue_show_status(struct cli *cli, struct queue_found *found);
int queue_show_jobs(struct cli *cli, struct queue_found *found);
int queue_show_workers(struct cli *cli, struct queue_found *found);

#endif
