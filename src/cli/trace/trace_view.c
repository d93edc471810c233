/* A record of a trace, for people: when, which way, what. */
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "cli/trace/trace_commands.h"
#include "data/json.h"

enum { TYPE_COLUMNS = 12 };

/* How a direction looks. */
static const struct {
	const char *utf8;
	const char *ascii;
	enum style style;
} marks[] = {
	[TRACE_TO_PLUGIN] = { "→", "->", STYLE_ANSWER },
	[TRACE_FROM_PLUGIN] = { "←", "<-", STYLE_INFO },
	[TRACE_PLUGIN_ERR] = { "!", "!", STYLE_WARN },
	[TRACE_HOST] = { "·", "*", STYLE_HINT },
};

int trace_view_open(struct trace_view *view, const struct cli *cli)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	options.replace_invalid_utf8 = true;
	page_begin(&view->page, cli);
	return perch_json_new(&options, &view->json);
}

void trace_view_close(struct trace_view *view)
{
	perch_json_free(view->json);
	buf_free(&view->page.out);
}

/* ---- a line of columns ------------------------------------------------------- */

/* A row while it is written: how many columns are left, 0 = any. */
struct row {
	struct trace_view *view;
	size_t left;
	bool is_bounded;
};

static void trace_view_put(struct row *row, enum style style, struct str text)
{
	struct page *page = &row->view->page;
	if (row->is_bounded && !row->left)
		return;
	buf_append_text(&page->out, style_begin(&page->look, style));
	size_t used = page_cut(page, text, row->is_bounded ? row->left : 0);
	buf_append_text(&page->out, style_end(&page->look, style));
	row->left -= row->is_bounded ? used : 0;
}

static void trace_view_put_text(struct row *row, enum style style, const char *text)
{
	trace_view_put(row, style, str_from(text));
}

/* Time and direction; no time = the row goes on with the record before it. */
static struct row trace_view_begin_row(
	struct trace_view *view, enum trace_direction direction, const double *seconds)
{
	const struct look *look = &view->page.look;
	struct row row = {
		.view = view,
		.left = look->columns,
		.is_bounded = look->columns && !view->is_full,
	};
	char time[32] = "";
	if (seconds)
		snprintf(time, sizeof(time), "%.3f", *seconds);
	char cell[40];
	snprintf(cell, sizeof(cell), "%9s  ", time);
	trace_view_put_text(&row, STYLE_HINT, cell);
	trace_view_put_text(
		&row, marks[direction].style, look->utf8 ? marks[direction].utf8 : marks[direction].ascii);
	trace_view_put_text(&row, STYLE_PLAIN, " ");
	return row;
}

static void trace_view_end_row(struct row *row)
{
	buf_append_char(&row->view->page.out, '\n');
}

/* ---- what a line says ---------------------------------------------------------- */

/* Every member but the type: `id=1 command="make"`. */
static void trace_view_append_members(struct buf *out, const perch_json_value *message)
{
	const perch_json_value *end = json_skip(message);
	for (const perch_json_value *name = message + 1; name < end; name = json_skip(name + 1)) {
		struct str text = json_str(name);
		size_t len;
		const char *raw = perch_json_raw(name + 1, &len);
		if (str_is(text, "type"))
			continue;
		buf_append_text(out, out->len ? " " : "");
		buf_append(out, text.data, text.len);
		buf_append_char(out, '=');
		buf_append(out, raw, len);
	}
}

static void trace_view_put_type(struct row *row, struct str type)
{
	char blanks[TYPE_COLUMNS + 1];
	size_t columns = page_width(&row->view->page, type);
	size_t missing = columns < TYPE_COLUMNS ? TYPE_COLUMNS - columns : 0;
	memset(blanks, ' ', missing + 1);
	trace_view_put(row, STYLE_MESSAGE, type);
	trace_view_put(row, STYLE_PLAIN, (struct str){ blanks, missing + 1 });
}

