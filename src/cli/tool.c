/* perch tool: the table of its verbs, and the words behind them. */
#include "cli/tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const struct tool_verb *const verbs[] = {
	&tool_verb_add,
	&tool_verb_allow,
	&tool_verb_call,
	&tool_verb_check,
	&tool_verb_list,
	&tool_verb_remove,
	&tool_verb_revoke,
	&tool_verb_serve,
	&tool_verb_show,
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static const char *verb_name(const void *data, size_t i)
{
	(void)data;
	return i < VERBS ? verbs[i]->name : NULL;
}

static int refuse_unknown(const char *name)
{
	const char *near = cli_nearest(name, verb_name, NULL);
	char hint[128];
	snprintf(hint, sizeof(hint), "did you mean: perch tool %s", near ? near : "");
	return cli_usage_error(near ? hint : "see: perch help tool", "perch tool has no '%s'", name);
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	}
	return false;
}

static int cli_tool(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli_usage_error("see: perch help tool", "tool what?");
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(verbs[i]->name, argv[at]) != 0)
			continue;
		if (asks_for_help(argc - at, argv + at))
			return fputs(verbs[i]->help, stdout) < 0;
		return verbs[i]->run(cli, argc - at, argv + at);
	}
	return refuse_unknown(argv[at]);
}

int tool_words(const struct option_spec *specs, int argc, char **argv, const char *usage, int least,
	int most, const char **words)
{
	int count = 0;
	for (int i = 0; i < most; i++)
		words[i] = NULL;
	bool only_words = false;
	for (int at = 1;;) {
		int before = at;
		int r = only_words ? 0 : options_parse(specs, argc, argv, &at);
		if (r)
			return r;
		only_words = only_words || (at > before && strcmp(argv[at - 1], "--") == 0);
		if (at >= argc)
			break;
		if (count == most)
			return cli_usage_error(usage, "'%s' is one word too many", argv[at]);
		words[count++] = argv[at++];
	}
	return count < least ? cli_usage_error(usage, "something is missing") : 0;
}

int tool_seconds(const char *option, const char *text, uint64_t *ret_ns)
{
	*ret_ns = 0;
	if (!text)
		return 0;
	char *end;
	double seconds = strtod(text, &end); /* the command sets no locale: a '.' is a '.' */
	if (end == text || *end || !(seconds >= 0.001 && seconds <= 86400))
		return cli_usage_error(
			NULL, "%s takes seconds, from 0.001 to 86400, not '%s'", option, text);
	*ret_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

const struct command command_tool = {
	.name = "tool",
	.summary = "bind and call tools: add, list, show, check, call, serve, allow, remove",
	.help = "usage: perch tool VERB [ARGUMENTS]\n"
			"\n"
			"  add SOURCE        bind a plugin: an executable, rterm-plugin.json or its folder\n"
			"  list              what is bound\n"
			"  show NAME         a binding: what it may, how it is confined\n"
			"  check NAME        start it, shake hands, say what would be allowed\n"
			"  call NAME TOOL    call a tool; its output is printed as JSON\n"
			"  serve             calls on stdin, results on stdout, one a line\n"
			"  allow, revoke NAME  give it more than its sandbox does; take that back\n"
			"  remove NAME       take a binding away, and what it was allowed\n"
			"\n"
			"A binding says what a plugin may; the plugin itself has no say in it. They lie in\n"
			"$XDG_CONFIG_HOME/perch/tools. perch tool VERB --help explains one verb.\n"
			"\n"
			"A call ends with 0 ok, 1 the plugin's own error, 2 launch_failed,\n"
			"3 handshake_failed, 4 timeout, 5 crashed, 6 malformed_response,\n"
			"7 tool_not_exposed, 8 protocol_version_mismatch, 9 capability_not_declared,\n"
			"10 capability_not_allowed, 64 invalid_request, 130 cancelled.\n"
			"\n"
			"example:\n"
			"  perch tool call acme.echo acme.say --input '{\"text\":\"hi\"}'\n",
	.run = cli_tool,
};
