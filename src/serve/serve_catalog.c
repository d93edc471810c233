/* The catalogue of the gateway: what there is, and which user may use it. */
#include "serve/serve_catalog.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "data/json.h"
#include "serve/mcp_endpoint.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"

/* The kinds that can be used over HTTP, and what their lists are called. */
static const struct {
	perch_entry_kind kind;
	const char *list;
	const char *title;
} catalog_kinds[] = {
	{ PERCH_ENTRY_AGENT, "agents", "agents" },
	{ PERCH_ENTRY_TOOL, "tools", "tools" },
	{ PERCH_ENTRY_COMMAND, "commands", "plugin commands" },
};

void catalog_changed(perch_service *service, void *data)
{
	(void)service;
	struct serve *serve = data;
	serve->catalog_is_old = true;
	mcp_endpoint_changed(serve);
}

const perch_catalog *catalog_get(struct serve *serve)
{
	perch_catalog *fresh = NULL;
	perch_err err = { 0 };
	if (serve->catalog && !serve->catalog_is_old)
		return serve->catalog;
	serve->catalog_is_old = false;
	if (perch_service_catalog(serve->service, &fresh, &err) < 0) {
		serve_warn(serve, "%s", err.text);
		return serve->catalog;
	}
	perch_catalog_free(serve->catalog);
	serve->catalog = fresh;
	return fresh;
}

bool catalog_allows(const struct exchange *exchange, perch_entry_kind kind, const char *name)
{
	const perch_catalog *catalog = catalog_get(exchange->peer->serve);
	const perch_entry *entry = catalog ? perch_catalog_find(catalog, kind, name) : NULL;
	return entry && !entry->problem && token_allows(&exchange->who->token, kind, name);
}

unsigned catalog_retries(struct serve *serve, const char *agent)
{
	const perch_catalog *catalog = catalog_get(serve);
	const perch_entry *entry =
		catalog ? perch_catalog_find(catalog, PERCH_ENTRY_AGENT, agent) : NULL;
	return entry ? entry->retries : 0;
}

void catalog_warn(struct serve *serve)
{
	const perch_catalog *catalog = catalog_get(serve);
	size_t count = 0;
	const perch_entry *entries = catalog ? perch_catalog_entries(catalog, &count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].problem)
			serve_warn(serve, "%s cannot be used: %s", entries[i].name, entries[i].problem);
	}
}

/* ---- as an answer -------------------------------------------------------------------- */

static void catalog_write_raw(perch_json_writer *out, const char *name, const char *json)
{
	if (!json)
		return;
	perch_json_write_name(out, name);
	perch_json_write_raw(out, json, strlen(json));
}

static void catalog_write_entry(perch_json_writer *out, const perch_entry *entry)
{
	perch_json_begin_object(out);
	json_write_text(out, "name", str_from(entry->name));
	if (entry->title)
		json_write_text(out, "title", str_from(entry->title));
	if (entry->description)
		json_write_text(out, "description", str_from(entry->description));
	catalog_write_raw(out, "input_schema", entry->input_schema);
	catalog_write_raw(out, "output_schema", entry->output_schema);
	catalog_write_raw(out, "annotations", entry->annotations);
	catalog_write_raw(out, "arguments", entry->arguments);
	json_write_flag(out, "asks", entry->asks && !entry->is_waived);
	json_write_flag(out, "dangerous", entry->is_dangerous);
	if (entry->verdict)
		json_write_text(out, "verdict", str_from(entry->verdict));
	perch_json_end_object(out);
}

/* Whether this user, or without one any user, may use it. */
static bool catalog_shows(const struct token *token, const perch_entry *entry)
{
	return !entry->problem && (!token || token_allows(token, entry->kind, entry->name));
}

