/* A database of SQLite. */
#include "queue/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/regular.h"
#include "queue/desk.h"

enum { SQL_BUSY_MS = 5000 };

/* ---- errors ---------------------------------------------------------------- */

static bool sql_is_disk_full(const struct sql *sql, int code)
{
	int error = sql->handle ? sqlite3_system_errno(sql->handle) : 0;
	if ((code & 0xff) == SQLITE_FULL)
		return true;
	return (code & 0xff) == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT || error == EFBIG);
}

/* The negative errno that a code of SQLite's is; -ENOSPC for a disk that is full. */
static int sql_error(const struct sql *sql, int code)
{
	if (sql_is_disk_full(sql, code))
		return -ENOSPC;
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return PERCH_ESYNTAX;
	default:
		return -EIO;
	}
}

static int sql_blame(const struct sql *sql, const char *path, int code, perch_err *err)
{
	return err_set(err, sql_error(sql, code), "%s: %s", path, sqlite3_errstr(code));
}

/* ---- opening --------------------------------------------------------------- */

static int sql_version(struct sql *sql, int *ret_version)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(sql->handle, "PRAGMA user_version", -1, &statement, NULL);
	if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		*ret_version = sqlite3_column_int(statement, 0);
		code = SQLITE_OK;
	}
	sqlite3_finalize(statement);
	return code;
}

