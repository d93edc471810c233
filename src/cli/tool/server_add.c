/* perch tool add --mcp: show what an MCP server would run and see, let the operator decide, look at
 * what it offers, let the operator choose, and write the binding. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/tool/server_view.h"
#include "cli/tool/tool_add.h"
#include "proc/program.h"
#include "service/agent_files.h"

const char *const *add_cut_command(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		*argc = i;
		argv[i] = NULL;
		return (const char *const *)argv + i + 1;
	}
	return NULL;
}

/* ---- the binding ---------------------------------------------------------------- */

static int server_add_lifetime(const char *word, struct tool_binding *binding, perch_err *err)
{
	for (int i = TOOL_LIFETIME_SESSION; word && i <= TOOL_LIFETIME_CALL; i++) {
		if (strcmp(word, tool_lifetime_name((enum tool_lifetime)i)) == 0) {
			binding->server.lifetime = (enum tool_lifetime)i;
			return 0;
		}
	}
	return word ? err_set(err, -EINVAL, "--lifetime is session, shared or call, not '%.100s'", word)
				: 0;
}

const char *add_word_of_server(const struct add_words *words)
{
	const struct {
		const void *given;
		const char *name;
	} options[] = {
		{ words->command, "--" },
		{ words->secrets, "--secrets" },
		{ words->token, "--token" },
		{ words->lifetime, "--lifetime" },
		{ words->elicitation, "--elicitation" },
		{ words->sampling, "--sampling" },
		{ words->roots, "--roots" },
	};
	for (size_t i = 0; i < COUNT(options); i++) {
		if (options[i].given)
			return options[i].name;
	}
	return NULL;
}

/* From where its questions are answered. */
static int server_add_answers(
	const struct add_words *words, struct tool_server *server, perch_err *err)
{
	int r = words->elicitation ? tool_server_set_elicitation(server, words->elicitation, err) : 0;
	if (r == 0 && words->sampling)
		r = tool_server_set_sampling(server, words->sampling, err);
	if (r == 0 && words->roots)
		r = tool_server_set_roots(server, words->roots, err);
	return r;
}

/* It may be made later: a word, and no refusal. */
static void server_add_find_sampler(const struct adding *adding)
{
	const char *name = adding->binding->server.sampler;
	_cleanup_free_ char *path = NULL;
	if (name[0] && (agent_file_path(name, &path, NULL) < 0 || access(path, F_OK) < 0))
		tool_warn(adding->session,
			"there is no agent '%.100s' that could answer: 'perch agent add' makes one", name);
}

/* The program is looked up on PATH once, now: a later PATH does not matter. */
static int server_add_command(struct adding *adding, perch_err *err)
{
	const char *const *command = adding->words->command;
	struct tool_binding *binding = adding->binding;
	_cleanup_free_ char *path = NULL;
	if (!command || !command[0])
		return err_set(err, -EINVAL, "behind -- stands the command of the server");
	if (add_is_url(adding->words))
		return 0; /* taken behind the options */
	int kind = package_parse(command[0], &adding->session->arena, &adding->package, err);
	if (kind < 0)
		return kind;
	adding->has_package = kind > 0;
	if (adding->has_package) { /* what it runs is known once it is installed */
		binding->command = command[0];
		return 0;
	}
	int r = program_find(command[0], (const char *const *)environ, &path, err);
	if (r < 0)
		return r;
	char full[PATH_MAX];
	bool is_relative = path[0] != '/';
	if (access(path, X_OK) < 0)
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	if (is_relative && !realpath(path, full))
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	binding->command = arena_dup(&adding->session->arena, str_from(is_relative ? full : path));
	binding->args = arena_dup_list(&adding->session->arena, command + 1);
	return binding->command && binding->args ? 0 : err_no_memory(err);
}

static int server_add_prepare(struct adding *adding, perch_err *err)
{
	struct tool_binding *binding = adding->binding;
	*binding = tool_binding_default_server();
	binding->name = adding->words->server;
	int r = server_add_command(adding, err);
	if (r == 0)
		r = server_add_lifetime(adding->words->lifetime, binding, err);
	if (r == 0)
		r = server_add_answers(adding->words, &binding->server, err);
	if (r == 0)
		r = add_take_options(adding, err);
	if (r == 0 && add_is_url(adding->words))
		r = add_url(adding, err);
	else if (r == 0 && adding->words->token)
		r = err_set(
			err, -EINVAL, "--token is for remote servers: a program gets its own by --secrets");
	return r < 0 ? r : add_choose_path(adding, err);
}

/* ---- a package --------------------------------------------------------------- */

