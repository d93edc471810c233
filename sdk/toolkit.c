/* The tool kit: handshake, one request, one response. */
#include "perch/toolkit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kit.h"
#include "toolkit_parts.h"
#include "wire.h"

#define DEFAULT_PROTOCOL "rterm.plugin.v1"

static const char *toolkit_protocol_of(const perch_toolkit *kit)
{
	return kit->protocol ? kit->protocol : DEFAULT_PROTOCOL;
}

static void toolkit_put_words(
	struct perch_json_writer *writer, const char *name, const char *const *words)
{
	perch_json_write_name(writer, name);
	perch_json_begin_array(writer);
	for (; words && *words; words++)
		perch_json_write_string(writer, *words);
	perch_json_end_array(writer);
}

/* ---- lines --------------------------------------------------------------- */

static int toolkit_send(struct wire *wire, struct buf *line)
{
	buf_append_char(line, '\n');
	return line->failed ? -ENOMEM : wire_write(wire, (struct str){ line->data, line->len });
}

/* The next object of this type: 1; 0 at the end; negative for anything else. */
static int toolkit_receive(
	struct wire *wire, perch_json *json, const char *type, const perch_json_value **ret_message)
{
	struct str line;
	int r = wire_read(wire, true, &line);
	if (r <= 0)
		return r;
	r = perch_json_parse(json, line.data, line.len, ret_message, NULL);
	if (r < 0)
		return r;
	return perch_json_is(perch_json_get(*ret_message, "type"), type) ? 1 : -EPROTO;
}

static int toolkit_answer_handshake(const perch_toolkit *kit, struct wire *wire)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	struct perch_json_writer writer = json_writer_on(&line);
	perch_json_begin_object(&writer);
	kit_put(&writer, "type", "handshake");
	perch_json_write_name(&writer, "manifest");
	perch_json_begin_object(&writer);
	kit_put(&writer, "plugin_id", kit->plugin_id);
	kit_put(&writer, "plugin_version", kit->plugin_version);
	kit_put(&writer, "protocol_version", toolkit_protocol_of(kit));
	perch_json_write_name(&writer, "exposed_tools");
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < kit->tool_count; i++)
		perch_json_write_string(&writer, kit->tools[i].name);
	perch_json_end_array(&writer);
	toolkit_put_words(&writer, "capabilities", kit->capabilities);
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	return toolkit_send(wire, &line);
}

/* ---- the request --------------------------------------------------------- */

static const perch_toolkit_tool *toolkit_find_tool(const perch_toolkit *kit, const char *name)
{
	for (size_t i = 0; i < kit->tool_count; i++) {
		if (strcmp(kit->tools[i].name, name) == 0)
			return &kit->tools[i];
	}
	return NULL;
}

static int toolkit_send_answer(
	struct wire *wire, const perch_toolkit_call *call, perch_toolkit_answer *answer)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	struct perch_json_writer writer = json_writer_on(&line);
	perch_json_begin_object(&writer);
	kit_put(&writer, "type", "response");
	kit_put(&writer, "request_id", call->request_id);
	kit_put(&writer, "status", answer->has_failed ? "error" : "ok");
	if (answer->members.depth == 0 && !answer->has_failed && !answer->is_whole)
		perch_json_begin_object(&answer->members);
	if (answer->members.depth > 0)
		perch_json_end_object(&answer->members);
	perch_json_write_name(&writer, answer->has_failed ? "error" : "output");
	perch_json_write_raw(&writer, answer->text.data, answer->text.len);
	perch_json_end_object(&writer);
	if (answer->text.failed)
		return -ENOMEM;
	return toolkit_send(wire, &line);
}

