/* The messages of agents' sessions. */
#include "queue/transcripts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "queue/transcripts_parts.h"

static const char *const transcripts_steps[] = {
	"CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL,"
	" owner TEXT NOT NULL, name TEXT NOT NULL, title TEXT, created INTEGER NOT NULL,"
	" used INTEGER NOT NULL, turns INTEGER NOT NULL, UNIQUE (agent, owner, name));"
	"CREATE INDEX sessions_used ON sessions (owner, used);"
	"CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,"
	" role TEXT NOT NULL, text TEXT NOT NULL, job TEXT NOT NULL, time INTEGER NOT NULL);"
	"CREATE INDEX messages_of_sessions ON messages (session, id);",
	"ALTER TABLE sessions ADD COLUMN cwd TEXT;"
	"CREATE INDEX sessions_named ON sessions (owner, name);",
};

#define TRANSCRIPTS_COLUMNS                                \
	"id, agent, owner, name, title, created, used, turns," \
	" (SELECT substr(text, 1, 160) FROM messages WHERE session = sessions.id ORDER BY id LIMIT 1)"

/* A conversation is all sessions of one name; it was used when the last of them was. */
#define TRANSCRIPTS_TALK_COLUMNS                                                            \
	"id, agent, name, cwd, coalesce(title, (SELECT substr(text, 1, 100) FROM messages"      \
	" WHERE session = sessions.id AND role = 'user' ORDER BY id LIMIT 1)), max(used) used," \
	" strftime('%Y-%m-%dT%H:%M:%SZ', max(used) / 1000, 'unixepoch') FROM sessions"
#define TRANSCRIPTS_OF_AGENTS "owner = ?1 AND cwd IS NOT NULL AND instr(?2, ',' || agent || ',')"

#define TRANSCRIPTS_NAMED \
	" (SELECT id FROM sessions WHERE owner = ?1 AND name = ?2 AND cwd IS NOT NULL)"

static const char *const transcripts_statements[] = {
	[TRANSCRIPTS_SQL_OPEN] =
		"INSERT INTO sessions (agent, owner, name, title, created, used, turns, cwd)"
		" VALUES (?1,?2,?3,NULL,?4,?4,1,?5) ON CONFLICT (agent, owner, name)"
		" DO UPDATE SET used = ?4, turns = turns + 1, cwd = coalesce(?5, cwd) RETURNING id",
	[TRANSCRIPTS_SQL_ADD] =
		"INSERT INTO messages (session, role, text, job, time) VALUES (?1,?2,?3,?4,?5)",
	[TRANSCRIPTS_SQL_LIST] = "SELECT " TRANSCRIPTS_COLUMNS " FROM sessions"
							 " WHERE (?1 IS NULL OR owner = ?1) AND (?2 = 0 OR used < ?2)"
							 " AND (?4 IS NULL OR instr(lower(coalesce(title, '')), lower(?4))"
							 " OR EXISTS (SELECT 1 FROM messages WHERE session = sessions.id"
							 " AND instr(lower(text), lower(?4))))"
							 " ORDER BY used DESC LIMIT ?3",
	[TRANSCRIPTS_SQL_GET] =
		"SELECT " TRANSCRIPTS_COLUMNS " FROM sessions WHERE id = ?2 AND (?1 IS NULL OR owner = ?1)",
	[TRANSCRIPTS_SQL_MESSAGES] = "SELECT id, role, text, job, time FROM messages"
								 " WHERE session = ?1 AND (?2 = 0 OR id < ?2)"
								 " ORDER BY id DESC LIMIT ?3",
	[TRANSCRIPTS_SQL_RENAME] = "UPDATE sessions SET title = ?2 WHERE id = ?1",
	[TRANSCRIPTS_SQL_REMOVE] = "DELETE FROM sessions WHERE id = ?1",
	[TRANSCRIPTS_SQL_REMOVE_MESSAGES] = "DELETE FROM messages WHERE session = ?1",
	[TRANSCRIPTS_SQL_TRIM_MESSAGES] =
		"DELETE FROM messages WHERE session IN (SELECT id FROM sessions WHERE used < ?1)",
	[TRANSCRIPTS_SQL_TRIM] = "DELETE FROM sessions WHERE used < ?1",
	[TRANSCRIPTS_SQL_TALKS] = "SELECT " TRANSCRIPTS_TALK_COLUMNS " WHERE " TRANSCRIPTS_OF_AGENTS
							  " AND (?3 IS NULL OR cwd = ?3) GROUP BY name"
							  " HAVING ?4 = 0 OR max(used) < ?4 OR (max(used) = ?4 AND id < ?5)"
							  " ORDER BY used DESC, id DESC LIMIT ?6",
	[TRANSCRIPTS_SQL_TALK] = "SELECT " TRANSCRIPTS_TALK_COLUMNS " WHERE " TRANSCRIPTS_OF_AGENTS
							 " AND name = ?3 GROUP BY name",
	[TRANSCRIPTS_SQL_SAID] =
		"SELECT id, role, text, job, time FROM messages WHERE session IN" TRANSCRIPTS_NAMED
		" AND id > ?3 ORDER BY id LIMIT ?4",
	[TRANSCRIPTS_SQL_DROP_MESSAGES] = "DELETE FROM messages WHERE session IN" TRANSCRIPTS_NAMED ";",
	[TRANSCRIPTS_SQL_DROP] =
		"DELETE FROM sessions WHERE owner = ?1 AND name = ?2 AND cwd IS NOT NULL",
};
_Static_assert(COUNT(transcripts_statements) == TRANSCRIPTS_SQL_COUNT, "every one has its words");

