/* A remote MCP server of a binding: perch-remote stands in its place, and is told the secrets as
 * headers. */
#ifndef TOOL_SERVER_REMOTE_H
#define TOOL_SERVER_REMOTE_H

#include "perch/host.h"
#include "tool/binding.h"

bool server_is_remote(const struct tool_binding *binding);

/* The binding with the program and its words; one of a program is as it was. -ENOMEM, -ENOENT: it
 * is not installed. */
int server_remote_fill(const struct tool_binding *binding, const perch_host *host,
	struct arena *arena, struct tool_binding *ret_binding, perch_err *err);

/* The variables of its process: of a program, the secrets as they are; of a remote server, each is
 * a header, and so is the token. Fails as secrets_read does. */
int server_secrets(const struct tool_binding *binding, struct arena *arena,
	const char *const **ret_list, perch_err *err);

#endif
