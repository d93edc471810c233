/* SQLite as a part of the command: a static program loads nothing. Stands in for
 * sqlite.c there. */
#include <pthread.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/sqlite.h"
#include "base/macros.h"

#define SQLITE_VALUE(name) .name = sqlite3_##name,

/* What a connection sets aside for itself; SQLite's own choice is 120 KB and 20 pages, which it
 * links into lists at once: fifty page faults before the first statement. */
enum { SLOT_BYTES = 1200, SLOTS = 16, CACHED_PAGES = 6 };

/* The first process that opens a log has its index alone. SQLite cuts that to these few bytes, and
 * makes it longer again page by page: the same zeros, for which a file system has to work. */
enum { INDEX_CUT = 3, INDEX_BYTES = 32 * 1024, INDEX_PAGE = 4096 };

static int sqlite_clear_index(int fd)
{
	static const char zeros[INDEX_PAGE];
	struct iovec pages[INDEX_BYTES / INDEX_PAGE];
	for (size_t i = 0; i < COUNT(pages); i++)
		pages[i] = (struct iovec){ (void *)(uintptr_t)zeros, INDEX_PAGE };
	return pwritev(fd, pages, COUNT(pages), 0) == INDEX_BYTES ? 0 : -1;
}

static int sqlite_truncate(int fd, off_t length)
{
	struct stat status;
	bool is_index = length == INDEX_CUT && fstat(fd, &status) == 0 && status.st_size == INDEX_BYTES;
	return is_index && sqlite_clear_index(fd) == 0 ? 0 : ftruncate(fd, length);
}

/* It is asked for whenever root opens a log, which mostly belongs to whom it should. */
static int sqlite_change_owner(int fd, uid_t user, gid_t group)
{
	struct stat status;
	bool is_theirs = fstat(fd, &status) == 0 && status.st_uid == user && status.st_gid == group;
	return is_theirs ? 0 : fchown(fd, user, group);
}

static void sqlite_replace_calls(void)
{
	sqlite3_vfs *system = sqlite3_vfs_find(NULL);
	if (!system || system->iVersion < 3 || !system->xSetSystemCall)
		return;
	system->xSetSystemCall(system, "ftruncate", (sqlite3_syscall_ptr)sqlite_truncate);
	system->xSetSystemCall(system, "fchown", (sqlite3_syscall_ptr)sqlite_change_owner);
}

/* In a program of our own it is ours to say. */
static void sqlite_configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, SLOT_BYTES, SLOTS);
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, CACHED_PAGES);
	sqlite_replace_calls();
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
