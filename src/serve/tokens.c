/* Tokens: finding one. */
#include "serve/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/macros.h"

static const struct {
	const char *prefix;
	perch_entry_kind kind;
} token_kinds[] = {
	{ "agent:", PERCH_ENTRY_AGENT },
	{ "tool:", PERCH_ENTRY_TOOL },
	{ "plugin:", PERCH_ENTRY_COMMAND },
};

bool token_is_name(const char *name)
{
	size_t len = strlen(name);
	const char *const good = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@";
	return len > 0 && len <= TOKEN_NAME_MAX && strspn(name, good) == len;
}

bool token_is_pattern(const char *pattern)
{
	for (size_t i = 0; i < COUNT(token_kinds); i++) {
		size_t len = strlen(token_kinds[i].prefix);
		if (strncmp(pattern, token_kinds[i].prefix, len) == 0)
			return pattern[len] != '\0';
	}
	return false;
}

/* A pattern of tools without a slash names a binding, and all tools of it. */
static bool token_fits_tool(const char *pattern, const char *name)
{
	const char *slash = strchr(name, '/');
	if (glob_match(pattern, name) || !slash || strchr(pattern, '/'))
		return glob_match(pattern, name);
	_cleanup_free_ char *binding = str_dup((struct str){ name, (size_t)(slash - name) });
	return binding && glob_match(pattern, binding);
}

static bool token_fits(const char *pattern, perch_entry_kind kind, const char *name)
{
	for (size_t i = 0; i < COUNT(token_kinds); i++) {
		size_t len = strlen(token_kinds[i].prefix);
		if (token_kinds[i].kind != kind || strncmp(pattern, token_kinds[i].prefix, len) != 0)
			continue;
		return kind == PERCH_ENTRY_TOOL ? token_fits_tool(pattern + len, name)
										: glob_match(pattern + len, name);
	}
	return false;
}

bool token_allows(const struct token *token, perch_entry_kind kind, const char *name)
{
	if (!token->allows)
		return true;
	for (const char *const *pattern = token->allows; *pattern; pattern++) {
		if (token_fits(*pattern, kind, name))
			return true;
	}
	return false;
}

void token_hash(struct str text, char ret_hash[SHA256_HEX_SIZE])
{
	sha256_of(text.data, text.len, ret_hash);
}

const struct token *tokens_named(const struct tokens *tokens, const char *name)
{
	for (size_t i = 0; i < tokens->count; i++) {
		if (strcmp(tokens->items[i].name, name) == 0)
			return &tokens->items[i];
	}
	return NULL;
}

/* Base64 of the kind that can stand in an address. */
int token_make(char ret_text[TOKEN_SIZE])
{
	unsigned char secret[TOKEN_SECRET_BYTES];
	_cleanup_(buf_free) struct buf text = { 0 };
	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return -EIO;
	buf_append_text(&text, TOKEN_PREFIX);
	base64_append(&text, secret, sizeof(secret));
	if (buf_terminate(&text) < 0)
		return -ENOMEM;
	for (char *c = text.data; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c;
	memcpy(ret_text, text.data, strlen(text.data) + 1);
	return 0;
}
