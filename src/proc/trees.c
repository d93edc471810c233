/* The trees of a host's children. */
#include "proc/trees.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "guard/sweep.h"
#include "proc/pidfd.h"

enum {
	BIRTH_NS = 2000, /* no machine bears processes faster than this, on all its processors */
	PID_MAX_LEAST = 32768,
	LOOK_MS = 2, /* how often is looked whether the killed are dead */
};

void trees_close(struct trees *trees)
{
	trees->loadavg = fd_close(trees->loadavg);
}

/* The kernel's own; a container may have put another file there. */
static int trees_open_loadavg(void)
{
	_cleanup_fd_ int fd = fd_above_stdio(open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
	struct statfs info;
	if (fd < 0 || fstatfs(fd, &info) < 0 || info.f_type != PROC_SUPER_MAGIC)
		return -1;
	return fd_steal(&fd);
}

static uint64_t trees_read_circle(void)
{
	char text[32] = "";
	_cleanup_fd_ int fd = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)!read(fd, text, sizeof(text) - 1);
	return strtoull(text, NULL, 10) * BIRTH_NS;
}

/* Before the least time that any kernel takes, the kernel need not be asked. */
static bool trees_is_recent(struct trees *trees, uint64_t age_ns)
{
	if (age_ns < (uint64_t)PID_MAX_LEAST * BIRTH_NS)
		return true;
	if (!trees->circle_ns)
		trees->circle_ns = trees_read_circle();
	return age_ns < trees->circle_ns;
}

/* Under a host whose tree we are in, the higher number of the limit is taken: ours are below it. */
static uint64_t trees_new_mark(uint64_t most)
{
	uint64_t mark = 0;
	if (getrandom(&mark, sizeof(mark), GRND_NONBLOCK) != (ssize_t)sizeof(mark))
		return 0;
	mark &= (MARK_OUTERMOST - 1) & ~(MARK_CHILDREN | MARK_GUARD);
	if (most == MARK_UNLIMITED)
		mark |= MARK_OUTERMOST;
	return (mark | MARK_CHILDREN) <= most ? mark : 0;
}

/* That we may set the limit is tried with what it is. */
void trees_open(struct trees *trees)
{
	struct bare_limit limit;
	*trees = (struct trees){ .loadavg = -1 };
	if (bare_limit(0, MARK_RESOURCE, NULL, &limit) < 0 ||
		bare_limit(0, MARK_RESOURCE, &limit, NULL) < 0)
		return;
	trees->loadavg = trees_open_loadavg();
	trees->most = limit.most;
	trees->mark = trees->loadavg < 0 ? 0 : trees_new_mark(limit.most);
}

bool trees_mark(struct trees *trees, uint64_t *ret_mark, struct bare_limit *ret_limit)
{
	if (!trees->mark)
		return false;
	uint64_t mark = mark_of_child(trees->mark, ++trees->next_child);
	*ret_mark = mark;
	ret_limit->now = mark;
	ret_limit->most = trees->most == MARK_UNLIMITED ? mark : trees->most;
	return true;
}

struct tree_state trees_end(
	struct trees *trees, uint64_t mark, pid_t child, uint64_t born_ns, bool is_last_try)
{
	struct sweep sweep = {
		.wanted = { .mark = mark },
		.child = child,
		.is_recent = trees_is_recent(trees, clock_now_ns() - born_ns),
		.is_sparing_guards = !is_last_try,
		.loadavg = trees->loadavg,
	};
	sweep_run(&sweep);
	return (struct tree_state){ sweep.ended, sweep.alive, sweep.refused };
}

void trees_end_all(struct trees *trees)
{
	if (!trees->may_have_strays)
		return;
	struct sweep sweep = {
		.wanted = { .mark = trees->mark, .is_host = true },
		.loadavg = trees->loadavg,
	};
	const struct timespec pause = { .tv_nsec = LOOK_MS * NSEC_PER_MSEC };
	for (int ms = 0; ms < DEATH_WAIT_MS; ms += LOOK_MS) {
		sweep.is_sparing_guards = ms < DEATH_WAIT_MS / 2;
		sweep_run(&sweep);
		if (!sweep.alive)
			break;
		nanosleep(&pause, NULL);
	}
	trees->may_have_strays = false;
}
