/* Resources and prompts of MCP servers. A list is gathered from all servers that may have it. One
 * resource or prompt is asked of the server that has it: where there are several, of the first that
 * lists it, so that no server learns what a client wants of another. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "mcp/front_parts.h"

enum { MCP_SERVERS_MAX = 256 }; /* that are asked for one list */

static const struct mcp_listing mcp_list_resources = { "resources/list", PERCH_ENTRY_RESOURCE,
	"uri" };
static const struct mcp_listing mcp_list_templates = { "resources/templates/list",
	PERCH_ENTRY_TEMPLATE, "uriTemplate" };
static const struct mcp_listing mcp_list_prompts = { "prompts/list", PERCH_ENTRY_PROMPT, "name" };

perch_job_request mcp_passage_request(
	const char *binding, const char *method, struct str params, perch_sink_fn *sink, void *data)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_TOOL;
	request.name = binding;
	request.method = method;
	request.input = params.data;
	request.input_len = params.len;
	request.sink = sink;
	request.data = data;
	return request;
}

struct mcp_server_offers mcp_passage_offers(const struct mcp_offers *offers)
{
	struct mcp_server_offers found = { .resources = mcp_resources_are_shown(offers) };
	size_t count;
	const perch_catalog_server *servers = perch_catalog_servers(offers->catalog, &count);
	for (size_t i = 0; i < count; i++) {
		found.resources |= servers[i].has_resources;
		found.subscriptions |= servers[i].has_resources;
		found.prompts |= servers[i].has_prompts;
		found.completions |= servers[i].has_completions;
	}
	return found;
}

/* A token for single tools of a binding has none of its resources. */
static bool mcp_passage_may(const struct mcp_caller *caller, const char *binding)
{
	_cleanup_(buf_free) struct buf all = { 0 };
	if (!caller->allows)
		return true;
	buf_printf(&all, "%s/", binding);
	return buf_terminate(&all) == 0 && caller->allows(caller, PERCH_ENTRY_TOOL, all.data);
}

/* The servers that may have it; name NULL = any of that kind. Lives as long as the offers. */
static size_t mcp_passage_servers(const struct mcp_front *front, const struct mcp_caller *caller,
	perch_entry_kind kind, const char *name, const char *found[MCP_SERVERS_MAX])
{
	size_t count, kept = 0;
	const perch_catalog_server *servers = perch_catalog_servers(front->offers.catalog, &count);
	for (size_t i = 0; i < count && kept < MCP_SERVERS_MAX; i++) {
		const perch_catalog_server *server = &servers[i];
		bool has = kind == PERCH_ENTRY_PROMPT ? server->has_prompts : server->has_resources;
		if (has && mcp_passage_may(caller, server->binding) &&
			(!name || perch_service_shows(front->service, kind, server->binding, name)))
			found[kept++] = server->binding;
	}
	return kept;
}

