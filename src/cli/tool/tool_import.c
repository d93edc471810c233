/* perch tool import: binds the MCP servers that the configuration of a client names, each with an
 * approval of its own. The client's file is only read. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "cli/tool/import.h"
#include "tool/secrets.h"

static void tool_import_note(const char *name, const char *words, const char *about)
{
	cli_put_text(stderr, str_from(name));
	fputs(": ", stderr);
	fputs(words, stderr);
	cli_put_text(stderr, str_from(about));
	fputc('\n', stderr);
}

/* ---- whose file it is ------------------------------------------------------------ */

/* A file that lies in a repository came with the repository, whichever user owns it now. */
static bool tool_import_is_in_project(const char *full)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "";
	char folder[PATH_MAX + 8];
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", full);
	for (char *slash; (slash = strrchr(path, '/')) && slash != path;) {
		*slash = '\0';
		snprintf(folder, sizeof(folder), "%s/.git", path);
		if (strcmp(path, home) == 0)
			return false;
		if (access(folder, F_OK) == 0)
			return true;
	}
	return false;
}

static int tool_import_judge(struct importing *importing, perch_err *err)
{
	struct stat info;
	char full[PATH_MAX];
	const char *file = importing->words->file;
	if (!realpath(file, full) || stat(full, &info) < 0)
		return err_set(err, -errno, "%s: %s", file, perch_strerror(-errno));
	importing->is_stranger = info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) ||
		tool_import_is_in_project(full);
	if (importing->is_stranger && importing->words->yes && !importing->words->trusts)
		return err_set(err, -EPERM,
			"%s lies in a project, or others may write it: look at each server on a terminal, or "
			"say --trust, too",
			file);
	return 0;
}

/* ---- the command --------------------------------------------------------------------- */

/* npx and uvx fetch a package at every start: it is installed once instead. */
static const char *tool_import_package(struct arena *arena, const char *command, const char *word)
{
	const char *slash = strrchr(command, '/');
	const char *program = slash ? slash + 1 : command;
	if (strcmp(program, "npx") == 0)
		return arena_join(arena, "npm:", word, NULL);
	return strcmp(program, "uvx") == 0 ? arena_join(arena, "pip:", word, NULL) : NULL;
}

static int tool_import_command(struct import_server *server, perch_err *err)
{
	const struct client_server *given = server->given;
	struct arena *arena = &server->importing->session->arena;
	size_t count = 0, first = 0, at = 0;
	while (given->args[count])
		count++;
	server->command = arena_alloc(arena, (count + 2) * sizeof(*server->command));
	if (!server->command)
		return err_no_memory(err);
	while (first < count &&
		(strcmp(given->args[first], "-y") == 0 || strcmp(given->args[first], "--yes") == 0))
		first++;
	const char *package = first < count && given->args[first][0] != '-'
		? tool_import_package(arena, given->command, given->args[first])
		: NULL;
	server->command[at++] = package ? package : given->command;
	for (size_t i = package ? first + 1 : 0; i < count; i++)
		server->command[at++] = given->args[i];
	server->command[at] = NULL;
	return import_take_args(server, err);
}

/* ---- a server --------------------------------------------------------------------------- */

