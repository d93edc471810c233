/* What is on its way into a child's stdin. */
#include "proc/child.h"

#include <errno.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/macros.h"

#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100 /* Linux 6.18 */
#endif

enum { OUTBOX_KEEP = 64 * 1024 }; /* a larger queue gives its memory back when empty */

static void outbox_ready(struct source *source, uint32_t events);

void outbox_init(struct outbox *outbox, struct loop *loop, int fd, size_t limit,
	void (*drained)(struct outbox *outbox))
{
	*outbox = (struct outbox){
		.loop = loop,
		.source = { .fd = fd, .ready = outbox_ready },
		.drained = drained,
		.limit = limit,
	};
}

static void outbox_drop_queue(struct outbox *outbox)
{
	if (outbox->queue.cap > OUTBOX_KEEP)
		buf_free(&outbox->queue);
	else
		buf_clear(&outbox->queue);
	outbox->written = 0;
}

static void outbox_hang_up(struct outbox *outbox)
{
	loop_watch(outbox->loop, &outbox->source, 0);
	outbox->source.fd = fd_close(outbox->source.fd);
	outbox_drop_queue(outbox);
}

void outbox_free(struct outbox *outbox)
{
	if (outbox->source.fd >= 0 && !outbox->closing)
		outbox->broken = true;
	outbox_hang_up(outbox);
	buf_free(&outbox->queue);
}

static ssize_t outbox_write_quietly(struct outbox *outbox, const void *data, size_t len)
{
	if (outbox->raises_nothing)
		return write(outbox->source.fd, data, len);
	if (!outbox->no_rwf_flag) {
		struct iovec part = { .iov_base = (void *)data, .iov_len = len };
		ssize_t n = pwritev2(outbox->source.fd, &part, 1, -1, RWF_NOSIGNAL);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS))
			return n;
		outbox->no_rwf_flag = true;
	}
	return fd_write_quietly(outbox->source.fd, data, len);
}

/* Writes as much as the pipe takes. Returns the number of bytes, or -EPIPE. */
static ssize_t outbox_push(struct outbox *outbox, const char *data, size_t len)
{
	size_t done = 0;
	while (done < len) {
		ssize_t n = outbox_write_quietly(outbox, data + done, len - done);
		if (n >= 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			outbox->broken = true;
			outbox_hang_up(outbox);
			return -EPIPE;
		}
	}
	return (ssize_t)done;
}

static int outbox_enqueue(struct outbox *outbox, const char *data, size_t len)
{
	if (outbox->written > outbox->queue.len / 2) {
		buf_consume(&outbox->queue, outbox->written);
		outbox->written = 0;
	}
	int r = buf_append(&outbox->queue, data, len);
	outbox->queue.failed = false; /* the queue itself is unharmed */
	if (r < 0)
		return r;
	r = loop_watch(outbox->loop, &outbox->source, EPOLLOUT);
	if (r < 0)
		outbox->queue.len -= len; /* what is refused must not be sent later */
	return r;
}

int outbox_write(struct outbox *outbox, const void *data, size_t len)
{
	if (outbox->broken)
		return -EPIPE;
	if (outbox->source.fd < 0 || outbox->closing)
		return -EBADF;
	if (len > outbox->limit - outbox_waiting(outbox))
		return -ENOBUFS;
	if (outbox_waiting(outbox))
		return outbox_enqueue(outbox, data, len);
	outbox_drop_queue(outbox);
	ssize_t n = outbox_push(outbox, data, len);
	if (n < 0)
		return (int)n;
	if ((size_t)n == len)
		return 0;
	int r = outbox_enqueue(outbox, (const char *)data + n, len - (size_t)n);
	if (r < 0 && n > 0) {
		/* Half a message is in the pipe and there is no memory for the other half: better no more
		 * messages than a broken one. */
		outbox->broken = true;
		outbox_hang_up(outbox);
	}
	return r;
}

/* The pipe takes more, or the child does not read it any more. */
static void outbox_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct outbox *outbox = container_of(source, struct outbox, source);
	ssize_t n = outbox_push(outbox, outbox->queue.data + outbox->written, outbox_waiting(outbox));
	if (n >= 0) {
		outbox->written += (size_t)n;
		if (outbox_waiting(outbox))
			return;
		outbox_drop_queue(outbox);
		loop_watch(outbox->loop, source, 0);
		if (outbox->closing)
			outbox_hang_up(outbox);
	}
	outbox->drained(outbox);
}

void outbox_close(struct outbox *outbox)
{
	outbox->closing = true;
	if (!outbox_waiting(outbox))
		outbox_hang_up(outbox);
}
