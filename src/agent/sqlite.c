/* SQLite, loaded on use. */
#include "agent/sqlite.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"

#define SQLITE_LIBRARY "libsqlite3.so.0"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define SQLITE_ENTRY(name) { "sqlite3_" #name, offsetof(struct sqlite, name) },
	SQLITE_FUNCTIONS(SQLITE_ENTRY)
};

static int sqlite_no_library(const char *why, perch_err *err)
{
	return err_set(err, -ENOENT,
		"sessions are kept with SQLite, which cannot be loaded: %s; install " SQLITE_LIBRARY
		" (Debian: libsqlite3-0)",
		why);
}

/* It stays in memory once it is there: its own state must not be lost and made
 * anew with each use. */
int sqlite_load(struct sqlite *ret_sqlite, perch_err *err)
{
	struct sqlite sqlite = { .handle =
								 dlopen(SQLITE_LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) };
	if (!sqlite.handle)
		return sqlite_no_library(dlerror(), err);
	for (size_t i = 0; i < COUNT(functions); i++) {
		void *function = dlsym(sqlite.handle, functions[i].name);
		if (!function) {
			dlclose(sqlite.handle);
			return sqlite_no_library("it is too old", err);
		}
		memcpy((char *)&sqlite + functions[i].offset, &function, sizeof(function));
	}
	*ret_sqlite = sqlite;
	return 0;
}

void sqlite_unload(struct sqlite *sqlite)
{
	if (sqlite->handle)
		dlclose(sqlite->handle);
	sqlite->handle = NULL;
}
