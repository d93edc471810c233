/* The text of an error, as it stands on the screen. */
#ifndef CLI_UI_MESSAGE_H
#define CLI_UI_MESSAGE_H

#include "base/buf.h"

/* Appends a message as lines: broken at words where there are `columns` (0 = not at all), with a
 * hanging indent; a command to be copied has a line of its own. `used` columns of the first line
 * are taken. No character of it moves the cursor. */
void message_append(struct buf *out, const char *text, size_t used, size_t columns);

/* Where the message names a place in a file, PATH:LINE:COLUMN, appends that line of it, and a caret
 * below the column. */
void message_append_place(struct buf *out, const char *text, size_t columns);

#endif
