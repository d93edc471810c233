/* ACP's agent side: its life, and a line that comes in. */
#include <errno.h>
#include <stdlib.h>

#include "wire/acp_agent_parts.h"

/* ---- life ------------------------------------------------------------------ */

static size_t acp_agent_or(size_t number, size_t otherwise)
{
	return number ? number : otherwise;
}

static int acp_agent_keep(struct acp_agent *agent, struct str *text)
{
	text->data = arena_dup(&agent->arena, *text);
	return text->data ? 0 : -ENOMEM;
}

DEFINE_POINTER_CLEANUP(acp_cleanup_agent, struct acp_agent, acp_agent_free)

int acp_agent_new(const struct acp_agent_options *options, const struct acp_agent_table *table,
	void *data, struct acp_agent **ret_agent)
{
	const perch_json_options limits = { .size = sizeof(limits), .text_max = ACP_LINE_MAX };
	_cleanup_(acp_cleanup_agent) struct acp_agent *agent = calloc(1, sizeof(*agent));
	if (!agent)
		return -ENOMEM;
	agent->options = *options;
	agent->table = table;
	agent->data = data;
	agent->owed.limit = acp_agent_or(options->in_flight_max, ACP_IN_FLIGHT_MAX);
	agent->asked.limit = ACP_ASKS_MAX;
	agent->options.sessions_max = acp_agent_or(options->sessions_max, ACP_SESSIONS_MAX);
	agent->options.waiting_max = acp_agent_or(options->waiting_max, ACP_WAITING_MAX);
	if (acp_agent_keep(agent, &agent->options.name) < 0 ||
		acp_agent_keep(agent, &agent->options.title) < 0 ||
		acp_agent_keep(agent, &agent->options.version) < 0 ||
		perch_json_new(&limits, &agent->json) < 0)
		return -ENOMEM;
	*ret_agent = steal(&agent);
	return 0;
}

static void acp_agent_ignore(void *data, struct str line, bool is_response)
{
	(void)data;
	(void)line;
	(void)is_response;
}

/* Questions that are withdrawn now are told to no client. */
void acp_agent_free(struct acp_agent *agent)
{
	static const struct acp_agent_table deaf = { .send = acp_agent_ignore };
	struct acp_session *session;
	struct acp_request *request;
	if (!agent)
		return;
	agent->table = &deaf;
	while ((session = list_first(&agent->sessions)))
		acp_session_free(session);
	while ((request = list_first(&agent->requests)))
		acp_request_drop(request);
	jsonrpc_ids_free(&agent->owed);
	jsonrpc_ids_free(&agent->asked);
	perch_json_free(agent->json);
	buf_free(&agent->out);
	arena_free(&agent->arena);
	arena_free(&agent->scratch);
	free(agent);
}

bool acp_agent_is_broken(const struct acp_agent *agent)
{
	return agent->is_broken;
}

const char *acp_agent_client(const struct acp_agent *agent)
{
	return agent->client;
}

/* ---- lines ----------------------------------------------------------------- */

static void acp_agent_take(struct acp_agent *agent, const struct jsonrpc_message *message)
{
	struct acp_taking taking = { agent, message };
	if (message->kind == JSONRPC_REQUEST || message->kind == JSONRPC_NOTIFICATION)
		acp_method_take(&taking);
	else if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR)
		acp_ask_take(agent, message);
	else if (message->is_answered)
		acp_write_error(agent, &message->id, message->code, message->text, (struct str){ 0 });
}

/* ACP knows no batches. */
void acp_agent_line(struct acp_agent *agent, struct str line, bool is_too_long)
{
	const struct jsonrpc_message none = { 0 };
	struct acp_taking taking = { agent, &none };
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	if (agent->is_broken)
		return;
	if (is_too_long) {
		acp_refuse(&taking, JSONRPC_INVALID_REQUEST, "a message may have %d MiB at most",
			(int)(ACP_LINE_MAX / 1024 / 1024));
	} else if (jsonrpc_open(agent->json, line, &frame) < 0) {
		agent->is_broken = true;
	} else if (frame.is_batch) {
		acp_refuse(&taking, JSONRPC_INVALID_REQUEST, "there are no batches in this protocol");
	} else {
		while (jsonrpc_next(&frame, &message))
			acp_agent_take(agent, &message);
	}
}
