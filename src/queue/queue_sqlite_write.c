/* A queue in a file, as SQLite has it: one table of jobs, one of events, one of the agents' own ids
 * of sessions. All but the loading is the desk's. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "perch/base.h"
#include "queue/queue_sqlite_parts.h"

enum queue_statement {
	QUEUE_INSERT,
	QUEUE_MARK,
	QUEUE_READ,
	QUEUE_READ_AGENT,
	QUEUE_KEEP_AGENT,
	QUEUE_INSERT_EVENT,
	QUEUE_END,
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
	"ALTER TABLE jobs ADD COLUMN need TEXT;"
	"ALTER TABLE jobs ADD COLUMN mac TEXT;"
	"ALTER TABLE jobs ADD COLUMN client TEXT;"
	"ALTER TABLE jobs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN place INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN claims INTEGER NOT NULL DEFAULT 1;"
	"ALTER TABLE jobs ADD COLUMN began INTEGER NOT NULL DEFAULT 1;"
	"ALTER TABLE jobs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;"
	"UPDATE jobs SET place = nth FROM"
	" (SELECT id AS which, row_number() OVER (ORDER BY created, id) AS nth FROM jobs)"
	" WHERE id = which;"
	"CREATE TABLE agents (name TEXT NOT NULL, owner TEXT NOT NULL, session TEXT NOT NULL,"
	" agent TEXT NOT NULL, PRIMARY KEY (name, owner, session)) WITHOUT ROWID;",
};

#define QUEUE_COLUMNS                                                                          \
	"id, kind, name, owner, session, request, key, result, state, need, mac, client, created," \
	" started, ended, tries, retries, place, claims, began, fence, cancelled"

static const char *const queue_statements[] = {
	[QUEUE_INSERT] = "INSERT INTO jobs (" QUEUE_COLUMNS ") VALUES"
					 " (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,0,0,0,0)",
	[QUEUE_MARK] = "UPDATE jobs SET state = ?2, started = ?3, tries = ?4, claims = ?5, began = ?6,"
				   " fence = ?7, cancelled = ?8 WHERE id = ?1",
	[QUEUE_READ] = "SELECT " QUEUE_COLUMNS " FROM jobs WHERE id = ?1",
	[QUEUE_READ_AGENT] = "SELECT agent FROM agents WHERE name = ?1 AND owner = ?2 AND session = ?3",
	[QUEUE_KEEP_AGENT] = "INSERT OR REPLACE INTO agents SELECT name, owner, session, ?2 FROM jobs"
						 " WHERE id = ?1 AND session IS NOT NULL",
	[QUEUE_INSERT_EVENT] = "INSERT INTO events VALUES (?1,?2,?3)",
	[QUEUE_END] = "UPDATE jobs SET state = ?2, ended = ?3, result = ?4, fence = ?5, request = '{}'"
				  " WHERE id = ?1",
	[QUEUE_DROP] = "DELETE FROM jobs WHERE id = ?1",
	[QUEUE_DROP_EVENTS] = "DELETE FROM events WHERE job = ?1",
	[QUEUE_LOAD] = "SELECT " QUEUE_COLUMNS " FROM jobs ORDER BY place",
	[QUEUE_LOAD_EVENTS] = "SELECT number, job, text FROM events ORDER BY number",
};
_Static_assert(COUNT(queue_statements) == QUEUE_STATEMENTS, "every statement has its words");

const struct sql_schema queue_file_schema = {
	.steps = queue_steps,
	.version = COUNT(queue_steps),
	.statements = queue_statements,
	.statement_count = QUEUE_STATEMENTS,
};

/* ---- writing ------------------------------------------------------------------------------ */

int queue_file_write_job(struct sql *sql, struct queue_order *order)
{
	const struct queue_job *job = &order->job;
	const struct str texts[] = { job->id, job->kind, job->name, job->owner, job->session,
		job->request, job->key, job->result, str_from(queue_state_name(job->state)), job->need,
		job->mac, job->client };
	const int64_t numbers[] = { job->created_ms, job->started_ms, job->ended_ms, job->tries,
		job->retries, (int64_t)order->place };
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_INSERT);
	for (int i = 0; i < (int)COUNT(texts); i++)
		sql_bind(statement, i + 1, texts[i]);
	for (int i = 0; i < (int)COUNT(numbers); i++)
		sql_bind_number(statement, (int)COUNT(texts) + i + 1, numbers[i]);
	return sql_run(sql, statement);
}

int queue_file_write_mark(struct sql *sql, struct queue_order *order)
{
	const struct queue_job *job = &order->job;
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_MARK);
	sql_bind(statement, 1, job->id);
	sql_bind(statement, 2, str_from(queue_state_name(job->state)));
	sql_bind_number(statement, 3, job->started_ms);
	sql_bind_number(statement, 4, job->tries);
	sql_bind_number(statement, 5, order->claims);
	sql_bind_number(statement, 6, order->has_begun);
	sql_bind_number(statement, 7, (int64_t)order->fence);
	sql_bind_number(statement, 8, order->is_cancelled);
	return sql_run(sql, statement);
}

int queue_file_write_event(struct sql *sql, struct queue_order *order)
{
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_INSERT_EVENT);
	sql_bind_number(statement, 1, (int64_t)order->event.number);
	sql_bind(statement, 2, order->event.job);
	sql_bind(statement, 3, order->event.text);
	return sql_run(sql, statement);
}

static int queue_file_keep_agent(struct sql *sql, const struct queue_order *order)
{
	if (!order->agent.len)
		return 0;
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_KEEP_AGENT);
	sql_bind(statement, 1, order->job.id);
	sql_bind(statement, 2, order->agent);
	return sql_run(sql, statement);
}