/* In one transaction: another program may be doing the same. */
static int sql_upgrade(struct sql *sql, const char *path, perch_err *err)
{
	int version = 0;
	char mark[48];
	int code = sqlite3_exec(sql->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sql_version(sql, &version);
	if (code == SQLITE_OK && version > sql->schema->version)
		return err_set(err, -ENOTSUP, "%s was written by a newer perch", path);
	for (int i = version; code == SQLITE_OK && i < sql->schema->version; i++)
		code = sqlite3_exec(sql->handle, sql->schema->steps[i], NULL, NULL, NULL);
	snprintf(mark, sizeof(mark), "PRAGMA user_version = %d", sql->schema->version);
	if (code == SQLITE_OK)
		code = sqlite3_exec(sql->handle, mark, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(sql->handle, "COMMIT", NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : sql_blame(sql, path, code, err);
}

static int sql_configure(struct sql *sql, const char *path, bool is_durable, perch_err *err)
{
	const char *pragmas = is_durable ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"
									 : "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL";
	sqlite3_busy_timeout(sql->handle, SQL_BUSY_MS);
	sqlite3_db_config(sql->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	int code = sqlite3_exec(sql->handle, pragmas, NULL, NULL, NULL);
	return code == SQLITE_OK ? sql_upgrade(sql, path, err) : sql_blame(sql, path, code, err);
}

int sql_open(const char *path, const struct sql_schema *schema, bool is_durable,
	struct sql *ret_sql, perch_err *err)
{
	struct sql sql = { .schema = schema, .is_durable = is_durable };
	/* Made here, so that it is private from its first moment on. */
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDWR | O_CREAT);
	if (fd < 0)
		return err_set(err, fd, "cannot open %s: %s", path, perch_strerror(fd));
	sql.statements = calloc(schema->statement_count, sizeof(sql.statements[0]));
	if (!sql.statements)
		return err_no_memory(err);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int code = sqlite3_open_v2(path, &sql.handle, flags, NULL);
	int r = code == SQLITE_OK ? sql_configure(&sql, path, is_durable, err)
							  : sql_blame(&sql, path, code, err);
	if (r < 0) {
		sql_close(&sql);
		return r;
	}
	*ret_sql = sql;
	return 0;
}

void sql_close(struct sql *sql)
{
	for (size_t i = 0; sql->statements && i < sql->schema->statement_count; i++)
		sqlite3_finalize(sql->statements[i]);
	for (int i = 0; i < SQL_FRAMES; i++)
		sqlite3_finalize(sql->frames[i]);
	free(sql->statements);
	sqlite3_close(sql->handle);
	*sql = (struct sql){ 0 };
}

/* ---- statements ------------------------------------------------------------- */

sqlite3_stmt *sql_begin(struct sql *sql, size_t which)
{
	sqlite3_stmt **place = &sql->statements[which];
	if (!*place)
		sqlite3_prepare_v3(sql->handle, sql->schema->statements[which], -1,
			SQLITE_PREPARE_PERSISTENT, place, NULL);
	return *place;
}

void sql_bind(sqlite3_stmt *statement, int at, struct str text)
{
	if (statement && text.data)
		sqlite3_bind_text(statement, at, text.data, (int)text.len, SQLITE_STATIC);
	else if (statement)
		sqlite3_bind_null(statement, at);
}

void sql_bind_number(sqlite3_stmt *statement, int at, int64_t number)
{
	if (statement)
		sqlite3_bind_int64(statement, at, number);
}

int sql_step(struct sql *sql, sqlite3_stmt *statement)
{
	int code = statement ? sqlite3_step(statement) : sqlite3_extended_errcode(sql->handle);
	if (code == SQLITE_ROW)
		return 1;
	return !statement && code == SQLITE_OK ? -ENOMEM : sql_error(sql, code);
}

struct str sql_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);
	return (struct str){ (const char *)text, (size_t)sqlite3_column_bytes(statement, column) };
}

void sql_end(sqlite3_stmt *statement)
{
	if (!statement)
		return;
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

int sql_run(struct sql *sql, sqlite3_stmt *statement)
{
	int r = sql_step(sql, statement);
	sql_end(statement);
	return r > 0 ? 0 : r;
}

/* ---- rounds ------------------------------------------------------------------ */

static const char *const sql_frames[] = {
	[SQL_ROUND_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_ROUND_END] = "COMMIT",
};

static int sql_run_frame(struct sql *sql, enum sql_frame which)
{
	sqlite3_stmt **place = &sql->frames[which];
	if (!*place)
		sqlite3_prepare_v3(
			sql->handle, sql_frames[which], -1, SQLITE_PREPARE_PERSISTENT, place, NULL);
	return sql_run(sql, *place);
}

static int sql_round_begin(void *context)
{
	return sql_run_frame(context, SQL_ROUND_BEGIN);
}

static void sql_round_undo(void *context)
{
	struct sql *sql = context;
	if (!sqlite3_get_autocommit(sql->handle))
		sqlite3_exec(sql->handle, "ROLLBACK", NULL, NULL, NULL);
}

static int sql_round_end(void *context)
{
	int r = sql_run_frame(context, SQL_ROUND_END);
	if (r < 0)
		sql_round_undo(context);
	return r;
}

const struct desk_round sql_round = {
	.begin = sql_round_begin,
	.end = sql_round_end,
	.undo = sql_round_undo,
};

/* ---- rounds in the loop -------------------------------------------------------- */

static int sql_committed(void *data, sqlite3 *handle, const char *name, int pages)
{
	struct sql *sql = data;
	(void)handle;
	(void)name;
	sql->log_pages = pages;
	return SQLITE_OK;
}

/* In place of SQLite's own watcher, which would write the log back at the end of a commit. */
void sql_watch_log(struct sql *sql)
{
	sqlite3_wal_hook(sql->handle, sql_committed, sql);
}

static int sql_round_begin_here(void *context)
{
	struct sql *sql = context;
	if (sql->is_durable || sql->log_pages == 0 || sql->log_pages >= SQL_LOG_PAGES)
		return -EAGAIN;
	sqlite3_busy_timeout(sql->handle, 0);
	int r = sql_round_begin(sql);
	sqlite3_busy_timeout(sql->handle, SQL_BUSY_MS);
	return r == -EBUSY ? -EAGAIN : r;
}

static bool sql_round_is_untidy(void *context)
{
	return ((const struct sql *)context)->log_pages >= SQL_LOG_PAGES;
}

/* A log of which nothing is left to be written back begins anew, if nobody reads it. */
static void sql_round_tidy(void *context)
{
	struct sql *sql = context;
	int pages = 0, back = 0;
	int code =
		sqlite3_wal_checkpoint_v2(sql->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &back);
	if (code == SQLITE_OK && pages == back)
		sql->log_pages = 0;
}

const struct desk_round sql_round_here = {
	.begin = sql_round_begin,
	.end = sql_round_end,
	.undo = sql_round_undo,
	.begin_here = sql_round_begin_here,
	.is_untidy = sql_round_is_untidy,
	.tidy = sql_round_tidy,
};
