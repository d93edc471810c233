/* MCP server: jobs, and what is told of them while they run. */
#include <stdlib.h>

#include "wire/mcp_server_parts.h"

/* ---- life ------------------------------------------------------------------ */

struct mcp_job *mcp_job_new(struct mcp_taking *taking, struct str name)
{
	struct mcp_connection *connection = taking->connection;
	struct str principal = connection->principal;
	struct mcp_request *request = mcp_request_new(taking, &connection->running);
	if (!request)
		return NULL;
	struct mcp_job *job = malloc(sizeof(*job) + name.len + principal.len);
	if (!job) {
		mcp_request_free(request);
		mcp_taking_fail(taking);
		return NULL;
	}
	*job = (struct mcp_job){
		.server = connection->server,
		.method = taking->method,
		.handle = ++connection->server->handles,
		.progress = -1,
		.name = { job->bytes, name.len },
		.principal = { job->bytes + name.len, principal.len },
	};
	if (name.len)
		memcpy(job->bytes, name.data, name.len);
	if (principal.len)
		memcpy(job->bytes + name.len, principal.data, principal.len);
	job->asked.job = job;
	job->abilities = taking->abilities;
	bool is_kept = taking->reply.version->is_modern && taking->abilities;
	if (is_kept && mcp_digest(perch_json_get(taking->params, "arguments"), job->digest) < 0)
		job->abilities = 0;
	mcp_job_attach(job, request);
	return job;
}

/* Counts from its last word on. */
static void mcp_job_beat(struct mcp_job *job)
{
	struct list *beating = &job->server->beating;
	if (job->is_beating)
		list_remove(beating, job);
	job->is_beating = true;
	job->beat_ns = job->server->now_ns + job->server->options.heartbeat_ns;
	list_append(beating, job);
}

void mcp_job_attach(struct mcp_job *job, struct mcp_request *request)
{
	request->job = job;
	job->request = request;
	job->version = request->reply.version;
	if (request->progress_token.kind != JSONRPC_ID_NONE)
		mcp_job_beat(job);
}

void mcp_job_detach(struct mcp_job *job)
{
	if (job->is_beating)
		list_remove(&job->server->beating, job);
	job->is_beating = false;
	job->request = NULL;
}

void mcp_job_free(struct mcp_job *job)
{
	struct mcp_request *request = job->request;
	mcp_job_withdraw(job);
	mcp_relays_drop(job);
	if (job->server->answered == job)
		job->server->answered = NULL;
	if (request) {
		mcp_job_detach(job);
		mcp_request_free(request);
	} else {
		list_remove(&job->server->parked, job);
	}
	arena_free(&job->arena);
	buf_free(&job->response);
	free(job);
}

void mcp_job_cancel(struct mcp_job *job, struct str reason)
{
	struct mcp_server *server = job->server;
	if (!job->is_ended)
		server->table->wish(server->data,
			&(struct mcp_wish){
				.kind = MCP_CANCEL,
				.connection = job->request ? job->request->reply.connection : NULL,
				.job = job,
				.name = job->name,
				.reason = reason,
				.version = job->version,
			});
	if (job->request)
		mcp_reply_drop(&job->request->reply);
	mcp_job_free(job);
}

void mcp_job_set_data(struct mcp_job *job, void *data)
{
	job->data = data;
}

void *mcp_job_data(const struct mcp_job *job)
{
	return job->data;
}

void *mcp_job_stream(const struct mcp_job *job)
{
	return job->request ? job->request->reply.stream : NULL;
}

/* ---- progress -------------------------------------------------------------- */

/* The next larger value, for a plugin that says the same twice, and for a heartbeat. */
static double mcp_progress_after(double last)
{
	const double little = 1e-9;
	double next = last + little;
	return next > last ? next : last * (1 + 1e-15);
}

void mcp_job_progress(struct mcp_job *job, double progress, double total, struct str message)
{
	const struct mcp_request *request = job->request;
	if (!request || request->progress_token.kind == JSONRPC_ID_NONE)
		return;
	const double most = 1e300;
	if (!(progress > job->progress && progress >= 0 && progress <= most))
		progress = job->progress < 0 ? 0 : mcp_progress_after(job->progress);
	job->progress = progress;
	perch_json_writer writer = mcp_write_begin(job->server);
	jsonrpc_begin_notification(&writer, "notifications/progress");
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "progressToken");
	jsonrpc_id_write(&writer, &request->progress_token);
	perch_json_write_name(&writer, "progress");
	perch_json_write_double(&writer, progress);
	if (total >= 0 && total <= most) {
		perch_json_write_name(&writer, "total");
		perch_json_write_double(&writer, total);
	}
	if (message.len && request->reply.version->has_annotations)
		json_write_text(&writer, "message", message);
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_send(request->reply.connection, request->reply.stream, JSONRPC_NOTIFICATION);
	mcp_job_beat(job);
}

/* ---- logging --------------------------------------------------------------- */

bool mcp_job_wants_log(const struct mcp_job *job, enum mcp_level level)
{
	const struct mcp_request *request = job->request;
	if (!request)
		return false;
	bool is_modern = request->reply.version->is_modern;
	enum mcp_level wanted = is_modern ? request->log_level : request->reply.connection->log_level;
	return wanted != MCP_LEVEL_NONE && level >= wanted;
}

void mcp_job_log(struct mcp_job *job, enum mcp_level level, struct str logger, struct str data)
{
	if (!mcp_job_wants_log(job, level))
		return;
	const struct mcp_request *request = job->request;
	perch_json_writer writer = mcp_write_begin(job->server);
	jsonrpc_begin_notification(&writer, "notifications/message");
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	json_write_text(&writer, "level", str_from(mcp_level_name(level)));
	if (logger.len)
		json_write_text(&writer, "logger", logger);
	perch_json_write_name(&writer, "data");
	perch_json_write_raw(&writer, data.data, data.len);
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_send(request->reply.connection, request->reply.stream, JSONRPC_NOTIFICATION);
}
