/* Orders of a desk: which come together, and in which order they are worked. */
#include "harness/suite.h"
#include "perch/host.h"
#include "queue/desk.h"

#include <string.h>

enum { PATIENCE_NS = 5000000 };

static struct {
	unsigned rounds;
	char worked[8], told[8];
} seen;

struct order {
	struct desk_order base;
	char name;
};

static int begin(void *context)
{
	(void)context;
	seen.rounds++;
	return 0;
}

static int end(void *context)
{
	(void)context;
	return 0;
}

static void undo(void *context)
{
	(void)context;
}

static int work(struct desk_order *base, void *context)
{
	(void)context;
	seen.worked[strlen(seen.worked)] = ((struct order *)base)->name;
	return 0;
}

static void done(struct desk_order *base, int result)
{
	ck_assert_int_eq(result, 0);
	seen.told[strlen(seen.told)] = ((struct order *)base)->name;
}

static struct order make_order(char name, uint64_t patience_ns)
{
	return (struct order){ { .work = work, .done = done, .patience_ns = patience_ns }, name };
}

static const struct desk_round round_of_nothing = { .begin = begin, .end = end, .undo = undo };

static perch_host *host;
static struct desk *desk;

static void open_desk(void)
{
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(perch_host_new(NULL, &host, NULL), 0);
	ck_assert_int_eq(desk_open(host, &round_of_nothing, NULL, &desk, NULL), 0);
}

static void close_desk(void)
{
	desk_close(desk);
	perch_host_free(host);
}

static void await(size_t count)
{
	while (strlen(seen.told) < count)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
}

START_TEST(together)
{
	struct order a = make_order('a', PATIENCE_NS), b = make_order('b', PATIENCE_NS),
				 c = make_order('c', 0);
	open_desk();
	desk_take(desk, &a.base);
	desk_take(desk, &b.base);
	desk_take(desk, &c.base);
	ck_assert_uint_eq(desk_waiting(desk), 3);
	await(3);
	ck_assert_str_eq(seen.worked, "abc");
	ck_assert_str_eq(seen.told, "abc");
	ck_assert_uint_eq(seen.rounds, 1);
	close_desk();
}
END_TEST

/* One that nobody waits for is worked all the same. */
START_TEST(alone)
{
	struct order a = make_order('a', PATIENCE_NS), b = make_order('b', PATIENCE_NS);
	open_desk();
	desk_take(desk, &a.base);
	await(1);
	desk_take(desk, &b.base);
	await(2);
	ck_assert_uint_eq(seen.rounds, 2);
	close_desk();
}
END_TEST

START_TEST(closing)
{
	struct order a = make_order('a', PATIENCE_NS);
	open_desk();
	desk_take(desk, &a.base);
	close_desk();
	ck_assert_str_eq(seen.told, "a");
}
END_TEST

SUITE_MAIN("queue-desk", together, alone, closing)
