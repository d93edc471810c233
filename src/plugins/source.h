/* Where a plugin comes from, as the user writes it:
 *
 *     ./path  ../path  /path  ~/path      a directory on this machine
 *     https://host/owner/repository       a repository; also ssh, git and file
 *     git@host:owner/repository
 *     owner/repository                    below the base URL of CFG/config.toml
 *
 * each with @ref behind it: a tag, a branch or a commit. */
#ifndef PLUGINS_SOURCE_H
#define PLUGINS_SOURCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "perch/base.h"

struct plugin_source {
	bool is_path;         /* a directory on this machine */
	bool is_repository;   /* to be fetched by git: all but a path without a ref */
	const char *location; /* the resolved path, or what git is given */
	const char *ref;      /* "" = none */
};

enum { SOURCE_LENGTH_MAX = 2048, SOURCE_REF_MAX = 255 };

#define SOURCE_BASE_DEFAULT "https://github.com"

/* The base of owner/repository: plugins.base_url in config_directory/config.toml,
 * else the default. Fails as trust_read does. */
int source_base(
	const char *config_directory, struct arena *arena, const char **ret_base, perch_err *err);

/* Understands a source; `base` is that of owner/repository. Everything lives in the
 * arena. Fails with -EINVAL and words: what is wrong with it, and how it is
 * written; -ENOENT (no such directory), other errnos. */
int source_parse(const char *text, const char *base, struct arena *arena,
	struct plugin_source *ret_source, perch_err *err);

/* NULL when the text is a valid ref, else what is wrong, to be put behind it. */
const char *source_ref_problem(const char *ref);

#endif
