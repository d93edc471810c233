/* What a plugin would run and see, what it requests, and which of that is granted. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/tool/server_view.h"
#include "cli/tool/tool_add.h"
#include "cli/ui/envelope.h"
#include "tool/secrets.h"
#include "tool/server_remote.h"
#include "wire/mcp_url.h"

static void tool_grant_show_list(const char *title, const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++) {
		fprintf(stderr, "  %-13s", i ? "" : title);
		cli_put_text(stderr, str_from(list[i]));
		fputc('\n', stderr);
	}
}

static void tool_grant_show_text(const char *title, const char *text)
{
	tool_grant_show_list(title, (const char *const[]){ text, NULL });
}

static void tool_grant_show_tools(const struct adding *adding)
{
	for (size_t i = 0; i < adding->binding->tool_count; i++) {
		const struct tool_known *tool = &adding->binding->tools[i];
		const struct bundle_tool *said = tool_source_tool(&adding->source, str_from(tool->name));
		fprintf(stderr, "  %-13s", i ? "" : "tools");
		cli_put_text(stderr, str_from(tool->name));
		fputs(said && said->is_mutating ? "  (says that it changes things)" : "", stderr);
		fputs(tool->description[0] ? "  " : "", stderr);
		cli_put_text(stderr, str_from(tool->description));
		fputc('\n', stderr);
	}
}

/* ---- before it is started ------------------------------------------------------ */

bool add_holds_home(const char *path)
{
	char home[PATH_MAX];
	char full[PATH_MAX];
	const char *given = getenv("HOME");
	return path[0] && given && given[0] && realpath(given, home) && realpath(path, full) &&
		policy_is_inside(home, full);
}

static void tool_grant_warn_of(const struct adding *adding, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	if (add_holds_home(path))
		tool_warn(adding->session,
			"it sees your home directory, by %s: the histories of shells and editors, documents, "
			"whatever has no place among the secrets; put it into a folder of its own",
			file_shown(path, shown));
}

/* The directory of the command; NULL without memory. */
static const char *tool_grant_folder(const struct adding *adding)
{
	const char *command = adding->binding->command;
	const char *slash = strrchr(command, '/');
	size_t len = slash && slash > command ? (size_t)(slash - command) : 1;
	return arena_dup(&adding->session->arena, (struct str){ command, len });
}

/* The tool's folders, and the paths that the operator has named. */
static void tool_grant_show_visible(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	const char *folder = tool_grant_folder(adding);
	bool has_other = binding->directory[0] && folder && strcmp(binding->directory, folder) != 0;
	const char *const own[] = { folder ? folder : binding->command,
		has_other ? binding->directory : NULL, NULL };
	if (binding->widening.is_off)
		return tool_grant_show_text("sandbox", "OFF: it runs with all your rights");
	if (!server_is_remote(binding))
		tool_grant_show_list("sees", own);
	tool_grant_show_list("reads", binding->widening.read);
	tool_grant_show_list("writes", binding->widening.write);
	tool_grant_show_list("gets", binding->widening.env);
	tool_grant_show_text("network", binding->widening.net == WIDENING_NET_FULL ? "full" : "none");
}

/* Only their names. If the file cannot be read, the start of the tool reports that. */
static void tool_grant_show_secrets(const struct adding *adding)
{
	const char *const *list = NULL;
	const char *path = adding->binding->server.secrets;
	if (!path || secrets_read(path, &adding->session->arena, &list, NULL) < 0)
		return;
	for (size_t i = 0; list[i]; i++) {
		fprintf(stderr, "  %-13s",
			i                                       ? ""
				: server_is_remote(adding->binding) ? "headers"
													: "secrets");
		cli_put_text(stderr, environment_name(list[i]));
		fputc('\n', stderr);
	}
}

