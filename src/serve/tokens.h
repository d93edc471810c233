/* Tokens: the users of the gateway. Stored as hashes in $XDG_STATE_HOME/perch/tokens.json; a token
 * is random and long, so that its hash alone is enough to recognize it. */
#ifndef SERVE_TOKENS_H
#define SERVE_TOKENS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "perch/catalog.h"

enum {
	TOKEN_SECRET_BYTES = 32,
	TOKEN_SIZE = 64, /* room for the text of a token */
	TOKEN_NAME_MAX = 64,
	TOKENS_MAX = 4096,
	TOKENS_FILE_MAX = 4 * 1024 * 1024,
};

#define TOKEN_PREFIX "perch_"

struct token {
	const char *name;
	const char *hash;          /* of the token, hexadecimal */
	const char *const *allows; /* "agent:bot", "tool:acme", "plugin:deploy"; NULL = all */
	bool is_admin;
	int64_t created; /* seconds since 1970 */
	int64_t expires; /* 0 = never */
};

struct tokens {
	struct arena arena;
	struct token *items;
	size_t count;
};

/* Reads the file; one that is not there has none. Fails with PERCH_ESYNTAX (which file, where) and
 * as reading does. */
int tokens_read(struct tokens *ret_tokens, perch_err *err);
void tokens_free(struct tokens *tokens);

const struct token *tokens_named(const struct tokens *tokens, const char *name);

/* The user of the page's link that works once. No token may have this name, because its user would
 see the same jobs. */
#define TOKEN_LOCAL_USER "local"

/* Letters, digits, '-', '_', '.', '@': what can stand in a file, a header and a log. */
bool token_is_name(const char *name);

/* "agent:PATTERN", "tool:PATTERN" or "plugin:PATTERN". */
bool token_is_pattern(const char *pattern);

/* Whether the token allows this entry. */
bool token_allows(const struct token *token, perch_entry_kind kind, const char *name);

/* Makes a new text. -EIO without random numbers. */
int token_make(char ret_text[TOKEN_SIZE]);
void token_hash(struct str text, char ret_hash[SHA256_HEX_SIZE]);

/* Changes the file under its lock. token->hash, created are set by the caller. -EEXIST: the name is
 * taken. */
int tokens_add(const struct token *token, perch_err *err);
/* -ENOENT: there is none. */
int tokens_remove(const char *name, perch_err *err);

/* Where the file is, for callers that watch it. The caller frees. */
int tokens_path(char **ret_path, perch_err *err);

#endif
