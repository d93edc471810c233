/* The statements of sessions.db: prepared when first used, run with the arguments that they
 * name. */
#include "agent/database.h"
#include "base/cleanup.h"
#include "base/macros.h"

#define SPENDING " input_tokens, output_tokens, total_tokens, cost_micros, spent_ms"
/* A sum that stays exact, see USAGE_MAX. */
#define ADD(column, more) " " column " = min(" column " + " more ", 9007199254740991)"
#define THE_KEY "profile = ?1 AND sender = ?2 AND name = ?3"

/* The parameters are the members of struct arguments, in their order. */
static const char *const statements[STATEMENTS] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_TICKET_TAKE] = "INSERT INTO ticket VALUES (?1, ?2, ?3, ?4, ?5)",
	[SQL_TICKET_FIRST] =
		"SELECT number, holder FROM ticket WHERE " THE_KEY " ORDER BY number LIMIT 1",
	[SQL_TICKET_LAST] =
		"SELECT number, holder FROM ticket WHERE " THE_KEY " ORDER BY number DESC LIMIT 1",
	[SQL_TICKET_DROP] = "DELETE FROM ticket WHERE " THE_KEY " AND number = ?4 AND holder = ?5",
	[SQL_SESSION_ID] = "SELECT id, spent_ms, permits FROM session WHERE " THE_KEY,
	[SQL_SESSION_SET_ID] = "INSERT INTO session (profile, sender, name, id, last_used, turns)"
						   " VALUES (?1, ?2, ?3, ?6, ?7, 0)"
						   " ON CONFLICT DO UPDATE SET id = ?6, last_used = ?7",
	[SQL_SESSION_FORGET] =
		"UPDATE session SET id = '', last_used = ?7, input_tokens = 0, output_tokens = 0,"
		" total_tokens = 0, cost_micros = 0, spent_ms = 0, permits = '' WHERE " THE_KEY,
	[SQL_SESSION_PERMIT] =
		"INSERT INTO session (profile, sender, name, id, last_used, turns, permits)"
		" VALUES (?1, ?2, ?3, '', ?7, 0, ?6 || char(10))"
		" ON CONFLICT DO UPDATE SET permits = permits || ?6 || char(10)"
		" WHERE length(permits) < 16384",
	[SQL_SESSION_COUNT] =
		"INSERT INTO session (profile, sender, name, id, last_used, turns," SPENDING ")"
		" VALUES (?1, ?2, ?3, '', ?7, 1, ?8, ?9, ?10, ?11, ?12)"
		" ON CONFLICT DO UPDATE SET turns = turns + 1, last_used = ?7," ADD(
			"input_tokens", "?8") "," ADD("output_tokens", "?9") "," ADD("total_tokens",
			"?10") "," ADD("cost_micros", "?11") "," ADD("spent_ms", "?12"),
	[SQL_SESSION_LIST] =
		"SELECT profile, sender, name, id, last_used, turns," SPENDING ", permits FROM session"
		" WHERE ?1 IS NULL OR profile = ?1"
		" ORDER BY last_used DESC, profile, sender, name",
	[SQL_SESSION_REMOVE] = "DELETE FROM session WHERE " THE_KEY " RETURNING 1",
};

static int query_prepare(struct database *database, enum statement which, perch_err *err)
{
	if (database->statements[which])
		return 0;
	int code = database->sqlite.prepare_v3(database->handle, statements[which], -1,
		SQLITE_PREPARE_PERSISTENT, &database->statements[which], NULL);
	return code == SQLITE_OK ? 0 : database_fail(database, code, err);
}

void database_prepare_end(struct database *database)
{
	static const enum statement of_end[] = { SQL_SESSION_SET_ID, SQL_SESSION_COUNT,
		SQL_TICKET_DROP };
	for (size_t i = 0; i < COUNT(of_end); i++)
		query_prepare(database, of_end[i], NULL);
}

static int query_bind_text(const struct query *query, int at, const char *text)
{
	const struct sqlite *sqlite = &query->database->sqlite;
	if (!text || at > sqlite->bind_parameter_count(query->statement))
		return SQLITE_OK;
	return sqlite->bind_text(query->statement, at, text, -1, SQLITE_STATIC);
}

static int query_bind_number(const struct query *query, int at, int64_t number)
{
	const struct sqlite *sqlite = &query->database->sqlite;
	if (at > sqlite->bind_parameter_count(query->statement))
		return SQLITE_OK;
	return sqlite->bind_int64(query->statement, at, number);
}

static int query_bind(const struct query *query, const struct arguments *arguments)
{
	int code = query_bind_text(query, 1, arguments->key.profile);
	code = code ? code : query_bind_text(query, 2, arguments->key.from);
	code = code ? code : query_bind_text(query, 3, arguments->key.name);
	code = code ? code : query_bind_number(query, 4, arguments->number);
	code = code ? code : query_bind_number(query, 5, arguments->holder);
	code = code ? code : query_bind_text(query, 6, arguments->id);
	code = code ? code : query_bind_number(query, 7, arguments->now);
	const perch_agent_usage *usage = &arguments->spending.usage;
	code = code ? code : query_bind_number(query, 8, (int64_t)usage->input_tokens);
	code = code ? code : query_bind_number(query, 9, (int64_t)usage->output_tokens);
	code = code ? code : query_bind_number(query, 10, (int64_t)usage->total_tokens);
	code = code ? code : query_bind_number(query, 11, (int64_t)usage->cost_micros);
	return code ? code : query_bind_number(query, 12, (int64_t)arguments->spending.spent_ms);
}

int query_begin(struct query *query, struct database *database, enum statement which,
	const struct arguments *arguments, perch_err *err)
{
	*query = (struct query){ 0 };
	int r = query_prepare(database, which, err);
	if (r < 0)
		return r;
	*query = (struct query){ database, database->statements[which] };
	int code = arguments ? query_bind(query, arguments) : SQLITE_OK;
	return code == SQLITE_OK ? 0 : database_fail(database, code, err);
}

int query_step(struct query *query, perch_err *err)
{
	int code = query->database->sqlite.step(query->statement);
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return code == SQLITE_ROW;
	return database_fail(query->database, code, err);
}

int64_t query_number(const struct query *query, int column)
{
	return query->database->sqlite.column_int64(query->statement, column);
}

const char *query_text(const struct query *query, int column)
{
	return (const char *)query->database->sqlite.column_text(query->statement, column);
}

void query_end(struct query *query)
{
	if (!query->statement)
		return;
	query->database->sqlite.reset(query->statement);
	query->database->sqlite.clear_bindings(query->statement);
	query->statement = NULL;
}

int database_run(struct database *database, enum statement which, const struct arguments *arguments,
	perch_err *err)
{
	_cleanup_(query_end) struct query query = { 0 };
	int r = query_begin(&query, database, which, arguments, err);
	while (r == 0 && (r = query_step(&query, err)) > 0)
		r = 0;
	return r;
}

void database_rollback(struct database *database)
{
	if (!database->sqlite.get_autocommit(database->handle))
		database_run(database, SQL_ROLLBACK, NULL, NULL);
}
