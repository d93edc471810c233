/* git, as it fetches: in a sandbox that has the network of the source and writes the clone alone,
 * in a directory of ours, without a repository around it that could tell it what to run. */
#ifndef PLUGINS_FETCH_GIT_H
#define PLUGINS_FETCH_GIT_H

#include "base/arena.h"
#include "plugins/process.h"
#include "sandbox/sandbox.h"

struct fetch_git {
	struct workshop *workshop;
	char *program;
	struct sandbox *sandbox;
	bool has_ssh_command; /* the user has set one: ours does not count then */
	struct arena arena;
};

/* The transport to a location, by its spelling. */
struct fetch_way {
	const char *directory; /* of this machine, as it stands in the location; "" = none */
	bool is_ssh;
	bool is_https;
};
struct fetch_way fetch_way_of(const char *location);

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
