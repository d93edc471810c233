/* The queue in a file: what is there for the next process, files of an older perch, a disk that is
 * full, no memory. What both drivers do is in queue_both.c. */
#include "harness/suite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/queue_world.h"
#include "queue/ledger.h"

static void finish(const char *id, uint64_t fence)
{
	ck_assert_int_eq(queue_world_finish(id, fence, QUEUE_DONE, "agent"), QUEUE_OK);
}

/* ---- the next process -------------------------------------------------------------------------
 */

START_TEST(what_was_answered_is_there)
{
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	queue_world_put("done", "s", "key", 0);
	queue_world_put("begun", "s", "", 0);
	queue_world_put("again", "t", "", 1);
	queue_world_put("looked-at", "u", "", 0);
	queue_world_put("waits", "t", "", 0);
	uint64_t fence = queue_world_claim(true).fence;
	queue_world_publish("done", fence, 1, 2);
	finish("done", fence);
	ck_assert_str_eq(queue_world_claim(true).id, "again");
	ck_assert_str_eq(queue_world_claim(false).id, "looked-at");
	uint64_t last = queue_world_claim(true).fence;
	queue_world_publish("begun", last, 1, 1);
	queue_world_reopen();
	const struct queue_world_job *done = queue_world_await("done", QUEUE_DONE, 3);
	ck_assert_str_eq(done->texts, "{\"n\":1}\n{\"n\":2}\n{\"event\":\"end\"}\n");
	ck_assert_str_eq(done->result, "{\"success\":true}");
	queue_world_await("begun", QUEUE_RUNNING, 1); /* until it is reaped */
	queue_world_reap();
	queue_world_await("begun", QUEUE_INTERRUPTED, 3);
	queue_world_await("again", QUEUE_WAITING, 0);
	queue_world_await("looked-at", QUEUE_WAITING, 0);
	ck_assert_int_eq(queue_world_put("other", "", "key", 0), -EEXIST);
	/* Fences and numbers go on; the session's agent is known. */
	queue_world_put("next", "s", "", 0);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_gt(queue_world_claim(true).fence, last);
	struct queue_world_claim found = queue_world_claim(true);
	ck_assert_str_eq(found.id, "next");
	ck_assert_str_eq(found.agent, "agent");
	queue_world_publish("next", found.fence, 1, 1);
	queue_world_await("next", QUEUE_RUNNING, 1);
	queue_world_close();
}
END_TEST

