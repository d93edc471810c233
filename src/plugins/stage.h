/* The staging directory of one change: CFG/plugins/.staging-XXXXXX, beside what
 * it will become. Everything slow and everything that can go wrong happens in it.
 * What it holds, and what a process that finds it abandoned makes of that:
 *
 *     tree            the new directory of the plugin (or the link to it)
 *     plugins.toml    its entry in the registry …
 *     grants.toml     … and its grant: both in the format of those files. From here
 *                     on the change is known; abandoned: undone
 *     bin/            its links
 *     old             the directory that was there before
 *     commit          everything is in place but files that are written in one step;
 *                     abandoned: finished
 *     removing        the name of a plugin that goes; abandoned: finished
 *     keep-state      with it: its state.json stays
 *
 * A living owner holds a lock on the directory. */
#ifndef PLUGINS_STAGE_H
#define PLUGINS_STAGE_H

#include "plugins/process.h"
#include "registry/grants.h"
#include "registry/registry.h"

struct stage {
	char *path; /* NULL = there is none */
	int lock;
	bool must_stay; /* it holds what could not be put back: for `perch doctor` */
};

/* How long to wait for another install that is at its last step (its post_install hook
 * may take a while). */
#define STAGE_LOCK_WAIT_NS (UINT64_C(600) * 1000 * 1000 * 1000)

/* The lock that a process holds while it changes what is installed: waits, and says so, until the
 * workshop is stopped (-ECANCELED). Returns a descriptor. */
int stage_lock(const struct registry *registry, struct workshop *workshop, perch_err *err);

/* Makes one, after having dealt with abandoned ones. */
int stage_open(const struct registry *registry, struct workshop *workshop, struct stage *ret_stage,
	perch_err *err);

/* "<stage>/<name>"; the caller frees. NULL without memory. */
char *stage_path(const struct stage *stage, const char *name);

/* Removes it and what is in it, unless it must stay. */
void stage_close(struct stage *stage);

/* ---- installing: with tree in place -------------------------------------- */

/* Records what is to become of it. */
int stage_describe(const struct stage *stage, const struct registry_entry *entry,
	const struct grant *grant, const struct manifest *manifest, perch_err *err);

/* Puts the tree into its place; the former directory goes to `old`, its state.json stays with the
 * plugin. Holding the lock, as all below. */
int stage_swap(
	const struct registry *registry, const struct stage *stage, const char *name, perch_err *err);

/* Puts everything back as it was before stage_swap. */
int stage_undo(struct stage *stage, perch_err *err);

/* Writes grant, registry and links. When that fails everything is put back. */
int stage_commit(const struct registry *registry, struct stage *stage, perch_err *err);

/* ---- removing ------------------------------------------------------------ */

/* Takes a plugin away. */
int stage_remove(const struct registry *registry, const struct stage *stage, const char *name,
	bool keeps_state, perch_err *err);

/* ---- abandoned ones ------------------------------------------------------ */

/* How many there are, and (unless it only looks) deals with them. Returns their number or the error
 * of one. */
int stage_recover(const struct registry *registry, bool only_looks, perch_err *err);

/* Deals with abandoned ones, unless another process is at work; waits for none. Whether something
 * has changed by that. */
bool stage_settle(const struct registry *registry);

/* For tests: ends this process with SIGKILL when PERCH_TEST_KILL_AT names the point. */
void stage_point(const char *point);

#endif
