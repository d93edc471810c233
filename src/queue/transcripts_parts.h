/* What the parts of the transcripts share: the statements, and an order for their thread. */
#ifndef QUEUE_TRANSCRIPTS_PARTS_H
#define QUEUE_TRANSCRIPTS_PARTS_H

#include "data/json.h"
#include "queue/desk.h"
#include "queue/sql.h"
#include "queue/transcripts.h"

enum transcripts_statement {
	TRANSCRIPTS_SQL_OPEN,
	TRANSCRIPTS_SQL_ADD,
	TRANSCRIPTS_SQL_LIST,
	TRANSCRIPTS_SQL_GET,
	TRANSCRIPTS_SQL_MESSAGES,
	TRANSCRIPTS_SQL_RENAME,
	TRANSCRIPTS_SQL_REMOVE,
	TRANSCRIPTS_SQL_REMOVE_MESSAGES,
	TRANSCRIPTS_SQL_TRIM_MESSAGES,
	TRANSCRIPTS_SQL_TRIM,
	TRANSCRIPTS_SQL_TALKS,
	TRANSCRIPTS_SQL_TALK,
	TRANSCRIPTS_SQL_SAID,
	TRANSCRIPTS_SQL_DROP_MESSAGES,
	TRANSCRIPTS_SQL_DROP,
	TRANSCRIPTS_SQL_COUNT,
};

struct transcripts_order {
	struct desk_order order;
	bool is_turn;
	int error; /* that concerns this question alone */
	struct transcripts_turn turn;
	struct transcripts_ask ask;
	struct buf found;
	char texts[];
};

/* The messages that a statement finds, as JSON. */
int transcripts_write_messages(struct sql *sql, sqlite3_stmt *row, struct transcripts_order *order);

/* ---- conversations.c ------------------------------------------------------- */

int conversations_list(struct sql *sql, struct transcripts_order *order);
int conversations_find(struct sql *sql, struct transcripts_order *order);
int conversations_said(struct sql *sql, struct transcripts_order *order);
int conversations_drop(struct sql *sql, struct transcripts_order *order);

#endif
