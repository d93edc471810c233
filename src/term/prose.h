/* What an agent says, on its way to a terminal, piece by piece as it comes: whatever could move the
 * cursor is taken out, colours of its own (SGR alone) stay, and Markdown is drawn modestly:
 * headings, bold, code, lists. No I/O. */
#ifndef TERM_PROSE_H
#define TERM_PROSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "term/style.h"

enum { PROSE_HELD_MAX = 64 };

/* `{0}` is the beginning of a text that is drawn as it is, without colours. */
struct prose {
	bool has_markdown;
	bool has_colors; /* those of the agent stay */
	struct look look;
	char held[PROSE_HELD_MAX]; /* what cannot be judged yet: the start of a line or of a mark */
	size_t held_len;
	bool is_inside_line; /* behind the start of a line */
	bool is_fenced;      /* between ``` and ``` */
	bool is_heading;
	bool is_bold;
	bool is_code;
	bool is_colored; /* by the agent, and not reset yet */
};

/* Appends the piece, drawn. What it ends with may be held until the next piece, or the end. */
void prose_append(struct prose *prose, struct buf *out, struct str text);

/* The text is over: what is held, and all styles off. */
void prose_end(struct prose *prose, struct buf *out);

/* Takes colours out of a text for a file or a pipe; other bytes stay. Also across pieces. */
void prose_strip(struct prose *prose, struct buf *out, struct str text);

#endif
