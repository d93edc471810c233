/* Repositories, by the git command. A repository must not run code in the host: hooks, templates
 * and fsmonitor are off, submodules are not entered, and only https, ssh, git and file are spoken.
 * Passwords are asked for only where a user sits at the terminal. */
#ifndef PLUGINS_FETCH_H
#define PLUGINS_FETCH_H

#include "base/arena.h"
#include "plugins/process.h"
#include "plugins/source.h"

enum { FETCH_TAGS_MAX = 10000 };

/* Makes a clone of the source's ref (or of its main branch) at a path that is not
 * there yet. *ret_commit lives in the arena. Fails with -EIO and git's own words, or as
 * process_run does. */
int fetch_clone(struct workshop *workshop, const struct plugin_source *source, const char *path,
	struct arena *arena, const char **ret_commit, perch_err *err);

/* The highest tag that is a later version than `ref` ("v1.2", "1.10.0"); NULL when
 * there is none, or when `ref` is no version. */
int fetch_newer_tag(struct workshop *workshop, const struct plugin_source *source,
	struct arena *arena, const char **ret_tag, perch_err *err);

/* Which of two versions is the later: < 0, 0, > 0. A version is "v"? and numbers with dots; a
 * pre-release ("1.0-rc1") comes before its release. */
int version_compare(const char *a, const char *b);
bool version_is(const char *text);

#endif
