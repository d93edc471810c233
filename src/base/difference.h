/* The difference of two texts, line by line, for people. */
#ifndef BASE_DIFFERENCE_H
#define BASE_DIFFERENCE_H

#include "base/buf.h"
#include "base/str.h"

enum {
	DIFFERENCE_LINES_MAX = 1000, /* of either text between their equal ends; more are shown whole */
	DIFFERENCE_AROUND = 2,       /* equal lines that are shown beside a different one */
};

/* Appends a line for each that only one of them has, with "- " or "+ " before it, and some equal
 * ones around it. Nothing when they are equal. -ENOMEM. */
int difference_append(struct buf *out, struct str old, struct str new_text);

#endif
