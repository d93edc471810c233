/* Lines from our own input. */
#include "proc/intake.h"

#include "base/macros.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { INTAKE_CHUNK = 16 * 1024 };

struct intake {
	struct loop *loop;
	struct source source;
	struct timer step; /* reads, where epoll cannot; hands out what was held; watches again */
	bool is_steady;    /* always readable: a file, /dev/null */
	bool is_held;
	struct lines lines;
	const struct intake_events *events;
	void *data;
	bool is_over;
	char chunk[INTAKE_CHUNK + 1];
};

static void intake_pause_reading(struct intake *intake)
{
	loop_watch(intake->loop, &intake->source, 0);
	timer_cancel(&intake->loop->timers, &intake->step);
}

void intake_stop(struct intake *intake)
{
	intake->is_over = true;
	intake_pause_reading(intake);
}

static bool intake_take_line(void *data, const perch_line *line)
{
	struct intake *intake = data;
	if (intake->is_over)
		return true;
	intake->is_held = !intake->events->line(intake->data, line);
	return !intake->is_held;
}

static void intake_finish(struct intake *intake, int error)
{
	if (error == 0)
		error = lines_finish(&intake->lines);
	if (intake->is_over)
		return;
	intake_stop(intake);
	intake->events->ended(intake->data, error);
}

static void intake_read_chunk(struct intake *intake)
{
	ssize_t n = read(intake->source.fd, intake->chunk, INTAKE_CHUNK);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	int r = n < 0 ? -errno : 0;
	if (n > 0)
		r = lines_feed(&intake->lines, intake->chunk, (size_t)n);
	if (n <= 0 || r < 0)
		intake_finish(intake, r);
	if (intake->is_held)
		intake_pause_reading(intake);
}

static void intake_input_ready(struct source *source, uint32_t events)
{
	(void)events;
	intake_read_chunk(container_of(source, struct intake, source));
}

/* Lines that were held back go first; as long as there are any, nothing more is read. */
static void intake_step(struct timer *timer, uint64_t now_ns)
{
	struct intake *intake = container_of(timer, struct intake, step);
	int r = lines_resume(&intake->lines);
	if (r < 0)
		intake_finish(intake, r);
	if (intake->is_over || intake->is_held)
		return;
	/* Not due again in this round: other events must have their turn. */
	if (intake->is_steady)
		timer_set(&intake->loop->timers, &intake->step, now_ns + 1);
	else if (loop_watch(intake->loop, &intake->source, EPOLLIN) < 0)
		timer_set(&intake->loop->timers, &intake->step, clock_after(now_ns, WATCH_AGAIN_NS));
	if (intake->is_steady)
		intake_read_chunk(intake);
}

void intake_resume(struct intake *intake)
{
	if (!intake->is_held || intake->is_over)
		return;
	intake->is_held = false;
	timer_set(&intake->loop->timers, &intake->step, 0);
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
	intake->source = (struct source){ .fd = fd, .ready = intake_input_ready };
	intake->step.due = intake_step;
	intake->events = events;
	intake->data = data;
	lines_init(&intake->lines, limit, intake_take_line, intake);
	int r = loop_watch(loop, &intake->source, EPOLLIN);
	if (r == -EPERM) {
		intake->is_steady = true;
		timer_set(&loop->timers, &intake->step, 0);
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
