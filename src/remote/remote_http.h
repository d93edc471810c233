/* The requests of an engine (remote.h) over HTTP, by libcurl, in the loop of a host: the only code
 * that knows libcurl. Certificates are checked, no redirection is followed, nothing is unpacked. */
#ifndef REMOTE_REMOTE_HTTP_H
#define REMOTE_REMOTE_HTTP_H

#include "perch/loop.h"
#include "remote/remote.h"

struct transfers;

enum {
	TRANSFER_HEAD_MAX = 64 * 1024, /* bytes of the head of an answer */
	TRANSFER_CONNECT_MS = 10 * 1000,
};

struct transfers_options {
	const char *url;          /* stays */
	const char *certificates; /* a file of those that are trusted; NULL = the system's */
	uint64_t connect_ms;
	bool is_local; /* on this machine, without TLS: no proxy may hear of it */
};

/* `heard` is called before the engine is told anything: it sets the time. */
int transfers_new(perch_host *host, const struct transfers_options *options,
	void (*heard)(void *data), void *data, struct transfers **ret_transfers, perch_err *err);

/* For the table of the engine. */
void transfers_begin(struct transfers *transfers, struct remote_exchange *exchange,
	const struct remote_request *request);
void transfers_give_up(struct remote_exchange *exchange);

/* Nothing more is read while perch does not take what was read before. */
void transfers_hold(struct transfers *transfers, bool is_held);

/* There must be none left. NULL is fine. */
void transfers_free(struct transfers *transfers);

#endif
