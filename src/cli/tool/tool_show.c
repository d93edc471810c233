/* perch tool show: a binding, for people and as JSON. The values of [env] are not
 * shown: they may be secrets. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/envelope.h"
#include "cli/ui/layers_in_force.h"
#include "cli/tool/server_view.h"
#include "cli/tool/tool_commands.h"
#include "tool/tool_confinement.h"
#include "tool/schema.h"
#include "tool/schema_words.h"

typedef struct perch_json_writer writer;

/* ---- as JSON ------------------------------------------------------------- */

static void tool_show_write_seconds(writer *out, const char *key, uint64_t time_ns)
{
	perch_json_write_name(out, key);
	perch_json_write_double(out, (double)time_ns / 1e9);
}

static const char *tool_show_net_of(const struct tool_binding *binding)
{
	return binding->widening.net == WIDENING_NET_FULL ? "full" : "none";
}

static void tool_show_write_limits(writer *out, const struct sandbox_limits *limits)
{
	const struct {
		const char *key;
		uint64_t limit;
	} all[] = {
		{ "memory", limits->memory },
		{ "processes", limits->processes },
		{ "files", limits->files },
		{ "size", limits->size },
		{ "cpu", limits->cpu },
	};
	member_object(out, "limits");
	for (size_t i = 0; i < COUNT(all); i++) {
		if (all[i].limit)
			member_number(out, all[i].key, (int64_t)all[i].limit);
	}
	perch_json_end_object(out);
}

static void tool_show_write_sandbox(
	writer *out, const struct tool_binding *binding, const struct in_force *in_force)
{
	const struct policy_widening *widening = &binding->widening;
	member_object(out, "sandbox");
	member_text(out, "mode", widening->is_off ? "off" : "on");
	member_list(out, "read", widening->read);
	member_list(out, "write", widening->write);
	member_text(out, "net", tool_show_net_of(binding));
	member_list(out, "env", widening->env);
	member_list(out, "presets", widening->presets);
	tool_show_write_limits(out, &binding->limits);
	in_force_write(out, in_force);
	perch_json_end_object(out);
}

/* A schema that is no JSON, in a file that was changed by hand, is a string here. */
static void tool_show_write_schema(writer *out, const char *key, const char *schema)
{
	int r = tool_schema_check(str_from(schema), NULL);
	perch_json_write_name(out, key);
	if (!schema[0])
		perch_json_write_null(out);
	else if (r == 0 || r == -EINVAL)
		perch_json_write_raw(out, schema, strlen(schema));
	else
		perch_json_write_string(out, schema);
}

