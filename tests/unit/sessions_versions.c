/* Databases of sessions that other versions of perch have made: earlier ones are brought up to
 * date, with everything that is in them. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/database.h"
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/state.h"

/* As each version made it, with one session in it. These texts never change. */
static const char *const made_by[] = {
	"",
	"PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
	"CREATE TABLE session (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" id TEXT NOT NULL, last_used INTEGER NOT NULL, turns INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name)) WITHOUT ROWID;"
	"CREATE TABLE ticket (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" number INTEGER NOT NULL, holder INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name, number)) WITHOUT ROWID;"
	"PRAGMA application_id = 1885565800; PRAGMA user_version = 1;"
	"INSERT INTO session VALUES ('/p', 'ann', 'default', 'kept', 1700000000, 7)",
	"PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
	"CREATE TABLE session (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" id TEXT NOT NULL, last_used INTEGER NOT NULL, turns INTEGER NOT NULL,"
	" input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,"
	" total_tokens INTEGER NOT NULL DEFAULT 0, cost_micros INTEGER NOT NULL DEFAULT 0,"
	" spent_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (profile, sender, name)) WITHOUT ROWID;"
	"CREATE TABLE ticket (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" number INTEGER NOT NULL, holder INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name, number)) WITHOUT ROWID;"
	"PRAGMA application_id = 1885565800; PRAGMA user_version = 2;"
	"INSERT INTO session VALUES ('/p', 'ann', 'default', 'kept', 1700000000, 7, 10, 2, 12, 0, 50)",
	"PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
	"CREATE TABLE session (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" id TEXT NOT NULL, last_used INTEGER NOT NULL, turns INTEGER NOT NULL,"
	" input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,"
	" total_tokens INTEGER NOT NULL DEFAULT 0, cost_micros INTEGER NOT NULL DEFAULT 0,"
	" spent_ms INTEGER NOT NULL DEFAULT 0, permits TEXT NOT NULL DEFAULT '',"
	" PRIMARY KEY (profile, sender, name)) WITHOUT ROWID;"
	"CREATE TABLE ticket (profile TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,"
	" number INTEGER NOT NULL, holder INTEGER NOT NULL,"
	" PRIMARY KEY (profile, sender, name, number)) WITHOUT ROWID;"
	"PRAGMA application_id = 1885565800; PRAGMA user_version = 3;"
	"INSERT INTO session VALUES ('/p', 'ann', 'default', 'kept', 1700000000, 7, 10, 2, 12, 0, 50,"
	" 'bash' || char(10))",
};
_Static_assert(COUNT(made_by) == DATABASE_VERSION + 1, "a database of every version");

/* A database of that version, at state_database(). */
static void make_database(size_t version)
{
	struct sqlite sqlite;
	sqlite3 *handle;
	free(folder_run("mkdir -p -m 700 state/perch"));
	ck_assert_int_eq(sqlite_load(&sqlite, NULL), 0);
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	ck_assert_int_eq(sqlite.open_v2(state_database(), &handle, flags, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite.exec(handle, made_by[version], NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite.close(handle), SQLITE_OK);
	sqlite_unload(&sqlite);
}

static int read_number(void *data, int count, char **texts, char **names)
{
	(void)names;
	ck_assert_int_eq(count, 1);
	return sscanf(texts[0], "%d", (int *)data) == 1 ? 0 : 1;
}

static int number_of(struct database *database, const char *sql)
{
	int number = -1;
	database->sqlite.exec(database->handle, sql, read_number, &number, NULL);
	return number;
}

START_TEST(every_earlier_version_is_brought_up_to_date)
{
	for (size_t version = 0; version < COUNT(made_by); version++) {
		state_new();
		make_database(version);
		perch_host *host = state_host();
		struct sessions *sessions = state_sessions(host);
		struct arena arena = { 0 };
		if (version) {
			struct session_record record = state_only_record(sessions, &arena);
			ck_assert_str_eq(record.key.profile, "/p");
			ck_assert_str_eq(record.key.from, "ann");
			ck_assert_str_eq(record.id, "kept");
			ck_assert_int_eq(record.turns, 7);
			ck_assert_uint_eq(record.spending.usage.total_tokens, version < 2 ? 0 : 12);
			ck_assert_str_eq(record.permits, version < 3 ? "" : "bash\n");
		}
		arena_free(&arena);
		ck_assert_str_eq(state_id_now(host, sessions), "");
		state_close(host, sessions);
		struct database database;
		ck_assert_int_eq(database_open(state_database(), &database, NULL), 0);
		ck_assert_int_eq(number_of(&database, "PRAGMA user_version"), DATABASE_VERSION);
		database_close(&database);
	}
}
END_TEST

/* A way that goes on behind ours, as that of a later perch will. */
static const char *later_way[DATABASE_VERSION + 2] = {
	[DATABASE_VERSION] = "ALTER TABLE session ADD COLUMN title TEXT NOT NULL DEFAULT 'none'",
	[DATABASE_VERSION + 1] = "CREATE TABLE note (text TEXT)",
};

START_TEST(a_later_perch_takes_all_steps_from_here)
{
	struct database database;
	perch_err err = { 0 };
	state_new();
	make_database(DATABASE_VERSION);
	int r = database_open_by(state_database(), later_way, DATABASE_VERSION + 2, &database, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_int_eq(number_of(&database, "PRAGMA user_version"), DATABASE_VERSION + 2);
	ck_assert_int_eq(number_of(&database, "SELECT turns FROM session WHERE title = 'none'"), 7);
	ck_assert_int_eq(number_of(&database, "SELECT count(*) FROM note"), 0);
	database_close(&database);
	/* We do not know those. */
	ck_assert_int_eq(database_open(state_database(), &database, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.text, "written by a newer perch"));
}
END_TEST

START_TEST(a_step_that_fails_leaves_the_database_as_it_was)
{
	static const char *broken_way[DATABASE_VERSION + 2];
	struct database database;
	perch_err err = { 0 };
	state_new();
	make_database(DATABASE_VERSION);
	broken_way[DATABASE_VERSION] = "CREATE TABLE half (text TEXT)";
	broken_way[DATABASE_VERSION + 1] = "CREATE TABLE session (text TEXT)"; /* it is there */
	ck_assert_int_lt(
		database_open_by(state_database(), broken_way, DATABASE_VERSION + 2, &database, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "sessions in"));
	ck_assert_int_eq(database_open(state_database(), &database, &err), 0);
	ck_assert_int_eq(number_of(&database, "PRAGMA user_version"), DATABASE_VERSION);
	ck_assert_int_eq(
		number_of(&database, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
	database_close(&database);
}
END_TEST

SUITE_MAIN("sessions-versions", every_earlier_version_is_brought_up_to_date,
	a_later_perch_takes_all_steps_from_here, a_step_that_fails_leaves_the_database_as_it_was)
