/* MCP server: what a server behind us asks the client, handed on as it is. A legacy client gets a
 * request for each. A modern one gets its own request back with all of them, and the run is parked
 * until the answers come (mcp_server_ask.c). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "perch/base.h"
#include "wire/mcp_server_parts.h"

static const struct {
	const char *method;
	enum mcp_ability ability;
} mcp_relayable[] = {
	{ "elicitation/create", MCP_CAN_ELICIT },
	{ "sampling/createMessage", MCP_CAN_SAMPLE },
	{ "roots/list", MCP_HAS_ROOTS },
};

static bool mcp_relay_is_possible(const struct mcp_job *job, const char *method)
{
	for (size_t i = 0; i < COUNT(mcp_relayable); i++) {
		if (str_is(str_from(method), mcp_relayable[i].method))
			return job->abilities & mcp_relayable[i].ability && job->method->subject;
	}
	return false;
}

/* ---- life ------------------------------------------------------------------ */

enum { MCP_RELAY_KEY = 24 };

/* The server's own name for it, if no other has it. */
static bool mcp_relay_has_key(const struct mcp_job *job, struct str key)
{
	const struct mcp_relayed *relay = list_first(&job->relays);
	while (relay && !str_eq(relay->key, key))
		relay = list_next(relay);
	return relay || !key.len;
}

static struct mcp_relayed *mcp_relay_new(struct mcp_job *job, const struct mcp_relay *given)
{
	char own[MCP_RELAY_KEY];
	snprintf(own, sizeof(own), "r%" PRIu64, given->number);
	struct str key = mcp_relay_has_key(job, given->key) ? str_from(own) : given->key;
	struct mcp_relayed *relay = calloc(1, sizeof(*relay) + key.len + given->params.len + 1);
	if (!relay)
		return NULL;
	relay->asked.job = job;
	relay->asked.is_relay = true;
	relay->number = given->number;
	relay->method = given->method;
	relay->key = (struct str){ relay->bytes, key.len };
	relay->params = (struct str){ relay->bytes + key.len, given->params.len };
	memcpy(relay->bytes, key.data, key.len);
	if (given->params.len)
		memcpy(relay->bytes + key.len, given->params.data, given->params.len);
	list_append(&job->relays, relay);
	return relay;
}

/* In flight it is a request to a legacy client. */
static bool mcp_relay_is_asked(const struct mcp_relayed *relay)
{
	const struct mcp_job *job = relay->asked.job;
	return relay->is_sent && job->request && !job->version->is_modern;
}

static void mcp_relay_free(struct mcp_relayed *relay)
{
	struct mcp_job *job = relay->asked.job;
	if (mcp_relay_is_asked(relay))
		jsonrpc_ids_remove(&job->request->reply.connection->asked, &relay->asked.waiting);
	list_remove(&job->relays, relay);
	free(relay);
}

static void mcp_relay_withdraw(struct mcp_relayed *relay)
{
	if (mcp_relay_is_asked(relay))
		mcp_ask_send_cancel(relay->asked.job, &relay->asked.waiting.id);
	mcp_relay_free(relay);
}

void mcp_relays_drop(struct mcp_job *job)
{
	while (job->relays.count)
		mcp_relay_withdraw(list_first(&job->relays));
}

void mcp_job_unrelay(struct mcp_job *job, uint64_t number)
{
	struct mcp_relayed *relay = list_first(&job->relays);
	while (relay && relay->number != number)
		relay = list_next(relay);
	if (relay)
		mcp_relay_withdraw(relay);
}

bool mcp_relay_is_open(const struct mcp_job *job)
{
	return job->relays.count;
}

/* ---- answers ---------------------------------------------------------------- */

/* The relay is gone behind it. */
static void mcp_relay_tell(
	struct mcp_relayed *relay, const perch_json_value *result, struct str reason)
{
	struct mcp_job *job = relay->asked.job;
	struct mcp_server *server = job->server;
	const struct mcp_wish wish = {
		.kind = MCP_RELAYED,
		.connection = job->request ? job->request->reply.connection : NULL,
		.job = job,
		.name = job->name,
		.number = relay->number,
		.result = perch_json_type_of(result) == PERCH_JSON_OBJECT ? result : NULL,
		.reason = reason,
		.version = job->version,
	};
	mcp_relay_free(relay);
	server->table->wish(server->data, &wish);
}

void mcp_relay_take(struct mcp_relayed *relay, const struct jsonrpc_message *message)
{
	bool is_result = message->kind == JSONRPC_RESULT;
	mcp_relay_tell(relay, is_result ? message->result : NULL,
		is_result ? STR("the answer of the client is no object") : message->text);
}

/* ---- asking ----------------------------------------------------------------- */

int mcp_job_relay(struct mcp_job *job, const struct mcp_relay *relay, uint64_t expires_ns)
{
	if (!mcp_relay_is_possible(job, relay->method))
		return -ENOTSUP;
	if (job->relays.count >= MCP_RELAYS_MAX)
		return PERCH_ELIMIT;
	if (!mcp_relay_new(job, relay))
		return -ENOMEM;
	job->expires_ns = expires_ns;
	job->server->has_relays = true;
	return 0;
}

static void mcp_relay_write_params(perch_json_writer *writer, const struct mcp_relayed *relay)
{
	if (!relay->params.len)
		return;
	perch_json_write_name(writer, "params");
	perch_json_write_raw(writer, relay->params.data, relay->params.len);
}

