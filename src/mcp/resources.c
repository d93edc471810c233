/* Resources of perch itself, where the operator shows them: the stored sessions of agents. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "mcp/stdio_parts.h"
#include "perch/sessions.h"

#define MCP_SESSIONS_URI "perch://sessions/"

DEFINE_POINTER_CLEANUP(mcp_cleanup_sessions, perch_sessions, perch_sessions_free)

bool mcp_resources_are_shown(const struct mcp_offers *offers)
{
	return perch_catalog_find(offers->catalog, PERCH_ENTRY_TEMPLATE, MCP_SESSIONS_URI "{session}");
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

static void mcp_resources_escape(struct buf *uri, struct str text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] && strchr(plain, text.data[i]))
			buf_append_char(uri, text.data[i]);
		else
			buf_printf(uri, "%%%02X", (unsigned)(unsigned char)text.data[i]);
	}
}

/* perch://sessions/AGENT/NAME, with ?from=SENDER where it has one. */
static struct str mcp_resources_uri(struct buf *uri, const perch_session *session)
{
	buf_clear(uri);
	buf_append_text(uri, MCP_SESSIONS_URI);
	mcp_resources_escape(uri, mcp_resources_agent(session));
	buf_append_char(uri, '/');
	mcp_resources_escape(uri, str_from(session->name));
	if (session->from[0]) {
		buf_append_text(uri, "?from=");
		mcp_resources_escape(uri, str_from(session->from));
	}
	return (struct str){ uri->data, uri->failed ? 0 : uri->len };
}

/* ---- lists ----------------------------------------------------------------- */

static void mcp_resources_write(void *data, size_t item, const struct mcp_page *page)
{
	const perch_session *session = (const perch_session *)data + item;
	_cleanup_(buf_free) struct buf uri = { 0 };
	perch_json_begin_object(page->writer);
	json_write_text(page->writer, "uri", mcp_resources_uri(&uri, session));
	json_write_text(page->writer, "name", str_from(session->name));
	json_write_text(page->writer, "mimeType", STR("application/json"));
	perch_json_end_object(page->writer);
	page->writer->out->failed = page->writer->out->failed || uri.failed;
}

static void mcp_resources_write_template(void *data, size_t item, const struct mcp_page *page)
{
	const perch_entry *entry = data;
	(void)item;
	perch_json_begin_object(page->writer);
	json_write_text(page->writer, "uriTemplate", str_from(entry->name));
	json_write_text(page->writer, "name", str_from(entry->title));
	json_write_text(page->writer, "description", str_from(entry->description));
	json_write_text(page->writer, "mimeType", STR("application/json"));
	perch_json_end_object(page->writer);
}

void mcp_resources_list_templates(struct mcp_job *job, const struct mcp_offers *offers)
{
	const perch_entry *entry =
		perch_catalog_find(offers->catalog, PERCH_ENTRY_TEMPLATE, MCP_SESSIONS_URI "{session}");
	mcp_job_list(job, entry ? 1 : 0, mcp_resources_write_template, (void *)entry);
}

/* Opens and lists; false: the job was answered. */
static bool mcp_resources_open(struct mcp_job *job, perch_sessions **ret_sessions,
	const perch_session **ret_list, size_t *ret_count)
{
	perch_err err = { 0 };
	int r = perch_sessions_open(ret_sessions, &err);
	if (r == 0)
		r = perch_sessions_list(*ret_sessions, NULL, ret_list, ret_count, &err);
	if (r < 0)
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, str_from(err.text), (struct str){ 0 });
	return r >= 0;
}

void mcp_resources_list(struct mcp_job *job)
{
	_cleanup_(mcp_cleanup_sessions) perch_sessions *sessions = NULL;
	const perch_session *list = NULL;
	size_t count = 0;
	if (mcp_resources_open(job, &sessions, &list, &count))
		mcp_job_list(job, count, mcp_resources_write, (void *)list);
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

static void mcp_resources_answer(struct mcp_job *job, struct str uri, const perch_session *session)
{
	_cleanup_(buf_free) struct buf text = { 0 }, object = { 0 };
	perch_json_writer writer = json_writer_on(&object);
	mcp_resources_write_session(&text, session);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "contents");
	perch_json_begin_array(&writer);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "uri", uri);
	json_write_text(&writer, "mimeType", STR("application/json"));
	json_write_text(&writer, "text", (struct str){ text.data, text.len });
	perch_json_end_object(&writer);
	perch_json_end_array(&writer);
	perch_json_end_object(&writer);
	if (text.failed || object.failed)
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
	else
		mcp_job_object(job, (struct str){ object.data, object.len });
}

void mcp_resources_read(struct mcp_job *job, struct str uri)
{
	_cleanup_(mcp_cleanup_sessions) perch_sessions *sessions = NULL;
	_cleanup_(buf_free) struct buf own = { 0 };
	const perch_session *list = NULL;
	size_t count = 0;
	if (!mcp_resources_open(job, &sessions, &list, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (str_eq(uri, mcp_resources_uri(&own, &list[i]))) {
			mcp_resources_answer(job, uri, &list[i]);
			return;
		}
	}
	mcp_job_unknown(job, STR("there is no such resource"));
}
