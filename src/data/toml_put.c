/* Putting things into a TOML text. */
#include "data/toml_change.h"

/* What stands before a place once the cuts made so far are done. */
static size_t toml_put_place_before(const struct toml_change *change, size_t at)
{
	const struct toml_patches *patches = &change->patches;
	bool is_cut = patches->count && patches->items[patches->count - 1].end == at;
	return is_cut ? patches->items[patches->count - 1].start : at;
}

/* Ends the line before a place that is the end of the file. */
static void toml_put_finish_line(struct toml_change *change, size_t at)
{
	at = toml_put_place_before(change, at);
	if (at > change->layout.first && change->layout.text.data[at - 1] != '\n')
		buf_append_text(&change->patches.inserted, change->line_end);
}

/* A blank line between a new section and what stands before it. */
static void toml_put_separate(struct toml_change *change, size_t at)
{
	toml_put_finish_line(change, at);
	at = toml_put_place_before(change, at);
	if (at == change->layout.first)
		return;
	size_t above = toml_line_start(&change->layout, at - 1);
	if (!toml_is_blank_line(&change->layout, above))
		buf_append_text(&change->patches.inserted, change->line_end);
}

/* Where the keys begin that are written in the home of the deepest table. */
static size_t toml_put_first_step_in_home(const struct toml_change *change)
{
	const struct toml_value *home = toml_change_home(change);
	size_t step = change->resolved;
	for (const struct toml_value *at = change->deepest; at != home; at = at->parent)
		step--;
	return step;
}

static void toml_put_write_pair(struct toml_change *change, const struct toml_entry *entry)
{
	struct buf *inserted = &change->patches.inserted;
	toml_change_write_name(change, inserted, toml_put_first_step_in_home(change), entry->key);
	buf_append_text(inserted, " = ");
	toml_write_value(inserted, entry);
}

static void toml_put_in_braces(
	struct toml_change *change, const struct toml_value *table, const struct toml_entry *entry)
{
	const struct toml_layout *layout = &change->layout;
	size_t from = change->patches.inserted.len;
	size_t brace = toml_span_of(layout, table)->end - 1;
	size_t at = toml_before_blanks(layout, brace);
	buf_append_text(&change->patches.inserted, table->count ? ", " : " ");
	toml_put_write_pair(change, entry);
	buf_append_text(&change->patches.inserted, !table->count && at == brace ? " " : "");
	toml_patch_put(&change->patches, at, at, from);
}

/* The last line of a section with a key of the deepest table, else its header;
 * NULL in a root without keys. */
static const struct toml_span *toml_put_anchor_in(
	const struct toml_change *change, const struct toml_value *section)
{
	const struct toml_span *anchor = toml_span_of(&change->layout, section);
	for (size_t i = 0; i < change->toml->span_count; i++) {
		const struct toml_span *span = &change->toml->spans[i];
		if (span->container == section && toml_is_within(span->value, change->deepest))
			anchor = span;
	}
	return anchor;
}

static void toml_put_below(
	struct toml_change *change, const struct toml_span *anchor, const struct toml_entry *entry)
{
	const struct toml_layout *layout = &change->layout;
	struct buf *inserted = &change->patches.inserted;
	size_t from = inserted->len;
	size_t at = toml_line_end(layout, anchor->end);
	size_t line = toml_line_start(layout, anchor->start);
	toml_put_finish_line(change, at);
	buf_append(inserted, layout->text.data + line, anchor->start - line);
	toml_put_write_pair(change, entry);
	buf_append_text(inserted, change->line_end);
	toml_patch_put(&change->patches, at, at, from);
}

/* The first key of a file: above the first section. */
static void toml_put_at_top(struct toml_change *change, const struct toml_entry *entry)
{
	const struct toml_span *header = toml_next_header(&change->layout, NULL);
	size_t at = header ? toml_section_start(&change->layout, header) : change->layout.text.len;
	size_t from = change->patches.inserted.len;
	toml_put_finish_line(change, at);
	toml_put_write_pair(change, entry);
	buf_append_text(&change->patches.inserted, change->line_end);
	if (header)
		buf_append_text(&change->patches.inserted, change->line_end);
	toml_patch_put(&change->patches, at, at, from);
}

static void toml_put_write_section(
	struct toml_change *change, bool is_element, const struct toml_entry *entries, size_t count)
{
	struct buf *inserted = &change->patches.inserted;
	_cleanup_(buf_free) struct buf name = { 0 };
	toml_change_write_name(change, &name, 0, NULL);
	buf_append_text(inserted, is_element ? "[[" : "[");
	buf_append(inserted, name.data, name.len);
	buf_append_text(inserted, is_element ? "]]" : "]");
	buf_append_text(inserted, change->line_end);
	toml_write_lines(
		inserted, (struct str){ name.data, name.len }, entries, count, change->line_end);
	inserted->failed |= name.failed;
}

static const struct toml_span *toml_put_first_header_within(
	const struct toml_change *change, const struct toml_value *table)
{
	const struct toml_span *header = toml_next_header(&change->layout, NULL);
	while (header && !toml_is_within(header->value, table))
		header = toml_next_header(&change->layout, header);
	return header;
}

