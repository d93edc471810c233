/* A binding: how the operator has bound a tool plugin. Written by the operator, never by the
 * plugin; its list `capabilities` is all that can be allowed. */
#ifndef TOOL_BINDING_H
#define TOOL_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "perch/base.h"
#include "sandbox/policy/policy.h"
#include "wire/mcp_upstream.h"

#define TOOL_PROTOCOL "rterm.plugin.v1"

/* The clocks, where a binding says nothing. */
#define TOOL_INVOCATION_DEFAULT_NS (5 * NSEC_PER_SEC)
#define TOOL_HANDSHAKE_DEFAULT_NS (2 * NSEC_PER_SEC)
#define TOOL_TEARDOWN_DEFAULT_NS (500 * NSEC_PER_MSEC)
#define TOOL_SPARE_TTL_DEFAULT_NS (60 * NSEC_PER_SEC)

/* The same of an MCP server. */
#define TOOL_PROTOCOL_MCP "mcp"
#define TOOL_SERVER_INVOCATION_NS (60 * NSEC_PER_SEC)
#define TOOL_SERVER_HANDSHAKE_NS (30 * NSEC_PER_SEC)
#define TOOL_SERVER_IDLE_NS (120 * NSEC_PER_SEC)
#define TOOL_SERVER_ASKS 64 /* questions of a server in one call */

enum {
	TOOL_SPARES_MAX = 64,
	TOOL_KNOWN_MAX = 4096, /* tools of one binding */
};

struct tool_pin {
	const char *path; /* absolute */
	const char *sha256;
};

/* One tool that the plugin was seen to expose at `tool add`. */
struct tool_known {
	const char *name;
	const char *input_schema; /* JSON text, "" = none, as below */
	const char *output_schema;
	const char *description;
	bool asks; /* `ask`: a user must approve each call of it */
	/* Of an MCP server. */
	const char *title;
	const char *annotations; /* JSON */
	const char *pin;         /* the SHA-256 of what was approved (server_pin.h) */
};

/* How long a process of an MCP server lives. */
enum tool_lifetime {
	TOOL_LIFETIME_SESSION, /* one for each session of a client */
	TOOL_LIFETIME_SHARED,  /* one for all */
	TOOL_LIFETIME_CALL,    /* one for each call */
};

const char *tool_lifetime_name(enum tool_lifetime lifetime);
struct tool_server;
const char *tool_era_name(const struct tool_server *server);

/* Where an answer to a server's question comes from. */
enum tool_answerer {
	TOOL_ANSWER_NOBODY,
	TOOL_ANSWER_BINDING, /* what the sandbox shows: roots */
	TOOL_ANSWER_CLIENT,  /* whoever made the call */
	TOOL_ANSWER_AGENT,   /* an agent of the user's: sampling */
};
/* As a binding has it: "client"; that of an agent is "agent:", the agent's name comes behind it. */
const char *tool_answerer_name(enum tool_answerer answerer);

/* What a binding says of an MCP server beyond how it is started: the table [mcp]. */
struct tool_server {
	bool is_server; /* the protocol is "mcp" */
	enum mcp_upstream_era era;
	bool speaks_both; /* eras: it is spoken with as its client speaks */
	enum tool_lifetime lifetime;
	uint64_t idle_ns; /* it is stopped after so long without a call */
	const char *version;
	const char *instructions; /* as they were approved; "" = none */
	const char *instructions_pin;
	const char *secrets; /* a file of variables, NAME=VALUE in each line; "" = none */
	enum tool_answerer elicitation, sampling, roots;
	const char *sampler; /* the name of the agent that answers; "" = none */
	uint64_t asks_max;   /* questions in one call */
	/* What it has beside tools: "resources", "prompts", "completions"; NULL = not known. */
	const char *const *offers;
	const char *url;   /* of a remote server, which has no command; "" = it is a program */
	const char *token; /* of a remote server: the file that holds it; "" = none */
};

struct tool_binding;

/* What decides a call of a plugin. */
enum tool_verdict {
	TOOL_VERDICT_EXIT,     /* an answer counts once the plugin has exited with status 0 */
	TOOL_VERDICT_RESPONSE, /* it counts at once; the exit behind it is judged for the audit log */
};

/* "exit", "response"; what that means; and such a word for a binding. -EINVAL with words. */
const char *tool_verdict_name(enum tool_verdict verdict);
const char *tool_verdict_words(enum tool_verdict verdict);
int tool_binding_set_verdict(struct tool_binding *binding, const char *word, perch_err *err);

