/* Conversations that were held before: listed, opened again, deleted. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "acp/editor_parts.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"

/* What waits for the transcripts. The engine may be gone when they answer. */
struct acp_wait {
	struct acp_editor *editor;
	struct acp_request *request;
	bool has_replay;
	char name[ACP_NAME_SIZE];
	struct acp_place place; /* in the memory behind it */
	char texts[];
};

static void acp_store_fail(struct acp_wait *wait, int error)
{
	const char *words = error == -ENOENT ? "there is no such session"
		: error == -EINVAL               ? "the cursor is none of ours"
										 : perch_strerror(error);
	int64_t code = error == -ENOENT ? (int64_t)ACP_NOT_FOUND
		: error == -EINVAL          ? (int64_t)JSONRPC_INVALID_PARAMS
									: (int64_t)JSONRPC_INTERNAL_ERROR;
	acp_request_fail(wait->request, code, str_from(words), (struct str){ 0 });
	free(wait);
}

/* The chat, which may have been closed while the transcripts were read; NULL = it was. */
static struct acp_chat *acp_store_chat(const struct acp_wait *wait)
{
	struct acp_chat *chat = list_first(&wait->editor->chats);
	while (chat && strcmp(chat->name, wait->name) != 0)
		chat = list_next(chat);
	return chat;
}

/* Whether a request still waits for it. */
static bool acp_store_is_wanted(struct acp_wait *wait)
{
	if (wait->editor->agent)
		return true;
	free(wait);
	return false;
}

static void acp_store_ask(struct acp_wait *wait, struct transcripts_ask ask)
{
	ask.owner = STR(ACP_OWNER);
	ask.agents = str_from(wait->editor->agent_list);
	ask.data = wait;
	if (transcripts_ask(wait->editor->transcripts, &ask) < 0)
		acp_store_fail(wait, -ENOMEM);
}

static struct str acp_wait_keep(char **at, struct str text)
{
	if (!text.data)
		return text;
	memcpy(*at, text.data, text.len);
	const struct str kept = { *at, text.len };
	*at += text.len + 1;
	return kept;
}

static struct acp_wait *acp_wait_new(struct acp_editor *editor, const struct acp_wish *wish)
{
	const struct acp_place *place = &wish->place;
	size_t size = place->cwd.len + place->directories.len + place->servers.len + 3;
	struct acp_wait *wait = calloc(1, sizeof(*wait) + size);
	if (!wait) {
		acp_request_fail(
			wish->request, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
		return NULL;
	}
	char *at = wait->texts;
	*wait = (struct acp_wait){ .editor = editor,
		.request = wish->request,
		.has_replay = wish->kind == ACP_WISH_LOAD,
		.place = { acp_wait_keep(&at, place->cwd), acp_wait_keep(&at, place->directories),
			acp_wait_keep(&at, place->servers) } };
	if (wish->id.len && wish->id.len < ACP_NAME_SIZE)
		memcpy(wait->name, wish->id.data, wish->id.len);
	return wait;
}

static const perch_json_value *acp_store_parse(perch_json *json, const struct buf *found)
{
	const perch_json_value *root = NULL;
	return json && perch_json_parse(json, found->data, found->len, &root, NULL) == 0 ? root : NULL;
}

static struct str acp_store_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : STR("");
}

/* ---- listing --------------------------------------------------------------- */

static void acp_store_write_item(const perch_json_value *item, perch_json_writer *out)
{
	struct str title = acp_store_text(item, "title");
	perch_json_begin_object(out);
	json_write_text(out, "sessionId", acp_store_text(item, "session"));
	json_write_text(out, "cwd", acp_store_text(item, "cwd"));
	if (title.len)
		json_write_text(out, "title", title);
	json_write_text(out, "updatedAt", acp_store_text(item, "used"));
	perch_json_end_object(out);
}

static void acp_store_listed(void *data, int error, const struct buf *found)
{
	struct acp_wait *wait = data;
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	if (!acp_store_is_wanted(wait))
		return;
	perch_json_new(NULL, &json);
	const perch_json_value *root = error < 0 ? NULL : acp_store_parse(json, found);
	perch_json_iter iter = perch_json_iterate(perch_json_get(root, "sessions"));
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "sessions");
	perch_json_begin_array(&out);
	for (const perch_json_value *item; (item = perch_json_next(&iter));)
		acp_store_write_item(item, &out);
	perch_json_end_array(&out);
	if (perch_json_get(root, "next"))
		json_write_text(&out, "nextCursor", acp_store_text(root, "next"));
	perch_json_end_object(&out);
	if (!root || text.failed) {
		acp_store_fail(wait, error < 0 ? error : -ENOMEM);
		return;
	}
	acp_request_object(wait->request, (struct str){ text.data, text.len });
	free(wait);
}

void acp_store_list(struct acp_editor *editor, const struct acp_wish *wish)
{
	struct acp_wait *wait = acp_wait_new(editor, wish);
	if (wait)
		acp_store_ask(wait,
			(struct transcripts_ask){
				.question = TRANSCRIPTS_TALKS,
				.cwd = wait->place.cwd,
				.text = wish->cursor,
				.done = acp_store_listed,
			});
}

/* ---- opening again --------------------------------------------------------- */

static void acp_store_ready(struct acp_wait *wait)
{
	struct acp_chat *chat = acp_store_chat(wait);
	if (!chat) {
		acp_store_fail(wait, -ENOENT);
		return;
	}
	acp_chat_answer(chat, wait->request, false);
	free(wait);
}

static void acp_store_replay(struct acp_wait *wait, int64_t behind);

