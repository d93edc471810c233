/* base: descriptors and the clock. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "harness/oom.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool closes_on_exec(int fd)
{
	return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

START_TEST(pipe_closes_on_exec)
{
	_cleanup_fd_ int from = -1;
	_cleanup_fd_ int to = -1;
	ck_assert_int_eq(fd_pipe(&from, &to), 0);
	ck_assert(closes_on_exec(from));
	ck_assert(closes_on_exec(to));
	ck_assert_int_eq(fd_write_all(to, "x", 1), 0);
	char c = 0;
	ck_assert_int_eq(read(from, &c, 1), 1);
	ck_assert_int_eq(c, 'x');
}
END_TEST

START_TEST(pipe_that_fails_leaves_the_variables_alone)
{
	int from = -7;
	int to = -8;
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	struct rlimit none = { 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	int r = fd_pipe(&from, &to);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(r, -EMFILE);
	ck_assert_int_eq(from, -7);
	ck_assert_int_eq(to, -8);
}
END_TEST

START_TEST(close_keeps_errno_and_returns_none)
{
	int from;
	int to;
	ck_assert_int_eq(fd_pipe(&from, &to), 0);
	errno = EXDEV;
	ck_assert_int_eq(fd_close(from), -1);
	ck_assert_int_eq(fd_close(to), -1);
	ck_assert_int_eq(fd_close(-1), -1);
	ck_assert_int_eq(fd_close(to), -1);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert(!is_open(from));
	ck_assert(!is_open(to));
}
END_TEST

START_TEST(scope_closes_what_was_not_taken)
{
	int kept = -1;
	int closed = -1;
	{
		_cleanup_fd_ int from = -1;
		_cleanup_fd_ int to = -1;
		ck_assert_int_eq(fd_pipe(&from, &to), 0);
		closed = from;
		kept = fd_steal(&to);
		ck_assert_int_eq(to, -1);
	}
	ck_assert(!is_open(closed));
	ck_assert(is_open(kept));
	fd_close(kept);
}
END_TEST

START_TEST(scope_frees_what_was_not_taken)
{
	long before = oom_live();
	char *kept = NULL;
	{
		_cleanup_free_ char *one = str_dup(STR("freed"));
		_cleanup_free_ char *two = str_dup(STR("taken"));
		ck_assert_str_eq(one, "freed");
		kept = steal(&two);
		ck_assert_ptr_null(two);
	}
	ck_assert_int_eq(oom_live() - before, 1);
	free(kept);
}
END_TEST

START_TEST(nonblocking_keeps_the_other_flags)
{
	char path[] = "/tmp/perch-test-XXXXXX";
	const char *directory = getenv("TMPDIR");
	ck_assert_int_eq(directory ? chdir(directory) : 0, 0);
	_cleanup_fd_ int fd = mkstemp(directory ? strrchr(path, '/') + 1 : path);
	ck_assert_int_ge(fd, 0);
	unlink(directory ? strrchr(path, '/') + 1 : path);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_APPEND), 0);
	ck_assert_int_eq(fd_set_nonblocking(fd), 0);
	int flags = fcntl(fd, F_GETFL);
	ck_assert_int_eq(flags & O_NONBLOCK, O_NONBLOCK);
	ck_assert_int_eq(flags & O_APPEND, O_APPEND);
}
END_TEST

START_TEST(bad_descriptors_are_errors)
{
	ck_assert_int_eq(fd_set_nonblocking(-1), -EBADF);
	ck_assert_int_eq(fd_duplicate_above(-1, 3), -EBADF);
	ck_assert_int_eq(fd_write_all(-1, "x", 1), -EBADF);
	ck_assert_int_eq(fd_write_all(-1, "", 0), 0);
	ck_assert_int_eq(fd_duplicate_above(STDOUT_FILENO, 1 << 30), -EINVAL);
}
END_TEST

START_TEST(duplicate_is_high_enough_and_closes_on_exec)
{
	_cleanup_fd_ int from = -1;
	_cleanup_fd_ int to = -1;
	ck_assert_int_eq(fd_pipe(&from, &to), 0);
	_cleanup_fd_ int copy = fd_duplicate_above(to, 50);
	ck_assert_int_ge(copy, 50);
	ck_assert(closes_on_exec(copy));
	_cleanup_fd_ int next = fd_duplicate_above(to, copy);
	ck_assert_int_gt(next, copy);
}
END_TEST

START_TEST(write_to_a_full_pipe_and_to_nobody)
{
	int from = -1;
	_cleanup_fd_ int to = -1;
	static char block[1 << 20];
	ck_assert_int_eq(fd_pipe(&from, &to), 0);
	ck_assert_int_eq(fd_set_nonblocking(to), 0);
	ck_assert_int_eq(fd_write_all(to, block, sizeof(block)), -EAGAIN);
	fd_close(from);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(fd_write_all(to, "x", 1), -EPIPE);
}
END_TEST

enum { INTERRUPTIONS = 1000 };

/* Shared with the reader, so that each signal has arrived before the next. */
static atomic_uint *interrupted;

