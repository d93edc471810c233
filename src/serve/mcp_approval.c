/* Calls of MCP clients that somebody must approve. The bearer that calls cannot: so the call is a
 * job like that of POST /api/calls, which admins see and answer, and the client waits for its
 * result. */
#include "base/cleanup.h"
#include "data/json.h"
#include "serve/jobs.h"
#include "serve/mcp_guests.h"
#include "serve/serve_parts.h"

static const enum jobs_kind mcp_approval_kinds[] = {
	[PERCH_ENTRY_AGENT] = JOBS_TURN,
	[PERCH_ENTRY_TOOL] = JOBS_CALL,
	[PERCH_ENTRY_COMMAND] = JOBS_RUN,
};

/* What an admin sees of it; it is never run from this. */
static void mcp_approval_write(const struct mcp_kept_call *call, struct buf *request)
{
	struct str arguments = call->arguments.len ? call->arguments : STR("{}");
	buf_append_text(request, "{\"input\":");
	buf_append(request, arguments.data, arguments.len);
	buf_append_text(request, JOBS_GUEST_MARK);
}

void *mcp_approval_keep(void *data, const struct mcp_kept_call *call)
{
	(void)data;
	_cleanup_(buf_free) struct buf request = { 0 };
	struct exchange *exchange = guest_exchange(call->caller);
	mcp_approval_write(call, &request);
	if (!exchange || request.failed)
		return NULL;
	const struct jobs_wish wish = {
		.kind = mcp_approval_kinds[call->kind],
		.name = str_from(call->name),
		.request = { request.data, request.len },
	};
	return jobs_adopt(exchange, &wish, call->job);
}

void mcp_approval_told(void *data, void *kept, perch_job *job, const perch_event *event)
{
	const struct serve *serve = data;
	if (!serve->is_over) /* then the records are gone */
		jobs_adopted_told(kept, job, event);
}
