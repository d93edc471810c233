/* Requests to an MCP server that are no calls of tools: lists of resources and prompts, one of
 * them, a completion, a subscription. What it answers is handed on as it is. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "tool/server_parts.h"

static const struct server_pass {
	const char *method;
	size_t needs;      /* of the server's facts: the flag that must be set */
	const char *items; /* of a list */
	bool is_watch;
} server_passes[] = {
#define NEEDS(flag) offsetof(struct mcp_upstream_facts, flag)
	{ "resources/list", NEEDS(has_resources), "resources", false },
	{ "resources/templates/list", NEEDS(has_resources), "resourceTemplates", false },
	{ "resources/read", NEEDS(has_resources), NULL, false },
	{ "resources/subscribe", NEEDS(has_resources), NULL, true },
	{ "prompts/list", NEEDS(has_prompts), "prompts", false },
	{ "prompts/get", NEEDS(has_prompts), NULL, false },
	{ "completion/complete", NEEDS(has_completions), NULL, false },
};

/* NULL: a call of a tool, or a method that is not passed on. */
static const struct server_pass *server_pass_find(const struct server_call *served)
{
	const char *method = served->call->options.passage.method;
	for (size_t i = 0; method && i < COUNT(server_passes); i++) {
		if (strcmp(server_passes[i].method, method) == 0)
			return &server_passes[i];
	}
	return NULL;
}

int server_pass_check(const struct server_call *served, perch_err *err)
{
	const struct server_pass *pass = server_pass_find(served);
	const struct mcp_upstream_facts *facts =
		mcp_upstream_facts(upstream_process_engine(served->server->process));
	if (pass && facts && *(const bool *)((const char *)facts + pass->needs))
		return 0;
	return err_set(
		err, -ENOTSUP, "the server does not do %s", served->call->options.passage.method);
}

bool server_pass_is_list(const struct server_call *served)
{
	const struct server_pass *pass = server_pass_find(served);
	return pass && pass->items;
}

/* ---- subscriptions ------------------------------------------------------------- */

bool server_pass_is_watch(const struct server_call *served)
{
	const struct server_pass *pass = server_pass_find(served);
	return pass && pass->is_watch;
}

/* What a subscription is about; lives in json. */
static int server_pass_uri(const struct server_call *served, perch_json *json, struct str *ret_uri)
{
	const perch_json_value *root = NULL;
	const struct buf *params = &served->call->line;
	int r = perch_json_parse(json, params->data, params->len, &root, NULL);
	if (r < 0)
		return r;
	const perch_json_value *uri = perch_json_get(root, "uri");
	if (perch_json_type_of(uri) != PERCH_JSON_STRING)
		return -EINVAL;
	*ret_uri = json_str(uri);
	return 0;
}

int server_pass_watch(struct server_call *served)
{
	_cleanup_json_ perch_json *json = NULL;
	struct str uri;
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = server_pass_uri(served, json, &uri);
	return r < 0 ? r : server_watch_add(served->server, uri);
}

void server_pass_unwatch(struct server *server, struct str uri)
{
	_cleanup_json_ perch_json *json = NULL;
	struct str wanted;
	struct server_call *served = list_first(&server->waiting);
	if (perch_json_new(NULL, &json) < 0)
		return;
	while (served &&
		(!server_pass_is_watch(served) || server_pass_uri(served, json, &wanted) < 0 ||
			!str_eq(wanted, uri)))
		served = list_next(served);
	if (served)
		server_call_cancel(served);
}

/* ---- results --------------------------------------------------------------------- */

static void server_pass_add(struct buf *out, const perch_json_value *value)
{
	size_t len;
	const char *raw = perch_json_raw(value, &len);
	buf_append_char(out, out->len ? ',' : '[');
	buf_append(out, raw, len);
}

int server_pass_page(struct server_call *served, const perch_json_value *page)
{
	perch_json_iter iter =
		perch_json_iterate(perch_json_get(page, server_pass_find(served)->items));
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (perch_json_type_of(item) == PERCH_JSON_OBJECT)
			server_pass_add(&served->output, item);
		if (served->output.len > SERVER_LIST_MAX)
			return PERCH_ELIMIT;
	}
	return served->output.failed ? -ENOMEM : 0;
}

/* -ENOMEM, PERCH_ELIMIT. */
int server_pass_take(struct server_call *served, const perch_json_value *result)
{
	perch_tool_result *tool = &served->call->result;
	struct buf *out = &served->output;
	if (server_pass_is_list(served)) {
		int r = server_pass_page(served, result);
		if (r < 0)
			return r;
		buf_append_text(out, out->len ? "]" : "[]");
	} else {
		size_t len;
		const char *raw = perch_json_raw(result, &len);
		buf_append(out, raw, len);
	}
	if (buf_terminate(out) < 0)
		return -ENOMEM;
	tool->output = (perch_text){ out->data, out->len };
	return 0;
}
