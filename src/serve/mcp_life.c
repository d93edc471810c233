/* /mcp as a part of the gateway: its beginning, what it tells, its end. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "serve/jobs.h"
#include "serve/mcp_endpoint.h"
#include "serve/serve_parts.h"

static void mcp_endpoint_warns(void *data, const char *text)
{
	serve_warn(data, "%s", text);
}

static void mcp_endpoint_log(struct serve *serve, const struct mcp_call_end *end, unsigned kind)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	enum queue_state state = end->was_cancelled ? QUEUE_CANCELLED
		: end->success                          ? QUEUE_DONE
												: QUEUE_FAILED;
	metrics_job(&serve->metrics, kind, state, end->took_ns);
	if (!serve->options.note)
		return;
	perch_json_begin_object(&out);
	json_write_text(&out, "kind", str_from(metrics_kinds[kind]));
	json_write_text(&out, "name", str_from(end->name));
	json_write_text(&out, "user", str_from(end->caller));
	json_write_text(&out, "state", str_from(queue_state_name(state)));
	perch_json_write_name(&out, "seconds");
	perch_json_write_double(&out, (double)(end->took_ns / NSEC_PER_MSEC) / 1000);
	perch_json_end_object(&out);
	if (!json.failed)
		serve->options.note(serve->options.data, (struct str){ json.data, json.len });
}

static void mcp_endpoint_ended(void *data, const struct mcp_call_end *end)
{
	if (end->was_kept)
		return; /* as a job of its own */
	unsigned kind = end->kind == PERCH_ENTRY_AGENT ? JOBS_TURN
		: end->kind == PERCH_ENTRY_TOOL            ? JOBS_CALL
												   : JOBS_RUN;
	mcp_endpoint_log(data, end, kind);
}

static void mcp_endpoint_refused(void *data, const struct mcp_caller *caller, struct str name)
{
	(void)data;
	const struct exchange *exchange = guest_exchange(caller);
	if (exchange)
		serve_note_refusal(exchange, name, "not there, or not allowed");
}

int mcp_endpoint_open(struct serve *serve, perch_err *err)
{
	const struct mcp_front_options options = {
		.without_prefix = serve->options.mcp_without_prefix,
		.warn = mcp_endpoint_warns,
		.ended = mcp_endpoint_ended,
		.refused = mcp_endpoint_refused,
		.keep = mcp_approval_keep,
		.told = mcp_approval_told,
		.data = serve,
	};
	perch_err inner = { 0 };
	serve->mcp.is_stale = false;
	int r = mcp_front_new(serve->host, serve->service, &options, &serve->mcp.front, &inner);
	if (r != -EEXIST) {
		if (r < 0 && err)
			*err = inner;
		return r;
	}
	serve_warn(serve, "/mcp: %s", inner.text);
	return 0;
}

void mcp_endpoint_changed(struct serve *serve)
{
	serve->mcp.is_stale = true;
	if (serve->mcp.front)
		mcp_front_changed(serve->mcp.front);
}

void mcp_endpoint_told(perch_service *service, void *data, const perch_service_told *told)
{
	(void)service;
	struct serve *serve = data;
	if (serve->mcp.front)
		mcp_front_told(serve->mcp.front, told);
}

size_t mcp_endpoint_calls(const struct serve *serve)
{
	return serve->mcp.front ? mcp_front_calls(serve->mcp.front) : 0;
}

void mcp_endpoint_close(struct serve *serve)
{
	if (serve->mcp.front)
		mcp_front_close(serve->mcp.front);
}

void mcp_endpoint_leave(struct serve *serve)
{
	struct mcp_guest *guest;
	while ((guest = list_first(&serve->mcp.guests)))
		guest_free(guest);
	if (serve->mcp.front)
		mcp_front_leave(serve->mcp.front);
}

void mcp_endpoint_free(struct serve *serve)
{
	mcp_front_free(serve->mcp.front);
}
