/* A descriptor that the terminal frontend writes to. */
#include "term/term_parts.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static int sink_write_some(int fd, const char *data, size_t len, size_t *done)
{
	ssize_t n = write(fd, data, len);
	if (n >= 0) {
		*done += (size_t)n;
		return 0;
	}
	if (errno == EAGAIN) {
		struct pollfd waiting = { .fd = fd, .events = POLLOUT };
		return poll(&waiting, 1, -1) < 0 && errno != EINTR ? -errno : 0;
	}
	return errno == EINTR ? 0 : -errno;
}

void sink_write(struct sink *sink, const char *data, size_t len)
{
	size_t done = 0;
	while (!sink->error && done < len)
		sink->error = sink_write_some(sink->fd, data + done, len - done, &done);
}

void sink_write_buf(struct sink *sink, struct buf *buf)
{
	if (buf->len)
		sink_write(sink, buf->data, buf->len);
	buf_clear(buf);
}
