/* Choosing from a list: with the arrows, and by typing a part of the option. No I/O. The options
 * belong to the caller and must outlive the menu. */
#ifndef TERM_MENU_H
#define TERM_MENU_H

#include "base/buf.h"
#include "base/str.h"
#include "term/frame.h"
#include "term/keys.h"

/* Larger than any filter that is of use. */
enum { MENU_FILTER_MAX = 256 };

struct menu {
	const perch_text *options;
	size_t option_count;
	bool *marks;   /* which are chosen; NULL: one is, the one under the cursor */
	size_t *found; /* the indexes of the options that match the filter */
	size_t found_count;
	size_t at;   /* in found: where the cursor is */
	size_t last; /* the option that it was on, when nothing is found */
	size_t top;  /* in found: the first that is seen */
	size_t page; /* how many are seen, from the last drawing */
	struct buf filter;
};

enum menu_step {
	MENU_UNUSED, /* the key means nothing here */
	MENU_CHANGED,
	MENU_ACCEPTED,
};

/* Returns 0 or -ENOMEM; the menu is empty then. */
int menu_init(struct menu *menu, const perch_text *options, size_t count, bool is_multiple);
void menu_free(struct menu *menu);

/* Puts the cursor on an option, marks one. An index too large is ignored. */
void menu_go_to(struct menu *menu, size_t option);
void menu_mark(struct menu *menu, size_t option);

enum menu_step menu_key(struct menu *menu, const struct key *key);

/* Shows all options again. False when they were. */
bool menu_clear_filter(struct menu *menu);

/* Adds the lines below the question, at most `rows`. */
void menu_draw(struct menu *menu, struct frame *frame, size_t rows);

/* The indexes of the chosen options, ascending; the menu cannot be used any more. */
const size_t *menu_chosen(struct menu *menu, size_t *ret_count);

static inline struct str menu_filter(const struct menu *menu)
{
	return (struct str){ menu->filter.data, menu->filter.len };
}

/* ---- match.c ------------------------------------------------------------ */

/* Whether an option contains what was typed, in upper or lower case. Only the first few thousand
 * bytes are searched: text that cannot be seen on the screen need not be found. */
bool match_contains(struct str text, struct str part);

#endif
