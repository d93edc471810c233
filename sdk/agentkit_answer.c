/* What an agent says, in both dialects. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agentkit_parts.h"

/* Writes agent->line, which ends with its newline. */
static bool agentkit_answer_send(perch_agentkit *agent)
{
	return !agent->line.failed &&
		wire_write(&agent->wire, (struct str){ agent->line.data, agent->line.len }) == 0;
}

bool perch_agentkit_partial_as(perch_agentkit *agent, const char *role, const char *text)
{
	return agent->has_failed || agent->dialect->partial(agent, role, text);
}

bool perch_agentkit_partial(perch_agentkit *agent, const char *text)
{
	return perch_agentkit_partial_as(agent, NULL, text);
}

bool perch_agentkit_usage(perch_agentkit *agent, const char *usage)
{
	const perch_json_value *value = NULL;
	if (perch_json_parse(agent->json, usage, strlen(usage), &value, NULL) < 0 ||
		perch_json_type_of(value) != PERCH_JSON_OBJECT)
		return false;
	return agent->dialect->usage(agent, usage);
}

bool perch_agentkit_session(perch_agentkit *agent, const char *id)
{
	return agent->dialect->session(agent, id);
}

bool perch_agentkit_error(perch_agentkit *agent, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = kit_format(format, arguments);
	va_end(arguments);
	agent->has_failed = true;
	bool was_sent = agent->dialect->error(agent, text && text[0] ? text : "failed");
	free(text);
	return was_sent;
}

bool perch_agentkit_reply(perch_agentkit *agent, const char *text)
{
	return buf_append_text(&agent->reply, text) == 0;
}

bool perch_agentkit_permission_to(
	perch_agentkit *agent, const char *tool_name, const char *input, const char *description)
{
	return agent->may_ask &&
		agent->dialect->permission(agent, tool_name, input ? input : "{}", description);
}

bool perch_agentkit_permission(perch_agentkit *agent, const char *tool_name, const char *input)
{
	return perch_agentkit_permission_to(agent, tool_name, input, NULL);
}

/* ---- 0.1: prefixed lines -------------------------------------------------- */

static bool agentkit_answer_say(
	perch_agentkit *agent, const char *prefix, const char *text, bool as_json)
{
	buf_clear(&agent->line);
	buf_append_text(&agent->line, prefix);
	struct perch_json_writer writer = json_writer_on(&agent->line);
	if (as_json)
		perch_json_write_string(&writer, text);
	else
		buf_append_text(&agent->line, text);
	buf_append_char(&agent->line, '\n');
	return agentkit_answer_send(agent);
}

static bool agentkit_answer_partial_0_1(perch_agentkit *agent, const char *role, const char *text)
{
	return role || agentkit_answer_say(agent, "AGENT_PARTIAL:", text, true);
}

static bool agentkit_answer_usage_0_1(perch_agentkit *agent, const char *usage)
{
	(void)agent;
	(void)usage;
	return true;
}

static bool agentkit_answer_session_0_1(perch_agentkit *agent, const char *id)
{
	return agentkit_answer_say(agent, "AGENT_SESSION:", id, false);
}

static bool agentkit_answer_error_0_1(perch_agentkit *agent, const char *text)
{
	return agentkit_answer_say(agent, "AGENT_ERROR:", text, true);
}

/* A line of the reply that looks like one of the protocol gets a blank. */
static bool agentkit_answer_looks_like_protocol(struct str line)
{
	return str_has_prefix(line, STR("AGENT_SESSION:")) ||
		str_has_prefix(line, STR("AGENT_PARTIAL:")) || str_has_prefix(line, STR("AGENT_ERROR:"));
}

static bool agentkit_answer_finish_0_1(perch_agentkit *agent)
{
	buf_clear(&agent->line);
	struct str rest = { agent->reply.data, agent->reply.len };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		buf_append_text(&agent->line, agentkit_answer_looks_like_protocol(line) ? " " : "");
		buf_append(&agent->line, line.data, line.len);
		buf_append_char(&agent->line, '\n');
	}
	return agent->line.len == 0 || agentkit_answer_send(agent);
}

