/* A user of the gateway: a token, held for as long as an object needs it, also behind its end. */
#ifndef SERVE_IDENTITY_H
#define SERVE_IDENTITY_H

#include "base/list.h"
#include "serve/tokens.h"

struct identity {
	struct link link;
	size_t refs;
	bool is_revoked; /* nothing that it began is told any more */
	bool is_own;     /* not from the file: made by this process */
	struct arena arena;
	struct token token;
};

struct identities {
	struct list list;
	void (*revoked)(void *data); /* some of them were revoked: look for what is theirs */
	void *data;
};

/* Copies the token. NULL without memory. */
struct identity *identity_add(
	struct identities *identities, const struct token *token, bool is_own);

struct identity *identity_keep(struct identity *identity);
void identity_drop(struct identity *identity); /* NULL is fine */

/* Those of the file are to be these from now on: unchanged ones stay, others are revoked. -ENOMEM:
 * what was revoked is. */
int identities_update(struct identities *identities, const struct tokens *tokens);

/* Revokes those whose time is over by now. */
void identities_expire(struct identities *identities, int64_t now);

/* The user whose token has this text, looked for in a time that does not depend on what it is. A
 * token that has expired is none. */
struct identity *identities_find(const struct identities *identities, struct str text, int64_t now);
struct identity *identities_named(const struct identities *identities, const char *name);
void identities_free(struct identities *identities);

#endif
