/* Lines from the host and to it. */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/fd.h"

enum { WIRE_READ_SIZE = 64 * 1024 };

void wire_free(struct wire *wire)
{
	buf_free(&wire->pending);
}

static void wire_forget_taken(struct wire *wire)
{
	buf_consume(&wire->pending, wire->taken);
	wire->scanned -= wire->taken;
	wire->taken = 0;
}

/* Reads once. Returns 1, 0 at the end, -EAGAIN, other errnos. */
static int wire_fill(struct wire *wire, bool waits)
{
	struct pollfd ready = { .fd = wire->in, .events = POLLIN };
	int count = poll(&ready, 1, waits ? -1 : 0);
	if (count < 0)
		return errno == EINTR ? 1 : -errno;
	if (count == 0)
		return -EAGAIN;
	if (buf_reserve(&wire->pending, WIRE_READ_SIZE) < 0)
		return -ENOMEM;
	ssize_t n = read(wire->in, wire->pending.data + wire->pending.len, WIRE_READ_SIZE);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	wire->pending.len += (size_t)n;
	wire->has_ended = n == 0;
	return n > 0;
}

static struct str wire_take(struct wire *wire, size_t end, size_t next)
{
	struct str line = { wire->pending.data, end };
	if (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	wire->taken = next;
	wire->scanned = next;
	return line;
}

/* 1 = there is a whole line. */
static int wire_find_line(struct wire *wire, struct str *ret_line)
{
	const char *start = wire->pending.data;
	size_t len = wire->pending.len;
	const char *newline =
		len > wire->scanned ? memchr(start + wire->scanned, '\n', len - wire->scanned) : NULL;
	wire->scanned = len;
	if (!newline)
		return 0;
	size_t end = (size_t)(newline - start);
	*ret_line = wire_take(wire, end, end + 1);
	return 1;
}

int wire_read(struct wire *wire, bool waits, struct str *ret_line)
{
	wire_forget_taken(wire);
	while (!wire_find_line(wire, ret_line)) {
		if (wire->pending.len > WIRE_LINE_MAX)
			return -EMSGSIZE;
		int r = wire->has_ended ? 0 : wire_fill(wire, waits);
		if (r > 0)
			continue;
		if (r < 0 || wire->pending.len == 0)
			return r;
		*ret_line = wire_take(wire, wire->pending.len, wire->pending.len);
		return 1;
	}
	return 1;
}

int wire_read_rest(struct wire *wire, struct str *ret_text)
{
	wire_forget_taken(wire);
	while (!wire->has_ended) {
		if (wire->pending.len > WIRE_LINE_MAX)
			return -EMSGSIZE;
		int r = wire_fill(wire, true);
		if (r < 0)
			return r;
	}
	*ret_text = (struct str){ wire->pending.data, wire->pending.len };
	return 0;
}

int wire_write(struct wire *wire, struct str text)
{
	return fd_write_all_quietly(wire->out, text.data, text.len);
}