static const struct sql_schema transcripts_schema = {
	.steps = transcripts_steps,
	.version = COUNT(transcripts_steps),
	.statements = transcripts_statements,
	.statement_count = TRANSCRIPTS_SQL_COUNT,
};

struct transcripts {
	struct sql sql;
	struct desk *desk;
};

/* ---- adding ---------------------------------------------------------------------- */

static int transcripts_say(struct sql *sql, const struct transcripts_turn *turn, int64_t session,
	struct str role, struct str text)
{
	sqlite3_stmt *statement = sql_begin(sql, TRANSCRIPTS_SQL_ADD);
	sql_bind_number(statement, 1, session);
	sql_bind(statement, 2, role);
	sql_bind(statement, 3, text.data ? text : STR(""));
	sql_bind(statement, 4, turn->job);
	sql_bind_number(statement, 5, turn->time_ms);
	return sql_run(sql, statement);
}

static int transcripts_write_turn(struct sql *sql, const struct transcripts_turn *turn)
{
	sqlite3_stmt *statement = sql_begin(sql, TRANSCRIPTS_SQL_OPEN);
	sql_bind(statement, 1, turn->agent);
	sql_bind(statement, 2, turn->owner);
	sql_bind(statement, 3, turn->session);
	sql_bind_number(statement, 4, turn->time_ms);
	sql_bind(statement, 5, turn->cwd);
	int r = sql_step(sql, statement);
	int64_t session = r > 0 ? sqlite3_column_int64(statement, 0) : 0;
	sql_end(statement);
	if (r >= 0)
		r = transcripts_say(sql, turn, session, STR("user"), turn->message);
	if (r >= 0)
		r = transcripts_say(sql, turn, session, STR("assistant"), turn->reply);
	return r;
}

/* ---- answering --------------------------------------------------------------------- */

static void transcripts_time(perch_json_writer *out, const char *name, int64_t ms)
{
	perch_json_write_name(out, name);
	perch_json_write_double(out, (double)ms / 1000);
}

static void transcripts_write_session(perch_json_writer *out, sqlite3_stmt *row)
{
	perch_json_begin_object(out);
	perch_json_write_name(out, "id");
	perch_json_write_int64(out, sqlite3_column_int64(row, 0));
	json_write_text(out, "agent", sql_text(row, 1));
	json_write_text(out, "user", sql_text(row, 2));
	json_write_text(out, "session", sql_text(row, 3));
	if (sql_text(row, 4).data)
		json_write_text(out, "title", sql_text(row, 4));
	transcripts_time(out, "created", sqlite3_column_int64(row, 5));
	transcripts_time(out, "used", sqlite3_column_int64(row, 6));
	perch_json_write_name(out, "turns");
	perch_json_write_int64(out, sqlite3_column_int64(row, 7));
	if (sql_text(row, 8).data)
		json_write_text(out, "first", sql_text(row, 8));
	perch_json_end_object(out);
}

