/* Resources of perch itself, where the operator shows them: the stored sessions of agents, and the
 * traces that the operator keeps in $XDG_STATE_HOME/perch/traces. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/paths.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/json.h"
#include "mcp/front_parts.h"
#include "perch/sessions.h"

#define MCP_SESSIONS_URI "perch://sessions/"
#define MCP_TRACES_URI "perch://traces/"
#define MCP_TRACES_DIRECTORY "perch/traces"

enum {
	MCP_TRACES_MAX = 1000,                 /* that are listed */
	MCP_TRACE_BYTES_MAX = 2 * 1024 * 1024, /* of one, which a message must hold with its escapes */
};

struct mcp_resource {
	const char *uri;
	const char *name;
	const char *mime_type;
	const perch_session *session; /* NULL: a trace, whose file is called as it is */
};

/* Those that there are now, of the kinds that are shown. */
struct mcp_resources {
	struct arena arena;
	perch_sessions *sessions;
	struct mcp_resource *items;
	size_t count;
	size_t cap;
};

static void mcp_resources_free(struct mcp_resources *resources)
{
	perch_sessions_free(resources->sessions);
	arena_free(&resources->arena);
	free(resources->items);
}

enum { MCP_SESSIONS, MCP_TRACES, MCP_RESOURCE_KINDS };

static const perch_entry *mcp_resources_template(const struct mcp_offers *offers, size_t kind)
{
	static const char *const templates[] = { MCP_SESSIONS_URI "{session}",
		MCP_TRACES_URI "{trace}" };
	return perch_catalog_find(offers->catalog, PERCH_ENTRY_TEMPLATE, templates[kind]);
}

/* The same, where this caller may read any of them: traces tell of every user. */
static const perch_entry *mcp_resources_shown(
	const struct mcp_offers *offers, const struct mcp_caller *caller, size_t kind)
{
	const perch_entry *entry = mcp_resources_template(offers, kind);
	bool is_shown = entry && mcp_caller_may(caller, entry);
	return is_shown && (kind == MCP_SESSIONS || caller->sees_all) ? entry : NULL;
}

bool mcp_resources_are_shown(const struct mcp_offers *offers)
{
	return mcp_resources_template(offers, MCP_SESSIONS) ||
		mcp_resources_template(offers, MCP_TRACES);
}

/* ---- names ----------------------------------------------------------------- */

/* The stem of the profile's file. */
static struct str mcp_resources_agent(const perch_session *session)
{
	const char *slash = strrchr(session->profile, '/');
	struct str name = str_from(slash ? slash + 1 : session->profile);
	if (name.len > 5 && memcmp(name.data + name.len - 5, ".yaml", 5) == 0)
		name.len -= 5;
	return name;
}

/* perch://sessions/AGENT/NAME, with ?from=SENDER where it has one. */
static void mcp_resources_session_uri(struct buf *uri, const perch_session *session)
{
	buf_append_text(uri, MCP_SESSIONS_URI);
	uri_append(uri, mcp_resources_agent(session));
	buf_append_char(uri, '/');
	uri_append(uri, str_from(session->name));
	if (session->from[0]) {
		buf_append_text(uri, "?from=");
		uri_append(uri, str_from(session->from));
	}
}

/* ---- gathering ------------------------------------------------------------- */

/* Takes the text of the URI. */
static int mcp_resources_add(
	struct mcp_resources *resources, const struct buf *uri, struct mcp_resource item)
{
	struct mcp_resource *items = vec_grow(
		resources->items, &resources->cap, resources->count + 1, sizeof(*resources->items));
	if (items)
		resources->items = items;
	item.uri =
		uri->failed ? NULL : arena_dup(&resources->arena, (struct str){ uri->data, uri->len });
	if (!items || !item.uri || !item.name)
		return -ENOMEM;
	items[resources->count++] = item;
	return 0;
}

