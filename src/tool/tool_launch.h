/* Preparing the process of a binding: its pins are checked, its sandbox, its private directory and
 * its environment are made. And cleaning up behind it. */
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
	struct remembered *remembered;   /* whose policy that is; NULL = it was made for this launch */
	struct private_dir *private_dir; /* NULL = the sandbox has its own private directory */
	const char *tmp;                 /* TMPDIR of the process */
	int program;                     /* the descriptor that was hashed; 0 = none */
	const char *const *layers;       /* of the sandbox; valid until launch_close; NULL = none */
};

/* Only prepares: checks the pins, makes sandbox and directory, and fills in what spec lacks to be
 * started: argv, environment, directory, program and sandbox, which live as long as the launch.
 * launch_close must follow. Fails as pins_check and sandbox_open do. */
int launch_prepare(struct launch *launch, perch_host *host, const struct tool_binding *binding,
	perch_child_spec *spec, perch_err *err);

/* Prepares and starts. spec has what the caller wants to hear of the child; the
 * rest is filled in here. Whether it fails or not, launch_close must follow.
 * Fails as perch_child_start, pins_check and sandbox_open do. */
int launch_start(struct launch *launch, perch_host *host, const struct tool_binding *binding,
	const perch_child_spec *spec, perch_child **ret_child, perch_err *err);

/* The process was started, or will not be. */
void launch_forget_program(struct launch *launch);

/* The process is gone: takes its sandbox down and removes a part of the files in its directory.
 * Returns whether that is done, so that a million files do not stop a host. */
bool launch_clean_some(struct launch *launch);

/* Takes everything down, at once. `{0}` is fine. */
void launch_close(struct launch *launch);

/* ---- pins.c --------------------------------------------------------------- */

/* Compares every pinned file of a binding with its pin. *ret_program is the
 * descriptor that was hashed when the command itself is pinned and no script,
 * and is what must be executed then (the caller closes it); else -1.
 * Fails with -EKEYREJECTED (the file has changed; err names it), and as
 * regular_open does.
 *
 * What a pin cannot see: a script, and any other file, is opened a second time by its
 * interpreter, so that a process that replaces it at that very moment is not caught; nor
 * is one that writes into the hashed file itself between its hash and its exec. */
int pins_check(const struct tool_binding *binding, int *ret_program, perch_err *err);

/* ---- private_dir.c -------------------------------------------------------- */

/* An empty directory with mode 0700, below $TMPDIR. Fails with the errno of
 * mkdtemp, -ENOMEM. */
int private_dir_open(perch_host *host, struct private_dir **ret_private_dir, perch_err *err);

const char *private_dir_path(const struct private_dir *private_dir);

/* Its process is gone: removes a part of its files. Returns whether that is done: then the
 * directory is not the caller's any more. */
bool private_dir_leave_some(perch_host *host, struct private_dir *private_dir);

#endif
