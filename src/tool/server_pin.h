/* What an MCP server offers, as the operator judges and approves it: each tool with its pin, a
 * SHA-256 over all that a model is told of it. */
#ifndef TOOL_SERVER_PIN_H
#define TOOL_SERVER_PIN_H

#include "base/sha256.h"
#include "perch/json.h"
#include "tool/binding.h"

/* Bytes of a tool's name. */
enum { SERVER_TOOL_NAME_MAX = 128 };

/* Reads an item of tools/list; all of it lives in the arena. Fails with -EINVAL (it has no name, or
 * one that cannot be shown; a NUL), -ENOMEM. */
int server_tool_read(
	struct arena *arena, const perch_json_value *item, struct tool_known *ret_tool, perch_err *err);

/* The pin of a text; of an empty one too. */
void server_pin_text(struct str text, char ret_pin[SHA256_HEX_SIZE]);

/* Appends what is different, in lines for people, with all that hides in them revealed: a title for
 * each part, then its lines with "- " and "+ ". -ENOMEM. */
int server_tool_difference(
	struct buf *out, const struct tool_known *approved, const struct tool_known *offered);
int server_text_difference(struct buf *out, const char *title, const char *old, const char *young);

#endif
