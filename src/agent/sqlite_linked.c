/* SQLite as a part of the command: a static program loads nothing. Stands in for
 * sqlite.c there. */
#include "agent/sqlite.h"

#define SQLITE_VALUE(name) .name = sqlite3_##name,

int sqlite_load(struct sqlite *ret_sqlite, perch_err *err)
{
	(void)err;
	*ret_sqlite = (struct sqlite){ SQLITE_FUNCTIONS(SQLITE_VALUE) };
	return 0;
}

void sqlite_unload(struct sqlite *sqlite)
{
	(void)sqlite;
}
