/* The pieces that a binding is written of: defaults are left out, and a table with nothing in it,
 * too. */
#ifndef TOOL_BINDING_WRITE_H
#define TOOL_BINDING_WRITE_H

#include "base/buf.h"
#include "tool/binding.h"

void binding_write_text_unless(
	struct buf *out, const char *key, const char *text, const char *usual);
/* Nothing where the list is empty. */
void binding_write_list(struct buf *out, const char *key, const char *const *list);
void binding_write_seconds_unless(
	struct buf *out, const char *key, uint64_t time_ns, uint64_t usual);

/* A header that is removed again when nothing came below it. */
size_t binding_write_begin_table(struct buf *out, const char *header);
void binding_write_end_table(struct buf *out, size_t start, const char *header);

/* ---- binding_server.c ------------------------------------------------------- */

/* [mcp]. */
void binding_write_server(struct buf *out, const struct tool_binding *binding);

#endif
