/* The users of the gateway. */
#include "serve/identity.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct identity *identity_keep(struct identity *identity)
{
	if (identity)
		identity->refs++;
	return identity;
}

void identity_drop(struct identity *identity)
{
	if (!identity || --identity->refs)
		return;
	arena_free(&identity->arena);
	free(identity);
}

static int identity_copy(struct identity *identity, const struct token *token)
{
	struct arena *arena = &identity->arena;
	identity->token = *token;
	identity->token.name = arena_dup(arena, str_from(token->name));
	identity->token.hash = arena_dup(arena, str_from(token->hash));
	if (token->allows)
		identity->token.allows = arena_dup_list(arena, token->allows);
	bool is_whole =
		identity->token.name && identity->token.hash && (!token->allows || identity->token.allows);
	return is_whole ? 0 : -ENOMEM;
}

struct identity *identity_add(struct identities *identities, const struct token *token, bool is_own)
{
	struct identity *identity = calloc(1, sizeof(*identity));
	if (!identity)
		return NULL;
	identity->refs = 1;
	identity->is_own = is_own;
	if (identity_copy(identity, token) < 0) {
		identity_drop(identity);
		return NULL;
	}
	list_append(&identities->list, identity);
	return identity;
}

/* ---- changes ------------------------------------------------------------------ */

static bool identity_allows_same(const struct token *a, const struct token *b)
{
	if (!a->allows || !b->allows)
		return !a->allows && !b->allows;
	size_t i = 0;
	while (a->allows[i] && b->allows[i] && strcmp(a->allows[i], b->allows[i]) == 0)
		i++;
	return !a->allows[i] && !b->allows[i];
}

static bool identity_is_same(const struct token *a, const struct token *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->hash, b->hash) == 0 &&
		a->is_admin == b->is_admin && a->expires == b->expires && identity_allows_same(a, b);
}

static void identity_revoke(struct identities *identities, struct identity *identity)
{
	list_remove(&identities->list, identity);
	identity->is_revoked = true;
	identity_drop(identity);
}

static bool identities_revoke(struct identities *identities, const struct tokens *tokens)
{
	bool has_revoked = false;
	struct identity *next;
	for (struct identity *item = list_first(&identities->list); item; item = next) {
		const struct token *now = tokens_named(tokens, item->token.name);
		next = list_next(item);
		if (item->is_own || (now && identity_is_same(now, &item->token)))
			continue;
		identity_revoke(identities, item);
		has_revoked = true;
	}
	return has_revoked;
}

static bool identity_is_over(const struct identity *identity, int64_t now)
{
	return identity->token.expires && now >= identity->token.expires;
}

void identities_expire(struct identities *identities, int64_t now)
{
	bool has_revoked = false;
	struct identity *next;
	for (struct identity *item = list_first(&identities->list); item; item = next) {
		next = list_next(item);
		if (!identity_is_over(item, now))
			continue;
		identity_revoke(identities, item);
		has_revoked = true;
	}
	if (has_revoked && identities->revoked)
		identities->revoked(identities->data);
}

int identities_update(struct identities *identities, const struct tokens *tokens)
{
	int r = 0;
	bool has_revoked = identities_revoke(identities, tokens);
	for (size_t i = 0; i < tokens->count && r == 0; i++) {
		const struct token *token = &tokens->items[i];
		struct identity *there = identities_named(identities, token->name);
		if (strcmp(token->name, TOKEN_LOCAL_USER) == 0)
			continue;
		if ((!there || there->is_own) && !identity_add(identities, token, false))
			r = -ENOMEM;
	}
	if (has_revoked && identities->revoked)
		identities->revoked(identities->data);
	return r;
}

/* ---- finding ------------------------------------------------------------------ */

struct identity *identities_find(const struct identities *identities, struct str text, int64_t now)
{
	char hash[SHA256_HEX_SIZE];
	struct identity *found = NULL;
	token_hash(text, hash);
	for (struct identity *item = list_first(&identities->list); item; item = list_next(item)) {
		if (item->token.hash[0] && hmac_is(item->token.hash, hash))
			found = item;
	}
	return found && !identity_is_over(found, now) ? found : NULL;
}

void identity_note_shown(struct identity *identity, struct str text)
{
	if (identity->shown[0] || text.len >= sizeof(identity->shown))
		return;
	memcpy(identity->shown, text.data, text.len);
	identity->shown[text.len] = '\0';
}

bool identity_was_shown(const struct identity *identity, struct str text, int64_t now)
{
	unsigned char difference = 0;
	if (!text.len || identity->is_revoked || text.len != strlen(identity->shown) ||
		identity_is_over(identity, now))
		return false;
	for (size_t i = 0; i < text.len; i++)
		difference |= (unsigned char)(text.data[i] ^ identity->shown[i]);
	return difference == 0;
}

struct identity *identities_named(const struct identities *identities, const char *name)
{
	for (struct identity *item = list_first(&identities->list); item; item = list_next(item)) {
		if (strcmp(item->token.name, name) == 0)
			return item;
	}
	return NULL;
}

void identities_free(struct identities *identities)
{
	struct identity *item;
	while ((item = list_first(&identities->list))) {
		list_remove(&identities->list, item);
		identity_drop(item);
	}
}
