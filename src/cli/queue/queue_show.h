/* What a queue has, for people and as JSON. */
#ifndef CLI_QUEUE_QUEUE_SHOW_H
#define CLI_QUEUE_QUEUE_SHOW_H

#include <hiredis/hiredis.h>

#include "cli/cli.h"

/* A text of an answer; "" where it is none. */
const char *queue_show_text(const redisReply *reply);

/* The answers of the functions of these names. Return an exit code. */
int queue_show_status(struct cli *cli, const redisReply *reply);
int queue_show_jobs(struct cli *cli, const redisReply *reply);
int queue_show_workers(struct cli *cli, const redisReply *reply);

#endif
