/* Reading JSON that people write, with comments and commas behind the last member. */
#ifndef DATA_JSON_PLAIN_H
#define DATA_JSON_PLAIN_H

#include "base/buf.h"
#include "base/str.h"

/* Appends the text with blanks in the place of comments and such commas. -ENOMEM. */
int json_plain(struct str text, struct buf *out);

#endif
