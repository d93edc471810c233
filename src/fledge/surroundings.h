/* The surroundings of a run: the project, its repository, and whether that is dirty, which only git
 * itself can tell. Git takes longer than everything else before the first message, so it is asked
 * first and the rest is done meanwhile. */
#ifndef FLEDGE_SURROUNDINGS_H
#define FLEDGE_SURROUNDINGS_H

#include <stdbool.h>

#include "fledge/context.h"
#include "perch/host.h"

struct surroundings;

/* Called once; is_dirty is false also where it is not known. */
typedef void surroundings_known_fn(void *data, bool is_dirty);

/* Reads the project and starts git. directory is an absolute path, NULL = it cannot
 * be read; own_env is the host's environment. Both must outlive it. Fails with
 * -ENOMEM only: without git nothing is dirty. */
int surroundings_begin(perch_host *host, const char *directory, const char *const *own_env,
	struct surroundings **ret_surroundings, perch_err *err);

const struct project_context *surroundings_project(const struct surroundings *surroundings);

/* The environment for git, in this run; NULL without memory. */
const char *const *surroundings_git_env(struct surroundings *surroundings);

/* The git for this run and what it is confined to, made with the first question and kept.
 * There must be a directory. Fails as own_git_open does. */
struct own_git;
int surroundings_own_git(
	struct surroundings *surroundings, const struct own_git **ret_git, perch_err *err);

/* Why git was not asked; NULL = it was, or there is no repository. */
const char *surroundings_note(const struct surroundings *surroundings);

/* Calls known from the loop, or at once where there is nothing to wait for. */
void surroundings_await(
	struct surroundings *surroundings, surroundings_known_fn *known, void *data);

/* Nothing else is asked as a rule: what git is confined to is given up when it has answered. */
void surroundings_ask_no_more(struct surroundings *surroundings);

/* The answer is not wanted any more: git is ended. */
void surroundings_forget(struct surroundings *surroundings);

/* NULL is fine. */
void surroundings_free(struct surroundings *surroundings);

#endif