static void catalog_write(
	const perch_catalog *catalog, const struct token *token, perch_json_writer *out)
{
	size_t count = 0;
	const perch_entry *entries = catalog ? perch_catalog_entries(catalog, &count) : NULL;
	for (size_t k = 0; k < COUNT(catalog_kinds); k++) {
		perch_json_write_name(out, catalog_kinds[k].list);
		perch_json_begin_array(out);
		for (size_t i = 0; i < count; i++) {
			if (entries[i].kind == catalog_kinds[k].kind && catalog_shows(token, &entries[i]))
				catalog_write_entry(out, &entries[i]);
		}
		perch_json_end_array(out);
	}
}

void catalog_answer(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	catalog_write(catalog_get(exchange->peer->serve), &exchange->who->token, &out);
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}

/* ---- for the operator ------------------------------------------------------------------ */

static void catalog_describe_kind(const perch_catalog *catalog, size_t which, struct buf *out)
{
	size_t count = 0;
	bool is_first = true;
	const perch_entry *entries = catalog ? perch_catalog_entries(catalog, &count) : NULL;
	buf_printf(out, "%s:", catalog_kinds[which].title);
	for (size_t i = 0; i < count; i++) {
		if (entries[i].kind != catalog_kinds[which].kind)
			continue;
		buf_printf(out, "%s %s", is_first ? "" : ",", entries[i].name);
		if (entries[i].problem)
			buf_printf(out, " (cannot be used: %s)", entries[i].problem);
		else if (entries[i].asks && !entries[i].is_waived)
			buf_append_text(out, " (must be approved)");
		is_first = false;
	}
	buf_append_text(out, is_first ? " none\n" : "\n");
}

static void catalog_describe_token(const struct token *token, struct buf *out)
{
	buf_printf(out, "token %s (%s): ", token->name, token->is_admin ? "admin" : "user");
	for (const char *const *item = token->allows; item && *item; item++)
		buf_printf(out, "%s%s", item == token->allows ? "" : ", ", *item);
	buf_append_text(out, token->allows ? "\n" : "all of it\n");
}

static void catalog_describe_tokens(const struct serve *serve, perch_json_writer *out)
{
	perch_json_write_name(out, "tokens");
	perch_json_begin_array(out);
	for (struct identity *who = list_first(&serve->identities.list); who; who = list_next(who)) {
		if (!who->token.hash[0])
			continue;
		perch_json_begin_object(out);
		json_write_text(out, "name", str_from(who->token.name));
		json_write_text(out, "role", who->token.is_admin ? STR("admin") : STR("user"));
		perch_json_write_name(out, "catalog");
		perch_json_begin_object(out);
		catalog_write(serve->catalog, &who->token, out);
		perch_json_end_object(out);
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

int serve_describe(struct serve *serve, bool as_json, struct buf *out, perch_err *err)
{
	const perch_catalog *catalog = catalog_get(serve);
	const char *address = serve->address[0] ? serve->address : serve->settings.listen;
	(void)err;
	if (as_json) {
		perch_json_writer json = json_writer_on(out);
		perch_json_begin_object(&json);
		json_write_text(&json, "address", str_from(address));
		catalog_describe_tokens(serve, &json);
		perch_json_end_object(&json);
		buf_append_char(out, '\n');
		return out->failed ? -12 : 0;
	}
	buf_printf(out, "address: %s\n", address);
	if (serve->settings.socket)
		buf_printf(out, "socket: %s\n", serve->settings.socket);
	for (size_t k = 0; k < COUNT(catalog_kinds); k++)
		catalog_describe_kind(catalog, k, out);
	for (struct identity *who = list_first(&serve->identities.list); who; who = list_next(who)) {
		if (who->token.hash[0] && !who->is_own)
			catalog_describe_token(&who->token, out);
	}
	if (serve->own_token[0])
		buf_append_text(out, "no tokens: perch serve will make one for its life\n");
	for (const char *const *note = catalog ? perch_catalog_notes(catalog) : NULL; note && *note;
		 note++)
		buf_printf(out, "note: %s\n", *note);
	return out->failed ? -12 : 0;
}
