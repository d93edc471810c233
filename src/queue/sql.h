/* A database of SQLite as the gateway's stores use one: private, in WAL, with a schema that knows
 * its version, and statements that are prepared once. */
#ifndef QUEUE_SQL_H
#define QUEUE_SQL_H

#include <sqlite3.h>

#include "base/str.h"
#include "perch/base.h"

struct sql_schema {
	const char *const *steps; /* steps[N] makes version N + 1 out of version N */
	int version;
	const char *const *statements;
	size_t statement_count;
};

/* What stands before and behind a round. */
enum sql_frame { SQL_ROUND_BEGIN, SQL_ROUND_END, SQL_FRAMES };

struct sql {
	const struct sql_schema *schema;
	sqlite3 *handle;
	sqlite3_stmt **statements;
	sqlite3_stmt *frames[SQL_FRAMES];
	bool is_durable;
	int log_pages; /* where the log is watched */
};

/* Pages of a log that is written back. */
enum { SQL_LOG_PAGES = 1000 };

/* Opens the file, which is made with mode 0600 where there is none. is_durable: a commit is on
 * disk. Fails with words: newer than this program, no permission, damaged … `{0}` can be closed. */
int sql_open(const char *path, const struct sql_schema *schema, bool is_durable,
	struct sql *ret_sql, perch_err *err);
void sql_close(struct sql *sql);

/* A statement to be bound and run; reset by sql_run and sql_end. NULL without memory or the like.
 */
sqlite3_stmt *sql_begin(struct sql *sql, size_t which);
void sql_bind(sqlite3_stmt *statement, int at, struct str text);
void sql_bind_number(sqlite3_stmt *statement, int at, int64_t number);

/* 1 = a row, 0 = that was all, or an error. */
int sql_step(struct sql *sql, sqlite3_stmt *statement);
struct str sql_text(sqlite3_stmt *statement, int column);
void sql_end(sqlite3_stmt *statement);

/* Runs it to its end and resets it. 0 or an error; NULL is one. */
int sql_run(struct sql *sql, sqlite3_stmt *statement);

/* For desk.h: rounds as transactions. The context is a struct sql. */
extern const struct desk_round sql_round;

/* The same, worked in the loop where nothing is waited for: neither another process that writes,
 * nor the disk. It is waited for by a commit that is durable, by the first one of a log that begins
 * anew, and when the log is written back: these are the thread's. Watches the log, so the struct
 * stays where it is. */
extern const struct desk_round sql_round_here;
void sql_watch_log(struct sql *sql);

#endif
