/* Deadlines and ladders: time as a number, no clock needed. */
#include "harness/suite.h"

#include <stdlib.h>

#include "proc/ladder.h"
#include "proc/timers.h"

static unsigned fired;
static uint64_t last_when;

static void fire(struct timer *timer, uint64_t now_ns)
{
	ck_assert_uint_le(timer->when_ns, now_ns);
	ck_assert_uint_ge(timer->when_ns, last_when);
	last_when = timer->when_ns;
	fired++;
}

START_TEST(timers_fire_in_order_each_once)
{
	enum { N = 500 };
	struct timers timers = { 0 };
	static struct timer all[N];
	srandom(3);
	for (int i = 0; i < N; i++) {
		ck_assert_int_eq(timers_promise(&timers), 0);
		all[i].due = fire;
		timer_set(&timers, &all[i], (uint64_t)(random() % 1000));
	}
	unsigned cancelled = 0;
	for (int i = 0; i < N; i += 3, cancelled++)
		timer_cancel(&timers, &all[i]);
	for (int i = 1; i < N; i += 3)
		timer_set(&timers, &all[i], (uint64_t)(random() % 1000));
	for (uint64_t now = 0; now <= 1000; now += 10)
		timers_run(&timers, now);
	ck_assert_uint_eq(fired, N - cancelled);
	ck_assert_uint_eq(timers_next(&timers), NEVER);
	timers_free(&timers);
}
END_TEST

static struct timers again_timers;

static void set_again(struct timer *timer, uint64_t now_ns)
{
	fired++;
	timer_set(&again_timers, timer, now_ns);
}

START_TEST(a_timer_that_sets_itself_again_does_not_keep_the_loop)
{
	struct timer timer = { .due = set_again };
	ck_assert_int_eq(timers_promise(&again_timers), 0);
	timer_set(&again_timers, &timer, 5);
	ck_assert_uint_eq(timers_run(&again_timers, 10), 1);
	ck_assert_uint_eq(timers_run(&again_timers, 10), 1);
	ck_assert_uint_eq(fired, 2);
	timers_free(&again_timers);
}
END_TEST

static const perch_step steps[] = {
	{ PERCH_STEP_ASK, .after_ns = 0 },
	{ PERCH_STEP_TERM, .after_ns = 5 },
	{ PERCH_STEP_KILL, .after_ns = 10 },
};

START_TEST(a_ladder_takes_its_steps_on_time)
{
	struct ladder ladder;
	ladder_init(&ladder, steps, COUNT(steps));
	ck_assert_uint_eq(ladder_next(&ladder), NEVER);
	ck_assert_ptr_null(ladder_take(&ladder, 1000));
	ladder_push(&ladder, 100);
	ck_assert_int_eq(ladder_take(&ladder, 100)->action, PERCH_STEP_ASK);
	ck_assert_ptr_null(ladder_take(&ladder, 104));
	ck_assert_uint_eq(ladder_next(&ladder), 105);
	ck_assert_int_eq(ladder_take(&ladder, 105)->action, PERCH_STEP_TERM);
	ck_assert_uint_eq(ladder_next(&ladder), 110);
	ck_assert_int_eq(ladder_take(&ladder, 200)->action, PERCH_STEP_KILL);
	ck_assert_uint_eq(ladder_next(&ladder), NEVER);
}
END_TEST

START_TEST(an_impatient_push_takes_the_next_step_now)
{
	struct ladder ladder;
	ladder_init(&ladder, steps, COUNT(steps));
	ladder_push(&ladder, 100);
	ck_assert_int_eq(ladder_take(&ladder, 100)->action, PERCH_STEP_ASK);
	ladder_push(&ladder, 101);
	ck_assert_int_eq(ladder_take(&ladder, 101)->action, PERCH_STEP_TERM);
	ck_assert_uint_eq(ladder_next(&ladder), 106);
	ladder_push(&ladder, 102);
	ck_assert_int_eq(ladder_take(&ladder, 102)->action, PERCH_STEP_KILL);
	ladder_push(&ladder, 103);
	ck_assert_ptr_null(ladder_take(&ladder, 1000));
}
END_TEST

START_TEST(without_a_ladder_there_is_a_default_one)
{
	struct ladder ladder;
	ladder_init(&ladder, NULL, 0);
	ladder_push(&ladder, 0);
	ck_assert_int_eq(ladder_take(&ladder, 0)->action, PERCH_STEP_TERM);
	ck_assert_uint_eq(ladder_next(&ladder), 5 * NSEC_PER_SEC);
}
END_TEST

/* A child that ignores every other step must not be left alive. */
START_TEST(every_ladder_ends_with_a_kill)
{
	for (int ending = 0; ending < ENDING_COUNT; ending++) {
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		ending_apply((enum ending)ending, &spec);
		ck_assert_uint_gt(spec.ladder_len, 0);
		ck_assert_int_eq(spec.ladder[spec.ladder_len - 1].action, PERCH_STEP_KILL);
		for (size_t i = 1; i < spec.ladder_len; i++)
			ck_assert_uint_ge(spec.ladder[i].after_ns, spec.ladder[i - 1].after_ns);
	}
}
END_TEST

SUITE_MAIN("timers", timers_fire_in_order_each_once,
	a_timer_that_sets_itself_again_does_not_keep_the_loop, a_ladder_takes_its_steps_on_time,
	an_impatient_push_takes_the_next_step_now, without_a_ladder_there_is_a_default_one,
	every_ladder_ends_with_a_kill)
