/* What a process of a binding needs: its pins checked, its sandbox, its private
 * directory, its environment. And what takes all that down again. */
#ifndef TOOL_TOOL_LAUNCH_H
#define TOOL_TOOL_LAUNCH_H

#include "base/arena.h"
#include "perch/host.h"
#include "sandbox/sandbox.h"
#include "tool/binding.h"

struct private_dir;

struct launch {
	perch_host *host;
	struct arena arena;
	struct sandbox *sandbox;         /* NULL = none */
	struct sandbox_policy policy;    /* of the sandbox */
	struct private_dir *private_dir; /* NULL = the sandbox has its own private directory */
	const char *tmp;                 /* TMPDIR of the process */
	const char *const *layers;       /* of the sandbox; valid until launch_close; NULL = none */
};

/* Prepares and starts. spec has what the caller wants to hear of the child; the
 * rest is filled in here. Whether it fails or not, launch_close must follow.
 * Fails as perch_child_start, pins_check and sandbox_open do. */
int launch_start(struct launch *launch, perch_host *host, const struct tool_binding *binding,
	const perch_child_spec *spec, perch_child **ret_child, perch_err *err);

/* The process is gone: takes its sandbox down and removes a part of what it left
 * in its directory. Returns whether that is done, so that a million files do not
 * stop a host. */
bool launch_clean_some(struct launch *launch);

/* Takes everything down, at once. `{0}` is fine. */
void launch_close(struct launch *launch);

#endif
