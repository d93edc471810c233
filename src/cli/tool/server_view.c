/* An MCP server as its operator sees it. */
#include "cli/tool/server_view.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "cli/ui/console.h"
#include "data/json.h"
#include "term/tty.h"
#include "tool/call.h"
#include "tool/server_pin.h"

/* ---- a visit ----------------------------------------------------------------- */

static const char *server_view_keep_text(
	struct arena *arena, const perch_json_value *root, const char *name)
{
	struct str text = { 0 };
	text.data = perch_json_string(perch_json_get(root, name), &text.len);
	if (text.data && memchr(text.data, '\0', text.len))
		text.len = strlen(text.data);
	return arena_dup(arena, text.data ? text : STR(""));
}

/* What it has, of what perch passes on. NULL without memory. */
static const char *const *server_view_offers(
	struct arena *arena, const perch_json_value *capabilities)
{
	static const char *const known[] = { "tools", "resources", "prompts", "completions" };
	const char **list = arena_alloc(arena, (COUNT(known) + 1) * sizeof(*list));
	size_t count = 0;
	for (size_t i = 0; list && i < COUNT(known); i++) {
		if (i == 0 || perch_json_get(capabilities, known[i]))
			list[count++] = known[i];
	}
	if (list)
		list[count] = NULL;
	return list;
}

static int server_view_read_tools(
	struct arena *arena, const perch_json_value *array, struct server_view *view, perch_err *err)
{
	view->tools = arena_alloc(arena, (perch_json_count(array) + 1) * sizeof(*view->tools));
	if (!view->tools)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct tool_known tool;
		int r = server_tool_read(arena, item, &tool, err);
		if (r < 0)
			return r;
		if (!server_view_find(view, tool.name))
			view->tools[view->count++] = tool;
	}
	return 0;
}

static int server_view_read(
	struct arena *arena, perch_text manifest, struct server_view *ret_view, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, manifest.data, manifest.len, &root, err);
	if (r < 0)
		return r;
	struct server_view view = {
		.title = server_view_keep_text(arena, root, "plugin_id"),
		.version = server_view_keep_text(arena, root, "plugin_version"),
		.protocol = server_view_keep_text(arena, root, "protocol_version"),
		.instructions = server_view_keep_text(arena, root, "instructions"),
		.era = perch_json_is(perch_json_get(root, "era"), "modern") ? MCP_ONLY_MODERN
																	: MCP_ONLY_LEGACY,
		.offers = server_view_offers(arena, perch_json_get(root, "capabilities")),
	};
	if (!view.title || !view.version || !view.protocol || !view.instructions || !view.offers)
		return err_no_memory(err);
	r = server_view_read_tools(arena, perch_json_get(root, "tools"), &view, err);
	if (r == 0)
		*ret_view = view;
	return r;
}

/* Starts it and looks, as a client of that era; what goes wrong is told, or passed over. */
static int server_view_visit(struct tool_session *session, const struct tool_binding *binding,
	enum mcp_upstream_era era, struct server_view *ret_view, perch_err *err)
{
	struct tool_binding of_era = *binding;
	struct tool_call *call;
	of_era.server.era = era;
	of_era.server.speaks_both = false;
	const struct tool_call_options options = { .binding = &of_era };
	int r = tool_session_call(session, &options, &call, err);
	if (r < 0)
		return r;
	const perch_tool_result *result = tool_call_result(call);
	if (result->code == PERCH_TOOL_OK)
		r = server_view_read(&session->arena, result->manifest, ret_view, err);
	else
		r = era == MCP_FIND_OUT ? tool_tell(session, result) : -ENOTSUP;
	tool_call_free(call);
	return r;
}

/* A modern server that is the same for legacy clients is spoken with in both ways. */
static int server_view_try_legacy(struct tool_session *session, const struct tool_binding *binding,
	struct server_view *view, perch_err *err)
{
	struct server_view other = { 0 };
	int r = server_view_visit(session, binding, MCP_ONLY_LEGACY, &other, err);
	if (r == -ENOTSUP)
		return 0;
	bool is_same = r == 0 && other.count == view->count;
	for (size_t i = 0; is_same && i < view->count; i++) {
		const struct tool_known *tool = server_view_find(&other, view->tools[i].name);
		is_same = tool && strcmp(tool->pin, view->tools[i].pin) == 0;
	}
	view->speaks_both = is_same;
	return r;
}

int server_view_take(struct tool_session *session, const struct tool_binding *binding,
	struct server_view *ret_view, perch_err *err)
{
	int r = tool_session_trace(session, binding->name, (const char *const[]){ NULL }, err);
	if (r == 0)
		r = server_view_visit(session, binding, MCP_FIND_OUT, ret_view, err);
	if (r == 0 && ret_view->era == MCP_ONLY_MODERN)
		r = server_view_try_legacy(session, binding, ret_view, err);
	return r;
}

const struct tool_known *server_view_find(const struct server_view *view, const char *name)
{
	for (size_t i = 0; i < view->count; i++) {
		if (strcmp(view->tools[i].name, name) == 0)
			return &view->tools[i];
	}
	return NULL;
}

int server_view_keep(const struct server_view *view, struct arena *arena,
	struct tool_binding *binding, perch_err *err)
{
	struct tool_server *server = &binding->server;
	char pin[SHA256_HEX_SIZE];
	server_pin_text(str_from(view->instructions), pin);
	server->era = view->speaks_both ? MCP_FIND_OUT : view->era;
	server->speaks_both = view->speaks_both;
	server->offers = view->offers;
	server->version = view->version;
	server->instructions = view->instructions;
	server->instructions_pin = arena_dup(arena, str_from(pin));
	return server->instructions_pin ? 0 : err_no_memory(err);
}

