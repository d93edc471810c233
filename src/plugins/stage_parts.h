/* What the files of the staging directory share. */
#ifndef PLUGINS_STAGE_PARTS_H
#define PLUGINS_STAGE_PARTS_H

#include "plugins/stage.h"

#define STAGE_PREFIX ".staging-"

int stage_open_path(const char *path);

/* The lock of all changes, by the directory of plugins; -EAGAIN when another process has it. */
int stage_lock_try(int directory);

/* The names in a directory are on disk then; a missing directory has none. */
int stage_flush(const char *directory, perch_err *err);

/* What was moved between the stage and the directory of plugins, too. */
int stage_flush_moves(const struct registry *registry, const struct stage *stage, perch_err *err);

/* The entry that plugins.toml in the stage describes. */
int stage_read_entry(const struct stage *stage, struct arena *arena,
	const struct registry_entry **ret_entry, perch_err *err);

/* Grant, registry, links: from the files of the stage, as often as needed. */
int stage_finish(const struct registry *registry, const struct stage *stage, struct arena *arena,
	const struct registry_entry *entry, perch_err *err);

int stage_fail(perch_err *err, int code, const char *path);
bool stage_has(const struct stage *stage, const char *name);
int stage_write(const struct stage *stage, const char *name, struct str text, perch_err *err);

/* Gives the directory `to` the state.json of `from`, which keeps it. */
int stage_carry_state(const char *from, const char *to, perch_err *err);

/* What stage_remove does once the change is recorded. */
int stage_finish_removal(
	const struct registry *registry, const struct stage *stage, perch_err *err);

#endif
