/* What Debian's SQLite has and we never ask for: extensions that it registers with each connection,
 * a hundredth of a stored turn, functions of JSON, the names of its instructions and of its
 * options, and loading code from files. Where its static library is in pieces, the linker takes
 * these functions for them, and their code and tables are not even a part of the command. */
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
LEFT_OUT(sqlite3JsonTableFunctions)

void sqlite3RegisterJsonFunctions(void);
void sqlite3RegisterJsonFunctions(void)
{
}

const char *sqlite3OpcodeName(int number);
const char *sqlite3OpcodeName(int number)
{
	(void)number;
	return "";
}

const char **sqlite3CompileOptions(int *ret_count);
const char **sqlite3CompileOptions(int *ret_count)
{
	static const char *none[1];
	*ret_count = 0;
	return none;
}

void sqlite3AutoLoadExtensions(sqlite3 *handle);
void sqlite3AutoLoadExtensions(sqlite3 *handle)
{
	(void)handle;
}

void sqlite3CloseExtensions(sqlite3 *handle);
void sqlite3CloseExtensions(sqlite3 *handle)
{
	(void)handle;
}

void sqlite3_reset_auto_extension(void);
void sqlite3_reset_auto_extension(void)
{
}

int sqlite3_load_extension(sqlite3 *handle, const char *file, const char *entry, char **ret_why);
int sqlite3_load_extension(sqlite3 *handle, const char *file, const char *entry, char **ret_why)
{
	(void)handle, (void)file, (void)entry, (void)ret_why;
	return 1; /* SQLITE_ERROR */
}
