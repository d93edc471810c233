/* A table for people: measured first, narrowed where the terminal is too narrow, then printed. */
#include "cli/ui/table.h"

#include <stdlib.h>

#include "base/vec.h"

enum { GAP = 2, NARROWEST = 4, WIDEST = 1000 };

void table_add(struct table *table, const char *const *cells)
{
	const char **grown =
		vec_grow(table->cells, &table->cap, table->count + table->columns, sizeof(*grown));
	if (!grown) {
		table->failed = true;
		return;
	}
	table->cells = grown;
	for (size_t i = 0; i < table->columns; i++)
		grown[table->count++] = cells[i];
}

void table_free(struct table *table)
{
	free(table->cells);
	*table = (struct table){ 0 };
}

static size_t table_total_of(const struct table *table, const size_t *widths)
{
	size_t total = 0;
	for (size_t i = 0; i < table->columns; i++)
		total += widths[i] + (i ? GAP : 0);
	return total;
}

/* Takes columns from the widest one, again and again: short columns stay whole. */
static void table_narrow(const struct table *table, size_t columns, size_t *widths)
{
	while (table_total_of(table, widths) > columns) {
		size_t widest = 0;
		for (size_t i = 1; i < table->columns; i++) {
			if (widths[i] > widths[widest])
				widest = i;
		}
		if (widths[widest] <= NARROWEST)
			return;
		widths[widest]--;
	}
}

static void table_measure(const struct table *table, const struct page *page, size_t *widths)
{
	for (size_t i = 0; i < table->count; i++) {
		size_t width = page_width(page, str_from(table->cells[i]));
		size_t *most = &widths[i % table->columns];
		*most = width > *most ? width : *most;
	}
	if (!page->look.columns)
		return;
	for (size_t i = 0; i < table->columns; i++)
		widths[i] = widths[i] < WIDEST ? widths[i] : WIDEST;
	table_narrow(table, page->look.columns, widths);
}

void table_print(const struct table *table, struct page *page)
{
	size_t widths[TABLE_COLUMNS_MAX] = { 0 };
	table_measure(table, page, widths);
	for (size_t i = 0; i < table->count; i++) {
		size_t column = i % table->columns;
		bool is_last = column + 1 == table->columns;
		if (column == 0 && i < table->columns)
			buf_append_text(&page->out, style_begin(&page->look, STYLE_HINT));
		size_t used = page_cut(page, str_from(table->cells[i]), widths[column]);
		for (; !is_last && used < widths[column] + GAP; used++)
			buf_append_char(&page->out, ' ');
		if (is_last && i < table->columns)
			buf_append_text(&page->out, style_end(&page->look, STYLE_HINT));
		if (is_last)
			buf_append_char(&page->out, '\n');
	}
	page->out.failed = page->out.failed || table->failed;
}