static void count_interruption(int signal_number)
{
	(void)signal_number;
	atomic_fetch_add(interrupted, 1);
}

/* Interrupts the writer while the pipe is full, again and again, then reads
 * everything and interrupts some of the writes half way. Ends with 0 when the
 * bytes were the right ones. */
static _Noreturn void interrupt_and_read(int from, size_t expected, pid_t writer)
{
	for (unsigned i = 0; i < INTERRUPTIONS; i++) {
		kill(writer, SIGUSR1);
		while (atomic_load(interrupted) <= i)
			sched_yield();
	}
	static char piece[60000];
	size_t total = 0;
	ssize_t n;
	while ((n = read(from, piece, sizeof(piece))) > 0) {
		for (ssize_t i = 0; i < n; i++, total++) {
			if (piece[i] != (char)(total % 251))
				_exit(2);
		}
		kill(writer, SIGUSR1);
	}
	_exit(n == 0 && total == expected ? 0 : 1);
}

/* Fills the pipe with the start of block. Returns how much went in. */
static size_t fill_pipe(int to, const char *block)
{
	int flags = fcntl(to, F_GETFL);
	size_t filled = 0;
	ck_assert_int_eq(fd_set_nonblocking(to), 0);
	while (write(to, block + filled, 1) == 1)
		filled++;
	ck_assert_int_eq(fcntl(to, F_SETFL, flags), 0);
	return filled;
}

