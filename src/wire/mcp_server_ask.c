/* MCP server: questions to the user of a client. A legacy client gets a request of ours and
 * answers it while its own waits. A modern one gets its request back, with a ticket: the run
 * is parked until a request with that ticket and the answer comes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/macros.h"
#include "wire/mcp_server_parts.h"

enum { MCP_KEY_TEXT = 24 };

/* What a question is called among the inputRequests. */
static const char *mcp_ask_key(const struct mcp_job *job, char text[MCP_KEY_TEXT])
{
	snprintf(text, MCP_KEY_TEXT, "q%" PRIu64, job->question_number);
	return text;
}

/* ---- asking ---------------------------------------------------------------- */

static int mcp_ask_legacy(struct mcp_job *job)
{
	struct mcp_connection *connection = job->request->reply.connection;
	int r = jsonrpc_ids_issue(&connection->asked, &job->asked.waiting);
	if (r < 0)
		return r;
	perch_json_writer writer = mcp_write_begin(job->server);
	jsonrpc_begin_request(&writer, &job->asked.waiting.id, "elicitation/create");
	perch_json_write_name(&writer, "params");
	mcp_form_write(&writer, &job->question, job->version);
	jsonrpc_end(&writer);
	mcp_send(connection, job->request->reply.stream, JSONRPC_REQUEST);
	job->is_asking = true;
	return 0;
}

void mcp_ask_write_ticket(perch_json_writer *writer, const struct mcp_job *job)
{
	const struct mcp_ticket ticket = {
		.handle = job->handle,
		.question = job->question_number,
		.expires_ns = job->expires_ns,
		.method = str_from(job->method->name),
		.name = job->name,
		.arguments = job->digest,
		.principal = job->principal,
	};
	char text[MCP_TICKET_SIZE];
	mcp_ticket_write(&ticket, job->server->options.key, text);
	json_write_text(writer, "requestState", str_from(text));
}

/* The response that a modern request gets instead of its result. */
static void mcp_ask_reply(const struct mcp_job *job, const struct mcp_reply *reply)
{
	char key[MCP_KEY_TEXT];
	perch_json_writer writer = mcp_reply_begin(reply, "input_required");
	perch_json_write_name(&writer, "inputRequests");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, mcp_ask_key(job, key));
	perch_json_begin_object(&writer);
	json_write_text(&writer, "method", STR("elicitation/create"));
	perch_json_write_name(&writer, "params");
	mcp_form_write(&writer, &job->question, job->version);
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	mcp_ask_write_ticket(&writer, job);
	mcp_reply_end(reply, &writer, MCP_NOT_CACHED);
}

bool mcp_ask_may_park(const struct mcp_job *job)
{
	const struct mcp_server *server = job->server;
	size_t of_this = 0;
	for (const struct mcp_job *other = list_first(&server->parked); other; other = list_next(other))
		of_this += str_eq(other->principal, job->principal);
	return server->parked.count < server->options.parked_max &&
		of_this < server->options.parked_each_max;
}

void mcp_ask_park(struct mcp_job *job)
{
	struct mcp_request *request = job->request;
	mcp_job_detach(job);
	mcp_request_free(request);
	list_append(&job->server->parked, job);
}

static int mcp_ask_modern(struct mcp_job *job)
{
	if (!mcp_ask_may_park(job))
		return PERCH_ELIMIT;
	job->is_asking = true;
	mcp_ask_reply(job, &job->request->reply);
	mcp_ask_park(job);
	return 0;
}

int mcp_job_ask(struct mcp_job *job, const struct mcp_question *question, uint64_t expires_ns)
{
	struct mcp_question kept;
	if (job->is_asking)
		return -EBUSY;
	if (mcp_form_is_secret(question))
		return -EACCES;
	bool is_possible = job->request && job->abilities & MCP_CAN_ELICIT && job->method->subject;
	if (!is_possible || !mcp_form_fits(question, job->version))
		return -ENOTSUP;
	arena_reset(&job->arena);
	int r = mcp_question_keep(question, &job->arena, &kept);
	if (r < 0)
		return r;
	job->question = kept;
	job->question_number++;
	job->expires_ns = expires_ns;
	return job->version->is_modern ? mcp_ask_modern(job) : mcp_ask_legacy(job);
}

void mcp_ask_send_cancel(struct mcp_job *job, const struct jsonrpc_id *id)
{
	perch_json_writer writer = mcp_write_begin(job->server);
	jsonrpc_begin_notification(&writer, "notifications/cancelled");
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "requestId");
	jsonrpc_id_write(&writer, id);
	json_write_text(&writer, "reason", STR("the question is no longer open"));
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_send(job->request->reply.connection, job->request->reply.stream, JSONRPC_NOTIFICATION);
}

void mcp_job_withdraw(struct mcp_job *job)
{
	if (!job->is_asking)
		return;
	job->is_asking = false;
	if (!job->request)
		return;
	jsonrpc_ids_remove(&job->request->reply.connection->asked, &job->asked.waiting);
	mcp_ask_send_cancel(job, &job->asked.waiting.id);
}

/* ---- answers --------------------------------------------------------------- */

