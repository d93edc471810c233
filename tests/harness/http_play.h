/* Plays a client's bytes to an HTTP connection, cut as wanted, and writes down what came of
 * it: the same text for every cut. Every request that is whole is answered with 200, every
 * refusal with its status. */
#ifndef HARNESS_HTTP_PLAY_H
#define HARNESS_HTTP_PLAY_H

#include "base/buf.h"
#include "wire/http_answer.h"

/* The first piece, then pieces of so many bytes; 0 = all that is left. */
struct http_cut {
	size_t first;
	size_t step;
};

struct http_play {
	struct buf said; /* "POST /a?b a 5 hello\n" for each request, "400 words\n" for a refusal */
	struct buf sent; /* the answers */
	size_t ended;    /* requests that were whole */
	int refused;     /* the status of the refusal, 0 = none */
	enum http_phase phase;
	bool is_over;
};

void http_play_free(struct http_play *play);

/* Fails with -ENOMEM alone. */
int http_play(const struct http_limits *limits, struct str input, struct http_cut cut,
	struct http_play *ret_play);

/* Whether two came to the same. */
bool http_play_same(const struct http_play *a, const struct http_play *b);

/* All of it at once; answer->length is set from the body. */
int http_answer_whole(struct http_connection *connection, struct buf *out,
	const struct http_answer *answer, struct str body);

#endif
