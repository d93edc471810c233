/* A remote MCP server of a binding. */
#include "tool/server_remote.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "proc/host.h"
#include "tool/secrets.h"
#include "wire/mcp_url.h"

bool server_is_remote(const struct tool_binding *binding)
{
	return binding->server.url && binding->server.url[0];
}

/* ---- the program ------------------------------------------------------------------- */

/* Beside perch-guard: no variable and no PATH has a say in it. */
static int server_remote_program(
	const perch_host *host, struct arena *arena, const char **ret_path, perch_err *err)
{
	const char *guard = host->guard.path;
	const char *slash = strrchr(guard, '/');
	const char *folder =
		arena_dup(arena, (struct str){ guard, slash ? (size_t)(slash - guard) : 0 });
	const char *path = folder ? arena_join(arena, folder, "/perch-remote", NULL) : NULL;
	if (!path)
		return err_no_memory(err);
	if (access(path, X_OK) < 0)
		return err_set(err, -errno,
			"remote servers need perch-remote, and %s: %s; the package perch-remote has it", path,
			perch_strerror(-errno));
	*ret_path = path;
	return 0;
}

int server_remote_fill(const struct tool_binding *binding, const perch_host *host,
	struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	*ret_binding = *binding;
	if (!server_is_remote(binding))
		return 0;
	int r = server_remote_program(host, arena, &ret_binding->command, err);
	if (r < 0)
		return r;
	size_t count = list_count(binding->args);
	const char **args = arena_alloc(arena, (count + 2) * sizeof(*args));
	if (!args)
		return err_no_memory(err);
	memcpy(args, binding->args, count * sizeof(*args));
	args[count] = binding->server.url;
	args[count + 1] = NULL;
	ret_binding->args = args;
	return 0;
}

/* ---- secrets ------------------------------------------------------------------------ */

static int server_remote_token(
	const char *path, struct arena *arena, const char **ret_variable, perch_err *err)
{
	const char *token = NULL;
	char shown[FILE_SHOWN_MAX];
	int r = secrets_read_token(path, arena, &token, err);
	if (r < 0)
		return r;
	for (const char *c = token; *c; c++)
		if (*c <= 0x20 || *c > 0x7e)
			return err_set(err, -EINVAL, "%s: a token is one word", file_shown(path, shown));
	*ret_variable = arena_join(arena, MCP_HEADER_VARIABLE "Authorization=Bearer ", token, NULL);
	return *ret_variable ? 0 : err_no_memory(err);
}

int server_secrets(const struct tool_binding *binding, struct arena *arena,
	const char *const **ret_list, perch_err *err)
{
	const char *const *secrets = NULL;
	int r = secrets_read(binding->server.secrets, arena, &secrets, err);
	*ret_list = secrets;
	if (r < 0 || !server_is_remote(binding))
		return r;
	size_t count = 0;
	const char **list = arena_alloc(arena, (list_count(secrets) + 2) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (; *secrets; secrets++, count++) {
		list[count] = arena_join(arena, MCP_HEADER_VARIABLE, *secrets, NULL);
		if (!list[count])
			return err_no_memory(err);
	}
	if (binding->server.token[0])
		r = server_remote_token(binding->server.token, arena, &list[count++], err);
	list[count] = NULL;
	*ret_list = list;
	return r;
}
