/* Descriptors and deadlines of somebody else in the loop of a host. */
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "perch/loop.h"

struct seen {
	unsigned events;
	unsigned calls;
	bool was_called;
	bool frees_itself;
	int fd;
};

static void note(perch_source *source, void *data, unsigned events)
{
	struct seen *seen = data;
	char byte = 0;
	seen->events = events;
	seen->calls++;
	seen->was_called = true;
	if ((events & PERCH_READABLE) && read(seen->fd, &byte, 1) < 0)
		ck_assert_int_eq(errno, EAGAIN);
	if (seen->frees_itself)
		perch_source_free(source);
}

static void make_pair(int pair[2])
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
}

START_TEST(a_descriptor_is_told_while_it_is_ready)
{
	int pair[2];
	make_pair(pair);
	struct seen seen = { .fd = pair[0] };
	perch_host *host = proc_host();
	perch_source *source = NULL;
	ck_assert_int_eq(
		perch_source_new(host, pair[0], PERCH_READABLE, note, &seen, &source, NULL), 0);
	ck_assert_int_eq(perch_host_wait(host, 0), 0);
	ck_assert_int_eq(write(pair[1], "ab", 2), 2);
	proc_until(host, &seen.was_called);
	ck_assert_uint_eq(seen.events, PERCH_READABLE);
	ck_assert_int_eq(perch_host_wait(host, 0), 1); /* the second byte is still there */
	ck_assert_uint_eq(seen.calls, 2);
	ck_assert_int_eq(perch_source_watch(source, 0), 0);
	ck_assert_int_eq(write(pair[1], "c", 1), 1);
	ck_assert_int_eq(perch_host_wait(host, 0), 0);
	ck_assert_int_eq(perch_source_watch(source, PERCH_WRITABLE), 0);
	ck_assert_int_eq(perch_host_wait(host, 0), 1);
	ck_assert_uint_eq(seen.events, PERCH_WRITABLE);
	perch_source_free(source);
	perch_host_free(host);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(the_other_side_leaves)
{
	int pair[2];
	make_pair(pair);
	struct seen seen = { .fd = pair[0] };
	perch_host *host = proc_host();
	perch_source *source = NULL;
	ck_assert_int_eq(
		perch_source_new(host, pair[0], PERCH_PEER_LEFT, note, &seen, &source, NULL), 0);
	shutdown(pair[1], SHUT_WR);
	proc_until(host, &seen.was_called);
	ck_assert_uint_eq(seen.events, PERCH_PEER_LEFT);
	close(pair[1]);
	ck_assert_int_eq(perch_host_wait(host, 0), 1);
	ck_assert_uint_eq(seen.events & PERCH_HANGUP, PERCH_HANGUP);
	perch_source_free(source);
	perch_host_free(host);
	close(pair[0]);
}
END_TEST

START_TEST(a_source_may_be_freed_in_its_callback)
{
	int pair[2];
	make_pair(pair);
	struct seen seen = { .fd = pair[0], .frees_itself = true };
	perch_host *host = proc_host();
	perch_source *source = NULL;
	ck_assert_int_eq(
		perch_source_new(host, pair[0], PERCH_WRITABLE, note, &seen, &source, NULL), 0);
	ck_assert_int_eq(perch_host_wait(host, -1), 1);
	ck_assert_int_eq(perch_host_wait(host, 0), 0);
	ck_assert_uint_eq(seen.calls, 1);
	perch_host_free(host);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(what_cannot_be_watched)
{
	perch_host *host = proc_host();
	perch_source *source = NULL;
	perch_err err = { 0 };
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(
		perch_source_new(host, file, PERCH_READABLE, note, NULL, &source, &err), -EPERM);
	ck_assert_str_ne(err.text, "");
	ck_assert_int_eq(perch_source_new(host, -1, PERCH_READABLE, note, NULL, &source, NULL), -EBADF);
	ck_assert_int_eq(perch_source_new(host, file, 1u << 30, note, NULL, &source, NULL), -EINVAL);
	ck_assert_ptr_null(source);
	close(file);
	perch_host_free(host);
}
END_TEST

static void count_timer(perch_timer *timer, void *data)
{
	struct seen *seen = data;
	seen->calls++;
	seen->was_called = true;
	if (seen->frees_itself)
		perch_timer_free(timer);
	else if (seen->calls < 3)
		perch_timer_set(timer, 0);
}

START_TEST(a_timer_is_due_once_each_time_it_is_set)
{
	perch_host *host = proc_host();
	struct seen seen = { 0 };
	perch_timer *timer = NULL;
	ck_assert_int_eq(perch_timer_new(host, count_timer, &seen, &timer, NULL), 0);
	ck_assert_int_eq(perch_host_timeout(host), -1);
	perch_timer_set(timer, 3600ull * NSEC_PER_SEC);
	ck_assert_int_gt(perch_host_timeout(host), 3500 * 1000);
	perch_timer_set(timer, UINT64_MAX);
	ck_assert_int_eq(perch_host_timeout(host), -1);
	perch_timer_set(timer, UINT64_MAX - 1); /* so far away that it would wrap */
	ck_assert_int_ne(perch_host_timeout(host), 0);
	perch_timer_set(timer, 0);
	for (int i = 0; i < 5; i++)
		perch_host_wait(host, 0);
	ck_assert_uint_eq(seen.calls, 3);
	perch_timer_free(timer);

	seen = (struct seen){ .frees_itself = true };
	ck_assert_int_eq(perch_timer_new(host, count_timer, &seen, &timer, NULL), 0);
	perch_timer_set(timer, 1);
	proc_until(host, &seen.was_called);
	ck_assert_int_eq(perch_host_timeout(host), -1);
	perch_host_free(host);
}
END_TEST

static int watch_and_wait(void *data)
{
	int *pair = data;
	perch_host *host = NULL;
	perch_source *source = NULL;
	perch_timer *timer = NULL;
	struct seen seen = { .fd = pair[0] };
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_OFF;
	int r = perch_host_new(&options, &host, NULL);
	if (r == 0)
		r = perch_source_new(host, pair[0], PERCH_WRITABLE, note, &seen, &source, NULL);
	if (r == 0)
		r = perch_timer_new(host, count_timer, &seen, &timer, NULL);
	perch_timer_free(timer);
	perch_source_free(source);
	perch_host_free(host);
	return r;
}

START_TEST(without_memory)
{
	int pair[2];
	make_pair(pair);
	oom_every(watch_and_wait, pair);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

SUITE_MAIN("sources", a_descriptor_is_told_while_it_is_ready, the_other_side_leaves,
	a_source_may_be_freed_in_its_callback, what_cannot_be_watched,
	a_timer_is_due_once_each_time_it_is_set, without_memory)
