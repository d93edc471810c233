/* A prompt as a job of the service: a turn of an agent, or a plugin's command. What the job tells
 * becomes updates of the session. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/editor_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/tree.h"
#include "data/json.h"

enum { ACP_ARGUMENTS_MAX = 256 };

/* ---- texts ----------------------------------------------------------------- */

/* Adds to a text up to a limit. */
static void acp_task_add(struct buf *buf, size_t max, struct str text)
{
	size_t room = max > buf->len ? max - buf->len : 0;
	buf_append(buf, text.data, text.len < room ? text.len : room);
}

void acp_task_say(struct acp_task *task, struct str text)
{
	acp_task_add(&task->reply, ACP_REPLY_MAX, text);
	if (task->chat && task->chat->session)
		acp_session_chunk(task->chat->session, ACP_AGENT_SAYS, text, (struct str){ 0 });
}

/* The protocol has no warnings: they are shown as thoughts, and in the editor's log. */
static void acp_task_warn(struct acp_task *task, struct str text)
{
	char line[1024];
	snprintf(line, sizeof(line), "%.*s", (int)(text.len < 1000 ? text.len : 1000), text.data);
	acp_editor_warn(task->editor, line);
	if (task->chat && task->chat->session)
		acp_session_chunk(
			task->chat->session, ACP_AGENT_THINKS, text, STR("{\"perch\":{\"warning\":true}}"));
}

static void acp_task_note(struct acp_task *task, struct str text)
{
	if (task->notes.len)
		acp_task_add(&task->notes, ACP_NOTES_MAX, STR("\n"));
	acp_task_add(&task->notes, ACP_NOTES_MAX, str_trim(text));
}

/* The last of it counts. */
static void acp_task_add_tail(struct acp_task *task, struct str text)
{
	const size_t most = ACP_NOTES_MAX;
	if (text.len > most)
		text = (struct str){ text.data + text.len - most, most };
	if (task->tail.len + text.len + 1 > most)
		buf_consume(&task->tail, task->tail.len + text.len + 1 - most);
	buf_append(&task->tail, text.data, text.len);
	if (task->is_command) /* they come as lines there */
		buf_append_char(&task->tail, '\n');
}

/* ---- the sink -------------------------------------------------------------- */

static void acp_task_shown(struct acp_task *task, const perch_shown *shown)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	switch (shown->kind) {
	case PERCH_SHOWN_OUTPUT:
		acp_task_say(task, str_of(shown->text));
		break;
	case PERCH_SHOWN_LOG:
	case PERCH_SHOWN_PROGRESS:
		if (shown->has_amount)
			buf_printf(&text, "%.0f/%.0f ", shown->current, shown->total);
		buf_append(&text, shown->text.data, shown->text.len);
		buf_append_char(&text, '\n');
		if (!text.failed && task->chat && task->chat->session)
			acp_session_chunk(task->chat->session, ACP_AGENT_THINKS,
				(struct str){ text.data, text.len }, (struct str){ 0 });
		break;
	case PERCH_SHOWN_WARNING:
		acp_task_warn(task, str_of(shown->text));
		break;
	case PERCH_SHOWN_ERROR:
		acp_task_note(task, str_of(shown->text));
		break;
	default:
		break;
	}
}

static void acp_task_error(struct acp_task *task, const perch_event *event)
{
	if (!task->code[0] && event->code)
		snprintf(task->code, sizeof(task->code), "%s", event->code);
	acp_task_note(task, str_of(event->text));
}

/* Where the agent says how full its context is, the editor can show it. */
static void acp_task_usage(struct acp_task *task, struct str json)
{
	_cleanup_json_ perch_json *document = NULL;
	const perch_json_value *root = NULL;
	int64_t used = -1, size = -1;
	char update[128];
	buf_clear(&task->usage);
	acp_task_add(&task->usage, ACP_NOTES_MAX, json);
	if (perch_json_new(NULL, &document) < 0 ||
		perch_json_parse(document, json.data, json.len, &root, NULL) < 0 ||
		perch_json_type_of(root) != PERCH_JSON_OBJECT) {
		buf_clear(&task->usage);
		return;
	}
	if (perch_json_whole_int64(perch_json_get(root, "used"), &used) < 0 ||
		perch_json_whole_int64(perch_json_get(root, "size"), &size) < 0 || used < 0 || size < 0)
		return;
	snprintf(update, sizeof(update),
		"{\"sessionUpdate\":\"usage_update\",\"used\":%lld,\"size\":%lld}", (long long)used,
		(long long)size);
	if (task->chat && task->chat->session)
		acp_session_update(task->chat->session, str_from(update));
}