static void change(const char *words)
{
	sqlite3 *handle;
	ck_assert_int_eq(sqlite3_open(folder_path("queue.db"), &handle), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(handle, words, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

/* On a full disk the end of a turn may be lost, and the beginning of the next one of its session
 * not: both are running then, and neither runs a second time, or beside the other. */
START_TEST(an_end_that_was_lost)
{
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	for (const char *id = "abc"; *id; id++)
		queue_world_put((const char[]){ *id, '\0' }, "s", "", 0);
	queue_world_put("d", "t", "", 1);
	queue_world_put("e", "t", "", 1);
	for (const char *id = "adbe"; *id; id++) {
		struct queue_world_claim found = queue_world_claim(true);
		ck_assert_int_eq(found.id[0], *id);
		if (*id == 'a' || *id == 'd')
			finish(found.id, found.fence);
	}
	change("UPDATE jobs SET state = 'running' WHERE id IN ('a', 'd')");
	queue_world_reopen();
	queue_world_reap();
	queue_world_await("a", QUEUE_INTERRUPTED, 3);
	queue_world_await("b", QUEUE_INTERRUPTED, 2);
	uint64_t fence = queue_world_claim(true).fence;
	ck_assert_str_eq(queue_world_claim(true).id, "c");
	ck_assert(!queue_world_claim(true).is_there);
	finish("d", fence);
	ck_assert_str_eq(queue_world_claim(true).id, "e");
	queue_world_close();
}
END_TEST

START_TEST(what_is_dropped_leaves_nothing)
{
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	struct queue *queue = queue_world_gate();
	long before = 0;
	for (int i = 0; i < 50; i++) {
		queue_world_put("job", "s", "key", 0);
		finish("job", queue_world_claim(true).fence);
		ck_assert_int_eq(queue->table->drop(queue, STR("job"), true), 0);
		ck_assert_int_eq(queue->table->drop(queue, STR("job"), false), 0);
		ck_assert_int_eq(queue_world_put("other", "", "", 0), 0);
		finish("other", queue_world_claim(false).fence);
		ck_assert_int_eq(queue->table->drop(queue, STR("other"), false), 0);
		ck_assert_int_eq(queue->table->drop(queue, STR("none"), false), 0);
		while (queue->table->unwritten(queue))
			perch_host_wait(queue_world_host(), -1);
		if (i == 0)
			before = oom_live();
	}
	ck_assert_int_eq(oom_live(), before);
	queue_world_reopen();
	ck_assert_int_eq(queue_world_put("job", "", "key", 0), 0);
	ck_assert(queue_world_claim(true).is_there);
	ck_assert(!queue_world_claim(true).is_there);
	queue_world_close();
}
END_TEST

/* ---- files -------------------------------------------------------------------------------------
 */

static int try_open(perch_err *err)
{
	const struct queue_news news = { 0 };
	const struct queue_options options = { .path = folder_path("queue.db"), .news = &news };
	struct queue *queue;
	perch_host *host;
	ck_assert_int_eq(perch_host_new(NULL, &host, NULL), 0);
	int r = queue_open_sqlite(host, &options, &queue, err);
	if (r == 0)
		queue->table->free(queue);
	perch_host_free(host);
	return r;
}

START_TEST(one_process_has_it)
{
	perch_err err = { 0 };
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	ck_assert_int_eq(try_open(&err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "another"));
	queue_world_close();
	ck_assert_int_eq(try_open(&err), 0);
}
END_TEST

START_TEST(a_file_that_is_no_database)
{
	perch_err err = { 0 };
	queue_world_folder();
	folder_write("queue.db",
		"this is some text, and no database at all: long enough for a header\n"
		"this is some text, and no database at all: long enough for a header\n");
	ck_assert_int_lt(try_open(&err), 0);
	ck_assert(err.text[0]);
}
END_TEST

/* As the first version has written it. */
START_TEST(a_file_of_an_older_perch)
{
	static const char old[] =
		"CREATE TABLE jobs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,"
		" owner TEXT NOT NULL, session TEXT, request TEXT NOT NULL, key TEXT, result TEXT,"
		" state TEXT NOT NULL, created INTEGER NOT NULL, started INTEGER NOT NULL,"
		" ended INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE events (number INTEGER PRIMARY KEY, job TEXT NOT NULL, text TEXT NOT NULL);"
		"CREATE INDEX events_of_jobs ON events (job);"
		"INSERT INTO jobs VALUES ('b','turn','bot','me','s','{}',NULL,NULL,'waiting',2,0,0,0),"
		" ('c','turn','bot','me','s','{}',NULL,NULL,'waiting',3,0,0,0),"
		" ('z','turn','bot','me','s','{}',NULL,NULL,'running',1,1,0,1);"
		"INSERT INTO events VALUES (7, 'z', '{}');"
		"PRAGMA user_version = 1;";
	queue_world_folder();
	change(old);
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	queue_world_reap();
	queue_world_await("z", QUEUE_INTERRUPTED, 3);
	struct queue_world_claim found = queue_world_claim(true);
	ck_assert_str_eq(found.id, "b");
	finish("b", found.fence);
	ck_assert_str_eq(queue_world_claim(true).id, "c");
	queue_world_close();
}
END_TEST

/* ---- no room ------------------------------------------------------------------------------------
 */

static int put_large(const char *id)
{
	static char large[64 * 1024];
	memset(large, 'x', sizeof(large));
	const struct queue_job job = { .id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.request = { large, sizeof(large) } };
	return queue_world_put_job(&job);
}

START_TEST(a_full_disk)
{
	char id[QUEUE_WORLD_ID];
	int r = 0;
	queue_world_folder();
	folder_write("small/x", "");
	if (!folder_mount(folder_path("small")))
		suite_skip("no file system can be mounted");
	if (symlink("small/queue.db", folder_path("queue.db")) < 0)
		ck_abort_msg("no link");
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	queue_world_put("first", "", "", 0);
	uint64_t fence = queue_world_claim(true).fence;
	for (int i = 0; i < 20 && r == 0; i++) {
		snprintf(id, sizeof(id), "j%d", i);
		r = put_large(id);
	}
	ck_assert_int_eq(r, -ENOSPC);
	ck_assert_int_eq(put_large("more"), -ENOSPC);
	/* What was refused is nobody's; what was accepted ends, and that is written when it can be. */
	ck_assert_int_eq(queue_world_renew(id, 1), QUEUE_FENCED);
	const struct queue_end end = {
		.lease = { STR("first"), fence }, .state = QUEUE_DONE, .text = STR("{}")
	};
	struct queue *queue = queue_world_gate();
	ck_assert_int_eq(queue->table->finish(queue, &end, NULL, NULL), 0);
	queue_world_await("first", QUEUE_DONE, 1);
	queue_world_close();
}
END_TEST

/* ---- no memory
 * ------------------------------------------------------------------------------------ */

static int life_of_a_job(void *data)
{
	const struct queue_worker worker = { .name = "w" };
	struct ledger *ledger = data;
	struct queue_job job = { .id = STR("one"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = STR("s"),
		.key = STR("k") };
	struct ledger_job *one = NULL, *two = NULL;
	int r = ledger_put(ledger, &job, 10, 1, &one);
	job.id = STR("two");
	job.key = (struct str){ 0 };
	if (r == 0)
		r = ledger_put(ledger, &job, 10, 1, &two);
	if (r == 0) {
		ck_assert_ptr_eq(ledger_claim(ledger, &worker, 1, 10), one);
		ck_assert_ptr_null(ledger_claim(ledger, &worker, 1, 10));
		ledger_end(ledger, one, QUEUE_DONE, 2);
		ck_assert_ptr_eq(ledger_claim(ledger, &worker, 1, 10), two);
	} else {
		ck_assert_uint_eq(ledger->waiting, ledger->jobs.count);
	}
	ledger_free(ledger);
	ck_assert_uint_eq(ledger->waiting + ledger->running + ledger->ready.count, 0);
	return r;
}

START_TEST(no_memory_for_a_job)
{
	static struct ledger ledger;
	ck_assert_uint_gt(oom_every(life_of_a_job, &ledger), 3);
}
END_TEST

SUITE_MAIN("queue-file", what_was_answered_is_there, an_end_that_was_lost,
	what_is_dropped_leaves_nothing, one_process_has_it, a_file_that_is_no_database,
	a_file_of_an_older_perch, a_full_disk, no_memory_for_a_job)
