/* The agent kit: a turn, in either dialect. */
#include "perch/agentkit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agentkit_parts.h"

const char *agentkit_variable(const perch_agentkit *agent, const char *name)
{
	size_t len = strlen(name);
	for (const char *const *variable = agent->environment; *variable; variable++) {
		if (strncmp(*variable, name, len) == 0 && (*variable)[len] == '=')
			return *variable + len + 1;
	}
	return NULL;
}

const char *agentkit_variable_or(
	const perch_agentkit *agent, const char *name, const char *otherwise)
{
	const char *value = agentkit_variable(agent, name);
	return value ? value : otherwise;
}

/* ---- attachments --------------------------------------------------------- */

static int agentkit_add_attachment(perch_agentkit *agent, perch_agentkit_attachment attachment)
{
	if (!attachment.kind || !attachment.url || !attachment.name)
		return -ENOMEM;
	agent->attachments[agent->attachment_count++] = attachment;
	return 0;
}

/* 0.1 calls it type, 0.4 kind. */
int agentkit_read_attachments(perch_agentkit *agent, const perch_json_value *list)
{
	size_t count = perch_json_count(list);
	agent->attachments = arena_alloc(&agent->arena, (count + 1) * sizeof(*agent->attachments));
	if (!agent->attachments)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		const perch_json_value *kind = perch_json_get(value, "kind");
		perch_agentkit_attachment attachment = {
			.kind = kit_keep(&agent->arena, kind ? kind : perch_json_get(value, "type")),
			.url = kit_keep(&agent->arena, perch_json_get(value, "url")),
			.name = kit_keep(&agent->arena, perch_json_get(value, "name")),
		};
		int r = agentkit_add_attachment(agent, attachment);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- the turn ------------------------------------------------------------ */

static int agentkit_end_turn(perch_agentkit *agent, int status)
{
	if (agent->has_failed)
		return EXIT_FAILURE;
	/* The reply is sent whatever the exit status is. */
	if (agent->reply.failed || !agent->dialect->finish(agent))
		return EXIT_FAILURE;
	return status;
}

int perch_agentkit_serve_on(
	perch_agentkit_fn *handler, void *data, int in_fd, int out_fd, const char *const *environment)
{
	perch_agentkit agent = {
		.wire = { .in = in_fd, .out = out_fd },
		.environment = environment,
	};
	agent.dialect =
		agentkit_variable(&agent, "AGENT_PROTOCOL_VERSION") ? &agentkit_0_1 : &agentkit_0_4;
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	options.replace_invalid_utf8 = true;
	int r = perch_json_new(&options, &agent.json);
	if (r == 0)
		r = agent.dialect->read(&agent);
	int status = r < 0 ? EXIT_FAILURE : agentkit_end_turn(&agent, handler(&agent, data));
	perch_json_free(agent.json);
	buf_free(&agent.reply);
	buf_free(&agent.line);
	wire_free(&agent.wire);
	arena_free(&agent.arena);
	return status;
}

int perch_agentkit_serve(perch_agentkit_fn *handler, void *data)
{
	return perch_agentkit_serve_on(
		handler, data, STDIN_FILENO, STDOUT_FILENO, (const char *const *)environ);
}

const char *perch_agentkit_message(const perch_agentkit *agent)
{
	return agent->message;
}

const char *perch_agentkit_session_id(const perch_agentkit *agent)
{
	return agent->session_id;
}

const char *perch_agentkit_session_name(const perch_agentkit *agent)
{
	return agent->session_name;
}

const char *perch_agentkit_sender(const perch_agentkit *agent)
{
	return agent->sender;
}

const char *perch_agentkit_protocol(const perch_agentkit *agent)
{
	return agent->protocol;
}

bool perch_agentkit_is_streaming(const perch_agentkit *agent)
{
	return agent->is_streaming;
}

size_t perch_agentkit_attachment_count(const perch_agentkit *agent)
{
	return agent->attachment_count;
}

const perch_agentkit_attachment *perch_agentkit_attachment_at(
	const perch_agentkit *agent, size_t index)
{
	return index < agent->attachment_count ? &agent->attachments[index] : NULL;
}
