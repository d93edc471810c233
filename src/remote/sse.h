/* Reading server-sent events: the bytes of a text/event-stream go in as they come, events come out.
 * http_sse.h writes them. */
#ifndef REMOTE_SSE_H
#define REMOTE_SSE_H

#include "base/buf.h"
#include "base/str.h"

/* `{ .limit = … }` is one that has read nothing. */
struct sse_reader {
	size_t limit;      /* bytes of an event */
	struct buf line;   /* whose end has not come */
	struct buf data;   /* of the event that is being read, a '\n' behind each line */
	struct buf id;     /* of the last event that had one; what a stream is resumed by */
	uint64_t retry_ms; /* the server's wish; meaningful if has_retry */
	bool has_retry;
	bool has_begun;
	bool was_cr; /* the last byte: a '\n' behind it ends no second line */
};

/* The data of an event, without its last line end; valid during the call. */
typedef void sse_event_fn(void *data, struct str event);

/* 0, -ENOMEM, or PERCH_ELIMIT: an event is longer than may be. */
int sse_feed(struct sse_reader *reader, struct str bytes, sse_event_fn *take, void *data);

void sse_free(struct sse_reader *reader);

#endif
