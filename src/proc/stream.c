/* One output stream of a child. */
#include "proc/stream.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macros.h"

static void stream_ready(struct source *source, uint32_t events);
static void stream_woken(struct timer *timer, uint64_t now_ns);

static bool stream_take_line(void *data, const perch_line *line)
{
	struct stream *stream = data;
	child_take_line(stream->child, stream, line);
	return !stream->paused && stream_is_open(stream);
}

int stream_open(struct stream *stream, int fd)
{
	stream->source = (struct source){ .fd = fd, .ready = stream_ready };
	stream->wake = (struct timer){ .due = stream_woken };
	lines_init(&stream->lines, stream->lines.limit, stream_take_line, stream);
	return loop_watch(stream->loop, &stream->source, EPOLLIN);
}

void stream_close(struct stream *stream)
{
	if (!stream_is_open(stream))
		return;
	loop_watch(stream->loop, &stream->source, 0);
	timer_cancel(&stream->loop->timers, &stream->wake);
	stream->source.fd = fd_close(stream->source.fd);
}

/* Not part of stream_close, which a callback may reach while its line is still being handed out. */
void stream_free(struct stream *stream)
{
	stream_close(stream);
	lines_free(&stream->lines);
	buf_free(&stream->tail.kept);
}

/* The pipe is at its end. Lines that were held back come first, and a stream that is paused does
 * not end. */
static void stream_end(struct stream *stream)
{
	stream->saw_end = true;
	if (!stream->paused && !lines_are_held(&stream->lines) && lines_finish(&stream->lines) < 0)
		stream->lost_output = true;
	if (!stream_is_open(stream))
		return;
	if (stream->paused || lines_are_held(&stream->lines)) {
		loop_watch(stream->loop, &stream->source, 0);
		return;
	}
	lines_free(&stream->lines);
	stream_close(stream);
	child_stream_ended(stream->child, stream);
}

/* Without memory for the bytes that came, the stream cannot go on truthfully. */
static void stream_give_up(struct stream *stream)
{
	stream->lost_output = true;
	lines_free(&stream->lines);
	stream_end(stream);
}

static int stream_deliver(struct stream *stream, char *bytes, size_t len)
{
	switch (stream->mode) {
	case PERCH_OUTPUT_LINES:
		return lines_feed(&stream->lines, bytes, len);
	case PERCH_OUTPUT_TAIL:
		return tail_append(&stream->tail, bytes, len);
	default:
		child_take_bytes(stream->child, stream, bytes, len);
		return 0;
	}
}

/* How much may be read now. */
static size_t stream_allowance(const struct stream *stream)
{
	if (stream->is_bounded && stream->last_bytes < SCRATCH_SIZE)
		return (size_t)stream->last_bytes;
	return SCRATCH_SIZE;
}

/* Whether another process still has the other end open. */
static bool stream_has_writer(const struct stream *stream)
{
	struct pollfd end = { .fd = stream->source.fd, .events = POLLIN };
	return poll(&end, 1, 0) <= 0 || !(end.revents & POLLHUP);
}

/* Reads once. Returns whether there may be more to read at once. */
static bool stream_read_some(struct stream *stream)
{
	size_t most = stream_allowance(stream);
	ssize_t n = most ? read(stream->source.fd, stream->scratch, most) : 0;
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN && !stream->is_bounded)
		return false;
	if (n <= 0) {
		stream->held = n < 0 || (most == 0 && stream_has_writer(stream));
		stream_end(stream);
		return false;
	}
	if (stream->is_bounded)
		stream->last_bytes -= (uint64_t)n;
	if (stream_deliver(stream, stream->scratch, (size_t)n) < 0) {
		stream_give_up(stream);
		return false;
	}
	return !stream->paused && stream_is_open(stream);
}

static void stream_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct stream *stream = container_of(source, struct stream, source);
	stream_read_some(stream);
}

void stream_read_last(struct stream *stream)
{
	if (!stream_is_open(stream))
		return;
	if (!stream->is_bounded) {
		int waiting = 0;
		ioctl(stream->source.fd, FIONREAD, &waiting);
		stream->is_bounded = true;
		stream->last_bytes = (uint64_t)waiting;
	}
	while (!stream->paused && stream_is_open(stream) && stream_read_some(stream))
		;
}

void stream_pause(struct stream *stream)
{
	if (!stream_is_open(stream) || stream->paused)
		return;
	stream->paused = true;
	loop_watch(stream->loop, &stream->source, 0);
	timer_cancel(&stream->loop->timers, &stream->wake);
}

void stream_resume(struct stream *stream)
{
	if (!stream_is_open(stream) || !stream->paused)
		return;
	stream->paused = false;
	timer_set(&stream->loop->timers, &stream->wake, 0);
}

/* Bytes that came meanwhile are read at once: the end is often among them. */
static void stream_go_on(struct stream *stream)
{
	stream_read_some(stream);
	if (stream->paused || !stream_is_open(stream) || stream->saw_end)
		return;
	if (loop_watch(stream->loop, &stream->source, EPOLLIN) < 0)
		timer_set(
			&stream->loop->timers, &stream->wake, clock_after(clock_now_ns(), WATCH_AGAIN_NS));
}

static void stream_woken(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct stream *stream = container_of(timer, struct stream, wake);
	if (lines_resume(&stream->lines) < 0)
		stream_give_up(stream);
	else if (stream->paused || !stream_is_open(stream))
		return;
	else if (stream->saw_end)
		stream_end(stream);
	else if (stream->is_bounded)
		stream_read_last(stream);
	else
		stream_go_on(stream);
}