static void mcp_ask_tell(struct mcp_job *job, const struct mcp_answer *answer)
{
	struct mcp_server *server = job->server;
	job->is_asking = false;
	server->table->wish(server->data,
		&(struct mcp_wish){
			.kind = MCP_ANSWER,
			.connection = job->request->reply.connection,
			.job = job,
			.name = job->name,
			.answer = answer,
			.version = job->version,
		});
}

void mcp_ask_take(struct mcp_connection *connection, const struct jsonrpc_message *message)
{
	struct jsonrpc_waiting *waiting = jsonrpc_ids_find(&connection->asked, &message->id);
	if (!waiting)
		return;
	struct mcp_asked *asked = container_of(waiting, struct mcp_asked, waiting);
	struct mcp_job *job = asked->job;
	if (asked->is_relay) {
		mcp_relay_take(container_of(asked, struct mcp_relayed, asked), message);
		return;
	}
	struct arena *scratch = &connection->server->scratch;
	struct mcp_answer answer = { 0 };
	perch_err err = { 0 };
	int r = 0;
	jsonrpc_ids_remove(&connection->asked, waiting);
	arena_reset(scratch);
	if (message->kind == JSONRPC_RESULT)
		r = mcp_form_read(&job->question, message->result, scratch, &answer, &err);
	if (r == -ENOMEM)
		connection->is_broken = true;
	if (message->kind == JSONRPC_ERROR)
		answer = (struct mcp_answer){ .action = MCP_UNANSWERED, .text = message->text };
	else if (r < 0)
		answer = (struct mcp_answer){ .action = MCP_UNANSWERED, .text = str_from(err.text) };
	mcp_ask_tell(job, &answer);
}

/* ---- coming back ----------------------------------------------------------- */

/* What has expired is not there any more: the tick that told the time has cancelled it. */
static struct mcp_job *mcp_ask_find(
	const struct mcp_server *server, const struct mcp_ticket *ticket)
{
	struct mcp_job *job = list_first(&server->parked);
	while (job && job->handle != ticket->handle)
		job = list_next(job);
	bool is_it =
		job && job->question_number == ticket->question && job->expires_ns == ticket->expires_ns;
	return is_it ? job : NULL;
}

/* The run goes on, with this request. */
bool mcp_ask_unpark(struct mcp_job *job, struct mcp_taking *taking)
{
	struct mcp_request *request = mcp_request_new(taking, &taking->connection->running);
	if (!request)
		return false;
	list_remove(&job->server->parked, job);
	job->abilities = taking->abilities;
	mcp_job_attach(job, request);
	return true;
}

/* What is refused or missing leaves the ticket as it is. */
static void mcp_ask_answer(struct mcp_job *job, struct mcp_taking *taking)
{
	const perch_json_value *responses = perch_json_get(taking->params, "inputResponses");
	char key[MCP_KEY_TEXT];
	const perch_json_value *response = perch_json_get(responses, mcp_ask_key(job, key));
	if (responses && perch_json_type_of(responses) != PERCH_JSON_OBJECT) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "inputResponses must be an object");
		return;
	}
	if (!response) {
		mcp_ask_reply(job, &taking->reply);
		return;
	}
	struct arena *scratch = &job->server->scratch;
	struct mcp_answer answer;
	perch_err err = { 0 };
	arena_reset(scratch);
	int r = mcp_form_read(&job->question, response, scratch, &answer, &err);
	if (r == -ENOMEM)
		mcp_taking_fail(taking);
	else if (r < 0)
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "inputResponses.%s: %s", key, err.text);
	else if (mcp_ask_unpark(job, taking))
		mcp_ask_tell(job, &answer);
}

void mcp_ask_resume(struct mcp_taking *taking, struct str name, const perch_json_value *state)
{
	struct mcp_server *server = taking->connection->server;
	char digest[SHA256_HEX_SIZE];
	struct mcp_ticket ticket = {
		.method = str_from(taking->method->name),
		.name = name,
		.arguments = digest,
		.principal = taking->connection->principal,
	};
	if (mcp_digest(perch_json_get(taking->params, "arguments"), digest) < 0) {
		mcp_taking_fail(taking);
		return;
	}
	bool is_ours = perch_json_type_of(state) == PERCH_JSON_STRING &&
		mcp_ticket_read(&ticket, server->options.key, json_str(state));
	struct mcp_job *job = is_ours ? mcp_ask_find(server, &ticket) : NULL;
	if (!job)
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS,
			"the requestState is not valid here, was used already, or has expired");
	else if (job->is_asking)
		mcp_ask_answer(job, taking);
	else if (mcp_relay_is_open(job))
		mcp_relay_resume(job, taking);
	else if (mcp_ask_unpark(job, taking) && job->is_ended)
		mcp_job_hand_over(job);
}

static struct mcp_job *mcp_ask_find_expired(const struct mcp_server *server)
{
	struct mcp_job *job = list_first(&server->parked);
	while (job && job->expires_ns > server->now_ns)
		job = list_next(job);
	return job;
}

void mcp_ask_tick(struct mcp_server *server)
{
	struct mcp_job *expired;
	while ((expired = mcp_ask_find_expired(server)))
		mcp_job_cancel(expired, STR("nobody has answered in time"));
}
