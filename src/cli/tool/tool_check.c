/* perch tool check: a handshake, and the capabilities that would be allowed. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/tool/tool_commands.h"
#include "tool/call.h"
#include "data/json.h"

struct check_words {
	const char *binding; /* a file */
	const char *name;
	const char *timeout;
	bool shows_stderr;
	uint64_t timeout_ns;
};

static void tool_check_print_list(const perch_json_value *array, const char *title,
	const char *(*note)(const struct tool_binding *binding, struct str word),
	const struct tool_binding *binding)
{
	if (!perch_json_count(array))
		return;
	cli_tell(stdout, "%s\n", title);
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str word = json_str(item);
		fputs("  ", stdout);
		cli_put_text(stdout, word);
		cli_tell(stdout, "%s\n", note(binding, word));
	}
}

static const char *tool_check_note_capability(const struct tool_binding *binding, struct str word)
{
	return list_has_str(binding->capabilities, word) ? "  allowed" : "  NOT allowed";
}

/* A tool that came after the plugin was bound has no schema in the binding: its inputs are not
 * checked. */
static const char *tool_check_note_tool(const struct tool_binding *binding, struct str word)
{
	_cleanup_free_ char *name = str_dup(word);
	const struct tool_known *known = name ? tool_binding_tool(binding, name) : NULL;
	if (!known)
		return binding->tool_count ? "  new since it was added" : "";
	return known->input_schema[0] ? "  with a schema" : "";
}

static void tool_check_print_manifest(
	const struct tool_binding *binding, const perch_tool_result *result)
{
	perch_json *json;
	const perch_json_value *manifest;
	if (!result->manifest.len || perch_json_new(NULL, &json) < 0)
		return;
	if (perch_json_parse(json, result->manifest.data, result->manifest.len, &manifest, NULL) == 0) {
		cli_put_text(stdout, str_of(result->plugin_id));
		fputc(' ', stdout);
		cli_put_text(stdout, str_of(result->plugin_version));
		fputc('\n', stdout);
		tool_check_print_list(
			perch_json_get(manifest, "exposed_tools"), "tools", tool_check_note_tool, binding);
		tool_check_print_list(perch_json_get(manifest, "capabilities"), "capabilities",
			tool_check_note_capability, binding);
	}
	perch_json_free(json);
}

static int tool_check_make_check(struct tool_session *session, void *data, perch_err *err)
{
	const struct check_words *words = data;
	struct tool_binding binding;
	int r = tool_session_binding(session, words->binding, words->name, &binding, err);
	if (r < 0) {
		const perch_tool_result result =
			tool_refusal(PERCH_TOOL_INVALID_REQUEST, "binding", NULL, err);
		return tool_tell(session, &result);
	}
	const struct tool_call_options options = {
		.binding = &binding,
		.invocation_ns = words->timeout_ns,
		.stderr_bytes = words->shows_stderr ? tool_show_stderr : NULL,
	};
	struct tool_call *call;
	r = tool_session_trace(session, binding.name, (const char *const[]){ NULL }, err);
	if (r == 0)
		r = tool_session_call(session, &options, &call, err);
	if (r < 0)
		return r;
	if (!session->cli->json)
		tool_check_print_manifest(&binding, tool_call_result(call));
	r = tool_tell(session, tool_call_result(call));
	tool_call_free(call);
	return r;
}

static int tool_check_run_check(struct cli *cli, int argc, char **argv)
{
	struct check_words words = { 0 };
	const struct option_spec specs[] = {
		{ "binding", 0, OPTION_TEXT, &words.binding },
		{ "timeout", 0, OPTION_TEXT, &words.timeout },
		{ "stderr", 0, OPTION_FLAG, &words.shows_stderr },
		TOOL_GLOBALS(cli),
	};
	static const char usage[] = "write: perch tool check NAME, or --binding FILE";
	int r = tool_words(specs, argc, argv, usage, 0, 1, &words.name);
	if (r == 0 && !words.binding == !words.name)
		r = cli_usage_error(usage, "check a name or a file, one of them");
	if (r == 0)
		r = options_seconds("--timeout", words.timeout, &words.timeout_ns);
	return r ? r : tool_in_session(cli, tool_check_make_check, &words);
}

const struct command tool_verb_check = {
	.name = "check",
	.summary = "start it, shake hands, say what would be allowed",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool check NAME [--timeout SECS] [--stderr]\n"
			"       perch tool check --binding FILE [--timeout SECS] [--stderr]\n"
			"\n"
			"Starts the plugin and shakes hands: prints what it exposes, which capabilities\n"
			"it declares, and whether the binding allows them. Ends as a call would: 0, or\n"
			"the code of what is wrong (perch help tool call).\n"
			"\n"
			"example:\n"
			"  perch tool check acme.echo\n",
	.run = tool_check_run_check,
};
