/* Debian's SQLite registers these extensions with each connection, a hundredth of a stored turn,
 * and we use none. Where its static library is in pieces, the linker takes these functions for
 * them, and their code is not even a part of the command. */
typedef struct sqlite3 sqlite3;

#define LEFT_OUT(extension)         \
	int extension(sqlite3 *handle); \
	int extension(sqlite3 *handle)  \
	{                               \
		(void)handle;               \
		return 0; /* SQLITE_OK */   \
	}

LEFT_OUT(sqlite3DbstatRegister)
LEFT_OUT(sqlite3Fts3Init)
LEFT_OUT(sqlite3Fts5Init)
LEFT_OUT(sqlite3RtreeInit)
LEFT_OUT(sqlite3StmtVtabInit)
