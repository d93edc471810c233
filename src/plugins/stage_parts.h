/* What the files of the staging directory share. */
#ifndef PLUGINS_STAGE_PARTS_H
#define PLUGINS_STAGE_PARTS_H

#include "plugins/stage.h"

int stage_fail(perch_err *err, int code, const char *path);
bool stage_has(const struct stage *stage, const char *name);
int stage_write(const struct stage *stage, const char *name, struct str text, perch_err *err);

/* Gives the directory `to` the state.json of `from`, which keeps it. */
int stage_carry_state(const char *from, const char *to, perch_err *err);

/* What stage_remove does once the change is recorded. */
int stage_finish_removal(
	const struct registry *registry, const struct stage *stage, perch_err *err);

#endif