static int server_add_may_install(struct adding *adding, perch_err *err)
{
	const char *place = NULL;
	int r = package_directory(adding->words->server, &adding->session->arena, &place, err);
	if (r < 0 || adding->words->yes || adding->words->grants.count)
		return r;
	fputs("package ", stderr);
	cli_put_text(stderr, str_from(adding->words->command[0]));
	fputs("\n  into         ", stderr);
	cli_put_text(stderr, str_from(place));
	fputs("\n  network      full, for the installation; scripts of packages are not run\n", stderr);
	return add_ask(adding, "Install it, in a sandbox that writes there alone?", err);
}

static const char *const *server_add_join(
	struct arena *arena, const char *const *one, const char *const *two)
{
	size_t count = 0;
	const char **list = arena_alloc(arena, (list_count(one) + list_count(two) + 1) * sizeof(*list));
	for (; list && one && *one; one++)
		list[count++] = *one;
	for (; list && two && *two; two++)
		list[count++] = *two;
	if (list)
		list[count] = NULL;
	return list;
}

/* The binding is for what was installed. Returns 0, an exit code, or a negative error. */
static int server_add_install(struct adding *adding, perch_err *err)
{
	struct tool_binding *binding = adding->binding;
	struct arena *arena = &adding->session->arena;
	struct package_program program = { 0 };
	int r = server_add_may_install(adding, err);
	if (r == 0)
		r = package_install(
			adding->session, &adding->package, adding->words->server, &program, err);
	if (r)
		return r;
	binding->command = program.command;
	binding->args = server_add_join(arena, program.args, adding->words->command + 1);
	binding->env = program.env;
	binding->widening.read = server_add_join(arena, binding->widening.read, program.read);
	return binding->args && binding->widening.read ? 0 : err_no_memory(err);
}

/* ---- what it offers ---------------------------------------------------------------- */

static void server_add_show(const struct adding *adding, const struct server_view *view)
{
	const struct cli *cli = adding->session->cli;
	if (cli->quiet || ((adding->words->yes || adding->words->grants.count) && !cli->verbose))
		return;
	fputs("server ", stderr);
	cli_put_text(stderr, str_from(view->title));
	fputc(' ', stderr);
	cli_put_text(stderr, str_from(view->version));
	cli_tell(stderr, ", MCP %s\n", view->protocol);
	for (size_t i = 0; i < view->count; i++)
		server_view_show_tool(&view->tools[i]);
	if (view->instructions[0])
		fputs("  instructions for the model:\n", stderr);
	server_view_show_text(stderr, "      ", view->instructions);
}

/* Which of its tools the binding has. Returns as server_view_choose. */
static int server_add_choose(struct adding *adding, const struct server_view *view, perch_err *err)
{
	struct arena *arena = &adding->session->arena;
	const struct server_choice choice = {
		.yes = adding->words->yes,
		.grants = &adding->words->grants,
		.question = "Which of its tools do you allow?",
	};
	const struct tool_known **all = arena_alloc(arena, (view->count + 1) * sizeof(*all));
	bool *chosen = arena_alloc(arena, view->count + 1);
	struct tool_known *kept = arena_alloc(arena, (view->count + 1) * sizeof(*kept));
	if (!all || !chosen || !kept)
		return err_no_memory(err);
	for (size_t i = 0; i < view->count; i++)
		all[i] = &view->tools[i];
	int r = server_view_choose(adding->session, &choice, all, view->count, chosen, err);
	if (r)
		return r;
	size_t count = 0;
	for (size_t i = 0; i < view->count; i++) {
		if (!chosen[i])
			continue;
		kept[count] = view->tools[i];
		kept[count++].asks = adding->words->ask;
	}
	adding->binding->tools = kept;
	adding->binding->tool_count = count;
	return 0;
}

int add_server(struct tool_session *session, void *data, perch_err *err)
{
	struct add_words *words = data;
	struct adding adding = { .session = session, .words = words };
	struct server_view view = { 0 };
	adding.binding = &adding.source.binding;
	adding.requested = (const char *const[]){ NULL };
	int r = add_url_words(session, words, err);
	words->name = words->source = words->server;
	if (r == 0)
		r = server_add_prepare(&adding, err);
	if (r < 0)
		return r == -ENOMEM ? r : add_refuse(&adding, err);
	server_add_find_sampler(&adding);
	if (adding.has_package)
		r = server_add_install(&adding, err);
	if (r == 0)
		r = add_consent(&adding, err);
	if (r == 0)
		r = server_view_take(session, adding.binding, &view, err);
	if (r)
		return r;
	adding.version = view.version;
	server_add_show(&adding, &view);
	r = server_view_keep(&view, &session->arena, adding.binding, err);
	if (r == 0)
		r = server_add_choose(&adding, &view, err);
	if (r < 0)
		return r == -ENOMEM ? r : add_refuse(&adding, err);
	if (words->secrets_place)
		adding.binding->server.secrets = words->secrets_place;
	if (r == 0)
		r = tool_binding_write(adding.binding, err);
	if (r == 0)
		r = add_approve_written(&adding, err);
	return r ? r : add_tell_added(&adding);
}
