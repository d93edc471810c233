/* The parts of `perch tool import`. */
#ifndef CLI_TOOL_IMPORT_H
#define CLI_TOOL_IMPORT_H

#include "cli/tool/client_servers.h"
#include "cli/tool/tool_add.h"

struct import_words {
	const char *file;
	struct option_list names; /* of the servers that are wanted; none = all */
	bool yes, trusts, replaces;
};

struct importing {
	struct tool_session *session;
	const struct import_words *words;
	bool is_stranger; /* somebody else may have written the file */
	size_t bound, failed;
};

/* One of them, on its way to a binding. */
struct import_server {
	struct importing *importing;
	const struct client_server *given;
	const char *name;
	const char **command; /* ends with NULL */
	const char **secrets; /* NAME=VALUE, ends with NULL */
	size_t secret_count;
};

/* ---- import_secrets.c -------------------------------------------------------- */

/* Each moves the secrets of a server's part into its list: -ENOKEY where one is a placeholder that
 * nothing fills. The address of a remote server becomes its command. */
int import_take_env(struct import_server *server, perch_err *err);
int import_take_args(struct import_server *server, perch_err *err);
int import_take_url(struct import_server *server, perch_err *err);

#endif