static int transcripts_list(struct sql *sql, struct transcripts_order *order)
{
	perch_json_writer out = json_writer_on(&order->found);
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_LIST);
	int r;
	sql_bind(row, 1, order->ask.owner);
	sql_bind_number(row, 2, order->ask.before);
	sql_bind_number(row, 3, TRANSCRIPTS_PAGE);
	sql_bind(row, 4, order->ask.text);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "sessions");
	perch_json_begin_array(&out);
	while ((r = sql_step(sql, row)) > 0)
		transcripts_write_session(&out, row);
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	sql_end(row);
	return r;
}

/* Whether the session exists and belongs to this owner; as JSON, too. */
static int transcripts_get(struct sql *sql, struct transcripts_order *order)
{
	perch_json_writer out = json_writer_on(&order->found);
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_GET);
	sql_bind(row, 1, order->ask.owner);
	sql_bind_number(row, 2, order->ask.session);
	int r = sql_step(sql, row);
	if (r > 0)
		transcripts_write_session(&out, row);
	else if (r == 0)
		order->error = -ENOENT;
	sql_end(row);
	return r < 0 ? r : 0;
}

int transcripts_write_messages(struct sql *sql, sqlite3_stmt *row, struct transcripts_order *order)
{
	perch_json_writer out = json_writer_on(&order->found);
	int r;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "messages");
	perch_json_begin_array(&out);
	while ((r = sql_step(sql, row)) > 0) {
		perch_json_begin_object(&out);
		perch_json_write_name(&out, "id");
		perch_json_write_int64(&out, sqlite3_column_int64(row, 0));
		json_write_text(&out, "role", sql_text(row, 1));
		json_write_text(&out, "text", sql_text(row, 2));
		json_write_text(&out, "job", sql_text(row, 3));
		transcripts_time(&out, "time", sqlite3_column_int64(row, 4));
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	sql_end(row);
	return r;
}

static int transcripts_messages(struct sql *sql, struct transcripts_order *order)
{
	int r = transcripts_get(sql, order);
	if (r < 0 || order->error < 0)
		return r;
	buf_clear(&order->found);
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_MESSAGES);
	sql_bind_number(row, 1, order->ask.session);
	sql_bind_number(row, 2, order->ask.before);
	sql_bind_number(row, 3, TRANSCRIPTS_PAGE);
	return transcripts_write_messages(sql, row, order);
}

static int transcripts_change(
	struct sql *sql, enum transcripts_statement which, int64_t number, struct str text)
{
	sqlite3_stmt *statement = sql_begin(sql, which);
	sql_bind_number(statement, 1, number);
	if (text.data)
		sql_bind(statement, 2, text);
	return sql_run(sql, statement);
}

static int transcripts_remove(struct sql *sql, struct transcripts_order *order)
{
	const struct str none = { 0 };
	int r = transcripts_get(sql, order);
	if (r < 0 || order->error < 0)
		return r;
	r = transcripts_change(sql, TRANSCRIPTS_SQL_REMOVE_MESSAGES, order->ask.session, none);
	return r < 0 ? r : transcripts_change(sql, TRANSCRIPTS_SQL_REMOVE, order->ask.session, none);
}

static int transcripts_rename(struct sql *sql, struct transcripts_order *order)
{
	int r = transcripts_get(sql, order);
	if (r < 0 || order->error < 0)
		return r;
	r = transcripts_change(sql, TRANSCRIPTS_SQL_RENAME, order->ask.session, order->ask.text);
	buf_clear(&order->found);
	return r < 0 ? r : transcripts_get(sql, order);
}

