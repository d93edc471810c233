/* An MCP server as its operator sees it: what it offers, read from a visit, and which of that is
 * allowed. */
#ifndef CLI_TOOL_SERVER_VIEW_H
#define CLI_TOOL_SERVER_VIEW_H

#include "cli/tool/tool_commands.h"

/* What it said at a visit; all in the session's arena. */
struct server_view {
	const char *title, *version, *protocol;
	enum mcp_upstream_era era;
	bool speaks_both;
	const char *const *offers; /* as in struct tool_server */
	const char *instructions;
	struct tool_known *tools;
	size_t count;
};

/* Starts the server in its sandbox, asks what it offers and ends it. Returns 0, the exit code of a
 * verdict that was told, or a negative error. */
int server_view_take(struct tool_session *session, const struct tool_binding *binding,
	struct server_view *ret_view, perch_err *err);

/* With everything that hides in it revealed: a tool on stderr, a text of several lines. */
void server_view_show_tool(const struct tool_known *tool);
void server_view_show_text(FILE *stream, const char *before, const char *text);

/* What it may ask beyond what it sees, a line each behind its title, which `margin` ("%-14s") puts
 * into its column. */
void server_view_show_answers(FILE *stream, const char *margin, const struct tool_server *server);

/* What else a model reads of it: the texts of its schemas and annotations, a line each. */
void server_texts_show(const struct tool_known *tool);

const struct tool_known *server_view_find(const struct server_view *view, const char *name);

/* Takes it over into the binding, without its tools. -ENOMEM. */
int server_view_keep(const struct server_view *view, struct arena *arena,
	struct tool_binding *binding, perch_err *err);

/* Which tools the operator allows: those of --grant, all with --yes, else they are asked. `chosen`
 * has a place for each. Returns 0, an exit code after words, or a negative error; -ENOTTY: no user
 * can be asked. */
struct server_choice {
	bool yes;
	const struct option_list *grants;
	const char *question; /* about all of them */
};
int server_view_choose(struct tool_session *session, const struct server_choice *choice,
	const struct tool_known *const *tools, size_t count, bool *chosen, perch_err *err);

#endif
