/* What an MCP server offers, and whether that is what was approved. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/json.h"
#include "tool/server_parts.h"
#include "tool/server_pin.h"

void server_offer_free(struct server_offer *offer)
{
	arena_free(&offer->arena);
	free(offer->tools);
	buf_free(&offer->items);
	*offer = (struct server_offer){ 0 };
}

/* ---- asking ------------------------------------------------------------------- */

static void server_offer_done(struct server *server)
{
	server->listing = NULL;
	if (server->is_new)
		server_watch_all(server);
	server->is_new = false;
	server->state = SERVER_READY;
	server->due_ns = NEVER;
	server_step_soon(server);
}

void server_offer_ask(struct server *server)
{
	struct mcp_upstream *engine = upstream_process_engine(server->process);
	const struct mcp_call_options options = {
		.method = "tools/list",
		.wants_all_pages = true,
		.log_level = MCP_LEVEL_NONE,
	};
	server_offer_free(&server->offer);
	server->lists++;
	server->is_new = server->state == SERVER_OPENING;
	server->state = SERVER_ASKING;
	server->due_ns = clock_after(clock_now_ns(), server->binding->handshake_ns);
	if (!mcp_upstream_facts(engine)->has_tools) {
		server_offer_done(server);
		return;
	}
	int r = mcp_call_begin(engine, &options, &server->listing);
	if (r < 0)
		server_fail(server, PERCH_TOOL_HANDSHAKE_FAILED, str_from(perch_strerror(r)));
	else
		server_step_soon(server);
}

/* A tool that cannot be read is not offered. */
static int server_offer_add(struct server_offer *offer, const perch_json_value *item)
{
	struct tool_known tool;
	struct str raw = { 0 };
	raw.data = perch_json_raw(item, &raw.len);
	if (offer->count == TOOL_KNOWN_MAX || offer->items.len + raw.len > SERVER_LIST_MAX)
		return PERCH_ELIMIT;
	int r = server_tool_read(&offer->arena, item, &tool, NULL);
	if (r == -EINVAL)
		return 0;
	struct tool_known *tools =
		r < 0 ? NULL : vec_grow(offer->tools, &offer->cap, offer->count + 1, sizeof(*tools));
	if (!tools)
		return -ENOMEM;
	offer->tools = tools;
	tools[offer->count++] = tool;
	if (offer->items.len)
		buf_append_char(&offer->items, ',');
	return buf_append(&offer->items, raw.data, raw.len);
}

static int server_offer_page(struct server_offer *offer, const perch_json_value *page)
{
	int r = 0;
	perch_json_iter iter = perch_json_iterate(perch_json_get(page, "tools"));
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));)
		r = server_offer_add(offer, item);
	return r;
}

/* The server died, sent a message that cannot be understood, or refused. */
static void server_offer_refused(struct server *server, const struct mcp_news *news)
{
	char words[256];
	if (news->is_ours) {
		bool has_died = upstream_process_is_over(server->process);
		server_fail(
			server, has_died ? PERCH_TOOL_CRASHED : PERCH_TOOL_MALFORMED_RESPONSE, news->text);
		return;
	}
	snprintf(words, sizeof(words), "it refuses to list its tools: %.*s (code %lld)",
		utf8_quoted(news->text), news->text.data ? news->text.data : "", (long long)news->code);
	server_fail(server, PERCH_TOOL_HANDSHAKE_FAILED, str_from(words));
}

void server_offer_news(struct server *server, const struct mcp_news *news)
{
	if (!server->listing || news->kind == MCP_NEWS_PROGRESS)
		return;
	if (news->kind == MCP_NEWS_ERROR) {
		server->listing = NULL;
		server_offer_refused(server, news);
		return;
	}
	int r = server_offer_page(&server->offer, news->value);
	if (r < 0 && news->kind == MCP_NEWS_PAGE)
		mcp_call_cancel(server->listing, STR("too many tools"));
	if (r < 0) {
		server->listing = NULL;
		server_fail(server, PERCH_TOOL_HANDSHAKE_FAILED,
			r == PERCH_ELIMIT ? STR("its list of tools is too long") : STR("out of memory"));
	} else if (news->kind == MCP_NEWS_RESULT) {
		server_offer_done(server);
	}
}

/* ---- judging ------------------------------------------------------------------- */

int server_offer_check(
	const struct server *server, const char *tool, struct buf *difference, perch_err *err)
{
	const struct tool_binding *binding = server->binding;
	const struct tool_known *approved = tool_binding_tool(binding, tool);
	const struct server_offer *offer = &server->offer;
	bool is_offered = false;
	for (size_t i = 0; i < offer->count && approved; i++) {
		if (strcmp(offer->tools[i].name, tool) != 0)
			continue;
		is_offered = true;
		if (strcmp(offer->tools[i].pin, approved->pin) == 0)
			continue;
		if (server_tool_difference(difference, approved, &offer->tools[i]) < 0)
			return err_no_memory(err);
		return err_set(err, -EPERM,
			"the tool has changed since it was approved; to look at that and decide: "
			"perch tool review %.100s",
			binding->name);
	}
	if (is_offered)
		return 0;
	return err_set(err, -ENOENT, "the server does not offer the tool any more");
}

static void server_offer_write_facts(perch_json_writer *out, const struct mcp_upstream_facts *facts)
{
	json_write_text(out, "plugin_id", facts->name);
	json_write_text(out, "title", facts->title);
	json_write_text(out, "plugin_version", facts->server_version);
	json_write_text(out, "protocol_version", str_from(facts->version->name));
	json_write_text(out, "era", str_from(facts->version->is_modern ? "modern" : "legacy"));
	json_write_text(out, "instructions", facts->instructions);
	perch_json_write_name(out, "capabilities");
	perch_json_write_raw(out, facts->capabilities.data, facts->capabilities.len);
}

int server_offer_manifest(const struct server *server, struct buf *out)
{
	const struct mcp_upstream_facts *facts =
		mcp_upstream_facts(upstream_process_engine(server->process));
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	server_offer_write_facts(&writer, facts);
	perch_json_write_name(&writer, "tools");
	buf_append_char(out, '[');
	buf_append(out, server->offer.items.data, server->offer.items.len);
	buf_append_text(out, "]}");
	return out->failed ? -ENOMEM : 0;
}
