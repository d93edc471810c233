/* What the parts of the engine know of each other. */
#ifndef TOOL_TOOL_ENGINE_PARTS_H
#define TOOL_TOOL_ENGINE_PARTS_H

#include "base/arena.h"
#include "data/json.h"
#include "tool/tool_engine.h"

struct tool_engine {
	const struct tool_engine_options *options;
	const struct tool_engine_request *request; /* NULL = not asked yet */
	perch_json *json;
	struct arena arena;  /* the texts of the verdict */
	struct str outgoing; /* not taken yet */
	enum tool_stage stage;
	perch_tool_result verdict;
	bool stdin_closed;
	bool ended_silently; /* the verdict is that the output ended: the exit says more */
	bool is_flooded;     /* a frame was too long */
	bool is_broken;
};

/* ---- engine.c ------------------------------------------------------------ */

/* The verdict, in words; nothing is sent any more. */
void engine_decide(struct tool_engine *engine, perch_tool_code code, const char *stage,
	const char *format, ...) PERCH_PRINTF(4, 5);

/* A copy for the verdict; without memory the engine is broken. */
perch_text engine_keep(struct tool_engine *engine, struct str text);

/* ---- frame.c: reading one ------------------------------------------------ */

/* The one object of a line; NULL after a verdict (or broken). */
const perch_json_value *frame_read(
	struct tool_engine *engine, const char *stage, const struct tool_line *line);

/* The member of an object, NULL when it is absent or null. One of another type
 * is a verdict, and false. */
bool frame_member(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, perch_json_type type, const perch_json_value **ret_value);

/* The same for a list of strings. */
bool frame_strings(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, const perch_json_value **ret_list);

/* The same for a string: absent reads as empty. */
bool frame_string(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, struct str *ret_text);

/* The raw text of a value, empty for NULL. */
struct str frame_raw(const perch_json_value *value);

/* ---- handshake.c, response.c: judging one -------------------------------- */

/* Rows 4 to 10. Without a verdict the plugin has passed. */
void handshake_judge(struct tool_engine *engine, const struct tool_line *line);

/* Row 8, for a request that came after the handshake. */
void handshake_judge_tool(struct tool_engine *engine);

/* Rows 11 and 12. Without a verdict it was answered. */
void response_judge(struct tool_engine *engine, const struct tool_line *line);

#endif
