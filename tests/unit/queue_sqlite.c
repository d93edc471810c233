/* The queue in SQLite: what was put is there for the next process, what was dropped is not. */
#include "harness/suite.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "queue/queue.h"

/* In the place of libc's: SQLite calls this one. */
static atomic_int syncs;

PERCH_API int fdatasync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	return (int)syscall(SYS_fdatasync, fd);
}

PERCH_API int fsync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	return (int)syscall(SYS_fsync, fd);
}

static perch_host *host;
static char
	loaded[4096]; /* "id:state:request:result " of each job, "#number=text " of each event */

static void note(const char *format, ...) PERCH_PRINTF(1, 2);
static void note(const char *format, ...)
{
	size_t len = strlen(loaded);
	va_list args;
	va_start(args, format);
	vsnprintf(loaded + len, sizeof(loaded) - len, format, args);
	va_end(args);
}

static int load_job(void *data, const struct queue_job *job)
{
	(void)data;
	note("%.*s:%s:%.*s:%.*s ", (int)job->id.len, job->id.data, queue_state_name(job->state),
		(int)job->request.len, job->request.data, (int)job->result.len, job->result.data);
	return 0;
}

static int load_event(void *data, const struct queue_event *event)
{
	(void)data;
	note("#%llu=%.*s ", (unsigned long long)event->number, (int)event->text.len, event->text.data);
	return 0;
}

static int try_open(bool is_durable, struct queue **ret_queue, perch_err *err)
{
	const struct queue_options options = { .path = folder_path("queue.db"),
		.is_durable = is_durable };
	const struct queue_loader loader = { .job = load_job, .event = load_event };
	loaded[0] = '\0';
	return queue_open_sqlite(host, &options, &loader, ret_queue, err);
}

static struct queue *open_queue(bool is_durable)
{
	struct queue *queue;
	perch_err err = { 0 };
	ck_assert_msg(try_open(is_durable, &queue, &err) == 0, "%s", err.text);
	return queue;
}

static void open_all(void)
{
	folder_new();
	ck_assert_int_eq(perch_host_new(NULL, &host, NULL), 0);
}

static void written(void *data, int error)
{
	*(int *)data = error ? error : 1;
}

static void put(struct queue *queue, const char *id, enum queue_state state)
{
	int is_done = 0;
	const struct queue_job job = { .id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.request = STR("{\"a\":1}"),
		.result = STR("{}"),
		.state = state,
		.created_ms = 1 };
	ck_assert_int_eq(queue->table->put(queue, &job, written, &is_done), 0);
	while (!is_done)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_int_eq(is_done, 1);
}

static void put_event(struct queue *queue, const char *id, uint64_t number, const char *text)
{
	const struct queue_event event = { number, str_from(id), str_from(text) };
	ck_assert_int_eq(queue->table->put_event(queue, &event), 0);
}

START_TEST(what_was_put_is_there)
{
	open_all();
	for (int is_durable = 0; is_durable < 2; is_durable++) {
		struct queue *queue = open_queue(is_durable);
		put(queue, "one", QUEUE_WAITING);
		put(queue, "two", QUEUE_RUNNING);
		put_event(queue, "two", 7, "{\"b\":\"\xc3\xa4\"}");
		put_event(queue, "two", 8, "{}");
		put(queue, "one", QUEUE_DONE);
		queue->table->free(queue); /* writes what is left */
		queue = open_queue(is_durable);
		ck_assert_str_eq(loaded,
			"one:done:{\"a\":1}:{} two:running:{\"a\":1}:{} #7={\"b\":\"\xc3\xa4\"} #8={} ");
		queue->table->drop(queue, STR("two"), true);
		queue->table->drop(queue, STR("one"), false);
		queue->table->free(queue);
		queue = open_queue(is_durable);
		ck_assert_str_eq(loaded, "two:running:{\"a\":1}:{} ");
		queue->table->drop(queue, STR("two"), false);
		queue->table->free(queue);
	}
	perch_host_free(host);
}
END_TEST

static void count_written(void *data, int error)
{
	ck_assert_int_eq(error, 0);
	++*(int *)data;
}

/* Jobs that are put before the loop waits are written together. */
static int put_crowd(struct queue *queue, int count)
{
	int done = 0, before = atomic_load(&syncs);
	char id[32];
	for (int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "crowd%d", i);
		const struct queue_job job = { .id = str_from(id),
			.kind = STR("turn"),
			.name = STR("bot"),
			.owner = STR("me"),
			.request = STR("{}"),
			.state = QUEUE_WAITING };
		ck_assert_int_eq(queue->table->put(queue, &job, count_written, &done), 0);
	}
	while (done < count)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	return atomic_load(&syncs) - before;
}

START_TEST(durable_is_on_the_disk)
{
	open_all();
	struct queue *queue = open_queue(true);
	for (int i = 0; i < 5; i++) {
		int before = atomic_load(&syncs);
		put(queue, i % 2 ? "one" : "two", QUEUE_WAITING);
		ck_assert_int_gt(atomic_load(&syncs), before); /* before we heard that it is written */
	}
	int all = put_crowd(queue, 200);
	ck_assert_msg(all >= 1 && all < 200, "%d", all);
	queue->table->free(queue);
	queue = open_queue(false);
	ck_assert_int_eq(put_crowd(queue, 20), 0);
	queue->table->free(queue);
	perch_host_free(host);
}
END_TEST

static int life_of_a_queue(void *data)
{
	struct queue *queue = NULL;
	const struct queue_job job = { .id = STR("one"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.request = STR("{}"),
		.state = QUEUE_WAITING };
	const struct queue_event event = { 1, STR("one"), STR("{}") };
	(void)data;
	perch_host *before = host;
	int r = perch_host_new(NULL, &host, NULL);
	if (r == 0)
		r = try_open(false, &queue, NULL);
	if (r == 0)
		r = queue->table->put(queue, &job, NULL, NULL);
	if (r == 0)
		r = queue->table->put_event(queue, &event);
	if (r == 0)
		r = queue->table->drop(queue, STR("one"), false);
	if (queue)
		queue->table->free(queue);
	perch_host_free(host);
	host = before;
	return r;
}

START_TEST(every_allocation_may_fail)
{
	folder_new();
	oom_every(life_of_a_queue, NULL);
}
END_TEST

START_TEST(one_process_has_it)
{
	struct queue *other;
	perch_err err = { 0 };
	open_all();
	struct queue *queue = open_queue(false);
	ck_assert_int_eq(try_open(false, &other, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "another"));
	queue->table->free(queue);
	queue = open_queue(false);
	queue->table->free(queue);
	perch_host_free(host);
}
END_TEST

START_TEST(a_file_that_is_no_database)
{
	struct queue *queue;
	perch_err err = { 0 };
	open_all();
	folder_write("queue.db",
		"this is some text, and no database at all: long enough for a header\n"
		"this is some text, and no database at all: long enough for a header\n");
	ck_assert_int_lt(try_open(false, &queue, &err), 0);
	ck_assert(err.text[0]);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("queue-sqlite", what_was_put_is_there, durable_is_on_the_disk, every_allocation_may_fail,
	one_process_has_it, a_file_that_is_no_database)
