/* How far the source of a plugin is known. What is trusted stands in
 * CFG/config.toml; every list is empty unless the user fills it:
 *
 *     [trust]
 *     official = ["org/plugin"]             # OWNER, OWNER/REPOSITORY,
 *     orgs = ["my-company"]                 # HOST/OWNER or HOST/OWNER/REPOSITORY;
 *     users = ["git.example.org/ada"]       # without a HOST: github.com
 */
#ifndef PLUGINS_TRUST_H
#define PLUGINS_TRUST_H

#include "base/arena.h"
#include "base/buf.h"
#include "perch/base.h"

enum trust_tier {
	TRUST_LOCAL,    /* a path on this machine */
	TRUST_OFFICIAL, /* trust.official */
	TRUST_TEAM,     /* trust.orgs, trust.users */
	TRUST_UNVERIFIED,
};

/* NULL-terminated. */
struct trust_lists {
	const char *const *official;
	const char *const *orgs;
	const char *const *users;
};

/* "local", "official", "team", "unverified". */
const char *trust_name(enum trust_tier tier);

/* Reads the lists; without the file they are empty. Everything lives in the
 * arena. Fails with PERCH_ESYNTAX (err names file, line and column), -EFBIG,
 * -ENOTSUP (no regular file), -ENOMEM, other errnos. */
int trust_read(const char *config_directory, struct arena *arena, struct trust_lists *ret_lists,
	perch_err *err);

/* The tier of a source as it is given to install or stands in the registry: a path,
 * OWNER/REPOSITORY, an URL or git@HOST:PATH, each with or without @REF. Only https and ssh can be
 * trusted: on any other way the files can be changed. A source that is written in a strange way is
 * unverified. */
enum trust_tier trust_of(const struct trust_lists *lists, const char *source);

/* Appends the entry of a list that would trust the owner of this source. False, and nothing, where
 * no entry can: a path, a way on which files can be changed, a strange form. */
bool trust_write_owner(const char *source, struct buf *out);

#endif
