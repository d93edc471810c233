/* What a client can call: names, and schemas where perch itself has to make them. */
#include "mcp/front_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"

/* ---- reading --------------------------------------------------------------- */

static const struct {
	bool is_callable;
	enum mcp_origin origin;
} mcp_offers_kinds[] = {
	[PERCH_ENTRY_TOOL] = { true, MCP_OF_BINDING },
	[PERCH_ENTRY_COMMAND] = { true, MCP_OF_COMMAND },
	[PERCH_ENTRY_AGENT] = { true, MCP_OF_AGENT },
	[PERCH_ENTRY_PROMPT] = { false, MCP_OF_COMMAND },
};

static bool mcp_offers_takes(const perch_entry *entry)
{
	return (size_t)entry->kind < COUNT(mcp_offers_kinds) &&
		mcp_offers_kinds[entry->kind].is_callable && !entry->problem;
}

static void mcp_offers_add(struct mcp_offers *offers, const perch_entry *entry)
{
	bool is_tool = entry->kind == PERCH_ENTRY_TOOL;
	const char *real = is_tool && entry->title ? entry->title : entry->name;
	struct mcp_name *name = &offers->names[offers->count];
	*name = (struct mcp_name){
		.origin = mcp_offers_kinds[entry->kind].origin,
		.owner = is_tool ? str_from(entry->owner) : (struct str){ 0 },
		.real = str_from(real),
	};
	offers->items[offers->count++] = (struct mcp_offer){ entry, name };
}

static int mcp_offers_fill(struct mcp_offers *offers, bool without_prefix, perch_err *err)
{
	size_t count;
	const perch_entry *entries = perch_catalog_entries(offers->catalog, &count);
	offers->names = calloc(count + 1, sizeof(*offers->names));
	offers->items = calloc(count + 1, sizeof(*offers->items));
	if (!offers->names || !offers->items)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (mcp_offers_takes(&entries[i]))
			mcp_offers_add(offers, &entries[i]);
	}
	return mcp_names_make(offers->names, offers->count, without_prefix, err);
}

int mcp_offers_read(
	struct mcp_offers *offers, perch_service *service, bool without_prefix, perch_err *err)
{
	_cleanup_(mcp_offers_free) struct mcp_offers fresh = { 0 };
	int r = perch_service_catalog(service, &fresh.catalog, err);
	if (r == 0)
		r = mcp_offers_fill(&fresh, without_prefix, err);
	if (r < 0)
		return r;
	struct mcp_offers old = *offers;
	*offers = fresh;
	fresh = old;
	return 0;
}

const struct mcp_offer *mcp_offers_find(const struct mcp_offers *offers, struct str name)
{
	for (size_t i = 0; i < offers->count; i++) {
		if (str_is(name, offers->names[i].shown))
			return &offers->items[i];
	}
	return NULL;
}

void mcp_offers_free(struct mcp_offers *offers)
{
	perch_catalog_free(offers->catalog);
	free(offers->names);
	free(offers->items);
	*offers = (struct mcp_offers){ 0 };
}

/* ---- schemas --------------------------------------------------------------- */

/* A list of types would be shorter, but there are models that know none. */
#define MCP_ANSWERS                                                                         \
	"{\"type\":\"object\",\"description\":\"Answers to the questions it asks, each by the " \
	"question's text\",\"additionalProperties\":{\"anyOf\":[{\"type\":\"string\"},"         \
	"{\"type\":\"boolean\"},{\"type\":\"number\"},"                                         \
	"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}}"

#define MCP_COMMAND_INPUT                                                          \
	"{\"type\":\"object\",\"properties\":{\"args\":{\"type\":\"array\",\"items\":" \
	"{\"type\":\"string\"},\"description\":\"Arguments, as on a command line\"},"  \
	"\"answers\":" MCP_ANSWERS "},\"additionalProperties\":false}"

#define MCP_AGENT_INPUT                                                                    \
	"{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\","               \
	"\"description\":\"What is said to the agent\"},\"session\":{\"type\":\"string\","     \
	"\"description\":\"The session of an earlier reply, to go on with it; without one, a " \
	"new one begins\"}},\"required\":[\"message\"],\"additionalProperties\":false}"

#define MCP_AGENT_OUTPUT                                                                \
	"{\"type\":\"object\",\"properties\":{\"reply\":{\"type\":\"string\"},\"session\":" \
	"{\"type\":\"string\"},\"usage\":{\"type\":\"object\"}},\"required\":[\"reply\","   \
	"\"session\"]}"

/* How a manifest calls a type, and how a schema does; any other is a text. */
static const struct {
	const char *manifest;
	const char *schema;
} mcp_argument_types[] = {
	{ "bool", "boolean" },
	{ "boolean", "boolean" },
	{ "flag", "boolean" },
	{ "int", "integer" },
	{ "integer", "integer" },
	{ "float", "number" },
	{ "number", "number" },
};

