/* Where a Redis is: redis://[USER@]HOST[:PORT][/DATABASE] or unix:PATH. */
#ifndef QUEUE_REDIS_URL_H
#define QUEUE_REDIS_URL_H

#include "base/str.h"
#include "perch/base.h"

enum { REDIS_PORT = 6379, REDIS_URL_MAX = 512 };

struct redis_url {
	char host[256]; /* without brackets; empty = a unix socket */
	char path[108]; /* of a unix socket */
	char user[128]; /* empty = Redis's default user */
	unsigned port;
	unsigned database;
};

/* Fails with -EINVAL and words: another scheme, TLS (there is none), a password in the address
 * (every user of the machine would read it), a part that is too long … */
int redis_url_parse(struct str text, struct redis_url *ret_url, perch_err *err);

/* Whether the Redis runs on this machine. */
bool redis_url_is_local(const struct redis_url *url);

/* "redis://host:port/0", "unix:path"; without the user. */
void redis_url_write(const struct redis_url *url, char *text, size_t size);

#endif