START_TEST(write_all_goes_on_after_signals_and_short_writes)
{
	static char block[3 << 20];
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)(i % 251);
	interrupted =
		mmap(NULL, sizeof(*interrupted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(interrupted, MAP_FAILED);
	struct sigaction action = { .sa_handler = count_interruption };
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	int from;
	int to;
	ck_assert_int_eq(fd_pipe(&from, &to), 0);
	size_t filled = fill_pipe(to, block);
	pid_t writer = getpid();
	pid_t reader = fork();
	if (reader == 0) {
		fd_close(to);
		interrupt_and_read(from, sizeof(block), writer);
	}
	int r = fd_write_all(to, block + filled, sizeof(block) - filled);
	fd_close(to);
	fd_close(from);
	int status = -1;
	while (waitpid(reader, &status, 0) < 0)
		ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(read_all_reads_to_the_end_and_no_more_than_allowed)
{
	static const struct {
		size_t max;
		int r;
		size_t len;
	} reads[] = { { 6, 0, 6 }, { 5, -EFBIG, 6 }, { 2, -EFBIG, 3 }, { 100, 0, 6 } };
	for (size_t i = 0; i < COUNT(reads); i++) {
		struct buf out = { 0 };
		int from;
		int to;
		ck_assert_int_eq(fd_pipe(&from, &to), 0);
		ck_assert_int_eq(fd_write_all(to, "abcdef", 6), 0);
		fd_close(to);
		ck_assert_int_eq(fd_read_all(from, 0, reads[i].max, &out), reads[i].r);
		ck_assert_uint_eq(out.len, reads[i].len);
		ck_assert_mem_eq(out.data, "abcdef", out.len);
		buf_free(&out);
		fd_close(from);
	}
	struct buf nothing = { 0 };
	ck_assert_int_eq(fd_read_all(-1, 0, 1, &nothing), -EBADF);
	buf_free(&nothing);
}
END_TEST

START_TEST(clock_does_not_run_backwards)
{
	uint64_t last = clock_now_ns();
	ck_assert_uint_gt(last, 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t now = clock_now_ns();
		ck_assert_uint_ge(now, last);
		last = now;
	}
}
END_TEST

START_TEST(a_time_in_utc_is_that_of_the_c_library)
{
	static const int64_t days[] = { 0, 1, 58, 59, 60, 365, 789, 10956, 10957, 11015, 11016, 11017,
		47540, 47541, 47542, -1, -719468, -719529, 2932896 };
	uint64_t state = 1;
	for (size_t i = 0; i < 20000; i++) {
		state = state * 6364136223846793005U + 1442695040888963407U;
		int64_t seconds = i < COUNT(days) ? days[i] * 86400 : (int64_t)(state >> 28) - (1LL << 35);
		time_t when = (time_t)seconds;
		char expected[CLOCK_UTC_MAX];
		char written[CLOCK_UTC_MAX];
		struct tm parts;
		if (!gmtime_r(&when, &parts) || parts.tm_year < -1900 || parts.tm_year > 8099)
			continue;
		snprintf(expected, sizeof(expected), "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900,
			parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
		clock_write_utc(written, seconds);
		if (strcmp(written, expected) != 0)
			ck_abort_msg("%s is not %s", written, expected);
	}
}
END_TEST

START_TEST(clock_after_too_long_is_never)
{
	ck_assert_uint_eq(clock_after(5, 7), 12);
	ck_assert_uint_eq(clock_after(0, 0), 0);
	ck_assert_uint_eq(clock_after(5, NEVER), NEVER);
	ck_assert_uint_eq(clock_after(NEVER, 1), NEVER);
	ck_assert_uint_eq(clock_after(NEVER, 0), NEVER);
	ck_assert_uint_eq(clock_after(1, NEVER - 1), NEVER);
	ck_assert_uint_eq(clock_after(1, NEVER - 2), NEVER - 1);
	ck_assert_uint_eq(clock_after(2, NEVER - 1), NEVER);
}
END_TEST

START_TEST(seconds_of_any_size_are_a_time)
{
	ck_assert_uint_eq(clock_from_seconds(1.5), 1500000000);
	ck_assert_uint_eq(clock_from_seconds(0), 0);
	ck_assert_uint_eq(clock_from_seconds(-1), 0);
	ck_assert_uint_eq(clock_from_seconds(__builtin_nan("")), 0);
	ck_assert_uint_eq(clock_from_seconds(1.8446744073709551e10), NEVER);
	ck_assert_uint_eq(clock_from_seconds(1e300), NEVER);
	ck_assert_uint_eq(clock_from_seconds(__builtin_inf()), NEVER);
}
END_TEST

SUITE_MAIN("base-system", seconds_of_any_size_are_a_time, pipe_closes_on_exec,
	pipe_that_fails_leaves_the_variables_alone, close_keeps_errno_and_returns_none,
	scope_closes_what_was_not_taken, scope_frees_what_was_not_taken,
	nonblocking_keeps_the_other_flags, bad_descriptors_are_errors,
	duplicate_is_high_enough_and_closes_on_exec, write_to_a_full_pipe_and_to_nobody,
	write_all_goes_on_after_signals_and_short_writes,
	read_all_reads_to_the_end_and_no_more_than_allowed, clock_does_not_run_backwards,
	clock_after_too_long_is_never, a_time_in_utc_is_that_of_the_c_library)
