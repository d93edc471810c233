/* The secrets of a server that is imported: variables, arguments that look like keys, headers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/tool/import.h"

/* A placeholder gets the variable of the environment that it names; a stranger's file must not
 * choose which of these a server is given. */
static int import_secrets_value(const struct import_server *server, const char *name,
	const char *value, const char **ret_value, perch_err *err)
{
	struct str variable;
	*ret_value = value;
	if (!client_is_placeholder(value, &variable))
		return 0;
	_cleanup_free_ char *word = str_dup(variable.len ? variable : str_from(name));
	const char *found = word && !server->importing->is_stranger ? getenv(word) : NULL;
	if (!found)
		return err_set(err, -ENOKEY,
			"the value of %.100s is a placeholder: set %.100s and import it again, or put the "
			"value into a file for perch tool add --mcp … --secrets FILE",
			name, word ? word : name);
	*ret_value = arena_dup(&server->importing->session->arena, str_from(found));
	return *ret_value ? 0 : err_no_memory(err);
}

static int import_secrets_put(
	struct import_server *server, const char *name, const char *value, perch_err *err)
{
	const char *pair = arena_join(&server->importing->session->arena, name, "=", value, NULL);
	if (!pair)
		return err_no_memory(err);
	server->secrets[server->secret_count++] = pair;
	server->secrets[server->secret_count] = NULL;
	return 0;
}

static int import_secrets_keep(
	struct import_server *server, const char *name, const char *value, perch_err *err)
{
	const char *filled = NULL;
	int r = import_secrets_value(server, name, value, &filled, err);
	return r < 0 ? r : import_secrets_put(server, name, filled, err);
}

/* A variable by which a program runs other code than is shown. Those that interpreters heed are a
 * user's own affair; in the file of a stranger they are not. */
static bool import_runs_code(const struct import_server *server, const char *pair)
{
	static const char *const names[] = { "BASH_ENV", "DOTNET_STARTUP_HOOKS", "ENV", "GCONV_PATH",
		"GIT_SSH_COMMAND", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "NODE_PATH",
		"PATH", "PERL5LIB", "PERL5OPT", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "RUBYLIB",
		"RUBYOPT", "_JAVA_OPTIONS" };
	if (strncmp(pair, "LD_", 3) == 0)
		return true;
	for (size_t i = 0; server->importing->is_stranger && i < COUNT(names); i++) {
		if (str_is(environment_name(pair), names[i]))
			return true;
	}
	return false;
}

int import_take_env(struct import_server *server, perch_err *err)
{
	int r = 0;
	for (const char *const *pair = server->given->env; r == 0 && *pair; pair++) {
		if (import_runs_code(server, *pair))
			return err_set(err, -EPERM,
				"it sets %.*s, which puts other code into the program: take it out of the file",
				(int)environment_name(*pair).len, *pair);
		struct str value = str_from(*pair);
		_cleanup_free_ char *name = str_dup(str_cut(&value, '='));
		const char *kept =
			name ? arena_dup(&server->importing->session->arena, str_from(name)) : NULL;
		r = kept ? import_secrets_keep(server, kept, *pair + strlen(kept) + 1, err)
				 : err_no_memory(err);
	}
	return r;
}

/* An argument whose value is a secret has a name in its place, which the start replaces. */
static int import_secrets_hide_argument(
	struct import_server *server, const char **word, size_t begin, perch_err *err)
{
	struct arena *arena = &server->importing->session->arena;
	char name[32];
	snprintf(name, sizeof(name), "PERCH_ARGUMENT_%zu", server->secret_count + 1);
	const char *kept = arena_dup(arena, str_from(name));
	const char *before = arena_dup(arena, (struct str){ *word, begin });
	if (!kept || !before)
		return err_no_memory(err);
	int r = import_secrets_keep(server, kept, *word + begin, err);
	*word = arena_join(arena, before, "${", kept, "}", NULL);
	return r < 0 ? r : *word ? 0 : err_no_memory(err);
}

int import_take_args(struct import_server *server, perch_err *err)
{
	int r = 0;
	for (const char **word = server->command + 1; r == 0 && word[-1] && *word; word++) {
		size_t begin;
		if (!client_secret_option(*word, &begin))
			continue;
		if (begin)
			r = import_secrets_hide_argument(server, word, begin, err);
		else if (word[1] && word[1][0] != '-')
			r = import_secrets_hide_argument(server, word + 1, 0, err), word++;
	}
	return r;
}

/* A header may have placeholders in the middle: Bearer ${env:TOKEN}. */
static int import_secrets_fill(const struct import_server *server, const char *name,
	const char *value, const char **ret_value, perch_err *err)
{
	struct arena *arena = &server->importing->session->arena;
	const char *begin = strstr(value, "${");
	const char *end = begin ? strchr(begin, '}') : NULL;
	const char *filled = NULL, *rest = NULL;
	if (!end)
		return import_secrets_value(server, name, value, ret_value, err);
	const char *before = arena_dup(arena, (struct str){ value, (size_t)(begin - value) });
	const char *place = arena_dup(arena, (struct str){ begin, (size_t)(end - begin) + 1 });
	if (!before || !place)
		return err_no_memory(err);
	int r = import_secrets_value(server, name, place, &filled, err);
	if (r == 0 && end[1])
		r = import_secrets_fill(server, name, end + 1, &rest, err);
	if (r < 0)
		return r;
	*ret_value = arena_join(arena, before, filled, rest ? rest : "", NULL);
	return *ret_value ? 0 : err_no_memory(err);
}

/* A remote server: what a client sends with each request is a secret. */
int import_take_url(struct import_server *server, perch_err *err)
{
	struct arena *arena = &server->importing->session->arena;
	const struct client_server *given = server->given;
	int r = 0;
	if (given->is_sse)
		return err_set(err, -EPROTONOSUPPORT,
			"it speaks HTTP+SSE, the transport before Streamable HTTP, which perch does not");
	server->command = arena_alloc(arena, 2 * sizeof(*server->command));
	if (!server->command)
		return err_no_memory(err);
	server->command[0] = given->url;
	server->command[1] = NULL;
	for (const char *const *pair = given->headers; r == 0 && *pair; pair++) {
		const char *value = strchr(*pair, '=') + 1, *filled = NULL;
		const char *name = arena_dup(arena, environment_name(*pair));
		r = name ? import_secrets_fill(server, name, value, &filled, err) : err_no_memory(err);
		if (r == 0)
			r = import_secrets_put(server, name, filled, err);
	}
	return r;
}
