/* The session that a stateless client means: the one that ended with exactly the messages that it
 * sends. */
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "serve/openai.h"
#include "serve/serve_parts.h"

/* The end of a session, by its messages. */
struct conversation {
	struct link link;
	char hash[SHA256_HEX_SIZE]; /* of owner, model, user and chain */
	char key[SHA256_HEX_SIZE];  /* of owner, model and session: others may call theirs the same */
	char session[RECORD_ID_SIZE + 232];
};

static void conversation_hash(struct str owner, struct str model, struct str user,
	const char *chain, char ret_hash[SHA256_HEX_SIZE])
{
	struct openai_chain all = { { 0 } };
	openai_chain_add(&all, owner, model);
	openai_chain_add(&all, user, str_from(chain));
	memcpy(ret_hash, all.hex, SHA256_HEX_SIZE);
}

struct str openai_find_session(
	struct serve *serve, struct str owner, struct str model, struct str user, const char *chain)
{
	char hash[SHA256_HEX_SIZE];
	conversation_hash(owner, model, user, chain, hash);
	const struct link *link = serve->conversations.last;
	for (; link; link = link->before) {
		const struct conversation *item = (const struct conversation *)link;
		if (memcmp(item->hash, hash, sizeof(hash)) == 0)
			return str_from(item->session);
	}
	return (struct str){ "", 0 };
}

static void conversation_remove(struct serve *serve, struct conversation *conversation)
{
	list_remove(&serve->conversations, conversation);
	free(conversation);
}

static void conversation_key(const struct record *record, char ret_key[SHA256_HEX_SIZE])
{
	struct openai_chain all = { { 0 } };
	openai_chain_add(&all, record->owner, record->name);
	openai_chain_add(&all, STR("session"), record->session);
	memcpy(ret_key, all.hex, SHA256_HEX_SIZE);
}

/* A session has one end. */
static void conversations_forget(struct serve *serve, const char *key)
{
	for (struct conversation *item = list_first(&serve->conversations); item;
		 item = list_next(item)) {
		if (strcmp(item->key, key) == 0) {
			conversation_remove(serve, item);
			return;
		}
	}
}

void openai_note_end(struct record *record)
{
	struct serve *serve = record->serve;
	struct openai_chain chain;
	if (!record->chain)
		return;
	struct conversation *conversation = calloc(1, sizeof(*conversation));
	if (!conversation || record->session.len >= sizeof(conversation->session)) {
		free(conversation);
		return;
	}
	memcpy(conversation->session, record->session.data, record->session.len);
	conversation_key(record, conversation->key);
	conversations_forget(serve, conversation->key);
	if (record->state != QUEUE_DONE) {
		free(conversation);
		return;
	}
	if (serve->conversations.count >= OPENAI_CONVERSATIONS_MAX)
		conversation_remove(serve, list_first(&serve->conversations));
	snprintf(chain.hex, sizeof(chain.hex), "%s", record->chain);
	openai_chain_add(&chain, STR("assistant"),
		(struct str){ record->result.text.data, record->result.text.len });
	conversation_hash(
		record->owner, record->name, str_from(record->chain_user), chain.hex, conversation->hash);
	list_append(&serve->conversations, conversation);
}

void openai_free(struct serve *serve)
{
	struct conversation *item;
	while ((item = list_first(&serve->conversations)))
		conversation_remove(serve, item);
}
