/* Server-sent events as text: what goes into the body of a text/event-stream. Lines end with
 * LF. Each function fails with -ENOMEM (the buffer is as before, but failed) or -EINVAL. */
#ifndef WIRE_HTTP_SSE_H
#define WIRE_HTTP_SSE_H

#include "base/buf.h"
#include "base/str.h"

/* An event. id and event (its type) are left out when empty; -EINVAL when they have a line
 * end or NUL in them. data is cut into lines at LF, CR and CR LF. */
int http_sse_event(struct buf *out, struct str id, struct str event, struct str data);

/* A line that readers ignore, to keep a stream alive. Line ends in it become blanks. */
int http_sse_comment(struct buf *out, struct str text);

#endif
