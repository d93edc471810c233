/* Taking things out of a TOML text. */
#include "data/toml_change.h"

/* Cuts whole sections that follow each other, with the blank lines behind
 * them: those before them go on separating what stays. At the end of the file
 * there is nothing left to separate. */
static void toml_cut_run(
	struct toml_change *change, const struct toml_span *first, const struct toml_span *last)
{
	const struct toml_layout *layout = &change->layout;
	size_t start = toml_section_start(layout, first);
	size_t end = toml_section_end(layout, last);
	while (toml_is_blank_line(layout, end))
		end = toml_line_end(layout, end);
	while (end == layout->text.len && start > layout->first) {
		size_t above = toml_line_start(layout, start - 1);
		if (!toml_is_blank_line(layout, above))
			break;
		start = above;
	}
	toml_patch_cut(&change->patches, start, end);
}

void toml_cut_sections(
	struct toml_change *change, const struct toml_value *table, const struct toml_span *except)
{
	const struct toml_span *first = NULL;
	const struct toml_span *last = NULL;
	for (const struct toml_span *header = NULL;;) {
		header = toml_next_header(&change->layout, header);
		bool goes = header && header != except && toml_is_within(header->value, table);
		if (goes && !first)
			first = header;
		if (!goes && first) {
			toml_cut_run(change, first, last);
			first = NULL;
		}
		if (!header)
			return;
		last = header;
	}
}

/* Where the comma behind an element ends, or 0 when there is none. */
static size_t toml_cut_comma_end(const struct toml_layout *layout, size_t at)
{
	for (;;) {
		at = toml_behind_blanks(layout, at);
		if (at >= layout->text.len)
			return 0;
		char c = layout->text.data[at];
		if (c == '#' || c == '\r' || c == '\n')
			at = toml_line_end(layout, at);
		else
			return c == ',' ? at + 1 : 0;
	}
}

static bool toml_cut_is_cut(
	const struct toml_span *span, const struct toml_value *value, const struct toml_span *except)
{
	return span != except && !toml_is_header(span) && toml_is_within(span->value, value) &&
		!toml_is_within(span->container, value);
}

/* The end of the nearest sibling before span that stays, or 0. */
static size_t toml_cut_kept_end_before(const struct toml_change *change,
	const struct toml_span *span, const struct toml_value *value, const struct toml_span *except)
{
	for (const struct toml_span *other = span; other > change->toml->spans;) {
		other--;
		if (other->container == span->container && !toml_cut_is_cut(other, value, except))
			return other->end;
	}
	return 0;
}

static bool toml_cut_has_newline(struct str text, size_t start, size_t end)
{
	return memchr(text.data + start, '\n', end - start) != NULL;
}

/* One of several things in braces or brackets. It goes with the comma behind
 * it, and with its lines when it has them for itself; the last one on a line
 * takes the comma before it along. */
static void toml_cut_listed(struct toml_change *change, const struct toml_span *span,
	const struct toml_value *value, const struct toml_span *except)
{
	const struct toml_layout *layout = &change->layout;
	size_t start = span->start;
	size_t end = toml_cut_comma_end(layout, span->end);
	if (!end) {
		end = span->end;
		size_t kept_end = toml_cut_kept_end_before(change, span, value, except);
		if (kept_end && !toml_cut_has_newline(layout->text, kept_end, start)) {
			toml_patch_cut(&change->patches, kept_end, end);
			return;
		}
	}
	size_t line = toml_before_blanks(layout, start);
	bool starts_line = line == layout->first || layout->text.data[line - 1] == '\n';
	bool ends_line = toml_is_blank_line(layout, end) || toml_is_comment_line(layout, end);
	if (starts_line && ends_line)
		toml_patch_cut(&change->patches, line, toml_line_end(layout, end));
	else
		toml_patch_cut(&change->patches, start, toml_behind_blanks(layout, end));
}

void toml_cut_items(
	struct toml_change *change, const struct toml_value *value, const struct toml_span *except)
{
	const struct toml_layout *layout = &change->layout;
	for (size_t i = 0; i < change->toml->span_count; i++) {
		const struct toml_span *span = &change->toml->spans[i];
		if (!toml_cut_is_cut(span, value, except))
			continue;
		if (toml_is_statement(span))
			toml_patch_cut(&change->patches, toml_line_start(layout, span->start),
				toml_line_end(layout, span->end));
		else
			toml_cut_listed(change, span, value, except);
	}
}

const struct toml_span *toml_first_item(
	const struct toml_change *change, const struct toml_value *value)
{
	for (size_t i = 0; i < change->toml->span_count; i++) {
		if (toml_cut_is_cut(&change->toml->spans[i], value, NULL))
			return &change->toml->spans[i];
	}
	return NULL;
}
