/* The way out of a descriptor that others share: everything arrives in order, nobody waits, a
 * reader that is gone or takes nothing is known. Both ways of writing, where the kernel has two. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "proc/outlet.h"

static struct rig {
	struct loop loop;
	struct outlet outlet;
	int reader;
	int writer;
	unsigned full, moved;
	unsigned char next; /* byte to be written */
} rig;

static void on_full(struct outlet *outlet)
{
	ck_assert(outlet->is_full);
	rig.full++;
}

static void on_moved(struct outlet *outlet)
{
	(void)outlet;
	rig.moved++;
}

static const struct outlet_events events = { .full = on_full, .moved = on_moved };

static void rig_open(bool no_nowait)
{
	signal(SIGPIPE, SIG_IGN);
	rig = (struct rig){ 0 };
	ck_assert_int_eq(loop_init(&rig.loop), 0);
	ck_assert_int_eq(fd_pipe(&rig.reader, &rig.writer), 0);
	ck_assert_int_eq(outlet_open(&rig.outlet, &rig.loop, rig.writer, &events), 0);
	rig.outlet.no_nowait = no_nowait;
}

static void rig_close(void)
{
	ck_assert_int_eq(fcntl(rig.writer, F_GETFL) & O_NONBLOCK, 0);
	outlet_close(&rig.outlet);
	loop_close(&rig.loop);
	fd_close(rig.reader);
	fd_close(rig.writer);
}

static void take(size_t len)
{
	struct buf bytes = { 0 };
	for (size_t i = 0; i < len; i++)
		buf_append_char(&bytes, (char)rig.next++);
	outlet_take(&rig.outlet, &bytes);
	ck_assert_uint_eq(bytes.len, 0);
	buf_free(&bytes);
}

/* Reads once, which must go on as it began. */
static size_t read_some(unsigned char *next)
{
	static unsigned char chunk[10000];
	ssize_t n = read(rig.reader, chunk, sizeof(chunk));
	ck_assert_int_gt(n, 0);
	bool is_in_order = true;
	for (ssize_t i = 0; i < n; i++)
		is_in_order = is_in_order && chunk[i] == (*next)++;
	ck_assert(is_in_order);
	return (size_t)n;
}

static void everything_arrives_in_order_so(bool no_nowait)
{
	enum { PIECES = 300, PIECE = 7777 };
	rig_open(no_nowait);
	for (int i = 0; i < PIECES; i++)
		take(PIECE);
	ck_assert_uint_eq(rig.full, 1);
	unsigned char next = 0;
	size_t seen = 0;
	while (seen < PIECES * PIECE) {
		seen += read_some(&next);
		loop_run(&rig.loop, 0);
		ck_assert(!rig.outlet.is_full || outlet_waiting(&rig.outlet) >= OUTLET_FULL / 2);
	}
	ck_assert_uint_eq(outlet_waiting(&rig.outlet), 0);
	ck_assert_uint_ge(rig.moved, 1);
	ck_assert_int_eq(rig.outlet.error, 0);
	rig_close();
}

/* A queue that is never empty does not grow with what has gone through it. */
static void what_was_written_is_not_kept_so(bool no_nowait)
{
	enum { ROUNDS = 2000, PIECE = 10000 };
	unsigned char next = 0;
	size_t seen = 0;
	rig_open(no_nowait);
	take(2 * OUTLET_FULL);
	for (int i = 0; i < ROUNDS; i++) {
		take(PIECE);
		while (seen < (size_t)PIECE * (size_t)i)
			seen += read_some(&next);
		loop_run(&rig.loop, 0);
		ck_assert_uint_lt(rig.outlet.queue.len, 5 * OUTLET_FULL);
		ck_assert_uint_gt(outlet_waiting(&rig.outlet), 0);
	}
	rig_close();
}

static void a_reader_that_goes_is_known_at_once_so(bool no_nowait)
{
	rig_open(no_nowait);
	for (int waits = 0; waits < 2; waits++) {
		take(waits ? 2 * OUTLET_FULL : 10);
		ck_assert_int_eq(rig.outlet.is_full, waits);
	}
	rig.reader = fd_close(rig.reader);
	while (!rig.outlet.error)
		loop_run(&rig.loop, -1);
	ck_assert_int_eq(rig.outlet.error, -EPIPE);
	ck_assert(!rig.outlet.is_full);
	ck_assert_uint_ge(rig.moved, 1);
	take(1000000);
	ck_assert_uint_eq(outlet_waiting(&rig.outlet), 0);
	rig_close();
}

static void a_reader_that_takes_nothing_is_given_up_so(bool no_nowait)
{
	rig_open(no_nowait);
	outlet_hurry(&rig.outlet, NSEC_PER_MSEC);
	take(10);
	ck_assert_int_eq(loop_timeout_ms(&rig.loop), -1);
	take(2 * OUTLET_FULL);
	while (!rig.outlet.error)
		loop_run(&rig.loop, loop_timeout_ms(&rig.loop));
	ck_assert_int_eq(rig.outlet.error, -EPIPE);
	ck_assert(!rig.outlet.is_full);
	rig_close();
}

static void nobody_is_waited_for_so(bool no_nowait)
{
	unsigned char next = 0;
	rig_open(no_nowait);
	outlet_hurry(&rig.outlet, 0);
	take(10);
	ck_assert_int_eq(rig.outlet.error, 0);
	ck_assert_uint_eq(read_some(&next), 10);
	take(2 * OUTLET_FULL);
	ck_assert_int_eq(rig.outlet.error, -EPIPE);
	ck_assert_uint_eq(outlet_waiting(&rig.outlet), 0);
	rig_close();
}

static void files_take_everything_so(bool no_nowait)
{
	rig_open(no_nowait);
	struct outlet file;
	struct buf bytes = { 0 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(outlet_open(&file, &rig.loop, fd, &events), 0);
	buf_append_text(&bytes, "text");
	outlet_take(&file, &bytes);
	ck_assert_uint_eq(outlet_waiting(&file), 0);
	ck_assert_int_eq(file.error, 0);
	fd_close(fd);
	buf_append_text(&bytes, "text");
	outlet_take(&file, &bytes);
	ck_assert_int_eq(file.error, -EBADF);
	outlet_close(&file);
	buf_free(&bytes);
	rig_close();
}

#define BOTH_WAYS(name)   \
	START_TEST(name)      \
	{                     \
		name##_so(false); \
		name##_so(true);  \
	}                     \
	END_TEST

BOTH_WAYS(everything_arrives_in_order)
BOTH_WAYS(what_was_written_is_not_kept)
BOTH_WAYS(a_reader_that_goes_is_known_at_once)
BOTH_WAYS(a_reader_that_takes_nothing_is_given_up)
BOTH_WAYS(nobody_is_waited_for)
BOTH_WAYS(files_take_everything)

SUITE_MAIN("outlet", everything_arrives_in_order, what_was_written_is_not_kept,
	a_reader_that_goes_is_known_at_once, a_reader_that_takes_nothing_is_given_up,
	nobody_is_waited_for, files_take_everything)
