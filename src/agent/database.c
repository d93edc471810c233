/* sessions.db: a SQLite database in WAL mode. A commit is safe from the death of
 * any process as soon as it returns, without waiting for the disk; the disk is
 * waited for when the log is written back, so that a machine that dies loses the
 * last turns but not the file. */
#include "agent/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/str.h"
#include "base/test_switch.h"

#define SCHEMA_TEXT_OF(number) #number
#define SCHEMA_TEXT(number) SCHEMA_TEXT_OF(number)
#define APPLICATION_ID 1885565800 /* "pcsh": this file is ours */

/* How a database of one version becomes one of the next: the first step makes one out of an empty
 * file. A step that was released never changes; what is new is a step of its own, and a database of
 * the version before in tests/unit/sessions_versions.c.
 *
 * Numbers of tickets come from the clock, so that one is never used twice, but
 * a later ticket has a higher number whatever the clock does. */
static const char *const steps[] = {
	"CREATE TABLE session (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" id TEXT NOT NULL, last_used INTEGER NOT NULL, turns INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name)) WITHOUT ROWID;"
	"CREATE TABLE ticket (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" number INTEGER NOT NULL, holder INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name, number)) WITHOUT ROWID;"
	"PRAGMA application_id = " SCHEMA_TEXT(APPLICATION_ID),
	"ALTER TABLE session ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE session ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE session ADD COLUMN total_tokens INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE session ADD COLUMN cost_micros INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE session ADD COLUMN spent_ms INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE session ADD COLUMN permits TEXT NOT NULL DEFAULT ''",
};
_Static_assert(COUNT(steps) == DATABASE_VERSION, "a step for each version");

/* ---- in words ------------------------------------------------------------ */

#define SET_ASIDE "; move it away yourself, or let `perch doctor --fix` do it"

static const struct failure {
	int code; /* SQLite's, the primary one */
	int error;
	const char *words; /* NULL = those of the error */
} failures[] = {
	{ SQLITE_BUSY, -EBUSY, "another process has been writing to it for a second" },
	{ SQLITE_CANTOPEN, -EACCES, NULL },
	{ SQLITE_CORRUPT, PERCH_ESYNTAX, "it is damaged" SET_ASIDE },
	{ SQLITE_FULL, -ENOSPC, NULL },
	{ SQLITE_IOERR, -EIO, NULL },
	{ SQLITE_NOMEM, -ENOMEM, NULL },
	{ SQLITE_NOTADB, PERCH_ESYNTAX, "it is not a session database" SET_ASIDE },
	{ SQLITE_PERM, -EACCES, NULL },
	{ SQLITE_READONLY, -EACCES, "it, or its directory, cannot be written to" },
};

/* What the system said is more exact than SQLite's class of errors. */
static int database_failure_error(const struct database *database, const struct failure *failure)
{
	int of_system = database->handle ? database->sqlite.system_errno(database->handle) : 0;
	bool is_of_system = failure->code == SQLITE_CANTOPEN || failure->code == SQLITE_IOERR;
	return is_of_system && of_system > 0 ? -of_system : failure->error;
}

int database_fail(const struct database *database, int code, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	file_shown(database->path, shown);
	for (size_t i = 0; i < COUNT(failures); i++) {
		const struct failure *failure = &failures[i];
		if (failure->code != (code & 0xFF))
			continue;
		int error = database_failure_error(database, failure);
		return err_set(err, error, "sessions in %s: %s", shown,
			failure->words ? failure->words : perch_strerror(error));
	}
	return err_set(err, -EIO, "sessions in %s: %s", shown, database->sqlite.errstr(code));
}

/* ---- opening ------------------------------------------------------------- */

/* Called by SQLite while another process writes, `tries` counting from 0: sleeps a
 * little, longer each time. A write takes a fraction of a millisecond. */
static int database_wait_for_writer(void *data, int tries)
{
	(void)data;
	enum { STEP_US = 100, LONGEST_US = 5000, QUICK = LONGEST_US / STEP_US };
	int delay_us = tries < QUICK ? (tries + 1) * STEP_US : LONGEST_US;
	int quick_total_us = QUICK * (QUICK + 1) / 2 * STEP_US;
	if (tries > QUICK + (DATABASE_BUSY_MS * 1000 - quick_total_us) / LONGEST_US)
		return 0;
	nanosleep(&(struct timespec){ .tv_nsec = delay_us * (long)NSEC_PER_USEC }, NULL);
	return 1;
}

