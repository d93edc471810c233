/* The two drivers of the queue, side by side: what one does, the other does. Every scene is played
 * with a file of SQLite's and with a redis-server of its own. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/queue_world.h"
#include "queue/queue_redis_parts.h"

/* Defines the two tests of a scene. */
#define BOTH(scene)               \
	START_TEST(scene##_in_a_file) \
	{                             \
		scene(QUEUE_WORLD_FILE);  \
		queue_world_close();      \
	}                             \
	END_TEST                      \
	START_TEST(scene##_in_redis)  \
	{                             \
		scene(QUEUE_WORLD_REDIS); \
		queue_world_close();      \
	}                             \
	END_TEST

#define TESTS_OF(scene) scene##_in_a_file, scene##_in_redis

/* Claims this one, and nothing else. */
static struct queue_world_claim claim(const char *id)
{
	struct queue_world_claim found = queue_world_claim(false);
	ck_assert_str_eq(found.id, id);
	return found;
}

static void finish(const char *id, uint64_t fence)
{
	ck_assert_int_eq(queue_world_finish(id, fence, QUEUE_DONE, ""), QUEUE_OK);
}

/* ---- order ------------------------------------------------------------------------------------
 */

static void a_session_runs_in_its_order(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	ck_assert_int_eq(queue_world_put("a1", "a", "", 0), 0);
	ck_assert_int_eq(queue_world_put("a2", "a", "", 0), 0);
	ck_assert_int_eq(queue_world_put("b1", "b", "", 0), 0);
	ck_assert_int_eq(queue_world_put("x1", "", "", 0), 0);
	ck_assert_int_eq(queue_world_put("x2", "", "", 0), 0);
	struct queue_world_claim first = claim("a1");
	claim("b1");
	claim("x1");
	claim("x2");
	ck_assert(!queue_world_claim(false).is_there); /* a2 has to wait */
	finish("a1", first.fence);
	claim("a2");
	ck_assert(!queue_world_claim(false).is_there);
	queue_world_await("a1", QUEUE_DONE, 1);
	queue_world_await("a2", QUEUE_RUNNING, 0);
}
BOTH(a_session_runs_in_its_order)

static void a_claim_brings_all_that_was_asked(enum queue_world_driver driver)
{
	const struct queue_job job = { .id = STR("j1"),
		.kind = STR("call"),
		.name = STR("t.x"),
		.owner = STR("me"),
		.session = STR("s \xc3\xa4"),
		.request = STR("{\"a\":[1,\"\\n\"]}"),
		.need = STR("agent:bot#00"),
		.mac = STR("beef"),
		.client = STR("curl/8 \"x\"") };
	queue_world_open(driver, NULL);
	ck_assert_int_eq(queue_world_put_job(&job), 0);
	struct queue_world_claim found = claim("j1");
	ck_assert_str_eq(
		found.texts, "call t.x me s \xc3\xa4 {\"a\":[1,\"\\n\"]} agent:bot#00 beef curl/8 \"x\" ");
	ck_assert_str_eq(found.agent, "");
	ck_assert_int_eq(found.tries, 0);
	queue_world_release("j1", found.fence);
	ck_assert_int_eq(queue_world_claim(true).tries, 1);
}
BOTH(a_claim_brings_all_that_was_asked)

static void the_agents_id_goes_with_the_session(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("a1", "a", "", 0);
	queue_world_put("a2", "a", "", 0);
	queue_world_put("a3", "a", "", 0);
	struct queue_world_claim found = claim("a1");
	ck_assert_int_eq(queue_world_finish("a1", found.fence, QUEUE_DONE, "abc"), QUEUE_OK);
	found = claim("a2");
	ck_assert_str_eq(found.agent, "abc");
	ck_assert_int_eq(queue_world_finish("a2", found.fence, QUEUE_FAILED, ""), QUEUE_OK);
	ck_assert_str_eq(claim("a3").agent, "abc"); /* it is as it was */
	queue_world_put("b1", "b", "", 0);
	ck_assert_str_eq(claim("b1").agent, "");
}
BOTH(the_agents_id_goes_with_the_session)

/* ---- acceptance ---------------------------------------------------------------------------------
 */

static void keys_and_limits(enum queue_world_driver driver)
{
	static char large[QUEUE_JOB_MAX + 1];
	const struct queue_world_options options = { .limit = 3 };
	struct queue_job job = { .id = STR("o1"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("other"),
		.request = STR("{}"),
		.key = STR("k"),
		.need = STR("agent:bot#00") };
	queue_world_open(driver, &options);
	ck_assert_int_eq(queue_world_put("j1", "", "k", 0), 0);
	ck_assert_int_eq(queue_world_put("j1", "", "k", 0), 0); /* it was sent again */
	ck_assert_int_eq(queue_world_put("j2", "", "k", 0), -EEXIST);
	ck_assert_int_eq(queue_world_put_job(&job), 0); /* keys are their owner's */
	ck_assert_int_eq(queue_world_put("j3", "", "", 0), 0);
	ck_assert_int_eq(queue_world_put("j4", "", "", 0), -EBUSY);
	ck_assert_int_eq(queue_world_put("j5", "", "k", 0), -EEXIST);
	finish("j1", claim("j1").fence);
	ck_assert_int_eq(queue_world_put("j6", "", "k", 0), -EEXIST); /* behind its end too */
	ck_assert_int_eq(queue_world_put("j7", "", "", 0), 0);
	memset(large, 'x', sizeof(large));
	job.id = STR("o2");
	job.key = (struct str){ 0 };
	job.request = (struct str){ large, sizeof(large) };
	ck_assert_int_eq(queue_world_put_job(&job), -E2BIG);
	claim("o1");
	claim("j3");
	claim("j7");
	ck_assert(!queue_world_claim(false).is_there);
}
BOTH(keys_and_limits)

/* ---- fences
 * --------------------------------------------------------------------------------------- */

static void who_was_away_for_too_long_is_refused(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("j1", "s", "", 1);
	uint64_t old = claim("j1").fence;
	ck_assert_int_eq(queue_world_begin("j1", old), QUEUE_OK);
	ck_assert_int_eq(queue_world_publish("j1", old, 1, 2), QUEUE_OK);
	queue_world_die("j1"); /* it may be tried again */
	queue_world_await("j1", QUEUE_WAITING, 2);
	ck_assert_int_eq(queue_world_publish("j1", old, 3, 1), QUEUE_FENCED);
	uint64_t now = claim("j1").fence;
	ck_assert_uint_ne(now, old);
	ck_assert_int_eq(queue_world_begin("j1", old), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_publish("j1", old, 3, 1), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_renew("j1", old), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_finish("j1", old, QUEUE_DONE, "x"), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_begin("j1", now), QUEUE_OK);
	ck_assert_int_eq(queue_world_renew("j1", now), QUEUE_OK);
	ck_assert_int_eq(queue_world_publish("j1", now, 1, 1), QUEUE_OK); /* it counts anew */
	finish("j1", now);
	finish("j1", now); /* it was sent again */
	ck_assert_int_eq(queue_world_finish("j1", old, QUEUE_DONE, ""), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_begin("j1", now), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_publish("j1", now, 2, 1), QUEUE_FENCED);
	ck_assert_int_eq(queue_world_renew("none", now), QUEUE_FENCED);
	const struct queue_world_job *job = queue_world_await("j1", QUEUE_DONE, 4);
	ck_assert_str_eq(job->texts, "{\"n\":1}\n{\"n\":2}\n{\"n\":1}\n{\"event\":\"end\"}\n");
	ck_assert_str_eq(job->result, "{\"success\":true}");
}
BOTH(who_was_away_for_too_long_is_refused)

static void what_is_told_twice_is_written_once(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("j1", "", "", 0);
	uint64_t fence = claim("j1").fence;
	queue_world_publish("j1", fence, 1, 3);
	queue_world_publish("j1", fence, 1, 3);
	queue_world_publish("j1", fence, 2, 4);
	const struct queue_world_job *job = queue_world_await("j1", QUEUE_RUNNING, 5);
	ck_assert_str_eq(job->texts, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n");
}
BOTH(what_is_told_twice_is_written_once)

static void what_has_not_begun_is_given_back(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("j1", "s", "", 0);
	queue_world_put("j2", "", "", 0);
	uint64_t fence = claim("j1").fence;
	queue_world_release("j1", fence);
	queue_world_await("j1", QUEUE_WAITING, 0);
	ck_assert_int_eq(queue_world_begin("j1", fence), QUEUE_FENCED);
	fence = claim("j1").fence; /* before all others */
	queue_world_begin("j1", fence);
	queue_world_release("j1", fence); /* too late */
	queue_world_await("j1", QUEUE_RUNNING, 0);
	ck_assert_int_eq(queue_world_renew("j1", fence), QUEUE_OK);
	claim("j2");
}
BOTH(what_has_not_begun_is_given_back)

/* ---- ends that nobody has brought about
 * ------------------------------------------------------------ */

#define ENDED(code, message, state)                                             \
	"{\"event\":\"error\",\"code\":\"" code "\",\"message\":\"" message "\"}\n" \
	"{\"event\":\"end\",\"success\":false,\"state\":\"" state "\"}\n"

#define RESULT(texts, code, message)                                                     \
	"{\"success\":false,\"exit_code\":-1,\"" texts "\":\"\",\"error\":{\"code\":\"" code \
	"\",\"message\":\"" message "\"}}"

static void cancelling(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("a1", "a", "", 0);
	queue_world_put("a2", "a", "", 0);
	queue_world_put("a3", "a", "", 0);
	uint64_t fence = claim("a1").fence;
	queue_world_cancel("a2");
	const struct queue_world_job *job = queue_world_await("a2", QUEUE_CANCELLED, 2);
	ck_assert_str_eq(job->texts, ENDED("cancelled", "it was cancelled", "cancelled"));
	ck_assert_str_eq(job->result, RESULT("text", "cancelled", "it was cancelled"));
	queue_world_cancel("a1");
	queue_world_await_rung("a1");
	ck_assert_int_eq(queue_world_renew("a1", fence), QUEUE_CANCEL);
	ck_assert_int_eq(queue_world_begin("a1", fence), QUEUE_CANCEL);
	ck_assert_int_eq(queue_world_finish("a1", fence, QUEUE_CANCELLED, ""), QUEUE_OK);
	queue_world_cancel("a1"); /* over */
	queue_world_cancel("none");
	queue_world_await("a1", QUEUE_CANCELLED, 1);
	fence = claim("a3").fence;
	queue_world_cancel("a3");
	queue_world_die("a3");
	queue_world_await("a3", QUEUE_CANCELLED, 2);
}
BOTH(cancelling)

static void deaths(enum queue_world_driver driver)
{
	queue_world_open(driver, NULL);
	queue_world_put("once", "s", "", 0);
	queue_world_put("next", "s", "", 0);
	queue_world_put("thrice", "", "", 1);
	ck_assert(queue_world_claim(true).is_there);
	queue_world_die("once");
	ck_assert_str_eq(queue_world_await("once", QUEUE_INTERRUPTED, 2)->texts,
		ENDED("interrupted", "the process that ran it died; how far it came is not known",
			"interrupted"));
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(queue_world_claim(true).id, "thrice");
		queue_world_die("thrice");
	}
	ck_assert_str_eq(queue_world_await("thrice", QUEUE_DEAD, 2)->texts,
		ENDED("dead", "every try of it was interrupted", "dead"));
	for (int i = 0; i < QUEUE_CLAIMS_MAX; i++) { /* something about it kills who looks at it */
		claim("next");
		queue_world_die("next");
	}
	queue_world_await("next", QUEUE_DEAD, 2);
	ck_assert(!queue_world_claim(false).is_there);
}
BOTH(deaths)

static void what_nobody_offers(enum queue_world_driver driver)
{
	const struct queue_world_options options = { .patience_ms = 200 };
	const struct queue_job job = { .id = STR("j1"),
		.kind = STR("call"),
		.name = STR("t"),
		.owner = STR("me"),
		.request = STR("{}"),
		.need = STR("tool:t#00") };
	queue_world_open(driver, &options);
	ck_assert_int_eq(queue_world_put_job(&job), 0);
	queue_world_put("j2", "", "", 0);
	claim("j2"); /* it stands in nobody's way */
	ck_assert(!queue_world_claim(false).is_there);
	queue_world_pass(250);
	queue_world_reap();
	const struct queue_world_job *told = queue_world_await("j1", QUEUE_FAILED, 2);
	ck_assert_str_eq(told->texts, ENDED("nobody", "no worker offers what it needs", "failed"));
	ck_assert_str_eq(told->result, RESULT("output", "nobody", "no worker offers what it needs"));
	queue_world_await("j2", QUEUE_RUNNING, 0);
}
BOTH(what_nobody_offers)

/* ---- gateways that come back
 * -------------------------------------------------------------------------- */

/* While all jobs are read, a live event may be behind one that was never heard: they come in order.
 */
START_TEST(what_was_not_heard_is_told_before_what_is)
{
	queue_world_open(QUEUE_WORLD_REDIS, NULL);
	queue_world_put("j1", "", "", 0);
	uint64_t fence = claim("j1").fence;
	queue_world_begin("j1", fence);
	redisContext *raw = redisConnectUnix(queue_world_redis());
	ck_assert(raw && !raw->err);
	freeReplyObject(redisCommand(raw, "XADD %s:events:j1 1-0 e {\"n\":0}", QUEUE_SHARD));
	((struct queue_redis *)queue_world_gate())->shards[0].loading = 1;
	queue_world_publish("j1", fence, 1, 3);
	queue_world_publish("j1", fence, 4, 1);
	const struct queue_world_job *job = queue_world_await("j1", QUEUE_RUNNING, 5);
	ck_assert_str_eq(job->texts, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
	redisFree(raw);
	queue_world_close();
}
END_TEST

SUITE_MAIN("queue-both", TESTS_OF(a_session_runs_in_its_order),
	TESTS_OF(a_claim_brings_all_that_was_asked), TESTS_OF(the_agents_id_goes_with_the_session),
	TESTS_OF(keys_and_limits), TESTS_OF(who_was_away_for_too_long_is_refused),
	TESTS_OF(what_is_told_twice_is_written_once), TESTS_OF(what_has_not_begun_is_given_back),
	TESTS_OF(cancelling), TESTS_OF(deaths), TESTS_OF(what_nobody_offers),
	what_was_not_heard_is_told_before_what_is)
