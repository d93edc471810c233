/* What the verbs of `perch mcp` share. */
#ifndef CLI_MCP_MCP_COMMANDS_H
#define CLI_MCP_MCP_COMMANDS_H

#include "base/buf.h"
#include "cli/cli.h"

/* Each verb stands at the end of its own file. */
extern const struct command mcp_verb_connect;
extern const struct command mcp_verb_list;
extern const struct command mcp_verb_call;
extern const struct command mcp_verb_inspect;

/* ---- mcp_clients.c: the MCP clients whose configuration perch can write ---------- */

struct mcp_client_file {
	const char *name;  /* on the command line */
	const char *title; /* for people */
	const char *path;  /* below the home directory; below .config: below $XDG_CONFIG_HOME */
	const char *key;   /* the member, or table, that holds its servers */
	const char *extra; /* members of a server beside command and args, JSON; "" = none */
	bool is_toml;
	const char *then; /* what its user does next */
};

/* The table ends with a NULL name. */
extern const struct mcp_client_file mcp_client_files[];

/* NULL = there is none of this name. */
const struct mcp_client_file *mcp_client_find(const char *name);

/* The text of its configuration with the server `perch` in it, which is this command. 1 when that
 * changes something, 0 when not; fails as json_edit_set and toml_edit_replace do. */
int mcp_client_edit(const struct mcp_client_file *client, struct str text,
	const char *const *command, struct buf *ret_text, perch_err *err);

#endif
