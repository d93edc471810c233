/* perch tool add: show what a plugin would run and see, let the operator decide, shake hands, and
 * write the binding. The plugin's own words grant nothing. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/paths.h"
#include "cli/tool/tool_add.h"

/* ---- what the operator wants --------------------------------------------- */

/* The list as one that ends with NULL; NULL = empty. */
static int tool_add_end_list(struct adding *adding, const struct option_list *list,
	const char *const **ret_list, perch_err *err)
{
	if (!list->count)
		return 0;
	const char **ended = arena_alloc(&adding->session->arena, (list->count + 1) * sizeof(*ended));
	if (!ended)
		return err_no_memory(err);
	memcpy(ended, list->items, list->count * sizeof(*ended));
	ended[list->count] = NULL;
	*ret_list = ended;
	return 0;
}

/* A path of the command line, made absolute. */
static int tool_add_end_paths(struct adding *adding, const struct option_list *list,
	const char *const **ret_list, perch_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		char full[PATH_MAX];
		if (!realpath(list->items[i], full))
			return err_set(err, -errno, "%s: %s", list->items[i], perch_strerror(-errno));
		list->items[i] = arena_dup(&adding->session->arena, str_from(full));
		if (!list->items[i])
			return err_no_memory(err);
	}
	return tool_add_end_list(adding, list, ret_list, err);
}

/* That an MCP server runs in. */
static int tool_add_directory(struct adding *adding, perch_err *err)
{
	const char *named = adding->words->named.directory;
	char full[PATH_MAX];
	if (!realpath(named, full))
		return err_set(err, -errno, "%s: %s", named, perch_strerror(-errno));
	adding->binding->directory = arena_dup(&adding->session->arena, str_from(full));
	return adding->binding->directory ? 0 : err_no_memory(err);
}

int add_take_options(struct adding *adding, perch_err *err)
{
	const struct add_words *words = adding->words;
	struct tool_binding *binding = adding->binding;
	int r = tool_add_end_list(adding, &words->args, &binding->args, err);
	if (r == 0 && words->named.directory && words->server)
		r = tool_add_directory(adding, err);
	if (r == 0)
		r = tool_add_end_paths(adding, &words->read, &binding->widening.read, err);
	if (r == 0)
		r = tool_add_end_paths(adding, &words->write, &binding->widening.write, err);
	if (r == 0)
		r = tool_add_end_list(adding, &words->env, &binding->widening.env, err);
	if (r == 0 && words->pin)
		r = tool_source_pin(&adding->source, &adding->session->arena, err);
	if (r == 0 && words->verdict)
		r = tool_binding_set_verdict(binding, words->verdict, err);
	if (r == 0 && words->secrets)
		r = paths_absolute(words->secrets, &adding->session->arena, &binding->server.secrets, err);
	if (words->net)
		binding->widening.net =
			strcmp(words->net, "full") == 0 ? WIDENING_NET_FULL : WIDENING_NET_NONE;
	binding->widening.is_off = words->sandbox && strcmp(words->sandbox, "off") == 0;
	return r;
}

/* ---- the handshake ------------------------------------------------------- */

/* The strings of a member of the manifest. */
static int tool_add_read_strings(struct adding *adding, const perch_json_value *array,
	const char *const **ret_list, perch_err *err)
{
	const char **list =
		arena_alloc(&adding->session->arena, (perch_json_count(array) + 1) * sizeof(*list));
	size_t count = 0;
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; list && (item = perch_json_next(&iter));) {
		list[count] = arena_dup(&adding->session->arena, json_str(item));
		if (!list[count++])
			return err_no_memory(err);
	}
	if (!list)
		return err_no_memory(err);
	list[count] = NULL;
	*ret_list = list;
	return 0;
}

static int tool_add_read_manifest(struct adding *adding, const perch_tool_result *result,
	const char *const **ret_exposed, perch_err *err)
{
	perch_json *json;
	const perch_json_value *manifest;
	if (perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, result->manifest.data, result->manifest.len, &manifest, err);
	if (r == 0)
		r = tool_add_read_strings(
			adding, perch_json_get(manifest, "capabilities"), &adding->requested, err);
	if (r == 0)
		r = tool_add_read_strings(
			adding, perch_json_get(manifest, "exposed_tools"), ret_exposed, err);
	if (r == 0) {
		adding->version = arena_dup(&adding->session->arena, str_of(result->plugin_version));
		r = adding->version ? 0 : err_no_memory(err);
	}
	perch_json_free(json);
	return r;
}

