/* The doorkeeper of a room: bears the children of a room that is used again. It has entered the
 * room's namespaces, given up all capabilities and entered filter and Landlock's domain once, and
 * its children have all that from it at no cost. They are children of the host (CLONE_PARENT).
 *
 * It lives in the room's file system, but not among the room's processes: those namespaces are for
 * children alone, so no process in the room sees it or can signal it. Its memory holds nothing but
 * the order under way. It trusts the host, and ends with it.
 *
 * A child is born when the host expects to need one, and waits for its order. That is never while
 * another process is in the room. */
#include "guard/door_page.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/macros.h"
#include "guard/mark.h"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

enum {
	DOOR_STACK = 16 * 1024,
	DOOR_FAILED = 1,
	DOOR_BORN_IN_VAIN = 127,
	DOOR_NS_PER_SECOND = 1000 * 1000 * 1000,
};

static struct door_page *page;
static int things[DOOR_THINGS]; /* what came with the order; -1 = it did not */
static const char *words[DOOR_WORDS_MAX + 2];
_Alignas(16) static char newborn_stack[DOOR_STACK];

/* ---- messages ------------------------------------------------------------------------- */

union door_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * DOOR_THINGS)];
};

/* The descriptors of an order. Whether they are as many as there are bits. */
static bool door_take_things(unsigned bits, const union door_control *control, size_t len)
{
	const struct cmsghdr *header = &control->header;
	size_t count = 0;
	if (len >= CMSG_LEN(0) && header->cmsg_type == SCM_RIGHTS)
		count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	const int *fds = (const int *)CMSG_DATA(header);
	size_t used = 0;
	for (int i = 0; i < DOOR_THINGS; i++) {
		bool comes = bits & 1U << i;
		things[i] = comes && used < count ? fds[used] : -1;
		used += comes;
	}
	return used == count;
}

/* Waits for the next message. Whether there is one: the host lives. */
static bool door_receive(void)
{
	static union door_control control;
	unsigned char bits;
	struct iovec bytes = { &bits, 1 };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	long n;
	do
		n = bare_call(SYS_recvmsg, DOOR_FD_ORDERS, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	while (n == -EINTR);
	return n == 1 && !(message.msg_flags & MSG_CTRUNC) &&
		door_take_things(bits, &control, message.msg_controllen);
}

/* ---- the newborn ------------------------------------------------------------------ */

static const char *door_text(uint32_t at)
{
	return at ? page->text + at : NULL;
}

static long door_enter_session(void)
{
	long r = page->own_session ? bare_call(SYS_setsid, 0, 0, 0, 0, 0, 0) : 0;
	return r < 0 ? r : 0;
}

/* Where the parent has died already, the end of the room ends the child. */
static long door_die_with_parent(void)
{
	return page->dies_with_parent ? bare_prctl(PR_SET_PDEATHSIG, SIGKILL) : 0;
}

static long door_enter_cgroup(void)
{
	return things[DOOR_CGROUP] < 0 ? 0 : bare_write(things[DOOR_CGROUP], "0", 1);
}

/* All other descriptors close themselves at the exec. Those that came are above these. */
static long door_arrange_descriptors(void)
{
	long r = 0;
	for (int fd = DOOR_STDIN; r >= 0 && fd <= DOOR_STDERR; fd++)
		r = bare_call(SYS_dup3, things[fd], fd, 0, 0, 0, 0);
	if (r >= 0 && things[DOOR_CHANNEL] >= 0 && things[DOOR_CHANNEL] != page->channel)
		r = bare_call(SYS_dup3, things[DOOR_CHANNEL], page->channel, 0, 0, 0, 0);
	return r;
}

static long door_set_limits(void)
{
	long r = 0;
	for (uint32_t i = 0; r >= 0 && i < page->limit_count; i++)
		r = bare_limit(0, page->limits[i].resource, &page->limits[i].value, NULL);
	return r;
}

/* What the doorkeeper itself needs and no child may do. */
static long door_enter_seal(void)
{
	const struct sock_fprog seal = { (unsigned short)page->seal_count, page->seal };
	return bare_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&seal, 0, 0, 0);
}

static long door_go_to(uint32_t directory)
{
	return directory ? bare_call(SYS_chdir, (long)door_text(directory), 0, 0, 0, 0, 0) : 0;
}

static long door_enter_cwd(void)
{
	long r = door_go_to(page->here);
	return r < 0 ? r : door_go_to(page->cwd);
}

static long door_look_at_clock(void)
{
	struct timespec now = { 0 };
	if (!page->until_ns)
		return 0;
	long r = bare_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	uint64_t now_ns = (uint64_t)now.tv_sec * DOOR_NS_PER_SECOND + (uint64_t)now.tv_nsec;
	return r < 0 ? r : now_ns >= page->until_ns ? -ETIME : 0;
}

