/* Lines from our own input. */
#include "proc/intake.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { INTAKE_CHUNK = 16 * 1024 };

struct intake {
	struct loop *loop;
	struct source source;
	struct timer steady; /* in place of epoll: always readable, a file or /dev/null */
	struct lines lines;
	const struct intake_events *events;
	void *data;
	bool is_over;
	char chunk[INTAKE_CHUNK + 1];
};

void intake_stop(struct intake *intake)
{
	intake->is_over = true;
	loop_watch(intake->loop, &intake->source, 0);
	timer_cancel(&intake->loop->timers, &intake->steady);
}

static bool take_line(void *data, const perch_line *line)
{
	struct intake *intake = data;
	if (!intake->is_over)
		intake->events->line(intake->data, line);
	return true;
}

static void finish(struct intake *intake, int error)
{
	if (error == 0)
		error = lines_finish(&intake->lines);
	if (intake->is_over)
		return;
	intake_stop(intake);
	intake->events->ended(intake->data, error);
}

static void read_chunk(struct intake *intake)
{
	ssize_t n = read(intake->source.fd, intake->chunk, INTAKE_CHUNK);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	int r = n < 0 ? -errno : 0;
	if (n > 0)
		r = lines_feed(&intake->lines, intake->chunk, (size_t)n);
	if (n <= 0 || r < 0)
		finish(intake, r);
}

static void input_ready(struct source *source, uint32_t events)
{
	(void)events;
	read_chunk((struct intake *)((char *)source - offsetof(struct intake, source)));
}

/* Not due again in this round: others must have their turn. */
static void steady_due(struct timer *timer, uint64_t now_ns)
{
	struct intake *intake = (struct intake *)((char *)timer - offsetof(struct intake, steady));
	timer_set(&intake->loop->timers, &intake->steady, now_ns + 1);
	read_chunk(intake);
}

int intake_new(struct loop *loop, int fd, size_t limit, const struct intake_events *events,
	void *data, struct intake **ret_intake)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	if (!intake || timers_promise(&loop->timers) < 0) {
		free(intake);
		return -ENOMEM;
	}
	intake->loop = loop;
	intake->source = (struct source){ .fd = fd, .ready = input_ready };
	intake->steady.due = steady_due;
	intake->events = events;
	intake->data = data;
	lines_init(&intake->lines, limit, take_line, intake);
	int r = loop_watch(loop, &intake->source, EPOLLIN);
	if (r == -EPERM) {
		timer_set(&loop->timers, &intake->steady, 0);
		r = 0;
	}
	if (r < 0) {
		intake_free(intake);
		return r;
	}
	*ret_intake = intake;
	return 0;
}

void intake_free(struct intake *intake)
{
	if (!intake)
		return;
	intake_stop(intake);
	timers_release(&intake->loop->timers);
	lines_free(&intake->lines);
	free(intake);
}
