/* Messages on their way to the client. */
#include "stdio/client.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/linux_calls.h"
#include "base/vec.h"

enum {
	STDIO_OUTPUT_KEEP = 1024 * 1024, /* memory beyond it is given back when all is written */
	STDIO_GAP_WAITS = 50,            /* milliseconds; a client that takes longer gets no gap */
};

/* ---- gaps ------------------------------------------------------------------ */

/* Whether the client has not read all that was written. */
static bool stdio_output_is_unread(const struct stdio_output *output)
{
	struct stat is;
	int bytes = 0;
	if (fstat(output->fd, &is) < 0)
		return false;
	if (S_ISFIFO(is.st_mode))
		return ioctl(output->fd, FIONREAD, &bytes) == 0 && bytes > 0;
	return S_ISSOCK(is.st_mode) && ioctl(output->fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/* Without memory there is no gap: a message less for a client of that kind. */
static void stdio_output_add_gap(struct stdio_output *output)
{
	uint64_t *gaps = vec_grow(output->gaps, &output->gap_cap, output->gap_count + 1, sizeof(*gaps));
	output->has_notified = false;
	if (!gaps)
		return;
	output->gaps = gaps;
	gaps[output->gap_count++] = output->taken;
}

/* Whether the next byte must wait for the client. */
static bool stdio_output_is_at_gap(struct stdio_output *output)
{
	if (!output->gap_count || output->gaps[0] > output->written)
		return false;
	if (stdio_output_is_unread(output) && output->gap_waits++ < STDIO_GAP_WAITS)
		return true;
	output->gap_waits = 0;
	output->gap_count--;
	memmove(output->gaps, output->gaps + 1, output->gap_count * sizeof(*output->gaps));
	return false;
}

/* ---- writing --------------------------------------------------------------- */

static void stdio_output_forget(struct stdio_output *output)
{
	if (output->queue.cap > STDIO_OUTPUT_KEEP)
		buf_free(&output->queue);
	else
		buf_clear(&output->queue);
	output->begin = 0;
}

static void stdio_output_fail(struct stdio_output *output, int error)
{
	output->error = error;
	output->gap_count = 0;
	stdio_output_forget(output);
}

/* Writes what can be written without waiting; EAGAIN when that is nothing. A pipe that takes
 * anything takes PIPE_BUF bytes. */
static ssize_t stdio_output_write_piece(struct stdio_output *output, char *data, size_t len)
{
	if (!output->source)
		return write(output->fd, data, len);
	if (!output->no_nowait) {
		const struct iovec part = { .iov_base = data, .iov_len = len };
		ssize_t n = pwritev2(output->fd, &part, 1, -1, RWF_NOWAIT);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS))
			return n;
		output->no_nowait = true;
	}
	struct pollfd one = { .fd = output->fd, .events = POLLOUT };
	if (poll(&one, 1, 0) > 0)
		return write(output->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
	errno = EAGAIN;
	return -1;
}

static size_t stdio_output_piece(const struct stdio_output *output)
{
	size_t waiting = stdio_output_waiting(output);
	uint64_t to_gap = output->gap_count ? output->gaps[0] - output->written : waiting;
	return to_gap < waiting ? (size_t)to_gap : waiting;
}

/* An idle one is watched too: that the reader is gone should be known at once. */
static void stdio_output_watch(struct stdio_output *output, unsigned events)
{
	if (output->source && perch_source_watch(output->source, output->error ? 0 : events) < 0)
		stdio_output_fail(output, -ENOMEM);
}

static void stdio_output_flush(struct stdio_output *output)
{
	while (stdio_output_waiting(output)) {
		if (stdio_output_is_at_gap(output)) {
			perch_timer_set(output->timer, NSEC_PER_MSEC);
			stdio_output_watch(output, PERCH_PEER_LEFT);
			return;
		}
		ssize_t n = stdio_output_write_piece(
			output, output->queue.data + output->begin, stdio_output_piece(output));
		if (n >= 0) {
			output->begin += (size_t)n;
			output->written += (uint64_t)n;
		} else if (errno == EAGAIN) {
			stdio_output_watch(output, PERCH_WRITABLE);
			return;
		} else if (errno != EINTR) {
			stdio_output_fail(output, -errno);
		}
	}
	stdio_output_forget(output);
	stdio_output_watch(output, PERCH_PEER_LEFT);
}

void stdio_output_take(struct stdio_output *output, struct str line, bool is_response)
{
	if (output->error)
		return;
	if (is_response && output->has_notified)
		stdio_output_add_gap(output);
	output->has_notified = output->has_notified || !is_response;
	if (output->begin > output->queue.len / 2) {
		buf_consume(&output->queue, output->begin);
		output->begin = 0;
	}
	bool was_empty = !stdio_output_waiting(output);
	if (buf_append(&output->queue, line.data, line.len + 1) < 0) {
		stdio_output_fail(output, -ENOMEM);
		return;
	}
	output->taken += line.len + 1;
	if (was_empty)
		stdio_output_flush(output);
}

/* ---- the loop -------------------------------------------------------------- */

static void stdio_output_ready(perch_source *source, void *data, unsigned events)
{
	struct stdio_output *output = data;
	if (events & PERCH_HANGUP)
		stdio_output_fail(output, -EPIPE);
	if (events & PERCH_WRITABLE)
		stdio_output_flush(output);
	else
		perch_source_watch(source, 0); /* the client writes no more: the input tells that, too */
}

static void stdio_output_due(perch_timer *timer, void *data)
{
	(void)timer;
	stdio_output_flush(data);
}

int stdio_output_open(struct stdio_output *output, perch_host *host, int fd, perch_err *err)
{
	*output = (struct stdio_output){ .fd = fd };
	int r = perch_timer_new(host, stdio_output_due, output, &output->timer, err);
	if (r < 0)
		return r;
	r = perch_source_new(
		host, fd, PERCH_PEER_LEFT, stdio_output_ready, output, &output->source, err);
	return r == -EPERM ? 0 : r;
}

void stdio_output_close(struct stdio_output *output)
{
	perch_source_free(output->source);
	perch_timer_free(output->timer);
	buf_free(&output->queue);
	free(output->gaps);
}
