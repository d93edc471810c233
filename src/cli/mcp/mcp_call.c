/* perch mcp call: one tool of an MCP server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/mcp/mcp_commands.h"
#include "cli/mcp/mcp_session.h"

/* ---- the input -------------------------------------------------------------- */

/* name=value: a value that is JSON stays what it is, anything else is a text. */
static int call_write_pair(perch_json_writer *writer, perch_json *json, const char *pair)
{
	const char *equals = strchr(pair, '=');
	const perch_json_value *root;
	if (!equals || equals == pair)
		return cli_usage_error(
			"see: perch mcp call --help", "'%s' is neither a JSON object nor NAME=VALUE", pair);
	perch_json_write_name_n(writer, pair, (size_t)(equals - pair));
	if (perch_json_parse(json, equals + 1, strlen(equals + 1), &root, NULL) == 0)
		perch_json_write_value(writer, root);
	else
		perch_json_write_string(writer, equals + 1);
	return 0;
}

static int call_write_input(
	perch_json_writer *writer, perch_json *json, const struct option_list *words)
{
	const perch_json_value *root;
	const char *first = words->count > 1 ? words->items[1] : NULL;
	if (words->count == 2 && first[0] == '{') {
		perch_err err = { 0 };
		if (perch_json_parse(json, first, strlen(first), &root, &err) < 0)
			return cli_usage_error(NULL, "the input is no JSON: %s", err.text);
		perch_json_write_value(writer, root);
		return 0;
	}
	perch_json_begin_object(writer);
	for (size_t i = 1; i < words->count; i++) {
		int r = call_write_pair(writer, json, words->items[i]);
		if (r)
			return r;
	}
	perch_json_end_object(writer);
	return 0;
}

static int call_write_params(struct buf *params, const struct option_list *words)
{
	_cleanup_json_ perch_json *json = NULL;
	perch_json_writer writer = json_writer_on(params);
	if (perch_json_new(NULL, &json) < 0)
		return cli_no_memory();
	perch_json_begin_object(&writer);
	json_write_text(&writer, "name", str_from(words->items[0]));
	perch_json_write_name(&writer, "arguments");
	int r = call_write_input(&writer, json, words);
	perch_json_end_object(&writer);
	return r ? r : params->failed ? cli_no_memory() : 0;
}

/* ---- the result ------------------------------------------------------------- */

struct called {
	struct buf text; /* what is printed */
	bool is_json;    /* it is JSON */
	bool wants_json; /* the whole result */
	bool is_error;
};

static void call_add_raw(struct buf *out, const perch_json_value *value)
{
	struct str raw;
	raw.data = perch_json_raw(value, &raw.len);
	buf_append(out, raw.data, raw.len);
}

/* Texts as they read, other blocks as they are. */
static void call_add_content(struct called *called, const perch_json_value *content)
{
	perch_json_iter iter = perch_json_iterate(content);
	for (const perch_json_value *block; (block = perch_json_next(&iter));) {
		const perch_json_value *text = perch_json_get(block, "text");
		struct str read = { 0 };
		if (perch_json_type_of(text) == PERCH_JSON_STRING)
			read = json_str(text);
		if (read.data)
			buf_append(&called->text, read.data, read.len);
		else
			call_add_raw(&called->text, block);
		if (!read.len || read.data[read.len - 1] != '\n')
			buf_append_char(&called->text, '\n');
	}
}

static void call_take(void *data, const perch_json_value *result)
{
	struct called *called = data;
	const perch_json_value *structured = perch_json_get(result, "structuredContent");
	called->is_error = json_flag(result, "isError");
	called->is_json = called->wants_json || (structured && !called->is_error);
	if (called->is_json) {
		call_add_raw(&called->text, called->wants_json ? result : structured);
		buf_append_char(&called->text, '\n');
	} else {
		call_add_content(called, perch_json_get(result, "content"));
	}
}

static int call_print(struct called *called)
{
	if (called->is_error && !called->wants_json) {
		struct str text = { called->text.data, called->text.len };
		cli_pass(stderr, text);
		buf_free(&called->text);
		return 1;
	}
	int r = called->is_json ? cli_print_json(&called->text) : cli_print_text(&called->text);
	return r ? r : called->is_error;
}

/* ---- the verb --------------------------------------------------------------- */

static int call_do(
	struct cli *cli, const struct mcp_target *target, const struct option_list *words)
{
	_cleanup_(buf_free) struct buf params = { 0 };
	struct mcp_session session = { 0 };
	struct called called = { .wants_json = cli->json };
	perch_err err = { 0 };
	int r = call_write_params(&params, words);
	if (r)
		return r;
	r = mcp_session_open(&session, target, &err);
	if (r == 0)
		r = mcp_session_call(&session, "tools/call", (struct str){ params.data, params.len },
			call_take, &called, &err);
	r = r < 0 ? mcp_session_failure(&session, &err) : call_print(&called);
	mcp_session_close(&session);
	return r;
}

static int call_run(struct cli *cli, int argc, char **argv)
{
	struct mcp_target target = { 0 };
	struct option_list words = { 0 };
	const struct option_spec specs[] = {
		MCP_TARGET_OPTIONS(&target),
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ 0 },
	};
	mcp_target_cut(&target, &argc, argv);
	int r = options_parse_words(specs, argc, argv, &words);
	if (r == 0 && !words.count)
		r = cli_usage_error(
			"see: perch mcp call --help", "call what? The name of a tool is missing");
	if (r == 0)
		r = call_do(cli, &target, &words);
	free(words.items);
	return r;
}

const struct command mcp_verb_call = {
	.name = "call",
	.summary = "call a tool of an MCP server",
	.help = "usage: perch mcp call [OPTIONS] TOOL [INPUT] [-- COMMAND…]\n"
			"\n"
			"Starts an MCP server, calls one of its tools and ends it. INPUT is a JSON\n"
			"object, or words NAME=VALUE. Prints the structured result, else the text; a tool\n"
			"that failed is exit code 1. Questions of the server are not answered.\n"
			"\n"
			"  -- COMMAND…    the server, as a client starts it, or its URL; else perch mcp\n"
			"  --era ERA      legacy or modern alone, instead of finding out\n"
			"  --timeout S    seconds that an answer may take (60)\n"
			"  --config DIR   for perch mcp itself\n"
			"  --json         the whole result\n"
			"\n"
			"example:\n"
			"  perch mcp call example_hello_hello_greet name=you\n",
	.run = call_run,
};