static const char *mcp_offers_type(const perch_json_value *argument)
{
	const perch_json_value *type = perch_json_get(argument, "type");
	for (size_t i = 0; i < COUNT(mcp_argument_types); i++) {
		if (perch_json_is(type, mcp_argument_types[i].manifest))
			return mcp_argument_types[i].schema;
	}
	return "string";
}

static void mcp_offers_write_argument(perch_json_writer *out, const perch_json_value *argument)
{
	size_t len;
	const char *text = perch_json_string(perch_json_get(argument, "name"), &len);
	if (!text)
		return;
	perch_json_write_name_n(out, text, len);
	perch_json_begin_object(out);
	json_write_text(out, "type", str_from(mcp_offers_type(argument)));
	if ((text = perch_json_string(perch_json_get(argument, "description"), &len)))
		json_write_text(out, "description", (struct str){ text, len });
	perch_json_end_object(out);
}

static void mcp_offers_write_required(perch_json_writer *out, const perch_json_value *list)
{
	perch_json_write_name(out, "required");
	perch_json_begin_array(out);
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *argument; (argument = perch_json_next(&iter));) {
		size_t len;
		const char *text = perch_json_string(perch_json_get(argument, "name"), &len);
		if (text && json_flag(argument, "required"))
			perch_json_write_string_n(out, text, len);
	}
	perch_json_end_array(out);
}

/* The arguments of a manifest as properties, and the answers. */
static void mcp_offers_write_command(perch_json_writer *out, const perch_json_value *list)
{
	bool has_answers = false;
	perch_json_begin_object(out);
	json_write_text(out, "type", STR("object"));
	perch_json_write_name(out, "properties");
	perch_json_begin_object(out);
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *argument; (argument = perch_json_next(&iter));) {
		has_answers = has_answers || perch_json_is(perch_json_get(argument, "name"), "answers");
		mcp_offers_write_argument(out, argument);
	}
	if (!has_answers) {
		perch_json_write_name(out, "answers");
		perch_json_write_raw(out, MCP_ANSWERS, sizeof(MCP_ANSWERS) - 1);
	}
	perch_json_end_object(out);
	mcp_offers_write_required(out, list);
	json_write_flag(out, "additionalProperties", false);
	perch_json_end_object(out);
}

/* The document is the page's, and free again when this returns. */
static struct str mcp_offers_command_input(
	const perch_entry *entry, const struct mcp_page *page, struct buf *text)
{
	const perch_json_value *list = NULL;
	perch_json_writer out = json_writer_on(text);
	struct str arguments = str_from(entry->arguments);
	if (!arguments.len ||
		perch_json_parse(page->json, arguments.data, arguments.len, &list, NULL) < 0)
		return STR(MCP_COMMAND_INPUT);
	mcp_offers_write_command(&out, list);
	if (text->failed)
		page->writer->out->failed = true;
	return text->failed ? (struct str){ 0 } : (struct str){ text->data, text->len };
}

/* ---- a list ---------------------------------------------------------------- */

static void mcp_offers_write(void *data, size_t item, const struct mcp_page *page)
{
	const struct mcp_offer *at = ((const struct mcp_offer **)data)[item];
	const perch_entry *entry = at->entry;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct mcp_tool tool = {
		.name = str_from(at->name->shown),
		.title = entry->title ? str_from(entry->title) : at->name->real,
		.description = str_from(entry->description),
		.input_schema = str_from(entry->input_schema),
		.output_schema = str_from(entry->output_schema),
		.is_read_only = !entry->can_write,
		.is_destructive = entry->asks || entry->is_dangerous,
		.is_closed = !entry->has_network,
		.verdict = entry->verdict ? str_from(entry->verdict) : (struct str){ 0 },
	};
	if (entry->kind == PERCH_ENTRY_COMMAND)
		tool.input_schema = mcp_offers_command_input(entry, page, &text);
	if (entry->kind == PERCH_ENTRY_AGENT) {
		tool.input_schema = STR(MCP_AGENT_INPUT);
		tool.output_schema = STR(MCP_AGENT_OUTPUT);
	}
	mcp_tool_write(page, &tool);
}

bool mcp_caller_may(const struct mcp_caller *caller, const perch_entry *entry)
{
	return !caller->allows || caller->allows(caller, entry->kind, entry->name);
}

void mcp_offers_list(
	struct mcp_job *job, const struct mcp_offers *offers, const struct mcp_caller *caller)
{
	_cleanup_free_ const struct mcp_offer **shown = calloc(offers->count + 1, sizeof(*shown));
	size_t count = 0;
	if (!shown) {
		mcp_job_error(job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
		return;
	}
	for (size_t i = 0; i < offers->count; i++) {
		if (mcp_caller_may(caller, offers->items[i].entry))
			shown[count++] = &offers->items[i];
	}
	mcp_job_list(job, count, mcp_offers_write, shown);
}
