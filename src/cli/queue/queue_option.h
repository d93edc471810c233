/* --queue, --shards, --password-file and --key-file: which queue is used, with which password and
 * key. */
#ifndef CLI_QUEUE_QUEUE_OPTION_H
#define CLI_QUEUE_QUEUE_OPTION_H

#include "base/buf.h"
#include "queue/redis_url.h"

/* As they stand on the command line; NULL = not given. */
struct queue_words {
	const char *url;           /* or PERCH_QUEUE */
	const char *password_file; /* or PERCH_QUEUE_PASSWORD */
	const char *key_file;
	const char *shards;
};

struct queue_place {
	struct redis_url url;
	struct buf password; /* ends with NUL; empty = none */
	struct buf key;      /* empty = none */
	unsigned shards;     /* 1 where nothing is said */
	bool is_given;       /* there is a queue at all */
};

/* Returns 0, or an exit code after an error message. The variables are removed from the
 * environment, so that no child sees them. */
int queue_option_read(const struct queue_words *words, struct queue_place *ret_place);

/* What to do about words of a queue that will not do; NULL = nothing is known. */
const char *queue_option_hint(const char *problem);

void queue_option_free(struct queue_place *place);

/* NULL where there is none. */
const char *queue_option_password(const struct queue_place *place);
const struct buf *queue_option_key(const struct queue_place *place);

#endif