/* The tools that the plugin exposes, with what the bundle says of them. */
static int tool_add_keep_tools(struct adding *adding, const char *const *exposed, perch_err *err)
{
	size_t count = 0;
	while (exposed[count])
		count++;
	if (count > TOOL_KNOWN_MAX)
		return err_set(err, PERCH_ELIMIT, "the plugin exposes more than %d tools", TOOL_KNOWN_MAX);
	struct tool_known *tools = arena_alloc(&adding->session->arena, count * sizeof(*tools));
	if (!tools)
		return err_no_memory(err);
	adding->binding->tools = tools;
	for (size_t i = 0; exposed[i]; i++) {
		const struct bundle_tool *said = tool_source_tool(&adding->source, str_from(exposed[i]));
		if (tool_binding_tool(adding->binding, exposed[i]))
			continue;
		struct tool_known *tool = &tools[adding->binding->tool_count++];
		*tool = said ? said->known : tool_known_named(exposed[i]);
		tool->name = exposed[i];
		/* A tool whose author says nothing about changes may change things. */
		tool->asks = adding->words->ask && (!said || said->is_mutating);
	}
	return 0;
}

/* Shakes hands with the binding as far as it is made. */
static int tool_add_shake_hands(struct adding *adding, struct tool_call **ret_call, perch_err *err)
{
	const struct tool_call_options options = { .binding = adding->binding };
	const struct tool_binding *binding = adding->binding;
	int r = tool_session_trace(adding->session, binding->command, binding->args, err);
	return r < 0 ? r : tool_session_call(adding->session, &options, ret_call, err);
}

/* It is no failure here that nothing is allowed yet: the error names the capabilities that the
 * plugin requests. */
static bool tool_add_has_introduced_itself(const perch_tool_result *result)
{
	return result->code == PERCH_TOOL_OK || result->code == PERCH_TOOL_CAPABILITY_NOT_ALLOWED;
}

static bool tool_add_is_nameless(const struct adding *adding, const perch_tool_result *result)
{
	return result->code == PERCH_TOOL_HANDSHAKE_FAILED && str_trim(str_of(result->plugin_id)).len &&
		result->manifest.len && strcmp(adding->binding->name, TOOL_SOURCE_NAMELESS) == 0;
}

/* Returns 0, or the exit code of a verdict that was told, or a negative error. */
static int tool_add_introduce(struct adding *adding, perch_err *err)
{
	struct tool_call *call;
	int r = tool_add_shake_hands(adding, &call, err);
	if (r == 0 && tool_add_is_nameless(adding, tool_call_result(call))) {
		adding->binding->name =
			arena_dup(&adding->session->arena, str_of(tool_call_result(call)->plugin_id));
		tool_call_free(call);
		r = adding->binding->name ? tool_add_shake_hands(adding, &call, err) : err_no_memory(err);
	}
	if (r < 0)
		return r;
	const perch_tool_result *result = tool_call_result(call);
	const char *const *exposed;
	if (!tool_add_has_introduced_itself(result))
		r = tool_tell(adding->session, result);
	else
		r = tool_add_read_manifest(adding, result, &exposed, err);
	if (r == 0)
		r = tool_add_keep_tools(adding, exposed, err);
	tool_call_free(call);
	return r;
}

/* ---- the binding --------------------------------------------------------- */

