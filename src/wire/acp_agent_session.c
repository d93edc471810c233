/* ACP's agent side: sessions, and their prompts one after the other. */
#include <errno.h>
#include <stdlib.h>

#include "wire/acp_agent_parts.h"

/* ---- life ------------------------------------------------------------------ */

int acp_session_open(
	struct acp_agent *agent, struct str id, void *data, struct acp_session **ret_session)
{
	if (agent->sessions.count >= agent->options.sessions_max)
		return PERCH_ELIMIT;
	struct acp_session *session = calloc(1, sizeof(*session) + id.len + 1);
	if (!session)
		return -ENOMEM;
	session->agent = agent;
	session->data = data;
	session->id_len = id.len;
	memcpy(session->id, id.data, id.len);
	list_append(&agent->sessions, session);
	*ret_session = session;
	return 0;
}

void acp_session_free(struct acp_session *session)
{
	struct acp_request *request;
	if (session->turn)
		acp_request_drop(session->turn);
	while ((request = list_first(&session->waiting)))
		acp_request_drop(request);
	list_remove(&session->agent->sessions, session);
	free(session);
}

struct acp_session *acp_session_find(struct acp_agent *agent, struct str id)
{
	struct acp_session *session = list_first(&agent->sessions);
	while (session && !str_eq(acp_session_id(session), id))
		session = list_next(session);
	return session;
}

void *acp_session_data(const struct acp_session *session)
{
	return session->data;
}

struct str acp_session_id(const struct acp_session *session)
{
	return (struct str){ session->id, session->id_len };
}

/* ---- prompts --------------------------------------------------------------- */

static const char *acp_prompt_refusal(const struct acp_session *session, size_t len)
{
	const struct acp_agent *agent = session->agent;
	if (session->ending)
		return "the session is being closed";
	if (session->waiting.count >= agent->options.waiting_max)
		return "too many prompts of this session wait already";
	if (agent->waiting_bytes + len > ACP_WAITING_BYTES)
		return "the prompts that wait are too long already";
	return NULL;
}

/* It is kept as it was written, and read again in its turn. */
void acp_session_prompt(struct acp_taking *taking, struct acp_session *session)
{
	struct str text = { 0 };
	const perch_json_value *prompt = perch_json_get(taking->message->params, "prompt");
	text.data = perch_json_raw(prompt, &text.len);
	const char *refusal = acp_prompt_refusal(session, text.len);
	if (refusal) {
		acp_refuse(taking, JSONRPC_INVALID_REQUEST, "%s", refusal);
		return;
	}
	char *copy = malloc(text.len + 1);
	struct acp_request *request = copy ? acp_request_new(taking, &session->waiting) : NULL;
	if (!request) {
		taking->agent->is_broken = taking->agent->is_broken || !copy;
		free(copy);
		return;
	}
	memcpy(copy, text.data, text.len);
	request->session = session;
	request->prompt = copy;
	request->prompt_len = text.len;
	taking->agent->waiting_bytes += text.len;
	acp_session_go_on(session);
}

/* It was valid when it came, so it still is. */
static void acp_turn_begin(struct acp_session *session, struct acp_request *request)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(arena_free) struct arena arena = { 0 };
	const perch_json_options options = { .size = sizeof(options), .text_max = ACP_LINE_MAX };
	const perch_json_value *root = NULL;
	struct acp_block *blocks = NULL;
	struct acp_wish wish = { .kind = ACP_WISH_PROMPT, .request = request, .session = session };
	list_remove(&session->waiting, request);
	request->home = NULL;
	session->turn = request;
	if (perch_json_new(&options, &json) < 0 ||
		perch_json_parse(json, request->prompt, request->prompt_len, &root, NULL) < 0 ||
		acp_prompt_read(root, &arena, &blocks, &wish.block_count, NULL) < 0) {
		session->agent->is_broken = true;
		return;
	}
	wish.blocks = blocks;
	session->agent->table->wish(session->agent->data, &wish);
}

void acp_turn_cancel(struct acp_request *request)
{
	if (request->is_cancelled)
		return;
	request->is_cancelled = true;
	if (request->home) { /* it has not begun */
		acp_request_stop(request, ACP_STOP_CANCELLED, (struct str){ 0 });
		return;
	}
	const struct acp_wish wish = {
		.kind = ACP_WISH_CANCEL, .request = request, .session = request->session
	};
	request->agent->table->wish(request->agent->data, &wish);
}

/* Those that wait first, so that none of them begins. */
void acp_session_cancel(struct acp_session *session)
{
	struct acp_request *request;
	session->is_going = true;
	while ((request = list_first(&session->waiting)))
		acp_turn_cancel(request);
	if (session->turn)
		acp_turn_cancel(session->turn);
	session->is_going = false;
	acp_session_go_on(session);
}

/* ---- what comes next ------------------------------------------------------- */

static void acp_session_finish(struct acp_session *session)
{
	struct acp_agent *agent = session->agent;
	struct acp_request *request = session->ending;
	const struct acp_wish forget = { .kind = ACP_WISH_FORGET, .session = session };
	agent->table->wish(agent->data, &forget);
	if (request->is_deletion) {
		const struct acp_wish delete = {
			.kind = ACP_WISH_DELETE, .request = request, .id = acp_session_id(session)
		};
		agent->table->wish(agent->data, &delete);
	} else {
		acp_request_object(request, STR("{}"));
	}
	acp_session_free(session);
}

void acp_session_go_on(struct acp_session *session)
{
	struct acp_request *next;
	if (session->is_going || session->turn)
		return;
	session->is_going = true;
	while (!session->turn && (next = list_first(&session->waiting)))
		acp_turn_begin(session, next);
	session->is_going = false;
	if (!session->turn && session->ending)
		acp_session_finish(session);
}

void acp_session_end(struct acp_session *session, struct acp_request *request, bool is_deletion)
{
	session->ending = request;
	request->is_deletion = is_deletion;
	acp_session_cancel(session);
}