/* The host first: it is who gets what is said, and the secrets. */
static void tool_grant_show_remote(const struct adding *adding)
{
	const struct tool_server *server = &adding->binding->server;
	struct mcp_url url = { 0 };
	if (mcp_url_read(server->url, &url, NULL) == 0) {
		fprintf(stderr, "  %-13s", "host");
		cli_put_text(stderr, url.host);
		fputs(url.is_tls ? "\n" : "  (this machine, without TLS)\n", stderr);
	}
	tool_grant_show_text("connects to", server->url);
	if (server->token[0])
		tool_grant_show_text("token", server->token);
}

static void tool_grant_show_program(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	fputs("plugin ", stderr);
	if (adding->source.has_bundle)
		cli_put_text(stderr, str_from(binding->name));
	else
		cli_put_text(stderr, str_from(adding->words->source));
	fputc('\n', stderr);
	if (server_is_remote(binding))
		tool_grant_show_remote(adding);
	else
		tool_grant_show_text("runs", binding->command);
	tool_grant_show_list("with", binding->args);
	if (binding->directory[0])
		tool_grant_show_text("in", binding->directory);
	tool_grant_show_list("sets", binding->env);
	tool_grant_show_secrets(adding);
	tool_grant_show_visible(adding);
	server_view_show_answers(stderr, "  %-13s", &binding->server);
	if (binding->verdict == TOOL_VERDICT_RESPONSE)
		tool_grant_show_text("verdict", tool_verdict_words(binding->verdict));
	tool_grant_show_list("requests", adding->requested);
}

/* Warns of a tool that sees the whole home directory, also where an option has decided. */
static void tool_grant_warn(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	const char *folder = tool_grant_folder(adding);
	if (binding->widening.is_off)
		return;
	if (!server_is_remote(binding))
		tool_grant_warn_of(adding, folder ? folder : "");
	if (!folder || strcmp(folder, binding->directory) != 0)
		tool_grant_warn_of(adding, binding->directory);
	for (const char *const *path = binding->widening.read; path && *path; path++)
		tool_grant_warn_of(adding, *path);
}

/* ---- behind the handshake ------------------------------------------------------- */

static void tool_grant_show_request(const struct adding *adding)
{
	fputs("plugin ", stderr);
	cli_put_text(stderr, str_from(adding->binding->name));
	fputc(' ', stderr);
	cli_put_text(stderr, str_from(adding->version));
	fputc('\n', stderr);
	tool_grant_show_tools(adding);
	if (adding->requested[0])
		tool_grant_show_list("requests", adding->requested);
	else
		tool_grant_show_text("requests", "no capabilities");
}

static int tool_grant_refuse_grant(const struct adding *adding, const char *word)
{
	const char *near = str_nearest(
		word, adding->requested, list_count(adding->requested), sizeof(*adding->requested));
	char hint[256];
	snprintf(hint, sizeof(hint), "did you mean: %.200s", near ? near : "");
	return cli_usage_error(near ? hint : "grant what it requests, or some of it",
		"the plugin does not request the capability '%s'", word);
}

/* How many words --grant a,b --grant c can have. */
static size_t tool_grant_count_grants(const struct option_list *grants)
{
	size_t most = 0;
	for (size_t i = 0; i < grants->count; i++) {
		most++;
		for (const char *c = grants->items[i]; *c; c++)
			most += *c == ',';
	}
	return most;
}

/* They must be among the requested ones. */
static int tool_grant_read_grants(struct adding *adding, perch_err *err)
{
	struct arena *arena = &adding->session->arena;
	const struct option_list *grants = &adding->words->grants;
	const char **granted =
		arena_alloc(arena, (tool_grant_count_grants(grants) + 1) * sizeof(*granted));
	size_t count = 0;
	if (!granted)
		return err_no_memory(err);
	for (size_t i = 0; i < grants->count; i++) {
		struct str rest = str_from(grants->items[i]);
		while (rest.len) {
			const char *word = arena_dup(arena, str_trim(str_cut(&rest, ',')));
			if (!word)
				return err_no_memory(err);
			if (!list_has(adding->requested, word))
				return tool_grant_refuse_grant(adding, word);
			granted[count++] = word;
		}
	}
	granted[count] = NULL;
	adding->binding->capabilities = granted;
	return 0;
}