int add_choose_path(struct adding *adding, perch_err *err)
{
	const struct add_words *words = adding->words;
	struct tool_binding *binding = adding->binding;
	struct arena *arena = &adding->session->arena;
	adding->name = words->name ? words->name : binding->name;
	int r = 0;
	if (!words->binding) {
		r = tool_binding_path(adding->name, arena, &binding->path, err);
	} else {
		char here[PATH_MAX] = "";
		bool is_relative = words->binding[0] != '/';
		if (is_relative && !getcwd(here, sizeof(here)))
			return err_set(err, -errno, "no current directory: %s", perch_strerror(-errno));
		binding->path = arena_join(arena, here, is_relative ? "/" : "", words->binding, NULL);
		r = binding->path ? 0 : err_no_memory(err);
	}
	if (r == -EINVAL && !words->name)
		err_set(err, r, "%s; --name gives it another one here", err->text);
	if (r == 0 && !words->replace && access(binding->path, F_OK) == 0)
		r = err_set(err, -EEXIST, "%s is there already; --replace overwrites it", binding->path);
	return r;
}

/* The handshake once more, with what was granted: a binding is written only when a
 * call could go well. Returns 0, an exit code, or a negative error. */
static int tool_add_prove(struct adding *adding, perch_err *err)
{
	if (!adding->requested[0])
		return 0;
	struct tool_call *call;
	int r = tool_add_shake_hands(adding, &call, err);
	if (r < 0)
		return r;
	const perch_tool_result *result = tool_call_result(call);
	if (result->code != PERCH_TOOL_OK)
		r = tool_tell(adding->session, result);
	tool_call_free(call);
	return r;
}

/* The file is read again for its hash: what was shown is what is approved. */
int add_approve_written(struct adding *adding, perch_err *err)
{
	struct arena *arena = &adding->session->arena;
	struct tool_binding written;
	int r = tool_binding_read(adding->binding->path, arena, &written, err);
	const char *name = adding->words->binding ? written.path : adding->name;
	return r < 0 ? r : tool_binding_approve(arena, &written, name, err);
}

int add_refuse(const struct adding *adding, const perch_err *err)
{
	perch_tool_code code =
		err->code == -ECANCELED ? PERCH_TOOL_CANCELLED : PERCH_TOOL_INVALID_REQUEST;
	const perch_tool_result result = tool_refusal(code, "binding", NULL, err);
	return tool_tell(adding->session, &result);
}

static int tool_add_add(struct tool_session *session, void *data, perch_err *err)
{
	const struct add_words *words = data;
	struct adding adding = { .session = session, .words = words };
	adding.binding = &adding.source.binding;
	int r = tool_source_read(words->source, &words->named, &session->arena, &adding.source, err);
	if (r == 0)
		r = add_take_options(&adding, err);
	if (r < 0)
		return r == -ENOMEM ? r : add_refuse(&adding, err);
	adding.requested = adding.source.bundle.capabilities;
	r = add_consent(&adding, err);
	if (r == 0)
		r = tool_add_introduce(&adding, err);
	if (r == 0) {
		r = add_choose_path(&adding, err);
		if (r < 0)
			return r == -ENOMEM ? r : add_refuse(&adding, err);
	}
	if (r == 0)
		r = add_decide(&adding, err);
	if (r == 0)
		r = tool_add_prove(&adding, err);
	if (r == 0)
		r = tool_binding_write(adding.binding, err);
	if (r == 0)
		r = add_approve_written(&adding, err);
	return r ? r : add_tell_added(&adding);
}

static int tool_add_check_words(const struct add_words *words)
{
	if (!words->server == !words->source)
		return cli_usage_error(
			"write: perch tool add SOURCE, or perch tool add --mcp NAME -- COMMAND",
			words->server ? "'%s' is one word too many: the command stands behind --"
						  : "add what? A word is missing%s",
			words->server ? words->source : "");
	const char *for_server = add_word_of_server(words);
	if (for_server && !words->server && !add_is_url(words))
		return cli_usage_error(NULL, "%s is for MCP servers: --mcp NAME", for_server);
	if (words->verdict && (words->server || add_is_url(words)))
		return cli_usage_error(
			NULL, "--verdict is for plugins: an MCP server does not end with a call");
	if (words->sandbox && strcmp(words->sandbox, "on") != 0 && strcmp(words->sandbox, "off") != 0)
		return cli_usage_error(NULL, "--sandbox is on or off, not '%s'", words->sandbox);
	if (words->yes && words->grants.count)
		return cli_usage_error(NULL, "--yes grants everything, --grant a part: one of them");
	return 0;
}

