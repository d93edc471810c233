/* How things look: colours and marks. The caller decides whether there may be colours, and whether
 * the terminal shows UTF-8. */
#ifndef TERM_STYLE_H
#define TERM_STYLE_H

#include <stdbool.h>
#include <stddef.h>

enum style {
	STYLE_PLAIN,
	STYLE_MARK,    /* the question mark, the play mark */
	STYLE_MESSAGE, /* what is asked */
	STYLE_HINT,    /* what may be done */
	STYLE_ANSWER,  /* what was chosen or entered */
	STYLE_CURRENT, /* where the cursor of a menu stands */
	STYLE_DEBUG,
	STYLE_INFO,
	STYLE_WARN,
	STYLE_ERROR,
};

enum glyph {
	GLYPH_QUESTION,
	GLYPH_CURSOR,
	GLYPH_MARKED,
	GLYPH_UNMARKED,
	GLYPH_PLAY,
	GLYPH_WRONG,
	GLYPH_ELLIPSIS,
	GLYPH_TO, /* between two numbers */
};

/* Everything drawing has to know. */
struct look {
	bool colored;
	bool utf8;
	size_t columns;
	size_t rows;
};

/* The sequence that turns a style on; empty when there is none to turn on. */
const char *style_begin(const struct look *look, enum style style);

/* The sequence that turns it off again. */
const char *style_end(const struct look *look, enum style style);

const char *style_glyph(const struct look *look, enum glyph glyph);

/* The picture of a spinner after so many steps. */
const char *style_spinner(const struct look *look, unsigned step);

#endif
