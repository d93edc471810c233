/* A sweep: finds every living process of a tree by its mark and kills it. One for the host and for
 * perch-guard, which have no library in common.
 *
 * It is one pass, and no process escapes it by being born meanwhile. The kernel gives out process
 * numbers in a circle, each above the last one; so a process that is born during the pass has a
 * number above all that were there when it began. The pass looks at those that were there, then at
 * those born since, upwards, until no number was given out since the last look. A process that is
 * hit while it forks has no child: the kernel makes none for a process that is about to die. One
 * that forks and exits before it is looked at has left a child with a higher number. */
#ifndef GUARD_SWEEP_H
#define GUARD_SWEEP_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "guard/mark.h"

enum {
	SWEEP_FEW = 1024,              /* numbers that are sooner tried than searched for in /proc */
	SWEEP_CHASES_MAX = 100 * 1000, /* on a machine where other processes never stop forking */
	SWEEP_NUMBERS_MAX = 4 * 1024 * 1024, /* no kernel has more processes */
	SWEEP_TEXT_MAX = 4096,
};

struct sweep {
	struct mark_wanted wanted;
	int child;              /* the eldest, which is not counted; 0 = not known */
	bool is_recent;         /* no number was given out twice since its birth */
	bool is_sparing_guards; /* those of hosts in the tree, which have their own trees to end */
	bool has_time;          /* a second, where /proc cannot be opened: every number is tried */
	int loadavg;            /* an open /proc/loadavg */
	int last;               /* the number that was given out last, when it was looked at */
	unsigned ended;         /* how many were killed */
	unsigned alive;         /* how many were still there when they were looked at */
	unsigned refused;       /* how many there are that we may not kill */
};

/* ---- one process ----------------------------------------------------------------- */

static inline bool sweep_has_exited(int pidfd)
{
	struct pollfd fds = { .fd = pidfd, .events = POLLIN };
	const struct timespec now = { 0 };
	return bare_poll(&fds, 1, &now) == 1;
}

static inline void sweep_count(struct sweep *sweep, int process, long result)
{
	if (result == -EPERM)
		sweep->refused++;
	else if (result == 0 && process != sweep->child)
		sweep->ended++;
}

static inline void sweep_end(struct sweep *sweep, int process, int pidfd, enum mark_kinship kinship)
{
	if (sweep_has_exited(pidfd))
		return;
	bool is_spared = kinship == MARK_GUARD_OF_KIN && sweep->is_sparing_guards;
	long r = is_spared ? -EAGAIN : bare_signal_pidfd(pidfd, SIGKILL);
	sweep_count(sweep, process, r);
	sweep->alive += r != -EPERM && r != -ESRCH;
}

static inline char *sweep_write_number(char *at, int number)
{
	char digits[12];
	int len = 0;
	do
		digits[len++] = (char)('0' + number % 10);
	while ((number /= 10));
	while (len)
		*at++ = digits[--len];
	return at;
}