static void tool_show_write_tools(writer *out, const struct tool_binding *binding)
{
	member_array(out, "tools");
	for (size_t i = 0; i < binding->tool_count; i++) {
		const struct tool_known *tool = &binding->tools[i];
		perch_json_begin_object(out);
		member_text(out, "name", tool->name);
		member_text(out, "description", tool->description);
		tool_show_write_schema(out, "input_schema", tool->input_schema);
		tool_show_write_schema(out, "output_schema", tool->output_schema);
		member_bool(out, "ask", tool->asks);
		if (tool->pin[0])
			member_text(out, "pin", tool->pin);
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

static void tool_show_write_sampling(writer *out, const struct tool_server *server)
{
	_cleanup_free_ char *sampling =
		str_join(tool_answerer_name(server->sampling), server->sampler, NULL);
	member_text(out, "sampling", sampling ? sampling : "");
}

static void tool_show_write_server(writer *out, const struct tool_server *server)
{
	member_object(out, "mcp");
	member_text(out, "era", tool_era_name(server));
	member_text(out, "lifetime", tool_lifetime_name(server->lifetime));
	tool_show_write_seconds(out, "idle", server->idle_ns);
	member_text(out, "version", server->version);
	member_text(out, "instructions", server->instructions);
	member_text(out, "secrets", server->secrets);
	member_text(out, "elicitation", tool_answerer_name(server->elicitation));
	tool_show_write_sampling(out, server);
	member_text(out, "roots", tool_answerer_name(server->roots));
	if (server->url[0])
		member_text(out, "url", server->url);
	if (server->token[0])
		member_text(out, "token", server->token);
	perch_json_end_object(out);
}

static void tool_show_write_pins(writer *out, const struct tool_binding *binding)
{
	member_object(out, "pins");
	for (size_t i = 0; i < binding->pin_count; i++)
		member_text(out, binding->pins[i].path, binding->pins[i].sha256);
	perch_json_end_object(out);
}

static void tool_show_write_binding(
	writer *out, const struct tool_binding *binding, const struct in_force *in_force)
{
	perch_json_begin_object(out);
	member_text(out, "plugin_id", binding->name);
	member_text(out, "path", binding->path);
	member_text(out, "command", binding->command);
	member_list(out, "args", binding->args);
	member_text(out, "dir", binding->directory);
	member_text(out, "protocol", binding->protocol);
	member_list(out, "capabilities", binding->capabilities);
	member_variables(out, "env", binding->env);
	member_object(out, "timeouts");
	tool_show_write_seconds(out, "invocation", binding->invocation_ns);
	tool_show_write_seconds(out, "handshake", binding->handshake_ns);
	tool_show_write_seconds(out, "teardown", binding->teardown_ns);
	perch_json_end_object(out);
	member_number(out, "spares", binding->spares);
	tool_show_write_seconds(out, "spare_ttl", binding->spare_ttl_ns);
	member_text(out, "verdict", tool_verdict_name(binding->verdict));
	tool_show_write_pins(out, binding);
	tool_show_write_sandbox(out, binding, in_force);
	if (binding->server.is_server)
		tool_show_write_server(out, &binding->server);
	tool_show_write_tools(out, binding);
	perch_json_end_object(out);
}

static int tool_show_print_json(const struct tool_binding *binding, const struct in_force *in_force)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	writer out = json_writer_on(&text);
	tool_show_write_binding(&out, binding, in_force);
	if (text.failed)
		return -ENOMEM;
	tool_print_json((struct str){ text.data, text.len });
	return 0;
}

/* ---- for people ---------------------------------------------------------- */

static void tool_show_print_text(const char *title, const char *text)
{
	printf("%-14s", title);
	cli_put_text(stdout, str_from(text));
	fputc('\n', stdout);
}

/* `before` is the text for an empty list. */
static void tool_show_print_list(const char *title, const char *before, const char *const *list)
{
	const char *separator = before[0] ? ", " : "";
	printf("%-14s%s", title, before);
	for (; list && *list; list++, separator = ", ") {
		fputs(separator, stdout);
		cli_put_text(stdout, str_from(*list));
	}
	fputc('\n', stdout);
}

static void tool_show_print_in_force(const struct in_force *in_force)
{
	if (in_force->problem)
		tool_show_print_text("  problem", in_force->problem);
	else
		tool_show_print_list(
			"  enforced by", in_force->layers[0] ? "" : "nothing", in_force->layers);
	for (const char *const *missing = in_force->missing; *missing; missing++)
		tool_show_print_text("  missing", *missing);
}

static void tool_show_print_sandbox(
	const struct tool_binding *binding, const struct in_force *in_force)
{
	const struct policy_widening *widening = &binding->widening;
	if (widening->is_off) {
		tool_show_print_text("sandbox", "OFF: it runs with all your rights");
		return;
	}
	tool_show_print_text("sandbox", "on");
	tool_show_print_list("  reads", "the system and its own folder", widening->read);
	tool_show_print_list("  writes", "a private TMPDIR", widening->write);
	tool_show_print_text("  network", tool_show_net_of(binding));
	tool_show_print_list("  variables", "PATH, TMPDIR, HOME, LANG", widening->env);
	if (widening->presets && widening->presets[0])
		tool_show_print_list("  presets", "", widening->presets);
	tool_show_print_in_force(in_force);
}

static void tool_show_print_server(const struct tool_server *server)
{
	tool_show_print_text("version", server->version);
	tool_show_print_text("era", tool_era_name(server));
	printf("%-14s%s; stopped after %g s without a call\n", "lifetime",
		tool_lifetime_name(server->lifetime), (double)server->idle_ns / 1e9);
	if (server->secrets[0])
		tool_show_print_text("secrets", server->secrets);
	if (server->token[0])
		tool_show_print_text("token", server->token);
	server_view_show_answers(stdout, "%-14s", server);
	if (server->instructions[0])
		puts("instructions");
	server_view_show_text(stdout, "                ", server->instructions);
}

static void tool_show_print_detail(const char *title, struct str text)
{
	printf("%-16s%s", "", title);
	cli_put_text(stdout, text);
	fputc('\n', stdout);
}

/* `dir* string`: what a call must have, without the JSON around it. */
static void tool_show_print_schema(const char *title, const char *schema)
{
	_cleanup_(buf_free) struct buf words = { 0 };
	if (schema[0])
		schema_words_append(&words, str_from(schema));
	if (words.len && !words.failed)
		tool_show_print_detail(title, (struct str){ words.data, words.len });
}

static void tool_show_print_tools(const struct tool_binding *binding)
{
	for (size_t i = 0; i < binding->tool_count; i++) {
		const struct tool_known *tool = &binding->tools[i];
		printf("%-14s", i ? "" : "tools");
		cli_put_text(stdout, str_from(tool->name));
		fputs(tool->input_schema[0] ? "  (its input is checked)" : "", stdout);
		fputs(tool->asks ? "  (asks before each call)" : "", stdout);
		fputc('\n', stdout);
		server_view_show_text(stdout, "                ", tool->description);
		tool_show_print_schema("takes ", tool->input_schema);
		tool_show_print_schema("gives ", tool->output_schema);
	}
}

static void tool_show_print_binding(
	const struct tool_binding *binding, const struct in_force *in_force)
{
	tool_show_print_text("plugin", binding->name);
	tool_show_print_text("binding", binding->path);
	if (binding->server.url[0])
		tool_show_print_text("url", binding->server.url);
	else
		tool_show_print_list("command", binding->command, binding->args);
	if (binding->directory[0])
		tool_show_print_text("folder", binding->directory);
	tool_show_print_text("protocol", binding->protocol);
	tool_show_print_list(
		"capabilities", binding->capabilities[0] ? "" : "none", binding->capabilities);
	printf("%-14s%g s, handshake %g s, teardown %g s\n", "time",
		(double)binding->invocation_ns / 1e9, (double)binding->handshake_ns / 1e9,
		(double)binding->teardown_ns / 1e9);
	for (size_t i = 0; i < binding->pin_count; i++)
		tool_show_print_text(i ? "" : "pinned", binding->pins[i].path);
	if (binding->spares)
		printf("%-14s%u, for %g s each\n", "spares", binding->spares,
			(double)binding->spare_ttl_ns / 1e9);
	if (!binding->server.is_server)
		tool_show_print_text("verdict", tool_verdict_words(binding->verdict));
	tool_show_print_sandbox(binding, in_force);
	if (binding->server.is_server)
		tool_show_print_server(&binding->server);
	tool_show_print_tools(binding);
}

/* A widening that cannot be made is shown as a problem; it is no failure of this command. */
static int tool_show_find_in_force(const struct tool_binding *binding, struct arena *arena,
	struct in_force *ret_in_force, perch_err *err)
{
	struct sandbox_policy policy;
	perch_err why = { 0 };
	bool has_policy = !binding->widening.is_off;
	int r = has_policy ? tool_confinement_policy(binding, arena, &policy, &why) : 0;
	if (r == 0)
		r = in_force_find(has_policy ? &policy : NULL, arena, ret_in_force);
	else
		r = in_force_problem(why.text, arena, ret_in_force);
	return r < 0 ? err_no_memory(err) : 0;
}

static int tool_show_run_show(struct cli *cli, int argc, char **argv)
{
	const char *file = NULL;
	const char *name;
	const struct option_spec specs[] = {
		{ "binding", 0, OPTION_TEXT, &file },
		TOOL_GLOBALS(cli),
	};
	static const char usage[] = "write: perch tool show NAME, or --binding FILE";
	int r = tool_words(specs, argc, argv, usage, 0, 1, &name);
	if (r == 0 && !file == !name)
		r = cli_usage_error(usage, "show a name or a file, one of them");
	if (r)
		return r;
	struct arena arena = { 0 };
	struct tool_binding binding;
	perch_err err = { 0 };
	r = file ? tool_binding_read(file, &arena, &binding, &err)
			 : tool_binding_find(name, &arena, &binding, &err);
	if (r == 0 && name)
		r = tool_binding_grant(name, &arena, &binding, &err);
	struct in_force in_force;
	if (r == 0)
		r = tool_show_find_in_force(&binding, &arena, &in_force, &err);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	else if (cli->json)
		r = tool_show_print_json(&binding, &in_force);
	else
		tool_show_print_binding(&binding, &in_force);
	arena_free(&arena);
	return r < 0 ? EXIT_USAGE : 0;
}

const struct command tool_verb_show = {
	.name = "show",
	.summary = "a binding: its permissions and its sandbox",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool show NAME [--json]\n"
			"       perch tool show --binding FILE [--json]\n"
			"\n"
			"Shows a binding: the command, the capabilities and the sandbox of the plugin,\n"
			"what was allowed beyond it, and the tools it had when it was added.\n"
			"\n"
			"example:\n"
			"  perch tool show acme.echo\n",
	.run = tool_show_run_show,
};