static int mcp_resources_add_sessions(
	struct mcp_resources *resources, const struct mcp_caller *caller, perch_err *err)
{
	const perch_session *list = NULL;
	size_t count = 0;
	int r = perch_sessions_open(&resources->sessions, err);
	if (r == 0)
		r = perch_sessions_list(resources->sessions, NULL, &list, &count, err);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		_cleanup_(buf_free) struct buf uri = { 0 };
		if (!caller->sees_all && strcmp(list[i].from, caller->name) != 0)
			continue;
		mcp_resources_session_uri(&uri, &list[i]);
		r = mcp_resources_add(resources, &uri,
			(struct mcp_resource){ NULL, list[i].name, "application/json", &list[i] });
	}
	return r == -ENOMEM ? err_no_memory(err) : r;
}

static int mcp_resources_by_uri(const void *a, const void *b)
{
	return strcmp(((const struct mcp_resource *)a)->uri, ((const struct mcp_resource *)b)->uri);
}

static bool mcp_resources_is_trace(const char *name)
{
	return name[0] != '.' && utf8_is_valid(name, strlen(name));
}

/* A directory that does not exist has none. */
static int mcp_resources_add_traces(struct mcp_resources *resources, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	size_t first = resources->count;
	int r = paths_user(PATH_STATE, MCP_TRACES_DIRECTORY, &path, err);
	if (r < 0)
		return r;
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, path, O_RDONLY);
	const char *name;
	while (r == 0 && resources->count - first < MCP_TRACES_MAX && (name = listing_next(listing))) {
		_cleanup_(buf_free) struct buf uri = { 0 };
		if (!mcp_resources_is_trace(name))
			continue;
		buf_append_text(&uri, MCP_TRACES_URI);
		uri_append(&uri, str_from(name));
		r = mcp_resources_add(resources, &uri,
			(struct mcp_resource){
				NULL, arena_dup(&resources->arena, str_from(name)), "application/x-ndjson", NULL });
	}
	if (r < 0)
		return err_no_memory(err);
	if (resources->count > first)
		qsort(resources->items + first, resources->count - first, sizeof(*resources->items),
			mcp_resources_by_uri);
	return 0;
}

/* False: the job was answered. */
static bool mcp_resources_gather(struct mcp_job *job, const struct mcp_offers *offers,
	const struct mcp_caller *caller, struct mcp_resources *resources)
{
	perch_err err = { 0 };
	int r = 0;
	if (mcp_resources_shown(offers, caller, MCP_SESSIONS))
		r = mcp_resources_add_sessions(resources, caller, &err);
	if (r >= 0 && mcp_resources_shown(offers, caller, MCP_TRACES))
		r = mcp_resources_add_traces(resources, &err);
	if (r < 0)
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, str_from(err.text), (struct str){ 0 });
	return r >= 0;
}

/* ---- lists ----------------------------------------------------------------- */

static void mcp_resources_write(void *data, size_t item, const struct mcp_page *page)
{
	const struct mcp_resource *resource = (const struct mcp_resource *)data + item;
	perch_json_begin_object(page->writer);
	json_write_text(page->writer, "uri", str_from(resource->uri));
	json_write_text(page->writer, "name", str_from(resource->name));
	json_write_text(page->writer, "mimeType", str_from(resource->mime_type));
	perch_json_end_object(page->writer);
}

static void mcp_resources_write_template(void *data, size_t item, const struct mcp_page *page)
{
	const perch_entry *entry = ((const perch_entry *const *)data)[item];
	perch_json_begin_object(page->writer);
	json_write_text(page->writer, "uriTemplate", str_from(entry->name));
	json_write_text(page->writer, "name", str_from(entry->title));
	json_write_text(page->writer, "description", str_from(entry->description));
	perch_json_end_object(page->writer);
}