struct tool_binding {
	const char *path;   /* of its file, "" = made in memory */
	const char *given;  /* the same as it was found: with links on the way, if there are any */
	const char *sha256; /* of its text, "" as above */
	const char *name;   /* must equal manifest.plugin_id */
	const char *command;
	const char *const *args; /* without argv[0]; all lists end with NULL */
	const char *directory;   /* "" = the private tmp */
	const char *protocol;
	const char *const *capabilities; /* the allow-list */
	const char *const *env;          /* NAME=VALUE: [env] */
	uint64_t invocation_ns;          /* the clocks, never 0 */
	uint64_t handshake_ns;
	uint64_t teardown_ns;
	const struct tool_pin *pins; /* the command's first, if it has one */
	size_t pin_count;
	unsigned spares;
	uint64_t spare_ttl_ns;
	enum tool_verdict verdict;
	struct policy_widening widening; /* [sandbox]; is_off: mode = "off" */
	struct sandbox_limits limits;    /* [sandbox.limits]: those that are not 0 count */
	const struct tool_known *tools;
	size_t tool_count;
	struct tool_server server;
	/* Not of the file: the command to which an option is added to widen the sandbox, for hints;
	 * NULL = there is no such command. */
	const char *widen_by;
	/* The file to change instead; NULL = there is such a command. */
	const char *widen_in;
};

/* Whether the server may have this (see `offers`). */
bool tool_server_offers(const struct tool_server *server, const char *what);

/* What it may ask, where its client answers so much (enum mcp_ability). */
unsigned tool_server_abilities(const struct tool_server *server, unsigned of_client);

/* "refuse", "client", "binding", "agent:NAME": the words of an option or a key, which must stay.
 * -EINVAL with words. */
int tool_server_set_elicitation(struct tool_server *server, const char *word, perch_err *err);
int tool_server_set_sampling(struct tool_server *server, const char *word, perch_err *err);
int tool_server_set_roots(struct tool_server *server, const char *word, perch_err *err);

/* A binding with the defaults and no name; the second for an MCP server. */
struct tool_binding tool_binding_default(void);
struct tool_binding tool_binding_default_server(void);

/* A tool that is known by its name only. */
struct tool_known tool_known_named(const char *name);

/* Reads $XDG_CONFIG_HOME/perch/tools/<name>.toml. Fails with -ENOENT (err
 * suggests the nearest), PERCH_ESYNTAX (file, line, column), -EINVAL. */
int tool_binding_find(
	const char *name, struct arena *arena, struct tool_binding *ret_binding, perch_err *err);

/* Adds what the user allowed (perch tool allow) to a binding; `name` is what it was
 * found by. Fails as grants_read does, and with -EPERM where the binding allows more than what was
 * approved, at `perch tool add` or later. */
int tool_binding_grant(
	const char *name, struct arena *arena, struct tool_binding *binding, perch_err *err);

/* For a binding from a file of the caller's choice, which another process may write: checks that it
 * allows no more than when it was approved, or was first read, which is recorded. Fails as
 * tool_binding_grant does. */
int tool_binding_trust(struct arena *arena, struct tool_binding *binding, perch_err *err);

/* What the binding itself allows, beside what was granted (NULL = nothing), to be approved under
 * this name. */
struct decision;
struct grant;
int tool_binding_decision(struct arena *arena, const struct tool_binding *binding,
	const struct grant *grant, const char *name, struct decision *ret_decision, perch_err *err);

/* The files that it names: the command, pinned ones, arguments that are files, a bundle beside
 * them. Those that it may write by that very name are not among them. NULL without memory. */
const char *const *tool_binding_files(struct arena *arena, const struct tool_binding *binding);

/* Records that decision as approved. Fails as grants_write does. */
int tool_binding_approve(
	struct arena *arena, const struct tool_binding *binding, const char *name, perch_err *err);

/* The same from a file of the caller's choice. */
int tool_binding_read(
	const char *path, struct arena *arena, struct tool_binding *ret_binding, perch_err *err);

/* The names of the bindings that tool_binding_find would look for, in order; the
 * list ends with NULL. A folder that is not there holds none. */
int tool_binding_names(struct arena *arena, const char *const **ret_names, perch_err *err);

/* Where tool_binding_find would look for it. -EINVAL: this can be no name. */
int tool_binding_path(const char *name, struct arena *arena, const char **ret_path, perch_err *err);

/* Reads a text as if it stood in the file `path`, which is absolute. */
int tool_binding_parse(const char *path, struct str text, struct arena *arena,
	struct tool_binding *ret_binding, perch_err *err);

/* The limits of a process of this binding. An MCP server lives longer than a call: its processor
 * time has no limit, unless the binding names one. */
struct sandbox_limits tool_binding_limits(const struct tool_binding *binding);

/* What the binding knows of a tool; NULL = nothing. */
const struct tool_known *tool_binding_tool(const struct tool_binding *binding, const char *name);

/* Whether a user must approve a call of this tool. The plugin chooses the tools that it exposes at
 * each start: a tool that the binding does not list asks if any of the listed ones does. */
bool tool_binding_asks(const struct tool_binding *binding, const char *name);

/* Row 0 of the verdicts: blank name or command, allow-list entries empty, padded
 * or duplicate. -EINVAL with words. */
int tool_binding_check(const struct tool_binding *binding, perch_err *err);

/* Appends it as the TOML text that tool_binding_write would write. -ENOMEM. */
struct buf;
int tool_binding_text(const struct tool_binding *binding, struct buf *out, perch_err *err);

/* Writes it to its path, atomically, 0600; folders that are missing are made. */
int tool_binding_write(const struct tool_binding *binding, perch_err *err);

#endif