static inline uint64_t sweep_read_number(const char **at)
{
	uint64_t number = 0;
	while (**at && (**at < '0' || **at > '9'))
		(*at)++;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

static inline uint64_t sweep_read_limit_word(const char **at)
{
	while (**at == ' ')
		(*at)++;
	if (**at >= '0' && **at <= '9')
		return sweep_read_number(at);
	while (**at && **at != ' ') /* "unlimited" */
		(*at)++;
	return MARK_UNLIMITED;
}

static inline bool sweep_parse_limits(const char *text, struct bare_limit *ret_limit)
{
	static const char name[] = "Max file locks";
	for (; *text; text++) {
		size_t same = 0;
		while (name[same] && text[same] == name[same])
			same++;
		if (name[same])
			continue;
		text += same;
		ret_limit->now = sweep_read_limit_word(&text);
		ret_limit->most = sweep_read_limit_word(&text);
		return true;
	}
	return false;
}

/* A process of another user: the kernel does not tell us its limits, but they can be read. */
static inline long sweep_read_limit(int process, struct bare_limit *ret_limit)
{
	static const char directory[] = "/proc/";
	static const char file[] = "/limits";
	char path[sizeof(directory) + sizeof(file) + 12];
	char *at = path;
	for (const char *from = directory; *from;)
		*at++ = *from++;
	at = sweep_write_number(at, process);
	for (const char *from = file; *from;)
		*at++ = *from++;
	*at = '\0';
	int fd = (int)bare_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	char text[SWEEP_TEXT_MAX];
	long len = bare_read_at(fd, text, sizeof(text) - 1, 0);
	bare_close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return sweep_parse_limits(text, ret_limit) ? 0 : -EPERM;
}

static inline bool sweep_is_born_since(const struct sweep *sweep, int process)
{
	bool is_above = process > sweep->child;
	bool is_below = process <= sweep->last;
	return sweep->child &&
		(sweep->last < sweep->child ? is_above || is_below : is_above && is_below);
}

/* A set-user-id program that we have started can have become another user. The others are many, and
 * reading takes its time: so not those that were there before, and are not ours to kill. */
static inline bool sweep_may_be_changed(const struct sweep *sweep, int process)
{
	return sweep_is_born_since(sweep, process) || bare_kill(process, 0) == 0;
}

static inline enum mark_kinship sweep_kinship(const struct sweep *sweep, int process)
{
	struct bare_limit limit;
	long r = bare_limit(process, MARK_RESOURCE, NULL, &limit);
	if (r == -EPERM && sweep_may_be_changed(sweep, process))
		r = sweep_read_limit(process, &limit);
	return r < 0 ? MARK_STRANGER : mark_compare(&limit, &sweep->wanted);
}

/* The number may become another process's at any time: what is killed is the process that is held,
 * and it was looked at while it was held. A thread cannot be held, its process can. */
static inline void sweep_look_at(struct sweep *sweep, int process)
{
	if (sweep_kinship(sweep, process) == MARK_STRANGER)
		return;
	int pidfd = (int)bare_call(SYS_pidfd_open, process, 0, 0, 0, 0, 0);
	enum mark_kinship kinship = sweep_kinship(sweep, process);
	if (pidfd >= 0 && kinship != MARK_STRANGER)
		sweep_end(sweep, process, pidfd, kinship);
	else if (pidfd == -EMFILE || pidfd == -ENFILE || pidfd == -ENOMEM || pidfd == -ENOSYS)
		sweep_count(sweep, process, bare_kill(process, SIGKILL)); /* it cannot be waited for */
	if (pidfd >= 0)
		bare_close(pidfd);
}

/* ---- the numbers ------------------------------------------------------------------- */

/* The number that was given out last, and how many threads there are; 0 = it is not told. */
static inline int sweep_last_born(const struct sweep *sweep, unsigned *ret_threads)
{
	char text[128];
	long len = bare_read_at(sweep->loadavg, text, sizeof(text) - 1, 0);
	text[len < 0 ? 0 : len] = '\0';
	const char *at = text; /* "0.01 0.02 0.03 1/234 5678": whole and hundredth, thrice */
	for (int i = 0; i < 7; i++)
		sweep_read_number(&at);
	*ret_threads = (unsigned)sweep_read_number(&at);
	return (int)sweep_read_number(&at);
}

static inline void sweep_try_numbers(struct sweep *sweep, int first, int last)
{
	for (int process = first; process <= last; process++)
		sweep_look_at(sweep, process);
}

struct sweep_entry { /* of a directory, as the kernel has it */
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static inline void sweep_look_at_entries(struct sweep *sweep, const char *entries, long len)
{
	for (const char *end = entries + len; entries < end;) {
		const struct sweep_entry *entry = (const struct sweep_entry *)entries;
		const char *name = entry->name;
		if (*name >= '1' && *name <= '9')
			sweep_look_at(sweep, (int)sweep_read_number(&name));
		entries += entry->size;
	}
}

/* Without /proc, and without time to try every number, a process counts as alive: then there is
 * another pass. */
static inline void sweep_look_at_all(struct sweep *sweep)
{
	_Alignas(struct sweep_entry) char entries[SWEEP_TEXT_MAX];
	int fd = (int)bare_open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && sweep->has_time)
		sweep_try_numbers(sweep, 1, SWEEP_NUMBERS_MAX);
	sweep->alive += fd < 0 && !sweep->has_time;
	for (long len; fd >= 0 &&
		 (len = bare_call(SYS_getdents64, fd, (long)entries, sizeof(entries), 0, 0, 0)) > 0;)
		sweep_look_at_entries(sweep, entries, len);
	if (fd >= 0)
		bare_close(fd);
}

/* ---- the pass ---------------------------------------------------------------------- */

static inline void sweep_run(struct sweep *sweep)
{
	unsigned threads;
	sweep->ended = sweep->alive = sweep->refused = 0;
	sweep->last = sweep_last_born(sweep, &threads);
	int span = sweep->last - sweep->child;
	if (sweep->is_recent && span >= 0 && span < SWEEP_FEW + 4 * (int)threads)
		sweep_try_numbers(sweep, sweep->child, sweep->last);
	else
		sweep_look_at_all(sweep);
	for (int chases = 0; chases < SWEEP_CHASES_MAX; chases++) {
		int seen = sweep->last;
		sweep->last = sweep_last_born(sweep, &threads);
		if (sweep->last == seen)
			break;
		if (sweep->last > seen)
			sweep_try_numbers(sweep, seen + 1, sweep->last);
		else /* the circle was closed */
			sweep_look_at_all(sweep);
	}
}

#endif
