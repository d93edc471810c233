/* SQLite as a part of the command: a static program loads nothing. Stands in for
 * sqlite.c there. */
#include <pthread.h>

#include "agent/sqlite.h"

#define SQLITE_VALUE(name) .name = sqlite3_##name,

/* What a connection sets aside for itself; SQLite's own choice is 120 KB and 20 pages, which it
 * links into lists at once: fifty page faults before the first statement. */
enum { SLOT_BYTES = 1200, SLOTS = 16, CACHED_PAGES = 6 };

/* In a program of our own it is ours to say. */
static void sqlite_configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, SLOT_BYTES, SLOTS);
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, CACHED_PAGES);
}

int sqlite_load(struct sqlite *ret_sqlite, perch_err *err)
{
	static pthread_once_t is_configured = PTHREAD_ONCE_INIT;
	(void)err;
	pthread_once(&is_configured, sqlite_configure);
	*ret_sqlite = (struct sqlite){ SQLITE_FUNCTIONS(SQLITE_VALUE) };
	return 0;
}

void sqlite_unload(struct sqlite *sqlite)
{
	(void)sqlite;
}