/* False: the client has too many requests of ours. */
static bool mcp_relay_send_legacy(struct mcp_relayed *relay)
{
	const struct mcp_reply *reply = &relay->asked.job->request->reply;
	if (jsonrpc_ids_issue(&reply->connection->asked, &relay->asked.waiting) < 0)
		return false;
	relay->is_sent = true;
	perch_json_writer writer = mcp_write_begin(reply->connection->server);
	jsonrpc_begin_request(&writer, &relay->asked.waiting.id, relay->method);
	mcp_relay_write_params(&writer, relay);
	jsonrpc_end(&writer);
	mcp_send(reply->connection, reply->stream, JSONRPC_REQUEST);
	return true;
}

static void mcp_relay_reply(const struct mcp_job *job, const struct mcp_reply *reply)
{
	perch_json_writer writer = mcp_reply_begin(reply, "input_required");
	perch_json_write_name(&writer, "inputRequests");
	perch_json_begin_object(&writer);
	for (const struct mcp_relayed *relay = list_first(&job->relays); relay;
		 relay = list_next(relay)) {
		if (!relay->is_sent)
			continue;
		perch_json_write_name_n(&writer, relay->key.data, relay->key.len);
		perch_json_begin_object(&writer);
		json_write_text(&writer, "method", str_from(relay->method));
		mcp_relay_write_params(&writer, relay);
		perch_json_end_object(&writer);
	}
	perch_json_end_object(&writer);
	mcp_ask_write_ticket(&writer, job);
	mcp_reply_end(reply, &writer, MCP_NOT_CACHED);
}

static void mcp_relay_send_modern(struct mcp_job *job)
{
	for (struct mcp_relayed *relay = list_first(&job->relays); relay; relay = list_next(relay))
		relay->is_sent = true;
	job->question_number++;
	mcp_relay_reply(job, &job->request->reply);
	mcp_ask_park(job);
}

/* Nobody can be asked any more: as if the client had said so. */
static void mcp_relay_refuse(struct mcp_job *job)
{
	struct mcp_server *server = job->server;
	server->answered = job;
	while (server->answered == job && job->relays.count)
		mcp_relay_tell(list_first(&job->relays), NULL, STR("too many questions are open"));
	server->answered = NULL;
}

static void mcp_relay_send(struct mcp_job *job)
{
	struct mcp_relayed *relay = list_first(&job->relays);
	while (relay && relay->is_sent)
		relay = list_next(relay);
	if (!relay)
		return;
	if (job->version->is_modern) {
		if (mcp_ask_may_park(job))
			mcp_relay_send_modern(job);
		else
			mcp_relay_refuse(job);
		return;
	}
	for (; relay; relay = list_next(relay)) {
		if (!relay->is_sent && !mcp_relay_send_legacy(relay)) {
			mcp_relay_refuse(job);
			return;
		}
	}
}

/* What is parked waits for its client. */
void mcp_server_relay_all(struct mcp_server *server)
{
	struct mcp_connection *connection = list_first(&server->connections);
	if (!server->has_relays)
		return;
	server->has_relays = false;
	for (; connection; connection = list_next(connection)) {
		struct mcp_request *next;
		for (struct mcp_request *request = list_first(&connection->running); request;
			 request = next) {
			next = list_next(request);
			if (request->job && request->job->relays.count)
				mcp_relay_send(request->job);
		}
	}
}

/* ---- coming back ------------------------------------------------------------- */

static const perch_json_value *mcp_relay_response(
	const struct mcp_relayed *relay, const perch_json_value *responses)
{
	return perch_json_get_n(responses, relay->key.data, relay->key.len);
}

/* Whether all that was asked is answered, by an object each; else the request is answered. */
static bool mcp_relay_has_all(const struct mcp_job *job, struct mcp_taking *taking)
{
	const perch_json_value *responses = perch_json_get(taking->params, "inputResponses");
	if (responses && perch_json_type_of(responses) != PERCH_JSON_OBJECT) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "inputResponses must be an object");
		return false;
	}
	for (const struct mcp_relayed *relay = list_first(&job->relays); relay;
		 relay = list_next(relay)) {
		const perch_json_value *response = mcp_relay_response(relay, responses);
		if (relay->is_sent && !response) {
			mcp_relay_reply(job, &taking->reply);
			return false;
		}
		if (relay->is_sent && perch_json_type_of(response) != PERCH_JSON_OBJECT) {
			mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "each of inputResponses must be an object");
			return false;
		}
	}
	return true;
}

/* A job that is told an answer may end, and be gone. */
void mcp_relay_resume(struct mcp_job *job, struct mcp_taking *taking)
{
	struct mcp_server *server = job->server;
	const perch_json_value *responses = perch_json_get(taking->params, "inputResponses");
	if (!mcp_relay_has_all(job, taking) || !mcp_ask_unpark(job, taking))
		return;
	server->answered = job;
	server->has_relays = true; /* those that came while it was parked */
	struct mcp_relayed *relay;
	while (server->answered == job && (relay = list_first(&job->relays)) && relay->is_sent)
		mcp_relay_tell(relay, mcp_relay_response(relay, responses), (struct str){ 0 });
	server->answered = NULL;
}
