/* A plugin made of strings, for the engine of tools: bytes go through the same cutting
 * into lines as those of a process. */
#ifndef HARNESS_TOOL_WORLD_H
#define HARNESS_TOOL_WORLD_H

#include <check.h>

#include "proc/lines.h"
#include "tool/tool_engine.h"

#define ID "plugin_req_0123456789abcdef"
#define M(fields) "{\"type\":\"handshake\",\"manifest\":{" fields "}}"
#define IDENTITY "\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0.0\""
#define PROTOCOL "\"protocol_version\":\"rterm.plugin.v1\""
#define TOOLS "\"exposed_tools\":[\"t.x\"]"
#define GOOD M(IDENTITY "," PROTOCOL "," TOOLS)
#define CAPS(list) M(IDENTITY "," PROTOCOL "," TOOLS ",\"capabilities\":" list)
#define R(fields) "{\"type\":\"response\",\"request_id\":\"" ID "\"," fields "}"
#define ANSWER R("\"status\":\"ok\",\"output\":{\"ok\":true}")
#define REFUSAL R("\"status\":\"error\",\"error\":{\"code\":\"no\",\"message\":\"cannot\"}")

#define MALFORMED PERCH_TOOL_MALFORMED_RESPONSE
#define FAILED PERCH_TOOL_HANDSHAKE_FAILED
#define MISMATCH PERCH_TOOL_PROTOCOL_VERSION_MISMATCH
#define UNDECLARED PERCH_TOOL_CAPABILITY_NOT_DECLARED
#define FORBIDDEN PERCH_TOOL_CAPABILITY_NOT_ALLOWED

/* What may be declared. */
extern const char *const none[];
extern const char *const one[]; /* tool.execute */
extern const char *const two[]; /* a, b */

struct world {
	struct tool_engine_options options;
	struct tool_engine_request request;
	struct tool_engine *engine;
	struct lines lines;
};

/* Begins an exchange with a plugin that may have these; 0 or -ENOMEM. */
int begin(struct world *world, const char *const *allowed);
void end(struct world *world);

/* What the plugin writes. */
void feed_n(struct world *world, const char *bytes, size_t len);
void feed(struct world *world, const char *text);
void finish_output(struct world *world);

/* The answer to a good handshake, then a good exit. */
const perch_tool_result *converse(struct world *world, const char *handshake, const char *response);

/* stage and words may be NULL. */
void assert_verdict(const char *name, const perch_tool_result *verdict, perch_tool_code code,
	const char *stage, const char *words);

#endif
