/* The plugin runtime protocol: lines of a tool plugin go in, the lines to send
 * and the verdict come out. No I/O, no clock. The contract and its verdict table
 * are in docs/tool.md. */
#ifndef TOOL_TOOL_ENGINE_H
#define TOOL_TOOL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "perch/tool.h"
#include "tool/result.h"

/* The longest line of either side, without its newline. */
enum { TOOL_FRAME_MAX = 1024 * 1024 };

/* Where an exchange is, and what it waits for. */
enum tool_stage {
	TOOL_HANDSHAKE, /* the plugin's handshake */
	TOOL_READY,     /* a request: the plugin has passed */
	TOOL_RESPONSE,  /* the plugin's response */
	TOOL_TEARDOWN,  /* its exit: close its stdin */
	TOOL_OVER,      /* nothing: the verdict is known, end the process */
};

enum tool_clock { TOOL_CLOCK_INVOCATION, TOOL_CLOCK_HANDSHAKE, TOOL_CLOCK_TEARDOWN };

struct tool_engine;

/* Everything must outlive the engine. */
struct tool_engine_options {
	struct str protocol;             /* the version that is asked for */
	struct str name;                 /* the bound one: plugin_id must equal it */
	const char *const *capabilities; /* the allow-list; ends with NULL, NULL = empty */
	bool handshake_only;             /* it went well when the manifest did */
};

/* Must outlive the engine. */
struct tool_engine_request {
	struct str tool;
	struct str request_id;
	struct str line; /* the whole message, see tool/tool_request.h */
	bool strict;     /* bytes behind the response make it malformed */
};

/* How the process ended. */
struct tool_exit {
	bool is_known; /* false: another part of the program has reaped it */
	int status;
	int signal; /* 0 = none */
};

/* -ENOMEM. */
int tool_engine_new(const struct tool_engine_options *options, struct tool_engine **ret_engine);
void tool_engine_free(struct tool_engine *engine);

/* The request for the plugin: once, at any time before the exchange is over. Without one it stays
 * TOOL_READY. */
void tool_engine_request(struct tool_engine *engine, const struct tool_engine_request *request);

/* The line to send now, with its newline; empty = none. Each line is given out once: ask again
 * after every other call. */
struct str tool_engine_take(struct tool_engine *engine);

/* A line of the plugin, without its newline and one '\r' before that. */
struct tool_line {
	struct str text;
	bool is_too_long;     /* text is only its start */
	bool is_unterminated; /* the output ended here; tool_engine_eof follows */
};
void tool_engine_line(struct tool_engine *engine, const struct tool_line *line);

/* The plugin's output has ended: every line of it was given. */
void tool_engine_eof(struct tool_engine *engine);

/* The plugin has closed its input: no verdict by itself. */
void tool_engine_stdin_closed(struct tool_engine *engine);
bool tool_engine_has_hung_up(const struct tool_engine *engine);

/* The process is gone, and the engine has got everything that it wrote. The exchange is over. */
void tool_engine_exit(struct tool_engine *engine, const struct tool_exit *exit);

/* A clock has run out, set to so much: that is for the message. A clock that
 * does not count at this stage changes nothing. */
void tool_engine_deadline(struct tool_engine *engine, enum tool_clock clock, uint64_t after_ns);

/* The caller cancels the call. */
void tool_engine_cancel(struct tool_engine *engine);

enum tool_stage tool_engine_stage(const struct tool_engine *engine);

/* The engine's part of the result; the caller fills in the rest. The code counts once the stage is
 * TOOL_OVER. Texts are the engine's. */
const perch_tool_result *tool_engine_verdict(const struct tool_engine *engine);

/* A frame was too long: do not wait for the process, kill it. */
bool tool_engine_is_flooded(const struct tool_engine *engine);

/* Memory ran out: the verdict is PERCH_TOOL_CRASHED, and not the plugin's fault. */
bool tool_engine_is_broken(const struct tool_engine *engine);

#endif