static bool agentkit_answer_no_permission(
	perch_agentkit *agent, const char *tool_name, const char *input, const char *description)
{
	(void)agent;
	(void)tool_name;
	(void)input;
	(void)description;
	return false;
}

static int agentkit_answer_read_message_0_1(perch_agentkit *agent)
{
	agent->message = agentkit_variable_or(agent, "AGENT_MESSAGE", "");
	if (!agentkit_variable(agent, "AGENT_MESSAGE_OMITTED"))
		return 0;
	struct str text;
	int r = wire_read_rest(&agent->wire, &text);
	if (r < 0)
		return r;
	agent->message = arena_dup(&agent->arena, text);
	return agent->message ? 0 : -ENOMEM;
}

static int agentkit_answer_read_attachments_0_1(perch_agentkit *agent)
{
	const char *text = agentkit_variable(agent, "AGENT_ATTACHMENTS");
	const perch_json_value *list = NULL;
	if (text && perch_json_parse(agent->json, text, strlen(text), &list, NULL) < 0)
		list = NULL;
	return agentkit_read_attachments(agent, list);
}

static int agentkit_answer_read_0_1(perch_agentkit *agent)
{
	agent->session_id = agentkit_variable_or(agent, "AGENT_SESSION_ID", "");
	agent->session_name = agentkit_variable_or(agent, "AGENT_SESSION_NAME", "default");
	agent->sender = agentkit_variable_or(agent, "AGENT_FROM_USER", "");
	agent->protocol = agentkit_variable_or(agent, "AGENT_PROTOCOL_VERSION", "");
	agent->is_streaming = strcmp(agentkit_variable_or(agent, "AGENT_STREAMING", "0"), "1") == 0;
	int r = agentkit_answer_read_message_0_1(agent);
	return r < 0 ? r : agentkit_answer_read_attachments_0_1(agent);
}

const struct agentkit_dialect agentkit_0_1 = {
	.read = agentkit_answer_read_0_1,
	.partial = agentkit_answer_partial_0_1,
	.usage = agentkit_answer_usage_0_1,
	.session = agentkit_answer_session_0_1,
	.error = agentkit_answer_error_0_1,
	.finish = agentkit_answer_finish_0_1,
	.permission = agentkit_answer_no_permission,
};

/* ---- 0.4: events ---------------------------------------------------------- */

static struct perch_json_writer agentkit_answer_begin_event(perch_agentkit *agent, const char *type)
{
	buf_clear(&agent->line);
	struct perch_json_writer writer = json_writer_on(&agent->line);
	perch_json_begin_object(&writer);
	kit_put(&writer, "type", type);
	kit_put(&writer, "session_id", agent->new_session);
	agent->new_session = NULL;
	if (agent->new_usage) {
		perch_json_write_name(&writer, "usage");
		perch_json_write_raw(&writer, agent->new_usage, strlen(agent->new_usage));
	}
	agent->new_usage = NULL;
	return writer;
}

static bool agentkit_answer_send_event(perch_agentkit *agent, struct perch_json_writer *writer)
{
	perch_json_end_object(writer);
	buf_append_char(&agent->line, '\n');
	return agentkit_answer_send(agent);
}

static bool agentkit_answer_event(
	perch_agentkit *agent, const char *type, const char *name, const char *text)
{
	struct perch_json_writer writer = agentkit_answer_begin_event(agent, type);
	kit_put(&writer, name, text);
	return agentkit_answer_send_event(agent, &writer);
}

static bool agentkit_answer_partial_0_4(perch_agentkit *agent, const char *role, const char *text)
{
	struct perch_json_writer writer = agentkit_answer_begin_event(agent, "partial");
	kit_put(&writer, "role", role);
	kit_put(&writer, "text", text);
	return agentkit_answer_send_event(agent, &writer);
}

