/* Lines, sections and the comments that belong to them. */
#include "data/toml_change.h"

bool toml_is_within(const struct toml_value *value, const struct toml_value *ancestor)
{
	while (value && value != ancestor)
		value = value->parent;
	return value != NULL;
}

bool toml_is_statement(const struct toml_span *span)
{
	return span->container->type == TOML_TABLE && span->container->origin == TOML_HEADER;
}

bool toml_is_header(const struct toml_span *span)
{
	return span->container == span->value;
}

const struct toml_span *toml_span_of(
	const struct toml_layout *layout, const struct toml_value *value)
{
	for (size_t i = 0; i < layout->toml->span_count; i++) {
		if (layout->toml->spans[i].value == value)
			return &layout->toml->spans[i];
	}
	return NULL;
}

static const struct toml_span *toml_layout_next_statement(
	const struct toml_layout *layout, const struct toml_span *span)
{
	const struct toml *toml = layout->toml;
	size_t index = span ? (size_t)(span - toml->spans) + 1 : 0;
	while (index < toml->span_count && !toml_is_statement(&toml->spans[index]))
		index++;
	return index < toml->span_count ? &toml->spans[index] : NULL;
}

const struct toml_span *toml_next_header(
	const struct toml_layout *layout, const struct toml_span *span)
{
	do
		span = toml_layout_next_statement(layout, span);
	while (span && !toml_is_header(span));
	return span;
}

static const struct toml_span *toml_layout_previous_statement(
	const struct toml_layout *layout, const struct toml_span *span)
{
	while (span > layout->toml->spans) {
		if (toml_is_statement(--span))
			return span;
	}
	return NULL;
}

size_t toml_line_start(const struct toml_layout *layout, size_t at)
{
	while (at > layout->first && layout->text.data[at - 1] != '\n')
		at--;
	return at;
}

size_t toml_line_end(const struct toml_layout *layout, size_t at)
{
	const char *newline =
		at < layout->text.len ? memchr(layout->text.data + at, '\n', layout->text.len - at) : NULL;
	return newline ? (size_t)(newline - layout->text.data) + 1 : layout->text.len;
}

static bool toml_layout_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t toml_behind_blanks(const struct toml_layout *layout, size_t at)
{
	while (at < layout->text.len && toml_layout_is_blank(layout->text.data[at]))
		at++;
	return at;
}

size_t toml_before_blanks(const struct toml_layout *layout, size_t at)
{
	while (at > layout->first && toml_layout_is_blank(layout->text.data[at - 1]))
		at--;
	return at;
}

bool toml_is_blank_line(const struct toml_layout *layout, size_t at)
{
	if (at >= layout->text.len)
		return false;
	at = toml_behind_blanks(layout, at);
	return at == layout->text.len || layout->text.data[at] == '\r' || layout->text.data[at] == '\n';
}

bool toml_is_comment_line(const struct toml_layout *layout, size_t at)
{
	at = toml_behind_blanks(layout, at);
	return at < layout->text.len && layout->text.data[at] == '#';
}

size_t toml_section_start(const struct toml_layout *layout, const struct toml_span *header)
{
	const struct toml_span *before = toml_layout_previous_statement(layout, header);
	size_t floor = before ? toml_line_end(layout, before->end) : layout->first;
	size_t start = toml_line_start(layout, header->start);
	while (start > floor) {
		size_t above = toml_line_start(layout, start - 1);
		if (!toml_is_comment_line(layout, above))
			break;
		start = above;
	}
	return start;
}

size_t toml_section_end(const struct toml_layout *layout, const struct toml_span *header)
{
	const struct toml_span *last = header;
	const struct toml_span *next = toml_layout_next_statement(layout, header);
	while (next && !toml_is_header(next)) {
		last = next;
		next = toml_layout_next_statement(layout, next);
	}
	size_t limit = next ? toml_section_start(layout, next) : layout->text.len;
	size_t end = toml_line_end(layout, last->end);
	while (end < limit && toml_is_comment_line(layout, end))
		end = toml_line_end(layout, end);
	return end;
}