static void acp_store_said(void *data, int error, const struct buf *found)
{
	struct acp_wait *wait = data;
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_options limits = { .size = sizeof(limits),
		.text_max = PERCH_JSON_TEXT_CEILING };
	int64_t last = 0;
	if (!acp_store_is_wanted(wait))
		return;
	perch_json_new(&limits, &json);
	const perch_json_value *root = error < 0 ? NULL : acp_store_parse(json, found);
	struct acp_chat *chat = acp_store_chat(wait);
	if (!root || !chat) {
		acp_store_fail(wait, error < 0 ? error : root ? -ENOENT : -ENOMEM);
		return;
	}
	perch_json_iter iter = perch_json_iterate(perch_json_get(root, "messages"));
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		bool is_user = perch_json_is(perch_json_get(item, "role"), "user");
		perch_json_int64(perch_json_get(item, "id"), &last);
		acp_session_chunk(chat->session, is_user ? ACP_USER_SAYS : ACP_AGENT_SAYS,
			acp_store_text(item, "text"), (struct str){ 0 });
	}
	if (last)
		acp_store_replay(wait, last);
	else
		acp_store_ready(wait);
}

static void acp_store_replay(struct acp_wait *wait, int64_t behind)
{
	acp_store_ask(wait,
		(struct transcripts_ask){
			.question = TRANSCRIPTS_SAID,
			.text = str_from(wait->name),
			.before = behind,
			.done = acp_store_said,
		});
}

/* The agent that answered last goes on, where it is still one of ours. */
static void acp_store_choose(struct acp_chat *chat, struct str agent)
{
	for (size_t i = 0; chat->editor->agents[i]; i++) {
		if (str_is(agent, chat->editor->agents[i]))
			chat->agent = chat->editor->agents[i];
	}
}

static void acp_store_found(void *data, int error, const struct buf *found)
{
	struct acp_wait *wait = data;
	_cleanup_json_ perch_json *json = NULL;
	perch_err err = { 0 };
	if (!acp_store_is_wanted(wait))
		return;
	perch_json_new(NULL, &json);
	const perch_json_value *root = error < 0 ? NULL : acp_store_parse(json, found);
	if (!root) {
		acp_store_fail(wait, error < 0 ? error : -ENOMEM);
		return;
	}
	struct acp_chat *chat = acp_store_chat(wait); /* another request may have been faster */
	if (!chat)
		chat = acp_chat_open(wait->editor, &wait->place, str_from(wait->name), &err);
	if (!chat) {
		acp_request_fail(
			wait->request, JSONRPC_INTERNAL_ERROR, str_from(err.text), (struct str){ 0 });
		free(wait);
		return;
	}
	acp_store_choose(chat, acp_store_text(root, "agent"));
	if (wait->has_replay)
		acp_store_replay(wait, 0);
	else
		acp_store_ready(wait);
}

void acp_store_reopen(struct acp_editor *editor, const struct acp_wish *wish)
{
	struct acp_wait *wait = acp_wait_new(editor, wish);
	if (!wait)
		return;
	struct acp_chat *chat = wish->session ? acp_session_data(wish->session) : NULL;
	if (chat && acp_chat_move(chat, &wish->place) < 0)
		acp_store_fail(wait, -ENOMEM);
	else if (chat && wait->has_replay)
		acp_store_replay(wait, 0);
	else if (chat)
		acp_store_ready(wait);
	else
		acp_store_ask(wait,
			(struct transcripts_ask){
				.question = TRANSCRIPTS_TALK,
				.text = str_from(wait->name),
				.done = acp_store_found,
			});
}

/* ---- deleting -------------------------------------------------------------- */

/* The agents' own ids are forgotten, too. */
static void acp_store_forget_ids(struct acp_wait *wait)
{
	perch_sessions *sessions = NULL;
	const char *const *profile = wait->editor->options.profiles;
	if (perch_service_sessions(wait->editor->service, &sessions, NULL) < 0)
		return;
	for (; *profile; profile++)
		perch_sessions_forget(sessions, *profile, NULL, wait->name, NULL);
}

static void acp_store_deleted(void *data, int error, const struct buf *found)
{
	struct acp_wait *wait = data;
	(void)found;
	if (!acp_store_is_wanted(wait))
		return;
	if (error < 0) {
		acp_store_fail(wait, error);
		return;
	}
	acp_store_forget_ids(wait);
	acp_request_object(wait->request, STR("{}"));
	free(wait);
}

void acp_store_delete(struct acp_editor *editor, const struct acp_wish *wish)
{
	struct acp_wait *wait = acp_wait_new(editor, wish);
	if (wait)
		acp_store_ask(wait,
			(struct transcripts_ask){
				.question = TRANSCRIPTS_DROP,
				.text = str_from(wait->name),
				.done = acp_store_deleted,
			});
}

/* ---- keeping --------------------------------------------------------------- */

/* Behind a turn the next one may begin at once: writing leaves it the processors. */
#define ACP_STORE_PATIENCE_NS (20 * NSEC_PER_MSEC)

static int64_t acp_store_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void acp_store_add(const struct acp_task *task)
{
	struct acp_editor *editor = task->editor;
	const struct acp_chat *chat = task->chat;
	if (!editor->transcripts || !chat)
		return;
	const struct transcripts_turn turn = {
		.agent = str_from(task->agent),
		.owner = STR(ACP_OWNER),
		.session = str_from(chat->name),
		.job = STR(""),
		.message = { task->said.data, task->said.len },
		.reply = { task->reply.data ? task->reply.data : "", task->reply.len },
		.time_ms = acp_store_now_ms(),
		.cwd = str_from(chat->cwd),
		.patience_ns = ACP_STORE_PATIENCE_NS,
	};
	if (transcripts_add(editor->transcripts, &turn) < 0)
		acp_editor_warn(editor, "a turn is not kept: there is no memory for it");
}
