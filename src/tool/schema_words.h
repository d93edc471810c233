/* A JSON schema in a line for people: `dir* string, depth integer, kinds [file|link]`. */
#ifndef TOOL_SCHEMA_WORDS_H
#define TOOL_SCHEMA_WORDS_H

#include "base/buf.h"
#include "base/str.h"

/* The properties of an object, * behind those that must be there; what is nested deeply, or is
 * said by keywords that a line cannot hold, is named by its type or "any". Appends nothing for a
 * text that is no schema of an object. Texts are as the schema has them: to be cleaned where shown.
 */
void schema_words_append(struct buf *out, struct str schema);

#endif
