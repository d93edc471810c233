/* perch mcp list and inspect: what an MCP server has. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "cli/mcp/mcp_commands.h"
#include "cli/mcp/mcp_session.h"

/* The lists of a server: what is asked for, and what an item is known by. */
static const struct {
	const char *title;
	const char *method;
	const char *member;
	const char *name;
	size_t ability; /* offset of the fact that it has some */
} listings[] = {
	{ "tools", "tools/list", "tools", "name", offsetof(struct mcp_upstream_facts, has_tools) },
	{ "resources", "resources/list", "resources", "uri",
		offsetof(struct mcp_upstream_facts, has_resources) },
	{ "templates", "resources/templates/list", "resourceTemplates", "uriTemplate",
		offsetof(struct mcp_upstream_facts, has_resources) },
	{ "prompts", "prompts/list", "prompts", "name",
		offsetof(struct mcp_upstream_facts, has_prompts) },
};

/* What is gathered before it is printed: each list as the items of a JSON array. */
struct listed {
	struct buf items[COUNT(listings)];
	size_t counts[COUNT(listings)];
	size_t at;
	size_t size; /* of all */
};

/* Of all that a server lists: it may have a thousand pages of megabytes. */
enum { LIST_SIZE_MAX = 64 * 1024 * 1024 };

static void list_free(struct listed *listed)
{
	for (size_t i = 0; i < COUNT(listings); i++)
		buf_free(&listed->items[i]);
}

static void list_take(void *data, const perch_json_value *result)
{
	struct listed *listed = data;
	struct buf *items = &listed->items[listed->at];
	perch_json_iter iter = perch_json_iterate(perch_json_get(result, listings[listed->at].member));
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str raw;
		raw.data = perch_json_raw(item, &raw.len);
		listed->size += raw.len + 1;
		if (listed->size > LIST_SIZE_MAX)
			return;
		buf_append_char(items, listed->counts[listed->at]++ ? ',' : '[');
		buf_append(items, raw.data, raw.len);
	}
}

static int list_gather(struct mcp_session *session, struct listed *listed, perch_err *err)
{
	const struct mcp_upstream_facts *facts = mcp_session_facts(session);
	int r = 0;
	for (size_t i = 0; r == 0 && i < COUNT(listings); i++) {
		listed->at = i;
		if (*(const bool *)((const char *)facts + listings[i].ability))
			r = mcp_session_call(session, listings[i].method, STR(""), list_take, listed, err);
		if (r == 0 && listed->size > LIST_SIZE_MAX)
			r = err_set(err, -EFBIG, "the server lists more than %d MiB", LIST_SIZE_MAX >> 20);
		buf_append_text(&listed->items[i], listed->counts[i] ? "]" : "[]");
	}
	return r;
}

/* ---- for people ------------------------------------------------------------- */

static struct str list_text(const perch_json_value *item, const char *name)
{
	const perch_json_value *value = perch_json_get(item, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : STR("");
}

static struct str list_first_line(struct str text)
{
	const char *end = text.len ? memchr(text.data, '\n', text.len) : NULL;
	return end ? (struct str){ text.data, (size_t)(end - text.data) } : text;
}

/* Characters that hide something are written out. */
static void list_put(struct str text)
{
	_cleanup_(buf_free) struct buf shown = { 0 };
	utf8_append_revealed(&shown, text.data, text.len);
	cli_put_text(stdout, (struct str){ shown.data, shown.len });
}

static void list_put_hints(const perch_json_value *tool)
{
	static const char *const hints[] = { "readOnlyHint", "destructiveHint", "idempotentHint",
		"openWorldHint" };
	const perch_json_value *annotations = perch_json_get(tool, "annotations");
	for (size_t i = 0; i < COUNT(hints); i++) {
		bool flag;
		if (perch_json_bool(perch_json_get(annotations, hints[i]), &flag) == 0)
			printf("    %s: %s\n", hints[i], flag ? "true" : "false");
	}
}

static void list_put_schema(const perch_json_value *tool, const char *name)
{
	const perch_json_value *schema = perch_json_get(tool, name);
	struct str raw = { 0 };
	if (!schema)
		return;
	raw.data = perch_json_raw(schema, &raw.len);
	printf("    %s: ", name);
	list_put(raw);
	putchar('\n');
}

static void list_put_item(const perch_json_value *item, size_t listing, bool is_long)
{
	fputs("  ", stdout);
	list_put(list_text(item, listings[listing].name));
	struct str text = list_text(item, "description");
	if (text.len)
		fputs("  ", stdout);
	list_put(is_long ? text : list_first_line(text));
	putchar('\n');
	if (!is_long)
		return;
	list_put_hints(item);
	list_put_schema(item, "inputSchema");
	list_put_schema(item, "outputSchema");
}

static int list_print(const struct listed *listed, bool is_long)
{
	_cleanup_json_ perch_json *json = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return cli_no_memory();
	for (size_t i = 0; i < COUNT(listings); i++) {
		const perch_json_value *root;
		const struct buf *items = &listed->items[i];
		if (items->failed || perch_json_parse(json, items->data, items->len, &root, NULL) < 0)
			return cli_no_memory();
		if (listed->counts[i])
			printf("%s (%zu)\n", listings[i].title, listed->counts[i]);
		perch_json_iter iter = perch_json_iterate(root);
		for (const perch_json_value *item; (item = perch_json_next(&iter));)
			list_put_item(item, i, is_long);
	}
	return 0;
}

static void list_print_facts(const struct mcp_upstream_facts *facts, bool is_long)
{
	list_put(facts->name.len ? facts->name : STR("a server without a name"));
	putchar(' ');
	list_put(facts->server_version);
	printf(", MCP %s\n", facts->version->name);
	if (!is_long)
		return;
	fputs("capabilities: ", stdout);
	list_put(facts->capabilities);
	putchar('\n');
	if (!facts->instructions.len)
		return;
	fputs("instructions: ", stdout);
	list_put(facts->instructions);
	putchar('\n');
}

/* ---- for machines ----------------------------------------------------------- */

static int list_print_json(const struct mcp_upstream_facts *facts, const struct listed *listed)
{
	struct buf out = { 0 };
	perch_json_writer writer = json_writer_on(&out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "name", facts->name);
	json_write_text(&writer, "version", facts->server_version);
	json_write_text(&writer, "protocol", str_from(facts->version->name));
	json_write_text(&writer, "instructions", facts->instructions);
	perch_json_write_name(&writer, "capabilities");
	perch_json_write_raw(&writer, facts->capabilities.data, facts->capabilities.len);
	for (size_t i = 0; i < COUNT(listings); i++) {
		perch_json_write_name(&writer, listings[i].title);
		perch_json_write_raw(&writer, listed->items[i].data, listed->items[i].len);
	}
	perch_json_end_object(&writer);
	buf_append_char(&out, '\n');
	return cli_print_json(&out);
}

/* ---- the verbs -------------------------------------------------------------- */

static int list_show(
	struct cli *cli, struct mcp_session *session, const struct mcp_target *target, bool is_long)
{
	_cleanup_(list_free) struct listed listed = { 0 };
	perch_err err = { 0 };
	int r = mcp_session_open(session, target, &err);
	if (r == 0)
		r = list_gather(session, &listed, &err);
	if (r < 0)
		return mcp_session_failure(session, &err);
	const struct mcp_upstream_facts *facts = mcp_session_facts(session);
	if (cli->json)
		return list_print_json(facts, &listed);
	list_print_facts(facts, is_long);
	return list_print(&listed, is_long);
}

static int list_read(struct cli *cli, int argc, char **argv, struct mcp_target *target)
{
	const struct option_spec specs[] = {
		MCP_TARGET_OPTIONS(target),
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ 0 },
	};
	int at = 1;
	mcp_target_cut(target, &argc, argv);
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(
			"put -- before the command of the server", "'%s' is one word too many", argv[at]);
	return r;
}