/* Without a store the id is kept here. */
static void acp_task_session(struct acp_task *task, struct str id)
{
	struct acp_chat *chat = task->chat;
	if (!chat || !task->editor->options.no_store)
		return;
	char **own_id = acp_chat_own_id(chat, task->agent);
	free(*own_id);
	*own_id = str_dup(id);
}

static void acp_task_thinks(struct acp_task *task, struct str text)
{
	if (task->chat && task->chat->session)
		acp_session_chunk(task->chat->session, ACP_AGENT_THINKS, text, (struct str){ 0 });
}

static void acp_task_take(perch_job *job, void *data, const perch_event *event)
{
	(void)job;
	struct acp_task *task = data;
	struct str text = str_of(event->text);
	switch (event->kind) {
	case PERCH_EVENT_SHOWN:
		acp_task_shown(task, event->shown);
		break;
	case PERCH_EVENT_PARTIAL:
	case PERCH_EVENT_REPLY:
		acp_task_say(task, text);
		break;
	case PERCH_EVENT_THINKING:
		acp_task_thinks(task, text);
		break;
	case PERCH_EVENT_SESSION:
		acp_task_session(task, text);
		break;
	case PERCH_EVENT_USAGE:
		acp_task_usage(task, text);
		break;
	case PERCH_EVENT_ACTIVITY:
		acp_task_activity(task, event);
		break;
	case PERCH_EVENT_STDERR:
		acp_task_add_tail(task, text);
		break;
	case PERCH_EVENT_WARNING:
		acp_task_warn(task, text);
		break;
	case PERCH_EVENT_ERROR:
		acp_task_error(task, event);
		break;
	case PERCH_EVENT_ASK:
		acp_task_ask(task, event->ask);
		break;
	case PERCH_EVENT_WITHDRAW:
		acp_task_withdraw(task, event->number);
		break;
	case PERCH_EVENT_END:
		acp_task_end(task, event->end);
		break;
	default:
		break;
	}
}

/* ---- life ------------------------------------------------------------------ */

void acp_task_free(struct acp_task *task)
{
	if (!task)
		return;
	if (task->job)
		list_remove(&task->editor->tasks, task);
	if (task->chat && task->chat->parked == task)
		task->chat->parked = NULL;
	if (task->folder)
		tree_remove(task->folder);
	free(task->folder);
	buf_free(&task->said);
	buf_free(&task->reply);
	buf_free(&task->notes);
	buf_free(&task->tail);
	buf_free(&task->usage);
	buf_free(&task->tools);
	free(task);
}
DEFINE_POINTER_CLEANUP(acp_cleanup_task, struct acp_task, acp_task_free)

void acp_task_cancel(struct acp_task *task)
{
	perch_job_cancel(task->job, SIGINT);
}

/* ---- requests -------------------------------------------------------------- */

/* "/deploy staging": the command, NULL where there is none of that name, and its words. -ENOMEM:
 * then it is for nobody, least of all for the agent. */
static int acp_task_find_command(
	const struct acp_task *task, const perch_entry **ret_command, struct str *ret_words)
{
	struct str rest = str_trim((struct str){ task->said.data, task->said.len });
	*ret_command = NULL;
	if (!str_has_prefix(rest, STR("/")))
		return 0;
	rest.data++;
	rest.len--;
	size_t len = 0;
	while (len < rest.len && !memchr(" \t\r\n", rest.data[len], 4))
		len++;
	_cleanup_free_ char *name = str_dup((struct str){ rest.data, len });
	if (!name)
		return -ENOMEM;
	const perch_entry *entry = perch_catalog_find(task->editor->catalog, PERCH_ENTRY_COMMAND, name);
	*ret_words = (struct str){ rest.data + len, rest.len - len };
	*ret_command = entry && !entry->problem ? entry : NULL;
	return 0;
}

