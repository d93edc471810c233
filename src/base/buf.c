/* A growing byte buffer with a sticky failure. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUF_FIRST_CAPACITY = 128 };

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}

static int buf_fail(struct buf *buf)
{
	buf->failed = true;
	return -ENOMEM;
}

int buf_reserve(struct buf *buf, size_t extra)
{
	if (buf->failed)
		return -ENOMEM;
	if (extra <= buf->cap - buf->len)
		return 0;
	if (extra > SIZE_MAX / 2 - buf->len)
		return buf_fail(buf);
	size_t need = buf->len + extra;
	size_t cap = buf->cap < BUF_FIRST_CAPACITY ? BUF_FIRST_CAPACITY : buf->cap;
	while (cap < need)
		cap *= 2;
	char *data = realloc(buf->data, cap);
	if (!data)
		return buf_fail(buf);
	buf->data = data;
	buf->cap = cap;
	return 0;
}

int buf_append_slow(struct buf *buf, const void *data, size_t len)
{
	int r = buf_reserve(buf, len);
	if (r < 0)
		return r;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return 0;
}

int buf_append_number(struct buf *buf, uint64_t number)
{
	char digits[20];
	char *end = digits + sizeof(digits);
	char *at = end;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return buf_append(buf, at, (size_t)(end - at));
}

/* Mostly there is room for it, and it is written once. */
int buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	va_list again;
	size_t room = buf->failed ? 0 : buf->cap - buf->len;
	va_start(args, format);
	va_copy(again, args);
	int wanted = vsnprintf(room ? buf->data + buf->len : NULL, room, format, args);
	va_end(args);
	int r = wanted < 0 ? buf_fail(buf) : buf_reserve(buf, (size_t)wanted + 1);
	if (r == 0 && (size_t)wanted >= room)
		vsnprintf(buf->data + buf->len, (size_t)wanted + 1, format, again);
	if (r == 0)
		buf->len += (size_t)wanted;
	va_end(again);
	return r;
}

int buf_terminate(struct buf *buf)
{
	int r = buf_reserve(buf, 1);
	if (r == 0)
		buf->data[buf->len] = '\0';
	return r;
}

void buf_consume(struct buf *buf, size_t n)
{
	buf->len -= n;
	if (n && buf->len)
		memmove(buf->data, buf->data + n, buf->len);
}

char *buf_steal(struct buf *buf)
{
	if (buf_terminate(buf) < 0)
		return NULL;
	char *data = buf->data;
	*buf = (struct buf){ 0 };
	return data;
}

bool buf_write_to(const struct buf *buf, FILE *stream)
{
	return !buf->len || fwrite(buf->data, 1, buf->len, stream) == buf->len;
}
