/* A growing byte buffer. A failed append is remembered (`failed`), so that a
 * writer of many small pieces checks once, at the end. `{0}` is an empty
 * buffer. data is not NUL-terminated unless buf_terminate was called. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "perch/base.h"

struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

void buf_free(struct buf *buf);

/* Makes room for `extra` more bytes. Returns 0, or -ENOMEM and marks the
 * buffer failed; what it held stays. */
int buf_reserve(struct buf *buf, size_t extra);

int buf_append_slow(struct buf *buf, const void *data, size_t len);

static inline int buf_append(struct buf *buf, const void *data, size_t len)
{
	if (len > buf->cap - buf->len || buf->failed)
		return buf_append_slow(buf, data, len);
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return 0;
}

static inline int buf_append_char(struct buf *buf, char c)
{
	return buf_append(buf, &c, 1);
}

static inline int buf_append_text(struct buf *buf, const char *text)
{
	return buf_append(buf, text, strlen(text));
}

/* In decimal digits. */
int buf_append_number(struct buf *buf, uint64_t number);

int buf_printf(struct buf *buf, const char *format, ...) PERCH_PRINTF(2, 3);

/* Puts a NUL behind the content (not counted in len). */
int buf_terminate(struct buf *buf);

/* Forgets the content and any failure, keeps the memory. */
static inline void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
}

/* Writes the content; of an empty buffer, which may have no memory, nothing. Whether all of it was
 * taken. */
bool buf_write_to(const struct buf *buf, FILE *stream);

/* Drops the first n bytes (n <= len). */
void buf_consume(struct buf *buf, size_t n);

/* Hands the NUL-terminated content to the caller, which frees it; buf is empty
 * afterwards. NULL when an append had failed. */
char *buf_steal(struct buf *buf);

/* For `_cleanup_(buf_free) struct buf b = {0};` see base/cleanup.h. */

#endif
