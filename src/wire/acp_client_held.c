/* ACP's client side: talks whose lines nobody can take now. One that is held does not hold the
 * others: its lines are told apart, and kept by whoever holds it. */
#include "base/macros.h"
#include "wire/acp_client_parts.h"

void acp_talk_hold(struct acp_talk *talk, bool is_held)
{
	if (talk->is_held == is_held)
		return;
	talk->is_held = is_held;
	talk->client->held += is_held ? 1 : -1UL;
}

void acp_talk_again(struct acp_talk *talk, struct str line)
{
	struct acp_client *client = talk->client;
	acp_talk_hold(talk, false);
	client->is_again = true;
	acp_client_line(client, line, false);
	client->is_again = false;
}

/* A request that is taken back may itself be among what was kept, of any talk: of each it is kept
 * once. */
static bool acp_client_keep_cancel(
	struct acp_client *client, const perch_json_value *params, struct str line)
{
	struct jsonrpc_id id = { 0 };
	struct acp_quiz *quiz = list_first(&client->quizzes);
	if (!jsonrpc_id_read(perch_json_get(params, "requestId"), &id))
		return false;
	while (quiz && !jsonrpc_id_eq(&quiz->id, &id))
		quiz = list_next(quiz);
	if (quiz || client->is_again)
		return false;
	for (struct acp_talk *talk = list_first(&client->talks); talk; talk = list_next(talk)) {
		if (talk->is_held)
			client->table->keep(client->data, talk, line);
	}
	return true;
}

bool acp_client_keeps(
	struct acp_client *client, const struct jsonrpc_message *message, struct str line)
{
	struct acp_talk *talk = NULL;
	if (message->kind == JSONRPC_NOTIFICATION && str_is(message->method, "$/cancel_request"))
		return acp_client_keep_cancel(client, message->params, line);
	if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR) {
		struct jsonrpc_waiting *found = jsonrpc_ids_find(&client->asked, &message->id);
		talk = found ? container_of(found, struct acp_call, waiting)->talk : NULL;
	} else if (message->kind != JSONRPC_INVALID) {
		talk = acp_talk_find(client, message->params);
	}
	if (!talk || !talk->is_held)
		return false;
	client->table->keep(client->data, talk, line);
	return true;
}
