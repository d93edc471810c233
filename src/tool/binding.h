/* A binding: how the operator has bound a tool plugin. Written by the operator,
 * never by the plugin; what it lists under `capabilities` is all there is to
 * allow. */
#ifndef TOOL_BINDING_H
#define TOOL_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "perch/base.h"
#include "sandbox/policy.h"

#define TOOL_PROTOCOL "rterm.plugin.v1"

struct tool_pin {
	const char *path; /* absolute */
	const char *sha256;
};

/* One tool that the plugin was seen to expose at `tool add`. */
struct tool_known {
	const char *name;
	const char *input_schema; /* JSON text, "" = none */
};

struct tool_binding {
	const char *path; /* of its file, "" = made in memory */
	const char *name; /* must equal manifest.plugin_id */
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
	struct policy_widening widening; /* [sandbox]; is_off: mode = "off" */
	const struct tool_known *tools;
	size_t tool_count;
};

/* Reads $XDG_CONFIG_HOME/perch/tools/<name>.toml. Fails with -ENOENT (err
 * suggests the nearest), PERCH_ESYNTAX (file, line, column), -EINVAL. */
int tool_binding_find(
	const char *name, struct arena *arena, struct tool_binding *ret_binding, perch_err *err);

/* The same from a file of the caller's choice. */
int tool_binding_read(
	const char *path, struct arena *arena, struct tool_binding *ret_binding, perch_err *err);

/* Row 0 of the verdicts: blank name or command, allow-list entries empty, padded
 * or duplicate. -EINVAL with words. */
int tool_binding_check(const struct tool_binding *binding, perch_err *err);

/* Writes it to its path, atomically, 0600. */
int tool_binding_write(const struct tool_binding *binding, perch_err *err);

#endif
