/* A queue in a file: one table of jobs, one of events. The loop puts, a thread (desk.c) writes, all
 * that has come together in one transaction. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/macros.h"
#include "queue/desk.h"
#include "queue/queue.h"
#include "queue/sql.h"

enum { QUEUE_LOCK_SECONDS = 5 };

enum queue_statement {
	QUEUE_PUT,
	QUEUE_PUT_EVENT,
	QUEUE_DROP,
	QUEUE_DROP_EVENTS,
	QUEUE_LOAD,
	QUEUE_LOAD_EVENTS,
	QUEUE_STATEMENTS,
};

static const char *const queue_steps[] = {
	"CREATE TABLE jobs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,"
	" owner TEXT NOT NULL, session TEXT, request TEXT NOT NULL, key TEXT, result TEXT,"
	" state TEXT NOT NULL, created INTEGER NOT NULL, started INTEGER NOT NULL,"
	" ended INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE events (number INTEGER PRIMARY KEY, job TEXT NOT NULL, text TEXT NOT NULL);"
	"CREATE INDEX events_of_jobs ON events (job);",
};

static const char *const queue_statements[] = {
	[QUEUE_PUT] = "INSERT OR REPLACE INTO jobs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
	[QUEUE_PUT_EVENT] = "INSERT INTO events VALUES (?1,?2,?3)",
	[QUEUE_DROP] = "DELETE FROM jobs WHERE id = ?1",
	[QUEUE_DROP_EVENTS] = "DELETE FROM events WHERE job = ?1",
	[QUEUE_LOAD] = "SELECT * FROM jobs ORDER BY created, id",
	[QUEUE_LOAD_EVENTS] = "SELECT number, job, text FROM events ORDER BY number",
};
_Static_assert(COUNT(queue_statements) == QUEUE_STATEMENTS, "every statement has its words");

static const struct sql_schema queue_schema = {
	.steps = queue_steps,
	.version = COUNT(queue_steps),
	.statements = queue_statements,
	.statement_count = QUEUE_STATEMENTS,
};

struct queue_file {
	struct queue queue;
	struct sql sql; /* the thread's, but at the opening and the end */
	struct desk *desk;
	int lock;
	void (*warn)(void *data, const char *text);
	void *warn_data;
	bool has_warned;
};

/* One thing to be written, with its texts behind it. */
struct queue_order {
	struct desk_order order;
	struct queue_file *file;
	enum queue_statement statement;
	struct queue_job job;
	struct queue_event event;
	queue_done_fn *done;
	void *data;
	char texts[];
};

/* ---- orders ------------------------------------------------------------------ */

static size_t queue_order_size(struct str *const *texts, size_t count)
{
	size_t size = sizeof(struct queue_order);
	for (size_t i = 0; i < count; i++)
		size += texts[i]->len + 1;
	return size;
}

/* Copies the texts behind the order, and has them point there. */
static void queue_order_keep(char *at, struct str *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!texts[i]->data)
			continue;
		memcpy(at, texts[i]->data, texts[i]->len);
		texts[i]->data = at;
		at += texts[i]->len;
	}
}

static void queue_order_done(struct desk_order *base, int result)
{
	struct queue_order *order = (struct queue_order *)base;
	struct queue_file *file = order->file;
	if (result < 0 && !file->has_warned && file->warn) {
		char text[160];
		snprintf(text, sizeof(text), "the queue cannot be written: %s", perch_strerror(result));
		file->warn(file->warn_data, text);
	}
	file->has_warned = result < 0;
	if (order->done)
		order->done(order->data, result);
	free(order);
}

static int queue_write_job(struct sql *sql, const struct queue_job *job)
{
	const struct str texts[] = { job->id, job->kind, job->name, job->owner, job->session,
		job->request, job->key, job->result, str_from(queue_state_name(job->state)) };
	const int64_t numbers[] = { job->created_ms, job->started_ms, job->ended_ms, job->tries };
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_PUT);
	for (int i = 0; i < (int)COUNT(texts); i++)
		sql_bind(statement, i + 1, texts[i]);
	for (int i = 0; i < (int)COUNT(numbers); i++)
		sql_bind_number(statement, (int)COUNT(texts) + i + 1, numbers[i]);
	return sql_run(sql, statement);
}

static int queue_write_event(struct sql *sql, const struct queue_event *event)
{
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_PUT_EVENT);
	sql_bind_number(statement, 1, (int64_t)event->number);
	sql_bind(statement, 2, event->job);
	sql_bind(statement, 3, event->text);
	return sql_run(sql, statement);
}

static int queue_write_drop(struct sql *sql, struct str id, enum queue_statement which)
{
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_DROP_EVENTS);
	sql_bind(statement, 1, id);
	int r = sql_run(sql, statement);
	if (r < 0 || which == QUEUE_DROP_EVENTS)
		return r;
	statement = sql_begin(sql, QUEUE_DROP);
	sql_bind(statement, 1, id);
	return sql_run(sql, statement);
}

static int queue_order_work(struct desk_order *base, void *context)
{
	struct queue_order *order = (struct queue_order *)base;
	if (order->statement == QUEUE_PUT)
		return queue_write_job(context, &order->job);
	if (order->statement == QUEUE_PUT_EVENT)
		return queue_write_event(context, &order->event);
	return queue_write_drop(context, order->job.id, order->statement);
}

