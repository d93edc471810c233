/* sessions.db: opening it, its schema, its statements, and what goes wrong with it
 * in words. */
#ifndef AGENT_DATABASE_H
#define AGENT_DATABASE_H

#include <stdbool.h>

#include "agent/sessions.h"
#include "agent/sqlite.h"

enum {
	DATABASE_VERSION = 3,     /* of the schema; an older one is upgraded, a newer one refused */
	DATABASE_BUSY_MS = 1000,  /* how long another process's write is waited for */
	DATABASE_WAL_PAGES = 512, /* half a MiB */
	/* What the first process to open it has to read again, page by page: where each turn is a
	 * process, all of them do. */
	DATABASE_WAL_PAGES_AT_OPEN = 64,
};

enum statement {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_TICKET_TAKE,
	SQL_TICKET_FIRST,
	SQL_TICKET_LAST,
	SQL_TICKET_DROP,
	SQL_SESSION_ID,
	SQL_SESSION_SET_ID,
	SQL_SESSION_FORGET,
	SQL_SESSION_PERMIT,
	SQL_SESSION_COUNT,
	SQL_SESSION_LIST,
	SQL_SESSION_REMOVE,
	STATEMENTS,
};

struct database {
	struct sqlite sqlite;
	sqlite3 *handle;
	char *path;
	void (*committed)(void *data, int pages);
	void *committed_data;
	sqlite3_stmt *statements[STATEMENTS]; /* prepared when first used */
};

/* The arguments of all statements; each takes those that it needs. */
struct arguments {
	struct session_key key; /* profile may be NULL */
	int64_t number;         /* of a ticket */
	int64_t holder;
	const char *id; /* or the name of a permitted tool */
	int64_t now;    /* seconds since 1970 */
	struct session_spending spending;
};

/* Opens it, or makes it where there is none. The path is copied. `{0}` can be
 * closed. */
int database_open(const char *path, struct database *ret_database, perch_err *err);
void database_close(struct database *database);

/* The same by other steps than ours: way[N] makes version N + 1 out of version N, up to `newest`.
 */
int database_open_by(const char *path, const char *const *way, int newest,
	struct database *ret_database, perch_err *err);

/* From now on no statement waits: -EBUSY comes at once, and explicit checkpoints wait for the disk;
 * a commit does so only where another process has written the whole log back in the same moment.
 * `committed` is called during each commit, with the number of pages that are in the log. */
void database_wait_for_nobody(
	struct database *database, void (*committed)(void *data, int pages), void *data);

/* From now on another process's write is waited for again, as after the opening. */
void database_wait_for_writers(struct database *database);

/* Writes the log back into the database at this path, begins a new one, and waits for the disk.
 * Opens it for itself: for any thread. */
int database_checkpoint(const char *path);

/* From so many pages on, the log is to be written back. */
int database_log_pages(void);

/* Looks for damage in all of it. 0, or PERCH_ESYNTAX. */
int database_examine(struct database *database, perch_err *err);

/* What SQLite's code means, as an error with words. */
int database_fail(const struct database *database, int code, perch_err *err);

/* A statement under way; in query.c. */
struct query {
	struct database *database;
	sqlite3_stmt *statement;
};

/* Begins a statement; what it points to must stay until query_end. */
int query_begin(struct query *query, struct database *database, enum statement which,
	const struct arguments *arguments, perch_err *err);

/* 1 = there is a row, 0 = that was all. */
int query_step(struct query *query, perch_err *err);

int64_t query_number(const struct query *query, int column);

/* Valid until the next step. NULL without memory. */
const char *query_text(const struct query *query, int column);

void query_end(struct query *query);

/* Runs a statement to its end. */
int database_run(struct database *database, enum statement which, const struct arguments *arguments,
	perch_err *err);

/* Prepares what the end of a turn asks for. Where that fails, it is told when it is asked for. */
void database_prepare_end(struct database *database);

/* Takes back what a transaction did; harmless without one. */
void database_rollback(struct database *database);

#endif
