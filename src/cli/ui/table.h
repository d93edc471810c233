/* A table for people: columns aligned by what they take on a screen, the widest
 * ones cut where the terminal is too narrow. */
#ifndef CLI_UI_TABLE_H
#define CLI_UI_TABLE_H

#include "cli/ui/page.h"

enum { TABLE_COLUMNS_MAX = 8 };

struct table {
	size_t columns;
	const char **cells; /* the headings first */
	size_t count;
	size_t cap;
	bool failed; /* memory ran out */
};

/* A row: as many texts as the table has columns; they must live until it is
 * printed. The first row is that of the headings. */
void table_add(struct table *table, const char *const *cells);

void table_print(const struct table *table, struct page *page);
void table_free(struct table *table);

#endif