int database_log_pages(void)
{
	const char *fewer = TEST_SWITCH("PERCH_TEST_LOG_PAGES");
	return fewer ? atoi(fewer) : DATABASE_WAL_PAGES;
}

static int database_execute(struct database *database, const char *sql, perch_err *err)
{
	int code = database->sqlite.exec(database->handle, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : database_fail(database, code, err);
}

/* SQLite does not wait by itself where waiting could be a deadlock between two
 * that make the file; there is none when each begins anew. */
static int database_execute_patiently(struct database *database, const char *sql, perch_err *err)
{
	int r;
	int tries = 0;
	do
		r = database_execute(database, sql, err);
	while (r == -EBUSY && database_wait_for_writer(NULL, tries++));
	return r;
}

static int database_read_number(
	struct database *database, const char *sql, int64_t *ret_number, perch_err *err)
{
	const struct sqlite *sqlite = &database->sqlite;
	sqlite3_stmt *statement = NULL;
	int code = sqlite->prepare_v3(database->handle, sql, -1, 0, &statement, NULL);
	if (code == SQLITE_OK)
		code = sqlite->step(statement);
	if (code == SQLITE_ROW)
		*ret_number = sqlite->column_int64(statement, 0);
	sqlite->finalize(statement);
	return code == SQLITE_ROW ? 0 : database_fail(database, code, err);
}

/* Which version it is of, at most `newest`; 0 = it is empty. */
static int database_read_version(
	struct database *database, int newest, int64_t *ret_version, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	int64_t application = 0;
	int64_t version = 0;
	int r = database_read_number(database, "PRAGMA application_id", &application, err);
	if (r == 0)
		r = database_read_number(database, "PRAGMA user_version", &version, err);
	int64_t tables = 0;
	if (r == 0 && application != APPLICATION_ID)
		r = database_read_number(database, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r < 0)
		return r;
	bool is_ours = application == APPLICATION_ID && version > 0;
	if (!is_ours && (application || version || tables))
		return database_fail(database, SQLITE_NOTADB, err);
	if (version > newest)
		return err_set(err, -ENOTSUP,
			"sessions in %s: written by a newer perch (schema %lld, this one knows %d); use that "
			"one, or another XDG_STATE_HOME",
			file_shown(database->path, shown), (long long)version, newest);
	*ret_version = version;
	return 0;
}

/* In one transaction: another process may just be making the file. */
static int database_read_version_at_once(
	struct database *database, int newest, int64_t *ret_version, perch_err *err)
{
	int r = database_execute_patiently(database, "BEGIN", err);
	if (r == 0)
		r = database_read_version(database, newest, ret_version, err);
	database_rollback(database);
	return r;
}

static int database_climb(
	struct database *database, const char *const *way, int64_t version, perch_err *err)
{
	char text[64];
	snprintf(text, sizeof(text), "PRAGMA user_version = %lld", (long long)version + 1);
	int r = database_execute(database, way[version], err);
	return r < 0 ? r : database_execute(database, text, err);
}

/* All steps or none: a process that is killed meanwhile leaves it as it was. */
static int database_upgrade(
	struct database *database, const char *const *way, int newest, perch_err *err)
{
	int64_t version = 0;
	int r = database_execute_patiently(database, "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	r = database_read_version(
		database, newest, &version, err); /* another process may have been faster */
	for (; r == 0 && version < newest; version++)
		r = database_climb(database, way, version, err);
	if (r == 0)
		r = database_execute(database, "COMMIT", err);
	if (r < 0)
		database_rollback(database);
	return r;
}

static int database_make_current(
	struct database *database, const char *const *way, int newest, perch_err *err)
{
	int64_t version = 0;
	int r = database_read_version_at_once(database, newest, &version, err);
	if (r == 0 && !version)
		r = database_execute_patiently(
			database, "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL", err);
	return r == 0 && version < newest ? database_upgrade(database, way, newest, err) : r;
}

/* The file is made before SQLite sees it, for its mode, and without opening it:
 * closing a descriptor of it would drop locks that SQLite holds in this process. */
static int database_open_file(struct database *database, perch_err *err)
{
	const struct sqlite *sqlite = &database->sqlite;
	if (mknod(database->path, S_IFREG | 0600, 0) < 0 && errno != EEXIST) {
		char shown[FILE_SHOWN_MAX];
		return err_set(err, -errno, "cannot make %s: %s", file_shown(database->path, shown),
			perch_strerror(-errno));
	}
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
		SQLITE_OPEN_PRIVATECACHE;
	int code = sqlite->open_v2(database->path, &database->handle, flags, NULL);
	if (code != SQLITE_OK)
		return database_fail(database, code, err);
	sqlite->busy_handler(database->handle, database_wait_for_writer, NULL);
	sqlite->db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite->db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite->wal_autocheckpoint(database->handle, database_log_pages());
	return database_execute(database, "PRAGMA synchronous = NORMAL", err);
}

/* ---- without waiting ------------------------------------------------------- */

static int database_committed(void *data, sqlite3 *handle, const char *name, int pages)
{
	(void)handle, (void)name;
	const struct database *database = data;
	database->committed(database->committed_data, pages);
	return SQLITE_OK;
}

void database_wait_for_nobody(
	struct database *database, void (*committed)(void *data, int pages), void *data)
{
	const struct sqlite *sqlite = &database->sqlite;
	database->committed = committed;
	database->committed_data = data;
	sqlite->busy_handler(database->handle, NULL, NULL);
	sqlite->wal_hook(database->handle, database_committed, database);
}

void database_wait_for_writers(struct database *database)
{
	if (database->handle)
		database->sqlite.busy_handler(database->handle, database_wait_for_writer, NULL);
}

/* A log that was written back begins anew with the next commit, and who makes that one waits for
 * the disk: if the first page of the new log could be on disk before its head, pages of the log
 * before would come back over newer ones. So it is made here, and changes nothing. */
static void database_begin_log(struct database *database)
{
	if (database_execute(database,
			"BEGIN IMMEDIATE; PRAGMA application_id = " SCHEMA_TEXT(APPLICATION_ID) "; COMMIT",
			NULL) < 0)
		database_rollback(database);
}

int database_checkpoint(const char *path)
{
	_cleanup_(database_close) struct database database = { 0 };
	int r = database_open(path, &database, NULL);
	if (r < 0)
		return r;
	int code = database.sqlite.wal_checkpoint_v2(
		database.handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (code != SQLITE_OK)
		return database_fail(&database, code, NULL);
	database_begin_log(&database);
	return 0;
}

/* ---- opening and closing ---------------------------------------------------- */

int database_open(const char *path, struct database *ret_database, perch_err *err)
{
	return database_open_by(path, steps, DATABASE_VERSION, ret_database, err);
}

int database_open_by(const char *path, const char *const *way, int newest,
	struct database *ret_database, perch_err *err)
{
	_cleanup_(database_close) struct database database = { .path = str_dup(str_from(path)) };
	if (!database.path)
		return err_no_memory(err);
	int r = sqlite_load(&database.sqlite, err);
	if (r == 0)
		r = database_open_file(&database, err);
	if (r == 0)
		r = database_make_current(&database, way, newest, err);
	if (r < 0)
		return r;
	*ret_database = database;
	database = (struct database){ 0 };
	return 0;
}

void database_close(struct database *database)
{
	for (int i = 0; i < STATEMENTS; i++) {
		if (database->statements[i])
			database->sqlite.finalize(database->statements[i]);
	}
	if (database->handle)
		database->sqlite.close(database->handle);
	sqlite_unload(&database->sqlite);
	free(database->path);
	*database = (struct database){ 0 };
}

static int database_is_ok(void *data, int count, char **values, char **names)
{
	(void)names;
	*(bool *)data = count == 1 && values[0] && strcmp(values[0], "ok") == 0;
	return 0;
}

int database_examine(struct database *database, perch_err *err)
{
	bool is_sound = false;
	int code = database->sqlite.exec(
		database->handle, "PRAGMA quick_check(1)", database_is_ok, &is_sound, NULL);
	if (code != SQLITE_OK)
		return database_fail(database, code, err);
	return is_sound ? 0 : database_fail(database, SQLITE_CORRUPT, err);
}