/* What is particular about a line stands before its text: the end may be cut. */
static void trace_view_put_flags(struct row *row, const struct trace_entry *entry)
{
	char bytes[64];
	snprintf(bytes, sizeof(bytes), "[%zu bytes, not UTF-8] ", entry->line.len);
	if (entry->is_masked)
		trace_view_put_text(row, STYLE_WARN, "[masked] ");
	if (entry->is_cut)
		trace_view_put_text(row, STYLE_WARN, "[too long: its start] ");
	if (!utf8_is_valid(entry->line.data, entry->line.len))
		trace_view_put_text(row, STYLE_WARN, bytes);
}

/* A message by its type and its members; anything else as it is. */
static void trace_view_put_line(struct row *row, const struct trace_entry *entry)
{
	struct str line = entry->line;
	const perch_json_value *message = NULL;
	perch_json_parse(row->view->json, line.data, line.len, &message, NULL);
	struct str type = facts_text(message, "type");
	if (type.len)
		trace_view_put_type(row, type);
	trace_view_put_flags(row, entry);
	if (!type.len) {
		trace_view_put(row, STYLE_PLAIN, line);
		return;
	}
	_cleanup_(buf_free) struct buf members = { 0 };
	trace_view_append_members(&members, message);
	trace_view_put(row, STYLE_PLAIN, (struct str){ members.data, members.len });
}

static void trace_view_add_host(struct trace_view *view, const struct trace_record *record)
{
	struct row row = trace_view_begin_row(view, TRACE_HOST, &record->seconds);
	if (record->entry.is_masked)
		trace_view_put_text(&row, STYLE_WARN, "[masked] ");
	trace_view_put(&row, STYLE_HINT, record->entry.line);
	if (view->is_full && record->entry.event.len) {
		trace_view_put_text(&row, STYLE_HINT, "  ");
		trace_view_put(&row, STYLE_HINT, record->entry.event);
		trace_view_put_text(&row, STYLE_HINT, " ");
		trace_view_put(&row, STYLE_HINT, record->entry.facts);
	}
	trace_view_end_row(&row);
}

/* Bytes of stderr: a row for each line of them. */
static void trace_view_add_stderr(struct trace_view *view, const struct trace_record *record)
{
	const double *seconds = &record->seconds;
	struct str rest = record->entry.line;
	do {
		struct row row = trace_view_begin_row(view, TRACE_PLUGIN_ERR, seconds);
		trace_view_put(&row, STYLE_PLAIN, str_cut(&rest, '\n'));
		trace_view_end_row(&row);
		seconds = NULL;
	} while (rest.len);
}

static void trace_view_add_line(struct trace_view *view, const struct trace_record *record)
{
	struct row row = trace_view_begin_row(view, record->entry.direction, &record->seconds);
	trace_view_put_line(&row, &record->entry);
	trace_view_end_row(&row);
}

static void trace_view_add_head(struct trace_view *view, const perch_json_value *head)
{
	struct row row = {
		.view = view,
		.left = view->page.look.columns,
		.is_bounded = view->page.look.columns && !view->is_full,
	};
	trace_view_put_text(&row, STYLE_HINT, "perch ");
	trace_view_put(&row, STYLE_HINT, facts_text(head, "perch"));
	trace_view_put_text(&row, STYLE_HINT, ": ");
	trace_view_put(&row, STYLE_MESSAGE, facts_text(head, "command"));
	perch_json_iter iter = perch_json_iterate(perch_json_get(head, "args"));
	for (const perch_json_value *arg; (arg = perch_json_next(&iter));) {
		struct str text = { 0 };
		text.data = perch_json_string(arg, &text.len);
		trace_view_put_text(&row, STYLE_PLAIN, " ");
		trace_view_put(&row, STYLE_PLAIN, text);
	}
	trace_view_end_row(&row);
}

void trace_view_add(struct trace_view *view, const struct trace_record *record)
{
	if (record->kind == TRACE_HEAD)
		trace_view_add_head(view, record->object);
	else if (record->entry.direction == TRACE_HOST)
		trace_view_add_host(view, record);
	else if (record->entry.direction == TRACE_PLUGIN_ERR)
		trace_view_add_stderr(view, record);
	else
		trace_view_add_line(view, record);
}
