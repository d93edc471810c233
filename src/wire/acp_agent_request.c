/* ACP's agent side: requests of the client, and their answers. */
#include <errno.h>
#include <stdlib.h>

#include "wire/acp_agent_parts.h"

/* ---- life ------------------------------------------------------------------ */

static int acp_request_add(struct acp_request *request, const struct jsonrpc_id *id)
{
	request->waiting.id = *id;
	request->waiting.id.text.data = request->bytes;
	if (id->text.len)
		memcpy(request->bytes, id->text.data, id->text.len);
	return jsonrpc_ids_add(&request->agent->owed, &request->waiting);
}

struct acp_request *acp_request_new(struct acp_taking *taking, struct list *home)
{
	const struct jsonrpc_id *id = &taking->message->id;
	struct acp_request *request = calloc(1, sizeof(*request) + id->text.len);
	int r = -ENOMEM;
	if (request) {
		request->agent = taking->agent;
		r = acp_request_add(request, id);
	}
	if (r == 0) {
		request->home = home;
		list_append(home, request);
		return request;
	}
	free(request);
	if (r == -ENOMEM)
		taking->agent->is_broken = true;
	else if (r == -EEXIST)
		acp_refuse(taking, JSONRPC_INVALID_REQUEST, "the id is that of a request under way");
	else
		acp_refuse(taking, JSONRPC_INTERNAL_ERROR, "more than %zu requests are under way",
			taking->agent->owed.limit);
	return NULL;
}

struct acp_request *acp_request_find(struct acp_agent *agent, const struct jsonrpc_id *id)
{
	struct jsonrpc_waiting *found = jsonrpc_ids_find(&agent->owed, id);
	if (!found)
		return NULL;
	char *begin = (char *)found - offsetof(struct acp_request, waiting);
	struct acp_request *request = (struct acp_request *)(void *)begin;
	return request->session ? request : NULL;
}

void acp_request_drop(struct acp_request *request)
{
	if (request->session)
		acp_ask_withdraw_all(request);
	if (request->home)
		list_remove(request->home, request);
	else if (request->session)
		request->session->turn = NULL;
	jsonrpc_ids_remove(&request->agent->owed, &request->waiting);
	request->agent->waiting_bytes -= request->prompt_len;
	free(request->prompt);
	free(request);
}

void acp_request_set_data(struct acp_request *request, void *data)
{
	request->data = data;
}

void *acp_request_data(const struct acp_request *request)
{
	return request->data;
}

/* ---- answers --------------------------------------------------------------- */

/* The session, if it has one, goes on behind it. */
static void acp_request_end(struct acp_request *request, perch_json_writer *out)
{
	struct acp_agent *agent = request->agent;
	struct acp_session *session = request->session;
	jsonrpc_end(out);
	acp_write_send(agent, true);
	acp_request_drop(request);
	if (session)
		acp_session_go_on(session);
}

/* What is still asked is asked no more, and told before the answer. */
static perch_json_writer acp_request_begin(struct acp_request *request)
{
	acp_ask_withdraw_all(request);
	perch_json_writer out = acp_write_begin(request->agent);
	jsonrpc_begin_result(&out, &request->waiting.id);
	return out;
}

void acp_request_session(
	struct acp_request *request, const struct acp_session *session, struct str config)
{
	perch_json_writer out = acp_request_begin(request);
	perch_json_begin_object(&out);
	if (session)
		json_write_text(&out, "sessionId", acp_session_id(session));
	if (config.len) {
		perch_json_write_name(&out, "configOptions");
		perch_json_write_raw(&out, config.data, config.len);
	}
	perch_json_end_object(&out);
	acp_request_end(request, &out);
}

void acp_request_object(struct acp_request *request, struct str object)
{
	perch_json_writer out = acp_request_begin(request);
	perch_json_write_raw(&out, object.data, object.len);
	acp_request_end(request, &out);
}

void acp_request_stop(struct acp_request *request, enum acp_stop stop, struct str meta)
{
	static const char *const names[] = {
		[ACP_END_TURN] = "end_turn",
		[ACP_STOP_CANCELLED] = "cancelled",
		[ACP_STOP_REFUSAL] = "refusal",
		[ACP_STOP_TOKENS] = "max_tokens",
		[ACP_STOP_REQUESTS] = "max_turn_requests",
	};
	perch_json_writer out = acp_request_begin(request);
	perch_json_begin_object(&out);
	json_write_text(&out, "stopReason", str_from(names[stop]));
	if (meta.len) {
		perch_json_write_name(&out, "_meta");
		perch_json_write_raw(&out, meta.data, meta.len);
	}
	perch_json_end_object(&out);
	acp_request_end(request, &out);
}

void acp_request_fail(struct acp_request *request, int64_t code, struct str text, struct str data)
{
	struct acp_session *session = request->session;
	acp_ask_withdraw_all(request);
	acp_write_error(request->agent, &request->waiting.id, code, text, data);
	acp_request_drop(request);
	if (session)
		acp_session_go_on(session);
}
