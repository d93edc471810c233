/* SQLite, loaded when a session is first looked up: a command that needs none
 * does not pay for the library at start-up, and works without it. */
#ifndef AGENT_SQLITE_H
#define AGENT_SQLITE_H

#include <sqlite3.h>

#include "perch/base.h"

/* What perch uses of it, without the prefix sqlite3_. */
#define SQLITE_FUNCTIONS(X) \
	X(bind_int64)           \
	X(bind_parameter_count) \
	X(bind_text)            \
	X(busy_handler)         \
	X(clear_bindings)       \
	X(close)                \
	X(column_int64)         \
	X(column_text)          \
	X(db_config)            \
	X(errstr)               \
	X(exec)                 \
	X(finalize)             \
	X(get_autocommit)       \
	X(open_v2)              \
	X(prepare_v3)           \
	X(reset)                \
	X(step)                 \
	X(system_errno)         \
	X(wal_autocheckpoint)   \
	X(wal_checkpoint_v2)    \
	X(wal_hook)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name takes none */
#define SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;

struct sqlite {
	void *handle;
	SQLITE_FUNCTIONS(SQLITE_MEMBER)
};

/* Fails with -ENOENT (no library, or too old a one), words included. */
int sqlite_load(struct sqlite *ret_sqlite, perch_err *err);
void sqlite_unload(struct sqlite *sqlite);

#endif