static int tool_add_run_add(struct cli *cli, int argc, char **argv)
{
	struct add_words words = { 0 };
	const struct option_spec specs[] = {
		{ "name", 0, OPTION_TEXT, &words.name },
		{ "binding", 0, OPTION_TEXT, &words.binding },
		{ "command", 0, OPTION_TEXT, &words.named.command },
		{ "dir", 0, OPTION_TEXT, &words.named.directory },
		{ "grant", 0, OPTION_LIST, &words.grants },
		{ "yes", 'y', OPTION_FLAG, &words.yes },
		{ "pin", 0, OPTION_FLAG, &words.pin },
		{ "ask", 0, OPTION_FLAG, &words.ask },
		{ "verdict", 0, OPTION_TEXT, &words.verdict },
		{ "replace", 0, OPTION_FLAG, &words.replace },
		{ "arg", 0, OPTION_LIST, &words.args },
		{ "read", 0, OPTION_LIST, &words.read },
		{ "write", 0, OPTION_LIST, &words.write },
		{ "env", 0, OPTION_LIST, &words.env },
		{ "net", 0, OPTION_NET, &words.net },
		{ "no-net", 0, OPTION_NO_NET, &words.net },
		{ "sandbox", 0, OPTION_TEXT, &words.sandbox },
		{ "mcp", 0, OPTION_TEXT, &words.server },
		{ "secrets", 0, OPTION_TEXT, &words.secrets },
		{ "token", 0, OPTION_TEXT, &words.token },
		{ "lifetime", 0, OPTION_TEXT, &words.lifetime },
		{ "elicitation", 0, OPTION_TEXT, &words.elicitation },
		{ "sampling", 0, OPTION_TEXT, &words.sampling },
		{ "roots", 0, OPTION_TEXT, &words.roots },
		TOOL_GLOBALS(cli),
	};
	words.command = add_cut_command(&argc, argv);
	int r = tool_words(specs, argc, argv, "write: perch tool add SOURCE", 0, 1, &words.source);
	if (r == 0)
		r = tool_add_check_words(&words);
	if (r == 0)
		r = tool_in_session(
			cli, words.server || add_is_url(&words) ? add_server : tool_add_add, &words);
	free(words.grants.items);
	free(words.args.items);
	free(words.read.items);
	free(words.write.items);
	free(words.env.items);
	return r;
}

const struct command tool_verb_add = {
	.name = "add",
	.summary = "bind a plugin, or with --mcp an MCP server",
	.help = "usage: perch tool add SOURCE [OPTIONS]\n"
			"       perch tool add --mcp NAME [OPTIONS] -- COMMAND [ARGUMENT …]\n"
			"       perch tool add https://HOST/PATH [OPTIONS]\n"
			"\n"
			"Binds a plugin: SOURCE is an executable, an rterm-plugin.json, or the folder of\n"
			"one; or an MCP server, a program or a remote one. What would run and see is\n"
			"shown, and you decide; then it is asked what it requests, or what it offers.\n"
			"\n"
			"  --grant A,B         allow these capabilities, or tools; -y, --yes: all\n"
			"  --name NAME         call it so here; --binding FILE: write the binding there\n"
			"  --pin               refuse to run it once its files have changed\n"
			"  --ask               ask before each call of a tool that changes things\n"
			"  --verdict response  an answer counts at once, not when the plugin has left\n"
			"  --command FILE, --dir PATH   instead of what the bundle says\n"
			"  --arg ARG           an argument for it (again for more)\n"
			"  --read, --write PATH   --env NAME   --net, --no-net   --sandbox off\n"
			"                      widen its sandbox\n"
			"  --secrets FILE      variables, or headers, of an MCP server\n"
			"  --token FILE        of a remote one   --lifetime session|shared|call\n"
			"  --roots, --elicitation client, --sampling client|agent:NAME   let it ask\n"
			"  --replace           overwrite a binding that is there\n"
			"\n"
			"example:\n"
			"  perch tool add --mcp files --read ~/notes -- node server.js ~/notes\n",
	.run = tool_add_run_add,
};