int queue_file_write_end(struct sql *sql, struct queue_order *order)
{
	const struct queue_job *job = &order->job;
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_END);
	sql_bind(statement, 1, job->id);
	sql_bind(statement, 2, str_from(queue_state_name(job->state)));
	sql_bind_number(statement, 3, job->ended_ms);
	sql_bind(statement, 4, job->result);
	sql_bind_number(statement, 5, (int64_t)order->fence);
	int r = sql_run(sql, statement);
	if (r == 0 && sqlite3_changes(sql->handle) == 0) /* a late one, dropped meanwhile */
		return 0;
	if (r == 0)
		r = queue_file_keep_agent(sql, order);
	return r < 0 ? r : queue_file_write_event(sql, order);
}

int queue_file_write_drop(struct sql *sql, struct queue_order *order)
{
	sqlite3_stmt *statement = sql_begin(sql, QUEUE_DROP_EVENTS);
	sql_bind(statement, 1, order->job.id);
	int r = sql_run(sql, statement);
	if (r < 0 || !order->job.kind.data) /* its events alone */
		return r;
	statement = sql_begin(sql, QUEUE_DROP);
	sql_bind(statement, 1, order->job.id);
	return sql_run(sql, statement);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

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
		.need = sql_text(row, 9),
		.mac = sql_text(row, 10),
		.client = sql_text(row, 11),
		.created_ms = sqlite3_column_int64(row, 12),
		.started_ms = sqlite3_column_int64(row, 13),
		.ended_ms = sqlite3_column_int64(row, 14),
		.tries = sqlite3_column_int64(row, 15),
		.retries = sqlite3_column_int64(row, 16),
		.revision = 1,
	};
}

/* Texts of a row live until the next step: copies them into one buffer, and has them point there
 * when it no longer grows. */
static int queue_file_keep_texts(struct buf *found, struct str *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_append(found, texts[i]->data, texts[i]->len);
	if (found->failed)
		return -ENOMEM;
	const char *at = found->data;
	for (size_t i = 0; i < count; i++) {
		if (texts[i]->data)
			texts[i]->data = at;
		at += texts[i]->len;
	}
	return 0;
}

static int queue_file_read_agent(struct sql *sql, struct queue_job *job, struct queue_order *order)
{
	struct str *texts[] = { &job->kind, &job->name, &job->owner, &job->session, &job->request,
		&job->key, &job->need, &job->mac, &job->client, &order->agent };
	sqlite3_stmt *row = NULL;
	int r = 0;
	if (job->session.data) {
		row = sql_begin(sql, QUEUE_READ_AGENT);
		sql_bind(row, 1, job->name);
		sql_bind(row, 2, job->owner);
		sql_bind(row, 3, job->session);
		r = sql_step(sql, row);
		if (r > 0)
			order->agent = sql_text(row, 0);
	}
	if (r >= 0)
		r = queue_file_keep_texts(&order->found, texts, COUNT(texts));
	sql_end(row);
	return r;
}

/* Marks it, and reads what was asked for: the ledger has none of it. */
int queue_file_write_claim(struct sql *sql, struct queue_order *order)
{
	struct queue_job job = order->job;
	int r = queue_file_write_mark(sql, order);
	if (r < 0)
		return r;
	sqlite3_stmt *row = sql_begin(sql, QUEUE_READ);
	sql_bind(row, 1, job.id);
	r = sql_step(sql, row);
	if (r == 0)
		order->result = -ENOENT; /* it could not be written: that was told */
	if (r > 0) {
		struct queue_job found = queue_row_job(row);
		found.id = job.id;
		found.result = (struct str){ 0 };
		r = queue_file_read_agent(sql, &found, order);
		order->job = found;
	}
	sql_end(row);
	return r;
}

static int queue_file_load_job(struct queue_file *file, sqlite3_stmt *row)
{
	const struct queue_job job = queue_row_job(row);
	const struct ledger_job found = {
		.place = (uint64_t)sqlite3_column_int64(row, 17),
		.claims = sqlite3_column_int64(row, 18),
		.has_begun = sqlite3_column_int64(row, 19) != 0,
		.fence = (uint64_t)sqlite3_column_int64(row, 20),
		.is_cancelled = sqlite3_column_int64(row, 21) != 0,
	};
	struct ledger_job *restored;
	if (job.state == QUEUE_STATES)
		return PERCH_ESYNTAX;
	int r = ledger_restore(&file->ledger, &job, &found, &restored);
	return r < 0 ? r : file->news.loader.job(file->news.loader.data, &job);
}

static int queue_file_load_event(struct queue_file *file, sqlite3_stmt *row)
{
	const struct queue_event event = {
		.number = (uint64_t)sqlite3_column_int64(row, 0),
		.job = sql_text(row, 1),
		.text = sql_text(row, 2),
	};
	if (event.number > file->last_number && event.number <= QUEUE_NUMBER_MAX)
		file->last_number = event.number;
	return file->news.loader.event(file->news.loader.data, &event);
}

static int queue_file_load_rows(struct queue_file *file, enum queue_statement which,
	int (*load)(struct queue_file *file, sqlite3_stmt *row))
{
	sqlite3_stmt *row = sql_begin(&file->sql, which);
	int r;
	while ((r = sql_step(&file->sql, row)) > 0) {
		r = load(file, row);
		if (r < 0)
			break;
	}
	sql_end(row);
	return r;
}

int queue_file_load(struct queue_file *file)
{
	int r = queue_file_load_rows(file, QUEUE_LOAD, queue_file_load_job);
	if (r == 0)
		r = queue_file_load_rows(file, QUEUE_LOAD_EVENTS, queue_file_load_event);
	file->last_number += QUEUE_UNWRITTEN_MAX;
	return r;
}
