/* Lists of several MCP servers: one list for a client, or the way to the server that has what it
 * wants. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/macros.h"
#include "data/json.h"
#include "mcp/front_parts.h"

void mcp_gather_free(struct mcp_gather *gather)
{
	list_remove(&gather->front->gathers, gather);
	for (size_t i = 0; i < gather->count; i++)
		buf_free(&gather->parts[i].items);
	buf_free(&gather->own);
	arena_free(&gather->arena);
	free(gather);
}

static void mcp_gather_close_one(struct mcp_gather *gather);

void mcp_gather_abandon(struct mcp_gather *gather)
{
	gather->wire = NULL;
	gather->is_abandoned = true;
	gather->open++; /* a job may end at once, and it with its last one */
	for (size_t i = 0; i < gather->count; i++) {
		if (gather->parts[i].job)
			perch_job_cancel(gather->parts[i].job, SIGTERM);
	}
	mcp_gather_close_one(gather);
}

const char *mcp_gather_dup(struct mcp_gather *gather, struct str text)
{
	return arena_dup(&gather->arena, text.data ? text : STR(""));
}

/* The client's words outlive its line. False without memory. */
static bool mcp_gather_keep(struct mcp_gather *gather, const struct mcp_wish *wish)
{
	struct mcp_client *client = &gather->wish.client;
	gather->wish = *wish;
	gather->wish.params = gather->wish.arguments = NULL;
	client->name.data = mcp_gather_dup(gather, wish->client.name);
	client->version.data = mcp_gather_dup(gather, wish->client.version);
	client->traceparent.data = mcp_gather_dup(gather, wish->client.traceparent);
	return client->name.data && client->version.data && client->traceparent.data;
}

struct mcp_gather *mcp_gather_new(struct mcp_front *front, const struct mcp_wish *wish, size_t most)
{
	struct mcp_gather *gather = calloc(1, sizeof(*gather) + most * sizeof(gather->parts[0]));
	if (!gather)
		return NULL;
	gather->work = MCP_WORK_GATHER;
	gather->front = front;
	gather->wire = wish->job;
	list_append(&front->gathers, gather);
	if (mcp_gather_keep(gather, wish))
		return gather;
	mcp_gather_free(gather);
	return NULL;
}

/* ---- its end ------------------------------------------------------------------ */

/* The items of all parts that this client may see. */
struct mcp_gathered {
	const perch_json_value **items;
	size_t count;
};

static void mcp_gather_write(void *data, size_t item, const struct mcp_page *page)
{
	perch_json_write_value(page->writer, ((const perch_json_value **)data)[item]);
}

static bool mcp_gather_shows(
	const struct mcp_part *part, const perch_json_value *item, struct buf *room)
{
	const perch_json_value *name = perch_json_get(item, part->listing->name);
	buf_clear(room);
	if (perch_json_type_of(name) != PERCH_JSON_STRING)
		return false;
	buf_append(room, json_str(name).data, json_str(name).len);
	bool is_own = part->listing->kind != PERCH_ENTRY_PROMPT &&
		str_has_prefix(json_str(name), STR(MCP_OWN_URI));
	return buf_terminate(room) == 0 && strlen(room->data) == json_str(name).len && !is_own &&
		perch_service_shows(
			part->gather->front->service, part->listing->kind, part->binding, room->data);
}

/* All parts as one array: what perch has, then the servers in the order of their names. */
static void mcp_gather_join(const struct mcp_gather *gather, perch_json *json, struct buf *out)
{
	_cleanup_(buf_free) struct buf room = { 0 };
	buf_append_char(out, '[');
	buf_append(out, gather->own.data, gather->own.len);
	for (size_t i = 0; i < gather->count; i++) {
		const struct mcp_part *part = &gather->parts[i];
		const perch_json_value *root = NULL;
		if (!part->items.len ||
			perch_json_parse(json, part->items.data, part->items.len, &root, NULL) < 0)
			continue;
		perch_json_iter iter = perch_json_iterate(root);
		for (const perch_json_value *item; (item = perch_json_next(&iter));) {
			size_t len;
			if (!mcp_gather_shows(part, item, &room))
				continue;
			const char *raw = perch_json_raw(item, &len);
			if (out->len > 1)
				buf_append_char(out, ',');
			buf_append(out, raw, len);
		}
	}
	buf_append_char(out, ']');
}

static int mcp_gather_items(perch_json *json, struct buf *all, struct mcp_gathered *gathered)
{
	const perch_json_value *root = NULL;
	if (all->failed || perch_json_parse(json, all->data, all->len, &root, NULL) < 0)
		return -ENOMEM;
	gathered->items = calloc(perch_json_count(root) + 1, sizeof(*gathered->items));
	if (!gathered->items)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *item; (item = perch_json_next(&iter));)
		gathered->items[gathered->count++] = item;
	return 0;
}

static void mcp_gather_answer(struct mcp_gather *gather)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf all = { 0 };
	struct mcp_gathered gathered = { 0 };
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		mcp_gather_join(gather, json, &all);
	if (r == 0)
		r = mcp_gather_items(json, &all, &gathered);
	if (r < 0)
		mcp_job_error(
			gather->wire, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
	else
		mcp_job_list(gather->wire, gathered.count, mcp_gather_write, gathered.items);
	free(gathered.items);
}

