/* Changing a JSON text that people write too, with comments and commas behind the last member, as
 * editors have it in their settings. One member is set, every other byte stays as it was. */
#ifndef DATA_JSON_EDIT_H
#define DATA_JSON_EDIT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/base.h"

enum { JSON_EDIT_DEPTH_MAX = 100 };

/* Sets the member object.name of the root to a value (JSON, on one line or with tabs in front of
 * its lines as depth says: each tab becomes what the file indents by). Objects that are missing are
 * made; an empty text counts as {}. Returns 1, or 0 when it is there just so already, and the whole
 * new text; fails with PERCH_ESYNTAX (err has the place), -EINVAL (something on the way is no
 * object), -ENOMEM. */
int json_edit_set(struct str text, const char *object, const char *name, struct str value,
	struct buf *ret_text, perch_err *err);

#endif