static int acp_task_split(
	struct str words, struct arena *arena, const char *const **ret_list, perch_err *err)
{
	const char **list = arena_alloc(arena, (ACP_ARGUMENTS_MAX + 1) * sizeof(*list));
	size_t count = 0, at = 0;
	if (!list)
		return err_no_memory(err);
	while (at < words.len) {
		size_t begin = at;
		while (at < words.len && !memchr(" \t\r\n", words.data[at], 4))
			at++;
		if (at > begin && count >= ACP_ARGUMENTS_MAX)
			return err_set(err, -EINVAL, "there are more than %d words", (int)ACP_ARGUMENTS_MAX);
		if (at > begin &&
			!(list[count++] = arena_dup(arena, (struct str){ words.data + begin, at - begin })))
			return err_no_memory(err);
		at++;
	}
	list[count] = NULL;
	*ret_list = list;
	return 0;
}

static int acp_task_fill(
	struct acp_task *task, struct arena *arena, perch_job_request *request, perch_err *err)
{
	struct str words = { 0 };
	const perch_entry *command = NULL;
	const struct acp_chat *chat = task->chat;
	if (acp_task_find_command(task, &command, &words) < 0)
		return err_no_memory(err);
	request->cwd = chat->cwd;
	if (command) {
		task->is_command = true;
		request->kind = PERCH_ENTRY_COMMAND;
		request->name = command->name;
		return acp_task_split(words, arena, &request->args, err);
	}
	request->kind = PERCH_ENTRY_AGENT;
	request->name = chat->agent;
	request->session = chat->name;
	request->context = chat->context;
	return 0;
}

static int acp_task_submit(struct acp_task *task, const struct acp_wish *wish, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	request.sink = acp_task_take;
	request.data = task;
	request.shows_stderr = true;
	request.caller.client = acp_agent_client(task->editor->agent);
	turn.session_id = *acp_chat_own_id(task->chat, task->agent);
	int r = acp_text_read(task, wish, &arena, &request, err);
	if (r == 0)
		r = acp_task_fill(task, &arena, &request, err);
	if (r < 0)
		return r;
	if (!task->is_command && turn.session_id)
		request.turn = &turn;
	return perch_job_submit(task->editor->service, &request, &task->job, err);
}

/* The text of a prompt that is an answer. */
static void acp_task_resume(struct acp_task *task, const struct acp_wish *wish)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	for (size_t i = 0; i < wish->block_count; i++) {
		if (wish->blocks[i].kind == ACP_TEXT)
			buf_append(&text, wish->blocks[i].text.data, wish->blocks[i].text.len);
	}
	if (text.failed) { /* the question stays */
		task->chat->parked = task;
		acp_request_fail(
			wish->request, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
		return;
	}
	task->request = wish->request;
	acp_request_set_data(wish->request, task);
	acp_task_read_answer(task, (struct str){ text.data ? text.data : "", text.len });
}

void acp_task_begin(struct acp_editor *editor, const struct acp_wish *wish)
{
	struct acp_chat *chat = acp_session_data(wish->session);
	perch_err err = { 0 };
	if (chat->parked) {
		struct acp_task *parked = chat->parked;
		chat->parked = NULL;
		acp_task_resume(parked, wish);
		return;
	}
	_cleanup_(acp_cleanup_task) struct acp_task *task = calloc(1, sizeof(*task));
	int r = -ENOMEM;
	if (task) {
		task->editor = editor;
		task->chat = chat;
		task->agent = chat->agent;
		task->request = wish->request;
		r = acp_task_submit(task, wish, &err);
	}
	if (r < 0) {
		int64_t code = r == -EINVAL ? (int64_t)JSONRPC_INVALID_PARAMS : JSONRPC_INTERNAL_ERROR;
		acp_request_fail(wish->request, code, str_from(err.text[0] ? err.text : perch_strerror(r)),
			(struct str){ 0 });
		return;
	}
	acp_request_set_data(wish->request, task);
	list_append(&editor->tasks, task);
	if (editor->client.is_held)
		perch_job_hold(task->job, true);
	task = NULL;
}