static long door_execute(void)
{
	long argv = (long)words;
	long env = (long)(words + page->argument_count + 1);
	return things[DOOR_PROGRAM] < 0
		? bare_call(SYS_execve, (long)door_text(page->path), argv, env, 0, 0, 0)
		: bare_call(SYS_execveat, things[DOOR_PROGRAM], (long)"", argv, env, AT_EMPTY_PATH, 0);
}

static const struct door_step {
	enum door_stage stage;
	long (*run)(void); /* a negative errno = it has failed */
} door_steps[] = {
	{ DOOR_AT_SESSION, door_enter_session },
	{ DOOR_AT_PARENT, door_die_with_parent },
	{ DOOR_AT_CGROUP, door_enter_cgroup },
	{ DOOR_AT_DESCRIPTORS, door_arrange_descriptors },
	{ DOOR_AT_LIMITS, door_set_limits },
	{ DOOR_AT_SECCOMP, door_enter_seal },
	{ DOOR_AT_CWD, door_enter_cwd },
	{ DOOR_AT_TIME, door_look_at_clock },
	{ DOOR_AT_EXEC, door_execute },
};

static void door_find_words(void)
{
	const char **to = words;
	for (uint32_t i = 0; i < page->word_count; i++) {
		if (i == page->argument_count)
			*to++ = NULL;
		*to++ = page->text + page->words[i];
	}
	if (page->word_count == page->argument_count)
		*to++ = NULL;
	*to = NULL;
}

/* On a stack of its own, in the doorkeeper's memory, until its exec. The order is its own: no
 * descriptor of it is ever the doorkeeper's. */
static void door_run_newborn(void *data)
{
	(void)data;
	if (!door_receive()) {
		page->stage = DOOR_AT_BIRTH;
		page->error = ECANCELED;
	}
	door_find_words();
	for (size_t i = 0; i < COUNT(door_steps) && !page->error; i++) {
		page->stage = door_steps[i].stage;
		long r = door_steps[i].run();
		page->error = r < 0 ? (int32_t)-r : 0;
	}
	for (;;)
		bare_call(SYS_exit_group, DOOR_BORN_IN_VAIN, 0, 0, 0, 0, 0);
}

/* The host may wait for that. */
static void door_clear(_Atomic uint32_t *word)
{
	atomic_store(word, 0);
	bare_call(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

/* The host gives its next word when the newborn has left our memory: until then messages, stack and
 * page are its own. We do not wait for that, as behind a vfork: it would count as load. */
static void door_bear(void)
{
	const unsigned long flags =
		CLONE_VM | CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
	long r = bare_bear(flags, newborn_stack + DOOR_STACK, (int *)&page->pid,
		(void *)&page->is_awaited, door_run_newborn, NULL);
	if (r < 0) {
		page->stage = DOOR_AT_BIRTH;
		page->error = (int32_t)-r;
		door_clear(&page->is_awaited);
	}
	door_clear(&page->is_unborn);
}

/* ---- its life ------------------------------------------------------------------------- */

static bool door_is_host_alive(void)
{
	const struct timespec now = { 0 };
	struct pollfd host = { .fd = DOOR_FD_HOST, .events = POLLIN };
	return bare_poll(&host, 1, &now) == 0;
}

/* The first message comes with the domain that we enter, where there is one. */
static bool door_settle(void)
{
	bool is_settled = door_receive();
	if (is_settled && things[DOOR_LANDLOCK] >= 0) {
		is_settled =
			bare_call(SYS_landlock_restrict_self, things[DOOR_LANDLOCK], 0, 0, 0, 0, 0) == 0;
		bare_close(things[DOOR_LANDLOCK]);
	}
	return is_settled;
}

/* The host's next word, once. */
static uint32_t door_await_word(void)
{
	uint32_t word;
	while ((word = atomic_exchange(&page->word, DOOR_WAITS)) == DOOR_WAITS)
		bare_call(SYS_futex, (long)&page->word, FUTEX_WAIT, DOOR_WAITS, 0, 0, 0);
	return word;
}

/* When the host dies, the kernel ends us, even if we were stopped or a fork of the host holds the
 * other end of the socket. */
int door_keep(void)
{
	bare_prctl(PR_SET_DUMPABLE, 0);
	bare_prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = DOOR_FD_ORDERS; fd <= DOOR_FD_HOST; fd++)
		bare_call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0, 0, 0);
	long at = bare_map(sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, DOOR_FD_PAGE);
	if ((at < 0 && at > -4096) || !door_is_host_alive())
		return DOOR_FAILED;
	page = (struct door_page *)at;
	if (page->layout != DOOR_LAYOUT || !door_settle())
		return DOOR_FAILED;
	while (door_await_word() == DOOR_BEARS)
		door_bear();
	return 0;
}
