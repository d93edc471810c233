/* ACP: MCP servers, read and written anew. */
#include "wire/acp_server.h"

#include "base/macros.h"
#include "data/json_member.h"

/* What a kind of them has: a text, and lists of texts and of names with values. */
struct acp_server_kind {
	const char *type; /* NULL = a program, which says no type */
	const char *text;
	const char *texts; /* NULL = none */
	const char *pairs;
};

static const struct acp_server_kind acp_server_kinds[] = {
	{ "http", "url", NULL, "headers" },
	{ "sse", "url", NULL, "headers" },
	{ NULL, "command", "args", "env" },
};

/* A type that nobody knows has no kind. */
static const struct acp_server_kind *acp_server_kind_of(const perch_json_value *server)
{
	const perch_json_value *type = json_member(server, "type");
	for (size_t i = 0; i < COUNT(acp_server_kinds); i++) {
		const char *own = acp_server_kinds[i].type;
		if (own ? perch_json_is(type, own) : !type || perch_json_is(type, "stdio"))
			return &acp_server_kinds[i];
	}
	return NULL;
}

static bool acp_server_has_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = NULL;
	return json_member_of(object, name, PERCH_JSON_STRING, &value, NULL) > 0;
}

static bool acp_server_pairs_fit(const perch_json_value *list)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (!acp_server_has_text(item, "name") || !acp_server_has_text(item, "value"))
			return false;
	}
	return true;
}

bool acp_server_fits(const perch_json_value *server)
{
	const struct acp_server_kind *kind = acp_server_kind_of(server);
	const perch_json_value *texts = NULL, *pairs = NULL;
	if (!kind || !acp_server_has_text(server, "name") || !acp_server_has_text(server, kind->text))
		return false;
	if (kind->texts && json_member_of(server, kind->texts, PERCH_JSON_ARRAY, &texts, NULL) < 0)
		return false;
	if (json_member_of(server, kind->pairs, PERCH_JSON_ARRAY, &pairs, NULL) < 0)
		return false;
	return (!texts || !json_first_no_string(texts)) && (!pairs || acp_server_pairs_fit(pairs));
}

static void acp_server_write_texts(
	perch_json_writer *out, const perch_json_value *server, const char *name)
{
	perch_json_iter iter = perch_json_iterate(json_member(server, name));
	perch_json_write_name(out, name);
	perch_json_begin_array(out);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str text = json_str(item);
		perch_json_write_string_n(out, text.data, text.len);
	}
	perch_json_end_array(out);
}

static void acp_server_write_pairs(
	perch_json_writer *out, const perch_json_value *server, const char *name)
{
	perch_json_iter iter = perch_json_iterate(json_member(server, name));
	perch_json_write_name(out, name);
	perch_json_begin_array(out);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		perch_json_begin_object(out);
		json_write_text(out, "name", json_str(json_member(item, "name")));
		json_write_text(out, "value", json_str(json_member(item, "value")));
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

void acp_server_write(perch_json_writer *out, const perch_json_value *server)
{
	const struct acp_server_kind *kind = acp_server_kind_of(server);
	perch_json_begin_object(out);
	if (kind->type)
		json_write_text(out, "type", str_from(kind->type));
	json_write_text(out, "name", json_str(json_member(server, "name")));
	json_write_text(out, kind->text, json_str(json_member(server, kind->text)));
	if (kind->texts)
		acp_server_write_texts(out, server, kind->texts);
	acp_server_write_pairs(out, server, kind->pairs);
	perch_json_end_object(out);
}