/* A table that has sub-tables but no header gets one, above the first of them. */
static void toml_put_missing_header(struct toml_change *change, const struct toml_entry *entry)
{
	const struct toml_span *below = toml_put_first_header_within(change, change->deepest);
	size_t at = toml_section_start(&change->layout, below);
	size_t from = change->patches.inserted.len;
	toml_put_write_section(change, false, entry, 1);
	buf_append_text(&change->patches.inserted, change->line_end);
	toml_patch_put(&change->patches, at, at, from);
}

void toml_put_pair(struct toml_change *change, const struct toml_entry *entry)
{
	const struct toml_value *home = toml_change_home(change);
	if (home->origin == TOML_INLINE) {
		toml_put_in_braces(change, home, entry);
		return;
	}
	if (home->origin == TOML_IMPLICIT) {
		toml_put_missing_header(change, entry);
		return;
	}
	const struct toml_span *anchor = toml_put_anchor_in(change, home);
	if (anchor)
		toml_put_below(change, anchor, entry);
	else
		toml_put_at_top(change, entry);
}

/* Sub-tables must follow the header of the element they belong to, and before
 * the next one: behind the last section of their parent is always right. */
static size_t toml_put_section_place(const struct toml_change *change)
{
	const struct toml_value *home = toml_change_home(change);
	if (home == change->toml->root)
		return change->layout.text.len;
	const struct toml_span *last = NULL;
	const struct toml_span *header = toml_put_first_header_within(change, home);
	for (; header; header = toml_next_header(&change->layout, header)) {
		if (toml_is_within(header->value, home))
			last = header;
	}
	return toml_section_end(&change->layout, last);
}

void toml_put_section(
	struct toml_change *change, bool is_element, const struct toml_entry *entries, size_t count)
{
	size_t at = toml_put_section_place(change);
	size_t from = change->patches.inserted.len;
	toml_put_separate(change, at);
	toml_put_write_section(change, is_element, entries, count);
	toml_patch_put(&change->patches, at, at, from);
}

void toml_put_element(
	struct toml_change *change, const struct toml_value *array, const struct toml_entry *element)
{
	const struct toml_layout *layout = &change->layout;
	struct buf *inserted = &change->patches.inserted;
	size_t from = inserted->len;
	size_t at = toml_span_of(layout, array)->value_start + 1;
	if (array->count) {
		const struct toml_span *last = toml_span_of(layout, array->items[array->count - 1]);
		size_t line = toml_line_start(layout, last->start);
		bool starts_line = toml_behind_blanks(layout, line) == last->start;
		at = last->end;
		buf_append_text(inserted, starts_line ? "," : ", ");
		buf_append_text(inserted, starts_line ? change->line_end : "");
		buf_append(inserted, layout->text.data + line, starts_line ? last->start - line : 0);
	}
	toml_write_value(inserted, element);
	toml_patch_put(&change->patches, at, at, from);
}

void toml_put_value(
	struct toml_change *change, const struct toml_value *old, const struct toml_entry *entry)
{
	const struct toml_span *span = toml_span_of(&change->layout, old);
	size_t from = change->patches.inserted.len;
	toml_write_value(&change->patches.inserted, entry);
	toml_patch_put(&change->patches, span->value_start, span->end, from);
}

static void toml_put_below_header(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	const struct toml_span *header = toml_span_of(&change->layout, change->deepest);
	struct buf *inserted = &change->patches.inserted;
	size_t from = inserted->len;
	size_t start = toml_line_end(&change->layout, header->end);
	_cleanup_(buf_free) struct buf name = { 0 };
	toml_change_write_name(change, &name, 0, NULL);
	toml_put_finish_line(change, start);
	toml_write_lines(
		inserted, (struct str){ name.data, name.len }, entries, count, change->line_end);
	inserted->failed |= name.failed;
	toml_patch_put(&change->patches, start, toml_section_end(&change->layout, header), from);
	toml_cut_sections(change, change->deepest, header);
}

static void toml_put_instead_of_sections(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	const struct toml_span *first = toml_put_first_header_within(change, change->deepest);
	size_t from = change->patches.inserted.len;
	toml_put_write_section(change, false, entries, count);
	toml_patch_put(&change->patches, toml_section_start(&change->layout, first),
		toml_section_end(&change->layout, first), from);
	toml_cut_sections(change, change->deepest, first);
}

static void toml_put_instead_of_keys(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	const struct toml_span *first = toml_first_item(change, change->deepest);
	size_t from = change->patches.inserted.len;
	toml_put_write_pair(
		change, &(struct toml_entry){ .type = TOML_TABLE, .entries = entries, .count = count });
	toml_patch_put(&change->patches, first->start, first->end, from);
	toml_cut_items(change, change->deepest, first);
	toml_cut_sections(change, change->deepest, NULL);
}

void toml_put_contents(struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	switch (change->deepest->origin) {
	case TOML_HEADER:
		toml_put_below_header(change, entries, count);
		break;
	case TOML_IMPLICIT:
		toml_put_instead_of_sections(change, entries, count);
		break;
	case TOML_DOTTED:
		toml_put_instead_of_keys(change, entries, count);
		break;
	default:
		toml_put_value(change, change->deepest,
			&(struct toml_entry){ .type = TOML_TABLE, .entries = entries, .count = count });
		break;
	}
}
