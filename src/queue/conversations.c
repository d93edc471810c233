/* Conversations: the sessions of one name, whichever agents they were held with. */
#include <errno.h>
#include <stdio.h>

#include "queue/transcripts_parts.h"

static void conversation_write(perch_json_writer *out, sqlite3_stmt *row)
{
	perch_json_begin_object(out);
	json_write_text(out, "agent", sql_text(row, 1));
	json_write_text(out, "session", sql_text(row, 2));
	json_write_text(out, "cwd", sql_text(row, 3));
	json_write_text(out, "title", sql_text(row, 4).data ? sql_text(row, 4) : STR(""));
	json_write_text(out, "used", sql_text(row, 6));
	perch_json_end_object(out);
}

/* A cursor is when the last one of a page was used, and its number. */
static bool conversation_read_cursor(struct str text, int64_t *ret_used, int64_t *ret_id)
{
	char copy[48];
	long long used = 0, id = 0;
	int read = 0;
	if (!text.len)
		return true;
	if (text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	if (sscanf(copy, "%18lld.%18lld%n", &used, &id, &read) != 2 || (size_t)read != text.len ||
		used < 1)
		return false;
	*ret_used = used;
	*ret_id = id;
	return true;
}

static int conversations_write_page(
	struct sql *sql, sqlite3_stmt *row, struct transcripts_order *order)
{
	perch_json_writer out = json_writer_on(&order->found);
	char cursor[48] = "";
	int r, count = 0;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "sessions");
	perch_json_begin_array(&out);
	while ((r = sql_step(sql, row)) > 0 && count++ < TRANSCRIPTS_PAGE) {
		conversation_write(&out, row);
		snprintf(cursor, sizeof(cursor), "%lld.%lld", (long long)sqlite3_column_int64(row, 5),
			(long long)sqlite3_column_int64(row, 0));
	}
	perch_json_end_array(&out);
	if (r > 0)
		json_write_text(&out, "next", str_from(cursor));
	perch_json_end_object(&out);
	sql_end(row);
	return r < 0 ? r : 0;
}

int conversations_list(struct sql *sql, struct transcripts_order *order)
{
	int64_t used = 0, id = 0;
	if (!conversation_read_cursor(order->ask.text, &used, &id)) {
		order->error = -EINVAL;
		return 0;
	}
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_TALKS);
	sql_bind(row, 1, order->ask.owner);
	sql_bind(row, 2, order->ask.agents);
	sql_bind(row, 3, order->ask.cwd);
	sql_bind_number(row, 4, used);
	sql_bind_number(row, 5, id);
	sql_bind_number(row, 6, TRANSCRIPTS_PAGE + 1);
	return conversations_write_page(sql, row, order);
}

int conversations_find(struct sql *sql, struct transcripts_order *order)
{
	perch_json_writer out = json_writer_on(&order->found);
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_TALK);
	sql_bind(row, 1, order->ask.owner);
	sql_bind(row, 2, order->ask.agents);
	sql_bind(row, 3, order->ask.text);
	int r = sql_step(sql, row);
	if (r > 0)
		conversation_write(&out, row);
	else if (r == 0)
		order->error = -ENOENT;
	sql_end(row);
	return r < 0 ? r : 0;
}

int conversations_said(struct sql *sql, struct transcripts_order *order)
{
	sqlite3_stmt *row = sql_begin(sql, TRANSCRIPTS_SQL_SAID);
	sql_bind(row, 1, order->ask.owner);
	sql_bind(row, 2, order->ask.text);
	sql_bind_number(row, 3, order->ask.before);
	sql_bind_number(row, 4, TRANSCRIPTS_PAGE);
	return transcripts_write_messages(sql, row, order);
}

int conversations_drop(struct sql *sql, struct transcripts_order *order)
{
	static const enum transcripts_statement statements[] = {
		TRANSCRIPTS_SQL_DROP_MESSAGES,
		TRANSCRIPTS_SQL_DROP,
	};
	int r = 0;
	for (size_t i = 0; i < 2 && r >= 0; i++) {
		sqlite3_stmt *statement = sql_begin(sql, statements[i]);
		sql_bind(statement, 1, order->ask.owner);
		sql_bind(statement, 2, order->ask.text);
		r = sql_run(sql, statement);
	}
	return r;
}