int add_ask(struct adding *adding, const char *question, perch_err *err)
{
	int r = tool_ask(adding->session->cli, question, err);
	if (r > 0)
		return 0;
	if (r == -ENOTTY)
		err_set(err, -EACCES,
			"nobody is there to say whether that is allowed: --yes grants what the plugin "
			"requests, --grant A,B a part of it");
	if (r == 0) { /* an answer, and no error */
		fputs("not bound: nothing was changed\n", stderr);
		return tool_exit_code(PERCH_TOOL_INVALID_REQUEST);
	}
	return r == -ENOTTY || r == -ECANCELED ? add_refuse(adding, err) : r;
}

static bool tool_grant_is_decided(const struct adding *adding)
{
	return adding->words->yes || adding->words->grants.count;
}

static bool tool_grant_is_shown(const struct adding *adding)
{
	const struct cli *cli = adding->session->cli;
	return !cli->quiet && (!tool_grant_is_decided(adding) || cli->verbose);
}

/* A bundle says what the plugin requests, so that one question is enough if the plugin requests no
 * more. */
int add_consent(struct adding *adding, perch_err *err)
{
	if (tool_grant_is_shown(adding))
		tool_grant_show_program(adding);
	tool_grant_warn(adding);
	int r = add_interpreter(adding, tool_grant_is_decided(adding), err);
	if (r || tool_grant_is_decided(adding))
		return r;
	adding->bundled = adding->requested && adding->requested[0] ? adding->requested : NULL;
	return add_ask(adding,
		adding->bundled                         ? "Start it, bind it, and grant what it requests?"
			: server_is_remote(adding->binding) ? "Connect to it, to see what it offers?"
			: adding->words->server             ? "Start it in this sandbox, to see what it offers?"
									: "Start it in this sandbox, to see what it requests?",
		err);
}

/* Whether the plugin requests only what the user has agreed to before the start. */
static bool tool_grant_keeps_to_bundle(const struct adding *adding)
{
	for (const char *const *word = adding->requested; adding->bundled && *word; word++) {
		if (!list_has(adding->bundled, *word))
			return false;
	}
	return adding->bundled;
}

int add_decide(struct adding *adding, perch_err *err)
{
	if (tool_grant_is_shown(adding))
		tool_grant_show_request(adding);
	if (adding->words->grants.count)
		return tool_grant_read_grants(adding, err);
	adding->binding->capabilities = adding->requested;
	if (adding->words->yes || tool_grant_keeps_to_bundle(adding))
		return 0;
	return add_ask(adding, "Bind it, and grant what it requests?", err);
}

int add_tell_added(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	if (!adding->session->cli->json) {
		fputs("bound ", stdout);
		cli_put_text(stdout, str_from(adding->name));
		printf(": %zu tool%s, %s\n", binding->tool_count, binding->tool_count == 1 ? "" : "s",
			binding->path);
		if (binding->verdict == TOOL_VERDICT_RESPONSE)
			printf("verdict = %s\n", tool_verdict_words(binding->verdict));
		return 0;
	}
	struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	perch_json_begin_object(&out);
	member_bool(&out, "ok", true);
	member_text(&out, "name", adding->name);
	member_text(&out, "path", binding->path);
	member_text(&out, "plugin_id", binding->name);
	member_text(&out, "plugin_version", adding->version);
	member_list(&out, "capabilities", binding->capabilities);
	member_text(&out, "verdict", tool_verdict_name(binding->verdict));
	perch_json_end_object(&out);
	buf_append_char(&text, '\n');
	return cli_print_json(&text);
}
