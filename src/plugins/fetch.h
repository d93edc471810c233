/* Repositories, by the git command. A repository must not run code in the host: hooks, templates
 * and fsmonitor are off, submodules are not entered, and only https, ssh, git and file are spoken.
 * Passwords are asked for only where a user sits at the terminal. */
#ifndef PLUGINS_FETCH_H
#define PLUGINS_FETCH_H

#include "base/arena.h"
#include "plugins/process.h"
#include "plugins/source.h"
#include "sandbox/sandbox.h"

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

/* ---- fetch_size.c ----------------------------------------------------------- */

/* Of a clone with its history and its work tree: a few kilobytes can become any number of them. */
#define FETCH_BYTES_MAX (UINT64_C(1024) * 1024 * 1024)

/* Whether the directory takes more than that. */
bool fetch_is_too_large(const char *path, uint64_t most);

/* ---- fetch_git.c ----------------------------------------------------------- */

/* git, as it fetches: in a sandbox that has the network of the source and writes the clone alone,
 * in a directory of ours, without a repository around it that could tell it what to run. */

struct fetch_git {
	struct workshop *workshop;
	const char *target; /* what it may write, in the arena; "" = nothing */
	char *program;
	struct sandbox *sandbox;
	bool has_ssh_command; /* the user has set one: ours does not count then */
	struct arena arena;
};

/* Prepares git for one location; `target` ("" = none) is the directory it may write. The user's own
 * configuration of git decides which credentials it sees. To be closed also after a failure: as
 * own_git_find, sandbox_open and process_run do. */
int fetch_git_open(struct fetch_git *git, struct workshop *workshop, const char *location,
	const char *target, perch_err *err);

/* Runs it. With a repository it works there and nowhere else; NULL = with none at all. -EIO
 * and git's own words when it fails. */
int fetch_git_run(struct fetch_git *git, const char *const *argv, const char *repository,
	const char *title, struct buf *output, perch_err *err);

void fetch_git_close(struct fetch_git *git);

#endif