static void mcp_passage_no_memory(const struct mcp_wish *wish)
{
	if (wish->job)
		mcp_job_error(wish->job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
}

void mcp_passage_list(struct mcp_front *front, const struct mcp_wish *wish, struct str own)
{
	const struct mcp_listing *listing = wish->kind == MCP_LIST_PROMPTS ? &mcp_list_prompts
		: wish->kind == MCP_LIST_TEMPLATES                             ? &mcp_list_templates
																	   : &mcp_list_resources;
	const char *servers[MCP_SERVERS_MAX];
	size_t count =
		mcp_passage_servers(front, mcp_caller_of(wish->connection), listing->kind, NULL, servers);
	struct mcp_gather *gather = mcp_gather_new(front, wish, count);
	if (!gather) {
		mcp_passage_no_memory(wish);
		return;
	}
	buf_append(&gather->own, own.data, own.len);
	for (size_t i = 0; i < count; i++)
		mcp_gather_ask(gather, listing, servers[i]);
	mcp_gather_wait(gather);
}

/* ---- one of them ------------------------------------------------------------------ */

/* Asks all who might have it what they have, then the one that has it. */
static void mcp_passage_find(struct mcp_front *front, const struct mcp_wish *wish,
	const char *method, perch_entry_kind kind, struct str name, struct str params,
	const char *const *servers, size_t count)
{
	bool is_prompt = kind == PERCH_ENTRY_PROMPT;
	struct mcp_gather *gather = mcp_gather_new(front, wish, 2 * count);
	const char *kept = gather ? mcp_gather_dup(gather, params) : NULL;
	if (gather) {
		gather->method = method;
		gather->name = mcp_gather_dup(gather, name);
		gather->params = (struct str){ kept, params.len };
		gather->caller = *mcp_caller_of(wish->connection);
		gather->caller.name = mcp_gather_dup(gather, str_from(gather->caller.name));
		gather->caller.session = mcp_gather_dup(gather, str_from(gather->caller.session));
	}
	if (!kept || !gather->name || !gather->caller.name || !gather->caller.session) {
		if (gather)
			mcp_gather_free(gather);
		mcp_passage_no_memory(wish);
		return;
	}
	for (size_t i = 0; i < count; i++)
		mcp_gather_ask(gather, is_prompt ? &mcp_list_prompts : &mcp_list_resources, servers[i]);
	for (size_t i = 0; i < count && !is_prompt; i++)
		mcp_gather_ask(gather, &mcp_list_templates, servers[i]);
	mcp_gather_wait(gather);
}

/* A completion is about a prompt or a template. */
static struct str mcp_passage_subject(const struct mcp_wish *wish, perch_entry_kind *kind)
{
	*kind = wish->kind == MCP_GET_PROMPT ? PERCH_ENTRY_PROMPT : PERCH_ENTRY_RESOURCE;
	if (wish->kind != MCP_COMPLETE)
		return wish->name;
	const perch_json_value *ref = perch_json_get(wish->params, "ref");
	bool is_prompt = perch_json_is(perch_json_get(ref, "type"), "ref/prompt");
	const perch_json_value *name = perch_json_get(ref, is_prompt ? "name" : "uri");
	*kind = is_prompt ? PERCH_ENTRY_PROMPT : PERCH_ENTRY_RESOURCE;
	return perch_json_type_of(name) == PERCH_JSON_STRING ? json_str(name) : STR("");
}

void mcp_passage_begin(struct mcp_front *front, const struct mcp_wish *wish)
{
	const char *method = wish->kind == MCP_READ_RESOURCE ? "resources/read"
		: wish->kind == MCP_GET_PROMPT                   ? "prompts/get"
														 : "completion/complete";
	const char *servers[MCP_SERVERS_MAX];
	perch_entry_kind kind;
	struct str subject = mcp_passage_subject(wish, &kind), params = { 0 };
	_cleanup_free_ char *name = str_dup(subject);
	size_t count = name && strlen(name) == subject.len
		? mcp_passage_servers(front, mcp_caller_of(wish->connection), kind, name, servers)
		: 0;
	params.data = perch_json_raw(wish->params, &params.len);
	if (!count)
		mcp_job_unknown(wish->job, STR("there is no such resource or prompt"));
	else if (count == 1)
		mcp_task_pass(front, wish, servers[0], method, params);
	else
		mcp_passage_find(front, wish, method, kind, subject, params, servers, count);
}

/* ---- subscriptions ------------------------------------------------------------------ */

/* Its end is of no matter: who subscribes was answered already. */
static void mcp_passage_done(perch_job *job, void *data, const perch_event *event)
{
	(void)data;
	if (event->kind == PERCH_EVENT_END)
		perch_job_free(job);
}

void mcp_passage_errand(struct mcp_front *front, const struct mcp_caller *caller, bool is_legacy,
	const char *binding, const char *method, struct str params)
{
	perch_job_request request =
		mcp_passage_request(binding, method, params, mcp_passage_done, NULL);
	perch_job *job;
	request.caller.name = caller->name[0] ? caller->name : NULL;
	request.session = caller->session[0] ? caller->session : NULL;
	request.is_legacy = is_legacy;
	perch_job_submit(front->service, &request, &job, NULL);
}

/* A subscription whose server is still looked for. False: there is none. */
static bool mcp_passage_gives_up(
	const struct mcp_front *front, const struct mcp_caller *caller, const char *uri)
{
	struct mcp_gather *gather = list_first(&front->gathers);
	while (gather &&
		(gather->is_abandoned || !gather->method ||
			strcmp(gather->method, "resources/subscribe") != 0 || strcmp(gather->name, uri) != 0 ||
			strcmp(gather->caller.name, caller->name) != 0 ||
			strcmp(gather->caller.session, caller->session) != 0))
		gather = list_next(gather);
	if (gather)
		mcp_gather_abandon(gather);
	return gather;
}

void mcp_passage_subscribe(struct mcp_front *front, const struct mcp_wish *wish)
{
	bool is_end = wish->kind == MCP_UNSUBSCRIBE;
	const struct mcp_caller *caller = mcp_caller_of(wish->connection);
	const char *servers[MCP_SERVERS_MAX];
	_cleanup_(buf_free) struct buf params = { 0 };
	_cleanup_free_ char *name = str_dup(wish->name);
	perch_json_writer writer = json_writer_on(&params);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "uri", wish->name);
	perch_json_end_object(&writer);
	if (!name || params.failed || (is_end && mcp_passage_gives_up(front, caller, name)))
		return;
	struct str text = { params.data, params.len };
	size_t count = mcp_passage_servers(front, caller, PERCH_ENTRY_RESOURCE, name, servers);
	if (!is_end && count > 1) {
		mcp_passage_find(front, wish, "resources/subscribe", PERCH_ENTRY_RESOURCE, wish->name, text,
			servers, count);
		return;
	}
	for (size_t i = 0; i < count; i++) /* those that do not tell of it mind nothing */
		mcp_passage_errand(front, caller, !wish->version->is_modern, servers[i],
			is_end ? "resources/unsubscribe" : "resources/subscribe", text);
}