static int queue_order_take(struct queue *queue, enum queue_statement which,
	const struct queue_job *job, const struct queue_event *event, queue_done_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)queue;
	struct queue_order make = { .job = *job, .event = *event };
	struct queue_order *order = NULL;
	struct str *sizes[] = { &make.job.id, &make.job.kind, &make.job.name, &make.job.owner,
		&make.job.session, &make.job.request, &make.job.key, &make.job.result, &make.event.job,
		&make.event.text };
	order = malloc(queue_order_size(sizes, COUNT(sizes)));
	if (!order)
		return -ENOMEM;
	queue_order_keep(order->texts, sizes, COUNT(sizes));
	*order = make;
	order->order = (struct desk_order){ .work = queue_order_work, .done = queue_order_done };
	order->file = file;
	order->statement = which;
	order->done = done;
	order->data = data;
	desk_take(file->desk, &order->order);
	return 0;
}

/* ---- the table --------------------------------------------------------------- */

static int queue_file_put(
	struct queue *queue, const struct queue_job *job, queue_done_fn *done, void *data)
{
	return queue_order_take(queue, QUEUE_PUT, job, &(struct queue_event){ 0 }, done, data);
}

static int queue_file_put_event(struct queue *queue, const struct queue_event *event)
{
	return queue_order_take(queue, QUEUE_PUT_EVENT, &(struct queue_job){ 0 }, event, NULL, NULL);
}

static int queue_file_drop(struct queue *queue, struct str id, bool only_events)
{
	const struct queue_job job = { .id = id };
	return queue_order_take(queue, only_events ? QUEUE_DROP_EVENTS : QUEUE_DROP, &job,
		&(struct queue_event){ 0 }, NULL, NULL);
}

static size_t queue_file_unwritten(const struct queue *queue)
{
	return desk_waiting(((const struct queue_file *)queue)->desk);
}

static void queue_file_free(struct queue *queue)
{
	struct queue_file *file = (struct queue_file *)queue;
	if (!file)
		return;
	desk_close(file->desk);
	sql_close(&file->sql);
	fd_close(file->lock);
	free(file);
}

static const struct queue_table queue_file_table = {
	.put = queue_file_put,
	.put_event = queue_file_put_event,
	.drop = queue_file_drop,
	.unwritten = queue_file_unwritten,
	.free = queue_file_free,
};

/* ---- opening ------------------------------------------------------------------ */

static struct queue_job queue_row_job(sqlite3_stmt *row)
{
	return (struct queue_job){
		.id = sql_text(row, 0),
		.kind = sql_text(row, 1),
		.name = sql_text(row, 2),
		.owner = sql_text(row, 3),
		.session = sql_text(row, 4),
		.request = sql_text(row, 5),
		.key = sql_text(row, 6),
		.result = sql_text(row, 7),
		.state = queue_state_find(sql_text(row, 8)),
		.created_ms = sqlite3_column_int64(row, 9),
		.started_ms = sqlite3_column_int64(row, 10),
		.ended_ms = sqlite3_column_int64(row, 11),
		.tries = sqlite3_column_int64(row, 12),
	};
}

static int queue_load_jobs(struct queue_file *file, const struct queue_loader *loader)
{
	sqlite3_stmt *row = sql_begin(&file->sql, QUEUE_LOAD);
	int r;
	while ((r = sql_step(&file->sql, row)) > 0) {
		const struct queue_job job = queue_row_job(row);
		r = job.state == QUEUE_STATES ? PERCH_ESYNTAX : loader->job(loader->data, &job);
		if (r < 0)
			break;
	}
	sql_end(row);
	return r;
}

static int queue_load_events(struct queue_file *file, const struct queue_loader *loader)
{
	sqlite3_stmt *row = sql_begin(&file->sql, QUEUE_LOAD_EVENTS);
	int r;
	while ((r = sql_step(&file->sql, row)) > 0) {
		const struct queue_event event = {
			.number = (uint64_t)sqlite3_column_int64(row, 0),
			.job = sql_text(row, 1),
			.text = sql_text(row, 2),
		};
		r = loader->event(loader->data, &event);
		if (r < 0)
			break;
	}
	sql_end(row);
	return r;
}

/* Two processes would both run the waiting jobs. */
static int queue_lock(struct queue_file *file, const char *path, perch_err *err)
{
	_cleanup_free_ char *name = str_join(path, ".lock", NULL);
	if (!name)
		return err_no_memory(err);
	file->lock = lock_wait(AT_FDCWD, name, QUEUE_LOCK_SECONDS * NSEC_PER_SEC);
	if (file->lock == -EAGAIN)
		return err_set(err, -EBUSY, "another perch serve is using %s", path);
	if (file->lock < 0)
		return err_set(err, file->lock, "cannot lock %s: %s", name, perch_strerror(file->lock));
	return 0;
}

static void queue_file_cleanup(struct queue_file **file)
{
	queue_file_free((struct queue *)*file);
}

int queue_open_sqlite(perch_host *host, const struct queue_options *options,
	const struct queue_loader *loader, struct queue **ret_queue, perch_err *err)
{
	_cleanup_(queue_file_cleanup) struct queue_file *file = calloc(1, sizeof(*file));
	if (!file)
		return err_no_memory(err);
	file->lock = -1;
	file->queue.table = &queue_file_table;
	file->warn = options->warn;
	file->warn_data = options->data;
	int r = queue_lock(file, options->path, err);
	if (r == 0)
		r = sql_open(options->path, &queue_schema, options->is_durable, &file->sql, err);
	if (r < 0)
		return r;
	r = queue_load_jobs(file, loader);
	if (r == 0)
		r = queue_load_events(file, loader);
	if (r < 0)
		return err_set(err, r, "%s cannot be read: %s", options->path, perch_strerror(r));
	r = desk_open(host, &sql_round, &file->sql, &file->desk, err);
	if (r < 0)
		return r;
	*ret_queue = &steal(&file)->queue;
	return 0;
}