static int toolkit_read_call(perch_toolkit_call *call, const perch_json_value *message)
{
	const perch_json_value *input = perch_json_get(message, "input");
	const perch_json_value *id = perch_json_get(message, "request_id");
	const perch_json_value *tool = perch_json_get(message, "tool_name");
	if (perch_json_type_of(id) != PERCH_JSON_STRING ||
		perch_json_type_of(tool) != PERCH_JSON_STRING)
		return -EPROTO;
	size_t len = 0;
	const char *raw = perch_json_raw(input, &len);
	call->root = input;
	call->context = perch_json_get(message, "context");
	call->request_id = kit_keep(&call->arena, id);
	call->tool = kit_keep(&call->arena, tool);
	call->input = raw ? arena_dup(&call->arena, (struct str){ raw, len }) : "{}";
	return call->request_id && call->tool && call->input ? 0 : -ENOMEM;
}

static int toolkit_answer_call(
	const perch_toolkit *kit, void *data, struct wire *wire, const perch_json_value *message)
{
	perch_toolkit_call call = { 0 };
	perch_toolkit_answer answer = { 0 };
	answer.members = json_writer_on(&answer.text);
	int r = toolkit_read_call(&call, message);
	if (r == 0) {
		const perch_toolkit_tool *tool = toolkit_find_tool(kit, call.tool);
		if (tool)
			tool->run(&call, &answer, data);
		else
			perch_toolkit_fail(&answer, "unknown_tool", "there is no tool '%s'", call.tool);
		r = toolkit_send_answer(wire, &call, &answer);
	}
	buf_free(&answer.text);
	buf_free(&answer.nowhere);
	arena_free(&call.arena);
	return r;
}

static int toolkit_converse(
	const perch_toolkit *kit, void *data, struct wire *wire, perch_json *json)
{
	const perch_json_value *message;
	int r = toolkit_receive(wire, json, "handshake", &message);
	if (r <= 0)
		return r < 0 ? r : -EPIPE;
	r = toolkit_answer_handshake(kit, wire);
	if (r < 0)
		return r;
	r = toolkit_receive(wire, json, "request", &message);
	return r > 0 ? toolkit_answer_call(kit, data, wire, message) : r;
}

int perch_toolkit_serve_on(const perch_toolkit *kit, void *data, int in_fd, int out_fd)
{
	struct wire wire = { .in = in_fd, .out = out_fd };
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	perch_json *json = NULL;
	int r = perch_json_new(&options, &json);
	if (r == 0)
		r = toolkit_converse(kit, data, &wire, json);
	perch_json_free(json);
	wire_free(&wire);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int perch_toolkit_serve(const perch_toolkit *kit, void *data)
{
	return perch_toolkit_serve_on(kit, data, STDIN_FILENO, STDOUT_FILENO);
}

/* ---- the bundle ---------------------------------------------------------- */

static void toolkit_put_tools(struct perch_json_writer *writer, const perch_toolkit *kit)
{
	perch_json_write_name(writer, "tools");
	perch_json_begin_array(writer);
	for (size_t i = 0; i < kit->tool_count; i++) {
		const char *schema = kit->tools[i].input_schema;
		perch_json_begin_object(writer);
		kit_put(writer, "name", kit->tools[i].name);
		if (schema) {
			perch_json_write_name(writer, "input_schema");
			perch_json_write_raw(writer, schema, strlen(schema));
		}
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
}

char *perch_toolkit_bundle(const perch_toolkit *kit, const char *command)
{
	struct buf text = { 0 };
	struct perch_json_writer writer = json_writer_on(&text);
	perch_json_begin_object(&writer);
	kit_put(&writer, "plugin_id", kit->plugin_id);
	kit_put(&writer, "plugin_version", kit->plugin_version);
	kit_put(&writer, "protocol_version", toolkit_protocol_of(kit));
	toolkit_put_words(&writer, "capabilities", kit->capabilities);
	perch_json_write_name(&writer, "process");
	perch_json_begin_object(&writer);
	kit_put(&writer, "command", command);
	perch_json_end_object(&writer);
	toolkit_put_tools(&writer, kit);
	perch_json_end_object(&writer);
	buf_append_char(&text, '\n');
	char *bundle = buf_steal(&text);
	buf_free(&text);
	return bundle;
}