/* ---- showing ------------------------------------------------------------------ */

enum { VIEW_NARROWEST = 20 };

/* What fits into a line of so many columns (0 = all of it), and is taken off the rest. */
static struct str server_view_cut(struct str *rest, size_t columns)
{
	size_t len = 0, used = 0;
	while (len < rest->len) {
		uint32_t character;
		size_t size = utf8_decode(rest->data + len, rest->len - len, &character);
		used += utf8_character_width(character);
		if (columns && len && used > columns)
			break;
		len += size;
	}
	struct str piece = { rest->data, len };
	*rest = (struct str){ rest->data + len, rest->len - len };
	return piece;
}

static size_t server_view_columns(FILE *stream, size_t taken)
{
	size_t columns = 0, rows;
	if (isatty(fileno(stream)))
		tty_size(fileno(stream), &columns, &rows);
	return columns > taken + VIEW_NARROWEST ? columns - taken - 1 : 0;
}

/* All of it, because its end is to be judged, too; and no line of it begins where perch's own do,
 * also where the terminal would break it. */
void server_view_show_text(FILE *stream, const char *before, const char *text)
{
	size_t columns = server_view_columns(stream, strlen(before));
	_cleanup_(buf_free) struct buf shown = { 0 };
	utf8_append_revealed(&shown, text, strlen(text));
	struct str rest = { shown.data, shown.len };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		do {
			_cleanup_free_ char *piece = str_dup(server_view_cut(&line, columns));
			fputs(before, stream);
			cli_put(stream, piece ? piece : "out of memory");
			fputc('\n', stream);
		} while (line.len);
	}
}

void server_view_show_tool(const struct tool_known *tool)
{
	fputs("  ", stderr);
	cli_put_text(stderr, str_from(tool->name));
	fputs(tool->asks ? "  (asks before each call)\n" : "\n", stderr);
	server_view_show_text(stderr, "      ", tool->description);
	server_texts_show(tool);
}

static void server_view_show_answer(
	FILE *stream, const char *margin, const char *title, const char *text)
{
	fprintf(stream, margin, title);
	cli_put_text(stream, str_from(text));
	fputc('\n', stream);
}

void server_view_show_answers(FILE *stream, const char *margin, const struct tool_server *server)
{
	if (server->elicitation == TOOL_ANSWER_CLIENT)
		server_view_show_answer(
			stream, margin, "may ask", "the user of whatever client calls it, by forms");
	if (server->sampling == TOOL_ANSWER_CLIENT)
		server_view_show_answer(stream, margin, "may use", "the model of whatever client calls it");
	if (server->sampling == TOOL_ANSWER_AGENT)
		server_view_show_answer(stream, margin, "asks agent", server->sampler);
	if (server->roots == TOOL_ANSWER_CLIENT)
		server_view_show_answer(stream, margin, "is told", "the folders that its client works in");
}

/* ---- choosing ----------------------------------------------------------------- */

static bool server_view_mark(
	const struct tool_known *const *tools, size_t count, bool *chosen, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		if (!str_is(name, tools[i]->name))
			continue;
		chosen[i] = true;
		return true;
	}
	return false;
}

static int server_view_choose_named(const struct option_list *grants,
	const struct tool_known *const *tools, size_t count, bool *chosen)
{
	for (size_t i = 0; i < grants->count; i++) {
		struct str rest = str_from(grants->items[i]);
		while (rest.len) {
			struct str name = str_trim(str_cut(&rest, ','));
			if (!server_view_mark(tools, count, chosen, name))
				return cli_usage_error("grant the tools that it offers, by their names",
					"there is no tool '%.*s' to grant", utf8_quoted(name), name.data);
		}
	}
	return 0;
}

static int server_view_ask_each(
	struct console *console, const struct tool_known *const *tools, size_t count, bool *chosen)
{
	char question[SERVER_TOOL_NAME_MAX + 32];
	for (size_t i = 0; i < count; i++) {
		server_view_show_tool(tools[i]); /* what all of them say may have scrolled away */
		snprintf(question, sizeof(question), "Allow %s?", tools[i]->name);
		int r = console_confirm(console, question);
		if (r < 0)
			return r;
		chosen[i] = r > 0;
	}
	return 0;
}

static int server_view_ask(struct console *console, const char *question,
	const struct tool_known *const *tools, size_t count, bool *chosen)
{
	static const char *const answers[] = { "all of them", "one by one", "none" };
	int r = console_select(console, question, answers, 3, 1);
	if (r == 1)
		return server_view_ask_each(console, tools, count, chosen);
	for (size_t i = 0; r == 0 && i < count; i++)
		chosen[i] = true;
	return r < 0 ? r : 0;
}

int server_view_choose(struct tool_session *session, const struct server_choice *choice,
	const struct tool_known *const *tools, size_t count, bool *chosen, perch_err *err)
{
	memset(chosen, 0, count * sizeof(*chosen));
	if (choice->grants->count)
		return server_view_choose_named(choice->grants, tools, count, chosen);
	if (choice->yes || !count) {
		memset(chosen, 1, count * sizeof(*chosen));
		return 0;
	}
	struct console console;
	int r = console_open(&console, session->cli, err);
	if (r == 0)
		r = server_view_ask(&console, choice->question, tools, count, chosen);
	console_close(&console);
	if (r == -ENOTTY)
		return err_set(err, r,
			"nobody is there to say which tools are allowed: --yes allows all, --grant A,B some");
	return r == -ECANCELED ? err_set(err, r, "cancelled at the question") : r;
}
