/* A configuration of git, if it is as plain as git itself writes it: sections and `key = value`,
 * one a line, without escapes, quotes or continued lines. Anything else is not understood, so that
 * nothing is read otherwise than git reads it. */
#ifndef SANDBOX_GIT_GIT_PLAIN_H
#define SANDBOX_GIT_GIT_PLAIN_H

#include "base/str.h"

enum { GIT_PLAIN_MAX = 64 * 1024 };

/* Begin with the text as `rest`; the others are of the line that was read last. */
struct git_plain {
	struct str rest;
	struct str section;
	struct str subsection; /* data NULL = there is none */
	struct str key;
	struct str value; /* data NULL = there is none */
};

/* Goes to the next variable. Returns 1, 0 at the end, or -EINVAL: this is not plain. */
int git_plain_next(struct git_plain *plain);

/* Whether it is this one, upper and lower case alike, without a subsection. */
bool git_plain_is(const struct git_plain *plain, const char *section, const char *key);

/* Whether nothing in the text makes git execute a program or read another file: every variable is
 * one of a short list. */
bool git_plain_is_harmless(struct str text);

#endif