/* There is no event for these two: they are sent with the next one. */
static bool agentkit_answer_usage_0_4(perch_agentkit *agent, const char *usage)
{
	agent->new_usage = kit_one_line(&agent->arena, usage);
	return agent->new_usage;
}

static bool agentkit_answer_session_0_4(perch_agentkit *agent, const char *id)
{
	agent->new_session = arena_dup(&agent->arena, str_from(id));
	return agent->new_session;
}

static bool agentkit_answer_error_0_4(perch_agentkit *agent, const char *text)
{
	return agentkit_answer_event(agent, "error", "message", text);
}

static bool agentkit_answer_finish_0_4(perch_agentkit *agent)
{
	return buf_terminate(&agent->reply) == 0 &&
		agentkit_answer_event(agent, "result", "text", agent->reply.data ? agent->reply.data : "");
}

/* Messages other than the answer are passed over; the end of the input means no. */
static bool agentkit_answer_await_permission(perch_agentkit *agent, const char *request_id)
{
	struct str line;
	while (wire_read(&agent->wire, true, &line) > 0) {
		const perch_json_value *message;
		if (perch_json_parse(agent->json, line.data, line.len, &message, NULL) < 0 ||
			!perch_json_is(perch_json_get(message, "type"), "permission_response") ||
			!perch_json_is(perch_json_get(message, "request_id"), request_id))
			continue;
		return perch_json_is(perch_json_get(message, "behavior"), "allow");
	}
	return false;
}

static bool agentkit_answer_permission_0_4(
	perch_agentkit *agent, const char *tool_name, const char *input, const char *description)
{
	char request_id[32];
	const char *line = kit_one_line(&agent->arena, input);
	if (!line)
		return false;
	snprintf(request_id, sizeof(request_id), "p%lu", ++agent->next_request);
	struct perch_json_writer writer = agentkit_answer_begin_event(agent, "permission_request");
	kit_put(&writer, "request_id", request_id);
	kit_put(&writer, "tool_name", tool_name);
	kit_put(&writer, "description", description);
	perch_json_write_name(&writer, "input");
	perch_json_write_raw(&writer, line, strlen(line));
	return agentkit_answer_send_event(agent, &writer) &&
		agentkit_answer_await_permission(agent, request_id);
}

static int agentkit_answer_read_0_4(perch_agentkit *agent)
{
	struct str line;
	const perch_json_value *turn;
	int r = wire_read(&agent->wire, true, &line);
	if (r <= 0)
		return r < 0 ? r : -EPIPE;
	r = perch_json_parse(agent->json, line.data, line.len, &turn, NULL);
	if (r < 0)
		return r;
	if (!perch_json_is(perch_json_get(turn, "type"), "turn"))
		return -EPROTO;
	agent->message = kit_keep(&agent->arena, perch_json_get(turn, "message"));
	agent->session_id = kit_keep(&agent->arena, perch_json_get(turn, "session_id"));
	agent->session_name = kit_keep(&agent->arena, perch_json_get(turn, "session_name"));
	agent->sender = kit_keep(&agent->arena, perch_json_get(turn, "from_user"));
	agent->protocol = kit_keep(&agent->arena, perch_json_get(turn, "protocol_version"));
	agent->is_streaming = true;
	agent->may_ask = json_flag(turn, "permission");
	if (!agent->message || !agent->session_id || !agent->session_name || !agent->sender ||
		!agent->protocol)
		return -ENOMEM;
	return agentkit_read_attachments(agent, perch_json_get(turn, "attachments"));
}

const struct agentkit_dialect agentkit_0_4 = {
	.read = agentkit_answer_read_0_4,
	.partial = agentkit_answer_partial_0_4,
	.usage = agentkit_answer_usage_0_4,
	.session = agentkit_answer_session_0_4,
	.error = agentkit_answer_error_0_4,
	.finish = agentkit_answer_finish_0_4,
	.permission = agentkit_answer_permission_0_4,
};
