/* Addresses of peers. For peers without a token, how many connections they hold and how many wrong
 * tokens they have tried. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/str.h"

enum {
	ADDRESS_SIZE = 16,
	ADDRESS_TEXT_SIZE = 64,
	STRANGERS_BUCKETS = 256,
	STRANGERS_MAX = 8192,
	STRANGERS_WRONG_MAX = 10, /* tokens a minute */
};

/* IPv4 as IPv6 has it. All zeros: a unix socket. */
struct address {
	uint8_t bytes[ADDRESS_SIZE];
};

struct address address_of(const struct sockaddr_storage *socket);
bool address_parse(struct str text, struct address *ret_address);
bool address_is_local(const struct address *address); /* loopback, unix socket */
void address_write(const struct address *address, char out[ADDRESS_TEXT_SIZE]);

struct strangers {
	struct list buckets[STRANGERS_BUCKETS];
	size_t count;
};

/* A connection of this address begins, ends. Returns how many it has; without memory, more than are
 * allowed. */
size_t strangers_enter(struct strangers *strangers, const struct address *address);
void strangers_leave(struct strangers *strangers, const struct address *address);

/* A wrong token; whether there were too many within this minute. */
void strangers_blame(struct strangers *strangers, const struct address *address, uint64_t now_ns);
bool strangers_are_blocked(
	const struct strangers *strangers, const struct address *address, uint64_t now_ns);

void strangers_free(struct strangers *strangers);

#endif