static int list_run(struct cli *cli, int argc, char **argv)
{
	struct mcp_session session = { 0 };
	struct mcp_target target = { 0 };
	int r = list_read(cli, argc, argv, &target);
	if (r)
		return r;
	r = list_show(cli, &session, &target, false);
	mcp_session_close(&session);
	return r;
}

/* Which eras it speaks: each is tried by itself. */
static int inspect_era(const struct mcp_target *target, const char *era)
{
	struct mcp_session session = { .is_quiet = true };
	struct mcp_target one = *target;
	perch_err err = { 0 };
	one.era = era;
	int r = mcp_session_open(&session, &one, &err);
	if (r == 0)
		printf("%s: %s\n", era, mcp_session_facts(&session)->version->name);
	else
		cli_tell(stdout, "%s: no (%s)\n", era, err.text);
	int signal = session.signal;
	mcp_session_close(&session);
	return signal ? 128 + signal : 0;
}

static int inspect_run(struct cli *cli, int argc, char **argv)
{
	struct mcp_session session = { 0 };
	struct mcp_target target = { 0 };
	int r = list_read(cli, argc, argv, &target);
	if (r)
		return r;
	r = list_show(cli, &session, &target, true);
	size_t notes = session.note_count;
	mcp_session_close(&session);
	if (r || cli->json)
		return r;
	r = target.era ? 0 : inspect_era(&target, "modern");
	if (r == 0 && !target.era)
		r = inspect_era(&target, "legacy");
	if (notes)
		printf("said beside its answers: %zu line%s\n", notes, notes == 1 ? "" : "s");
	return r;
}

#define TARGET_HELP                                                                      \
	"  -- COMMAND…    the server, as a client starts it, or its URL; else perch mcp\n" \
	"  --era ERA      legacy or modern alone, instead of finding out\n"                  \
	"  --timeout S    seconds that an answer may take (60)\n"                            \
	"  --config DIR   for perch mcp itself\n"

const struct command mcp_verb_list = {
	.name = "list",
	.summary = "what an MCP server has",
	.help = "usage: perch mcp list [OPTIONS] [-- COMMAND…]\n"
			"\n"
			"Starts an MCP server, lists its tools, resources and prompts, and ends it. It\n"
			"runs as you: put `perch sandbox run` before a command that you do not trust.\n"
			"\n" TARGET_HELP "  --json         for machines\n"
			"\n"
			"example:\n"
			"  perch mcp list -- perch sandbox run -- ./my-server\n",
	.run = list_run,
};

const struct command mcp_verb_inspect = {
	.name = "inspect",
	.summary = "all that an MCP server says of itself",
	.help = "usage: perch mcp inspect [OPTIONS] [-- COMMAND…]\n"
			"\n"
			"As list, with instructions, schemas and hints, and the eras of the protocol\n"
			"that the server speaks; to find these out it is started three times.\n"
			"\n" TARGET_HELP "  --json         for machines\n"
			"\n"
			"example:\n"
			"  perch mcp inspect -- ./my-server\n",
	.run = inspect_run,
};
