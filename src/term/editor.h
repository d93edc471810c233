/* A line being edited. No I/O. `{0}` is an empty line. The text is valid UTF-8
 * without control characters, whatever keys are pressed. */
#ifndef TERM_EDITOR_H
#define TERM_EDITOR_H

#include "base/buf.h"
#include "base/str.h"
#include "term/keys.h"

enum { EDITOR_TEXT_MAX = 64 * 1024 };

struct editor {
	struct buf text;
	size_t cursor;     /* in bytes, always between two characters */
	size_t scroll;     /* the first byte that is seen */
	struct buf killed; /* what Ctrl+Y brings back */
};

void editor_free(struct editor *editor);

/* Edits. Returns 1 when the key means something in a line, 0 when not,
 * -ENOBUFS when the line is as long as it may be, -ENOMEM; the line is as it
 * was then. */
int editor_key(struct editor *editor, const struct key *key);

/* Replaces the line; the cursor goes to its end. Control characters of text
 * are left out. */
int editor_set(struct editor *editor, struct str text);

static inline struct str editor_text(const struct editor *editor)
{
	return (struct str){ editor->text.data, editor->text.len };
}

/* What of the line is seen, before and behind the cursor. */
struct editor_view {
	struct str before;
	struct str after;
};

/* Looks at the line through a window so many columns wide, with room for the
 * cursor behind its end; scrolls as far as needed. */
struct editor_view editor_view(struct editor *editor, size_t columns);

#endif
