/* The plugin runtime protocol: lines of a tool plugin go in, the lines to send
 * and the verdict come out. No I/O, no clock. The contract and its verdict table
 * are in docs/tool.md. */
#ifndef TOOL_TOOL_ENGINE_H
#define TOOL_TOOL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The failures stand in the order of the specification's list. */
enum tool_code {
	TOOL_OK,
	TOOL_EXECUTION_ERROR, /* the plugin's own answer */
	TOOL_LAUNCH_FAILED,
	TOOL_HANDSHAKE_FAILED,
	TOOL_TIMEOUT,
	TOOL_CRASHED,
	TOOL_MALFORMED_RESPONSE,
	TOOL_NOT_EXPOSED,
	TOOL_PROTOCOL_VERSION_MISMATCH,
	TOOL_CAPABILITY_NOT_DECLARED,
	TOOL_CAPABILITY_NOT_ALLOWED,
	TOOL_INVALID_REQUEST,
	TOOL_CANCELLED,
	TOOL_CODES,
};

/* "ok", "execution_error", "launch_failed" … */
const char *tool_code_name(enum tool_code code);

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

/* What is known of an exchange. Texts are the engine's, each with a NUL behind
 * it; empty = not known, or not there. */
struct tool_verdict {
	enum tool_code code; /* counts once the stage is TOOL_OVER */
	struct str message;  /* empty when it went well */
	const char *stage;   /* "handshake", "response", "teardown" */
	struct str plugin_id;
	struct str plugin_version;
	struct str manifest; /* raw JSON */
	bool responded;      /* there was a valid response */
	struct str output;   /* raw JSON */
	struct str metadata; /* raw JSON */
	struct str error_code;
	struct str error_message;
	/* What came behind the response; a '\r' before a newline is not counted. */
	uint64_t extra_bytes;
	/* The frame was too long: do not wait, kill it. */
	bool is_flood;
};

/* How the process ended. */
struct tool_exit {
	bool is_known; /* else somebody else has waited for it */
	int status;
	int signal; /* 0 = none */
};

/* -ENOMEM. */
int tool_engine_new(const struct tool_engine_options *options, struct tool_engine **ret_engine);
void tool_engine_free(struct tool_engine *engine);

/* What is to be asked of the plugin: once, at any time before the exchange is
 * over. Without one it stays TOOL_READY. */
void tool_engine_request(struct tool_engine *engine, const struct tool_engine_request *request);

/* What is to be sent now, with its newline; empty = nothing. Each line is given
 * out once: ask again after every other call. */
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

/* The plugin does not read any more: by itself no verdict. */
void tool_engine_stdin_closed(struct tool_engine *engine);

/* The process is gone and everything it wrote was given. The exchange is over. */
void tool_engine_exit(struct tool_engine *engine, const struct tool_exit *exit);

/* A clock has run out, set to so much: that is for the message. A clock that
 * does not count at this stage changes nothing. */
void tool_engine_deadline(struct tool_engine *engine, enum tool_clock clock, uint64_t after_ns);

/* The caller does not want it any more. */
void tool_engine_cancel(struct tool_engine *engine);

enum tool_stage tool_engine_stage(const struct tool_engine *engine);
const struct tool_verdict *tool_engine_verdict(const struct tool_engine *engine);

/* Memory ran out: the verdict is TOOL_CRASHED, and not the plugin's fault. */
bool tool_engine_is_broken(const struct tool_engine *engine);

#endif
