/* A user of the gateway: a token, held for as long as an object needs it, also behind its end. */
#ifndef SERVE_IDENTITY_H
#define SERVE_IDENTITY_H

#include "base/list.h"
#include "serve/tokens.h"

struct identity {
	struct link link;
	size_t refs;
	size_t mcp_kept; /* bytes of messages that are kept for its MCP sessions */
	bool is_revoked; /* nothing is told any more about the jobs that it began */
	bool is_own;     /* not from the file: made by this process */
	struct arena arena;
	struct token token;
	char shown[TOKEN_SIZE]; /* its text, once that was shown; else empty */
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

/* Replaces the users of the token file: unchanged ones stay, all others are revoked. After -ENOMEM,
 * those that were revoked stay revoked. */
int identities_update(struct identities *identities, const struct tokens *tokens);

/* Revokes those whose time is over by now. */
void identities_expire(struct identities *identities, int64_t now);

/* Remembers the text of a token that was found to be its own: a connection shows the same one with
 * each request. */
void identity_note_shown(struct identity *identity, struct str text);

/* Whether its token is valid and has this text, which was shown before. The time does not depend on
 * the text but for its length. */
bool identity_was_shown(const struct identity *identity, struct str text, int64_t now);

/* The user whose token has this text. The time of the search does not depend on the text. NULL for
 * an expired token. */
struct identity *identities_find(const struct identities *identities, struct str text, int64_t now);
struct identity *identities_named(const struct identities *identities, const char *name);
void identities_free(struct identities *identities);

#endif