static int transcripts_trim(struct sql *sql, struct transcripts_order *order)
{
	const struct str none = { 0 };
	int r = transcripts_change(sql, TRANSCRIPTS_SQL_TRIM_MESSAGES, order->ask.before, none);
	return r < 0 ? r : transcripts_change(sql, TRANSCRIPTS_SQL_TRIM, order->ask.before, none);
}

static int transcripts_work(struct desk_order *base, void *context)
{
	static int (*const answers[])(struct sql *, struct transcripts_order *) = {
		[TRANSCRIPTS_LIST] = transcripts_list,
		[TRANSCRIPTS_GET] = transcripts_get,
		[TRANSCRIPTS_MESSAGES] = transcripts_messages,
		[TRANSCRIPTS_RENAME] = transcripts_rename,
		[TRANSCRIPTS_REMOVE] = transcripts_remove,
		[TRANSCRIPTS_TRIM] = transcripts_trim,
		[TRANSCRIPTS_TALKS] = conversations_list,
		[TRANSCRIPTS_TALK] = conversations_find,
		[TRANSCRIPTS_SAID] = conversations_said,
		[TRANSCRIPTS_DROP] = conversations_drop,
	};
	struct transcripts_order *order = (struct transcripts_order *)base;
	if (order->is_turn)
		return transcripts_write_turn(context, &order->turn);
	return answers[order->ask.question](context, order);
}

/* ---- orders --------------------------------------------------------------------------- */

static void transcripts_done(struct desk_order *base, int result)
{
	struct transcripts_order *order = (struct transcripts_order *)base;
	int error = result < 0 ? result : order->found.failed ? -ENOMEM : order->error;
	if (!order->is_turn && order->ask.done)
		order->ask.done(order->ask.data, error, &order->found);
	buf_free(&order->found);
	free(order);
}

static int transcripts_take(struct transcripts *transcripts, struct transcripts_order make)
{
	struct str *texts[] = { &make.turn.agent, &make.turn.owner, &make.turn.session, &make.turn.job,
		&make.turn.message, &make.turn.reply, &make.turn.cwd, &make.ask.owner, &make.ask.text,
		&make.ask.agents, &make.ask.cwd };
	size_t size = sizeof(make);
	for (size_t i = 0; i < COUNT(texts); i++)
		size += texts[i]->len + 1;
	struct transcripts_order *order = calloc(1, size);
	char *at = order ? order->texts : NULL;
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (!texts[i]->data)
			continue;
		memcpy(at, texts[i]->data, texts[i]->len);
		texts[i]->data = at;
		at += texts[i]->len + 1;
	}
	*order = make;
	order->order = (struct desk_order){
		.work = transcripts_work,
		.done = transcripts_done,
		.patience_ns = make.turn.patience_ns,
	};
	desk_take(transcripts->desk, &order->order);
	return 0;
}

int transcripts_add(struct transcripts *transcripts, const struct transcripts_turn *turn)
{
	return transcripts_take(
		transcripts, (struct transcripts_order){ .is_turn = true, .turn = *turn });
}

int transcripts_ask(struct transcripts *transcripts, const struct transcripts_ask *ask)
{
	return transcripts_take(transcripts, (struct transcripts_order){ .ask = *ask });
}

/* ---- life ------------------------------------------------------------------------------- */

DEFINE_POINTER_CLEANUP(transcripts_cleanup, struct transcripts, transcripts_free)

int transcripts_open(
	perch_host *host, const char *path, struct transcripts **ret_transcripts, perch_err *err)
{
	_cleanup_(transcripts_cleanup) struct transcripts *transcripts =
		calloc(1, sizeof(*transcripts));
	if (!transcripts)
		return err_no_memory(err);
	int r = sql_open(path, &transcripts_schema, false, &transcripts->sql, err);
	if (r == 0)
		r = desk_open(host, &sql_round, &transcripts->sql, &transcripts->desk, err);
	if (r < 0)
		return r;
	*ret_transcripts = steal(&transcripts);
	return 0;
}

void transcripts_free(struct transcripts *transcripts)
{
	if (!transcripts)
		return;
	desk_close(transcripts->desk);
	sql_close(&transcripts->sql);
	free(transcripts);
}
