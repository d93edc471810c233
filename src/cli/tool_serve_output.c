/* Lines on their way to stdout. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "cli/tool_serve.h"

/* A pipe that takes anything takes so much at once. */
enum { PIECE = PIPE_BUF };

static bool takes_something(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLOUT };
	return poll(&one, 1, 0) > 0;
}

static void forget(struct serve_output *output)
{
	buf_clear(&output->queue);
	output->written = 0;
}

static void write_some(struct serve_output *output)
{
	while (serve_output_waiting(output) && takes_something(output->source.fd)) {
		size_t len = serve_output_waiting(output);
		ssize_t n = write(
			output->source.fd, output->queue.data + output->written, len < PIECE ? len : PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			output->error = -errno;
			forget(output);
			return;
		}
		output->written += (size_t)n;
	}
	if (!serve_output_waiting(output))
		forget(output);
}

/* Also while nothing waits: that the reader has gone should be known at once. */
static int watch(struct serve_output *output)
{
	uint32_t events = serve_output_waiting(output) ? EPOLLOUT : EPOLLERR;
	return loop_watch(output->loop, &output->source, output->error ? 0 : events);
}

void serve_output_flush(struct serve_output *output)
{
	if (output->error)
		forget(output);
	write_some(output);
	watch(output);
}

static void ready(struct source *source, uint32_t events)
{
	struct serve_output *output =
		(struct serve_output *)((char *)source - offsetof(struct serve_output, source));
	if (events & (EPOLLERR | EPOLLHUP))
		output->error = -EPIPE;
	serve_output_flush(output);
	output->drained(output);
}

/* A file always takes everything, and cannot be watched. */
int serve_output_open(struct serve_output *output, struct loop *loop, int fd,
	void (*drained)(struct serve_output *output))
{
	*output = (struct serve_output){
		.loop = loop,
		.source = { .fd = fd, .ready = ready },
		.drained = drained,
	};
	int r = watch(output);
	return r == -EPERM ? 0 : r;
}

void serve_output_close(struct serve_output *output)
{
	if (output->loop)
		loop_watch(output->loop, &output->source, 0);
	buf_free(&output->queue);
}