static const char *tool_import_name(struct arena *arena, const char *given)
{
	char *name = arena_dup(arena, str_from(given));
	for (char *c = name; c && *c; c++) {
		bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			(*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
		*c = is_plain ? *c : '-';
	}
	return name;
}

static int tool_import_prepare(struct import_server *server, perch_err *err)
{
	struct arena *arena = &server->importing->session->arena;
	const struct client_server *given = server->given;
	size_t most = 1 + list_count(given->env) + list_count(given->args) + list_count(given->headers);
	server->name = tool_import_name(arena, given->name);
	server->secrets = arena_alloc(arena, most * sizeof(*server->secrets));
	if (!server->name || !server->secrets)
		return err_no_memory(err);
	server->secrets[0] = NULL;
	if (!given->command[0] && given->url[0])
		return import_take_url(server, err);
	if (!given->command[0])
		return err_set(err, -EPROTONOSUPPORT, "it has no command");
	int r = import_take_env(server, err);
	return r < 0 ? r : tool_import_command(server, err);
}

/* The secrets of the present binding stay in use until the new one is approved. */
static int tool_import_put_secrets(const char *fresh, const char *path, perch_err *err)
{
	if (rename(fresh, path) == 0)
		return 0;
	int r = -errno;
	unlink(fresh);
	return err_set(err, r, "cannot put the secrets into %s: %s", path, perch_strerror(r));
}

/* The secrets are written before the server's first start, under a name that no server has, and
 * removed if the server is not bound. */
static int tool_import_bind(struct import_server *server, perch_err *err)
{
	const struct import_words *words = server->importing->words;
	struct tool_session *session = server->importing->session;
	_cleanup_free_ char *folder = NULL;
	int r = paths_user(PATH_CONFIG, "perch/secrets", &folder, err);
	const char *path = r == 0 ? arena_join(&session->arena, folder, "/", server->name, NULL) : NULL;
	const char *fresh = path ? arena_join(&session->arena, path, ".new", NULL) : NULL;
	if (r == 0 && !fresh)
		r = err_no_memory(err);
	if (r == 0 && server->secret_count && !words->replaces && access(path, F_OK) == 0)
		r = err_set(err, -EEXIST, "%s is there already; --replace overwrites it", path);
	if (r == 0 && server->secret_count)
		r = secrets_write(fresh, server->secrets, err);
	if (r < 0)
		return r;
	struct add_words add = {
		.server = server->name,
		.command = (const char *const *)server->command,
		.secrets = server->secret_count ? fresh : NULL,
		.secrets_place = server->secret_count ? path : NULL,
		.yes = words->yes,
		.replace = words->replaces,
	};
	r = add_server(session, &add, err);
	if (!server->secret_count)
		return r;
	if (r == 0)
		return tool_import_put_secrets(fresh, path, err);
	unlink(fresh);
	return r;
}

static void tool_import_one(struct importing *importing, const struct client_server *given)
{
	struct import_server server = { .importing = importing, .given = given };
	perch_err err = { 0 };
	int r = tool_import_prepare(&server, &err);
	if (r == 0)
		r = tool_import_bind(&server, &err);
	if (r < 0)
		tool_import_note(given->name, "not imported: ", err.text);
	importing->bound += r == 0;
	importing->failed += r != 0;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static int tool_import_read(
	struct importing *importing, struct client_servers *ret_servers, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *file = importing->words->file;
	struct arena *arena = &importing->session->arena;
	perch_err inner = { 0 };
	int r = file_read(file, CLIENT_FILE_MAX, &text, err);
	if (r < 0)
		return r;
	const struct str whole = { text.data ? text.data : "", text.len };
	r = str_has_suffix(str_from(file), STR(".toml"))
		? client_servers_read_toml(whole, arena, ret_servers, &inner)
		: client_servers_read_json(whole, arena, ret_servers, &inner);
	return r < 0 ? file_blame(err, file, &inner) : 0;
}

static int tool_import_body(struct tool_session *session, void *data, perch_err *err)
{
	struct importing importing = { .session = session, .words = data };
	struct client_servers servers = { 0 };
	int r = tool_import_judge(&importing, err);
	if (r == 0)
		r = tool_import_read(&importing, &servers, err);
	if (r < 0) {
		const perch_tool_result result =
			tool_refusal(PERCH_TOOL_INVALID_REQUEST, "binding", NULL, err);
		return tool_tell(session, &result);
	}
	for (size_t i = 0; i < servers.count; i++) {
		const struct client_server *server = &servers.items[i];
		bool is_named = importing.words->names.count;
		if (!options_want(&importing.words->names, server->name))
			continue;
		if (server->is_disabled && !is_named)
			tool_import_note(server->name, "not imported: it is disabled there", "");
		else
			tool_import_one(&importing, server);
	}
	if (!importing.bound && !importing.failed)
		fputs("nothing to import\n", stderr);
	return importing.failed ? tool_exit_code(PERCH_TOOL_LAUNCH_FAILED) : 0;
}

static int tool_import_run(struct cli *cli, int argc, char **argv)
{
	struct import_words words = { 0 };
	const struct option_spec specs[] = {
		{ "server", 0, OPTION_LIST, &words.names },
		{ "yes", 'y', OPTION_FLAG, &words.yes },
		{ "trust", 0, OPTION_FLAG, &words.trusts },
		{ "replace", 0, OPTION_FLAG, &words.replaces },
		TOOL_GLOBALS(cli),
	};
	int r = tool_words(specs, argc, argv, "write: perch tool import FILE", 1, 1, &words.file);
	if (r == 0)
		r = tool_in_session(cli, tool_import_body, &words);
	free(words.names.items);
	return r;
}

const struct command tool_verb_import = {
	.name = "import",
	.summary = "bind the MCP servers that a client's configuration names",
	.help = "usage: perch tool import FILE [OPTIONS]\n"
			"\n"
			"Binds the MCP servers of a client: of Claude Desktop, Claude Code, Cursor, VS\n"
			"Code, Gemini, Windsurf, Zed (JSON), Codex (TOML). Each is shown, started in its\n"
			"sandbox and approved as by perch tool add --mcp; remote ones, too. Variables,\n"
			"headers, and arguments that look like keys go into a file of mode 600 that the\n"
			"binding names. FILE stays as it is. npx and uvx become npm: and pip:, which are\n"
			"installed once.\n"
			"\n"
			"  --server NAME   this one alone (again for more)\n"
			"  -y, --yes       allow each server and all its tools\n"
			"  --trust         with --yes, of a file that lies in a project, too\n"
			"  --replace       overwrite bindings that are there\n"
			"\n"
			"example:\n"
			"  perch tool import ~/.cursor/mcp.json\n",
	.run = tool_import_run,
};