/* The items as JSON, for those of servers to stand behind them. */
static void mcp_resources_hand_on(struct mcp_front *front, const struct mcp_wish *wish,
	size_t count, mcp_item_fn *write, void *data)
{
	_cleanup_(buf_free) struct buf items = { 0 };
	for (size_t i = 0; i < count; i++) {
		perch_json_writer writer = json_writer_on(&items);
		if (i)
			buf_append_char(&items, ',');
		write(data, i, &(struct mcp_page){ .writer = &writer, .version = wish->version });
	}
	if (items.failed)
		mcp_job_error(wish->job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
	else
		mcp_passage_list(front, wish, (struct str){ items.data, items.len });
}

void mcp_resources_list_templates(struct mcp_front *front, const struct mcp_wish *wish)
{
	const struct mcp_caller *caller = mcp_caller_of(wish->connection);
	const perch_entry *shown[MCP_RESOURCE_KINDS];
	size_t count = 0;
	for (size_t kind = 0; kind < MCP_RESOURCE_KINDS; kind++) {
		if ((shown[count] = mcp_resources_shown(&front->offers, caller, kind)))
			count++;
	}
	mcp_resources_hand_on(front, wish, count, mcp_resources_write_template, shown);
}

void mcp_resources_list(struct mcp_front *front, const struct mcp_wish *wish)
{
	_cleanup_(mcp_resources_free) struct mcp_resources resources = { 0 };
	const struct mcp_caller *caller = mcp_caller_of(wish->connection);
	if (mcp_resources_gather(wish->job, &front->offers, caller, &resources))
		mcp_resources_hand_on(front, wish, resources.count, mcp_resources_write, resources.items);
}

/* ---- reading --------------------------------------------------------------- */

static void mcp_resources_write_session(struct buf *text, const perch_session *session)
{
	perch_json_writer writer = json_writer_on(text);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "agent", mcp_resources_agent(session));
	json_write_text(&writer, "session", str_from(session->name));
	json_write_text(&writer, "from", str_from(session->from));
	json_write_text(&writer, "id", str_from(session->id));
	perch_json_write_name(&writer, "last_used");
	perch_json_write_int64(&writer, session->last_used);
	perch_json_write_name(&writer, "turns");
	perch_json_write_int64(&writer, session->turns);
	perch_json_end_object(&writer);
}

static int mcp_resources_read_trace(struct buf *text, const char *name, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_(buf_free) struct buf path = { 0 };
	int r = paths_user(PATH_STATE, MCP_TRACES_DIRECTORY, &directory, err);
	if (r < 0)
		return r;
	buf_printf(&path, "%s/%s", directory, name);
	if (buf_terminate(&path) < 0)
		return err_no_memory(err);
	return file_read(path.data, MCP_TRACE_BYTES_MAX, text, err);
}

/* Bytes that are no UTF-8 become U+FFFD: a client must be able to read the message. */
static void mcp_resources_answer(
	struct mcp_job *job, const struct mcp_resource *resource, struct str text)
{
	_cleanup_(buf_free) struct buf object = { 0 };
	perch_json_writer writer = json_writer_on(&object);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "contents");
	perch_json_begin_array(&writer);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "uri", str_from(resource->uri));
	json_write_text(&writer, "mimeType", str_from(resource->mime_type));
	json_write_text(&writer, "text", text);
	perch_json_end_object(&writer);
	perch_json_end_array(&writer);
	perch_json_end_object(&writer);
	if (object.failed)
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
	else
		mcp_job_object(job, (struct str){ object.data, object.len });
}

static void mcp_resources_tell(struct mcp_job *job, const struct mcp_resource *resource)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err err = { 0 };
	int r = 0;
	if (resource->session)
		mcp_resources_write_session(&text, resource->session);
	else
		r = mcp_resources_read_trace(&text, resource->name, &err);
	if (r == 0 && text.failed)
		r = err_no_memory(&err);
	if (r < 0)
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, str_from(err.text), (struct str){ 0 });
	else
		mcp_resources_answer(job, resource, (struct str){ text.data, text.len });
}

void mcp_resources_read(struct mcp_front *front, const struct mcp_wish *wish)
{
	_cleanup_(mcp_resources_free) struct mcp_resources resources = { 0 };
	if (!str_has_prefix(wish->name, STR(MCP_OWN_URI))) {
		mcp_passage_begin(front, wish);
		return;
	}
	if (!mcp_resources_gather(
			wish->job, &front->offers, mcp_caller_of(wish->connection), &resources))
		return;
	for (size_t i = 0; i < resources.count; i++) {
		if (str_is(wish->name, resources.items[i].uri)) {
			mcp_resources_tell(wish->job, &resources.items[i]);
			return;
		}
	}
	mcp_job_unknown(wish->job, STR("there is no such resource"));
}
