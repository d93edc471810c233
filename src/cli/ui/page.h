/* Output for people on stdout: texts of other programs are cleaned, lines are cut to the width of
 * the terminal, colours are used where the user wants them. In a pipe it is plain and whole. */
#ifndef CLI_UI_PAGE_H
#define CLI_UI_PAGE_H

#include "base/buf.h"
#include "base/str.h"
#include "cli/cli.h"
#include "term/style.h"

struct page {
	struct look look; /* columns 0 = not a terminal: nothing is cut */
	struct buf out;
};

void page_begin(struct page *page, const struct cli *cli);

/* Prints it and frees it. Returns an exit code. */
int page_end(struct page *page);

void page_style(struct page *page, enum style style, const char *text);

/* Text of others, as one line, of at most so many columns (0 = any). Returns how many it took. */
size_t page_cut(struct page *page, struct str text, size_t columns);

/* The same whole: where the terminal is too narrow, it goes on in further lines that
 * begin at the column where it began, broken between words. */
void page_wrap(struct page *page, struct str text, size_t at);

/* The columns of a text once it is cleaned. */
size_t page_width(const struct page *page, struct str text);

/* "a, b, c" of a NULL-terminated list, or `none`; in buf, with a NUL behind it. */
const char *page_join(struct buf *buf, const char *const *list, const char *none);

#endif