/* A template stands for all URIs that it could become. */
static bool mcp_gather_fits(const struct mcp_listing *listing, struct str known, const char *name)
{
	_cleanup_(buf_free) struct buf pattern = { 0 };
	if (listing->kind != PERCH_ENTRY_TEMPLATE)
		return str_is(known, name);
	bool is_inside = false;
	for (size_t i = 0; i < known.len; i++) {
		if (!is_inside)
			buf_append_char(&pattern, known.data[i] == '{' ? '*' : known.data[i]);
		is_inside = is_inside ? known.data[i] != '}' : known.data[i] == '{';
	}
	/* A completion names the template itself. */
	return str_is(known, name) || (buf_terminate(&pattern) == 0 && glob_match(pattern.data, name));
}

static bool mcp_gather_has(const struct mcp_part *part, perch_json *json, const char *name)
{
	const perch_json_value *root = NULL;
	if (!part->items.len ||
		perch_json_parse(json, part->items.data, part->items.len, &root, NULL) < 0)
		return false;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		const perch_json_value *known = perch_json_get(item, part->listing->name);
		if (perch_json_type_of(known) == PERCH_JSON_STRING &&
			mcp_gather_fits(part->listing, json_str(known), name))
			return true;
	}
	return false;
}

/* What is listed by name counts before what fits a template. */
static const char *mcp_gather_owner(const struct mcp_gather *gather)
{
	_cleanup_json_ perch_json *json = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return NULL;
	for (size_t i = 0; i < gather->count; i++) {
		if (mcp_gather_has(&gather->parts[i], json, gather->name))
			return gather->parts[i].binding;
	}
	return NULL;
}

static void mcp_gather_go_on(struct mcp_gather *gather)
{
	const char *owner = mcp_gather_owner(gather);
	if (!gather->wish.job && owner)
		mcp_passage_errand(gather->front, &gather->caller, !gather->wish.version->is_modern, owner,
			gather->method, gather->params);
	else if (gather->wire && owner)
		mcp_task_pass(gather->front, &gather->wish, owner, gather->method, gather->params);
	else if (gather->wire)
		mcp_job_unknown(gather->wire, STR("there is no such resource or prompt"));
}

/* The engine has the answer before the gathering is gone: a task may take its place. */
static void mcp_gather_finish(struct mcp_gather *gather)
{
	if (gather->wire)
		mcp_job_set_data(gather->wire, NULL);
	if (gather->is_abandoned || !gather->front->server)
		;
	else if (gather->method)
		mcp_gather_go_on(gather);
	else if (gather->wire)
		mcp_gather_answer(gather);
	mcp_gather_free(gather);
}

/* ---- its parts ----------------------------------------------------------------- */

/* The last one ends it all. */
static void mcp_gather_close_one(struct mcp_gather *gather)
{
	if (--gather->open == 0)
		mcp_gather_finish(gather);
}

static void mcp_gather_part_end(struct mcp_part *part, const perch_job_end *end)
{
	struct mcp_gather *gather = part->gather;
	perch_job *job = steal(&part->job);
	if (end->success)
		buf_append(&part->items, end->tool->output.data, end->tool->output.len);
	else if (gather->wire)
		mcp_job_log(gather->wire, MCP_LEVEL_WARNING, str_from(part->binding),
			STR("\"this server does not say what it has\""));
	perch_job_free(job);
	mcp_gather_close_one(gather);
}

static void mcp_gather_part_take(perch_job *job, void *data, const perch_event *event)
{
	struct mcp_part *part = data;
	perch_answer no = PERCH_ANSWER_INIT;
	no.cancel = true;
	mcp_front_tick(part->gather->front);
	if (event->kind == PERCH_EVENT_ASK)
		perch_job_answer(job, event->ask->number, &no, NULL);
	else if (event->kind == PERCH_EVENT_END)
		mcp_gather_part_end(part, event->end);
}

/* What cannot be asked has nothing. */
void mcp_gather_ask(
	struct mcp_gather *gather, const struct mcp_listing *listing, const char *binding)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct mcp_part *part = &gather->parts[gather->count];
	perch_job_request request = mcp_passage_request(
		binding, listing->method, (struct str){ 0 }, mcp_gather_part_take, part);
	*part = (struct mcp_part){ .gather = gather, .listing = listing };
	part->binding = mcp_gather_dup(gather, str_from(binding));
	if (!part->binding)
		return;
	gather->count++;
	mcp_task_tell_client(&gather->wish, &arena, &request);
	if (perch_job_submit(gather->front->service, &request, &part->job, NULL) == 0)
		gather->open++;
	else
		part->job = NULL;
}

/* Of nobody there is a list at once. */
void mcp_gather_wait(struct mcp_gather *gather)
{
	if (gather->wire)
		mcp_job_set_data(gather->wire, gather);
	if (!gather->open)
		mcp_gather_finish(gather);
}
