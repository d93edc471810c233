/* A session of the editor: where it works, with which agent, and what else it offers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "acp/editor_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"

/* ---- life ------------------------------------------------------------------ */

void acp_chat_free(struct acp_chat *chat)
{
	if (!chat)
		return;
	for (struct acp_task *task = list_first(&chat->editor->tasks); task; task = list_next(task)) {
		if (task->chat == chat)
			task->chat = NULL;
	}
	list_remove(&chat->editor->chats, chat);
	free(chat->cwd);
	free(chat->context);
	for (size_t i = 0; chat->own_ids && chat->editor->agents[i]; i++)
		free(chat->own_ids[i]);
	free(chat->own_ids);
	free(chat);
}

char **acp_chat_own_id(const struct acp_chat *chat, const char *agent)
{
	char **own_id = chat->own_ids;
	for (const char *const *each = chat->editor->agents; *each != agent; each++)
		own_id++;
	return own_id;
}

void acp_chat_forget(struct acp_chat *chat)
{
	if (chat->parked)
		acp_task_cancel(chat->parked);
	acp_chat_free(chat);
}

/* What an agent of 0.4 is told of the place. */
static int acp_chat_describe(const struct acp_place *place, char **ret_context)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	*ret_context = NULL;
	if (!place->directories.len && !place->servers.len)
		return 0;
	perch_json_begin_object(&out);
	if (place->directories.len) {
		perch_json_write_name(&out, "additional_directories");
		perch_json_write_raw(&out, place->directories.data, place->directories.len);
	}
	if (place->servers.len) {
		perch_json_write_name(&out, "mcp_servers");
		perch_json_write_raw(&out, place->servers.data, place->servers.len);
	}
	perch_json_end_object(&out);
	for (size_t i = 0; i < text.len; i++) { /* it becomes a part of one line */
		if (text.data[i] == '\n' || text.data[i] == '\r')
			text.data[i] = ' ';
	}
	if (buf_terminate(&text) < 0)
		return -ENOMEM;
	*ret_context = buf_steal(&text);
	return 0;
}

int acp_chat_move(struct acp_chat *chat, const struct acp_place *place)
{
	char *context = NULL;
	char *cwd = str_dup(place->cwd);
	if (!cwd || acp_chat_describe(place, &context) < 0) {
		free(cwd);
		return -ENOMEM;
	}
	free(chat->cwd);
	free(chat->context);
	chat->cwd = cwd;
	chat->context = context;
	return 0;
}

struct acp_chat *acp_chat_open(
	struct acp_editor *editor, const struct acp_place *place, struct str name, perch_err *err)
{
	struct acp_chat *chat = calloc(1, sizeof(*chat));
	char **own_ids = calloc(list_count(editor->agents), sizeof(*own_ids));
	if (!chat || !own_ids || acp_chat_move(chat, place) < 0) {
		free(own_ids);
		free(chat);
		err_no_memory(err);
		return NULL;
	}
	chat->editor = editor;
	chat->own_ids = own_ids;
	chat->agent = editor->agents[0];
	memcpy(chat->name, name.data, name.len);
	list_append(&editor->chats, chat);
	int r = acp_session_open(editor->agent, name, chat, &chat->session);
	if (r == 0)
		return chat;
	acp_chat_free(chat);
	if (r == PERCH_ELIMIT)
		err_set(err, r, "too many sessions are open: close some");
	else
		err_no_memory(err);
	return NULL;
}

/* ---- the choice of an agent ------------------------------------------------ */

static void acp_chat_write_choice(
	const struct acp_editor *editor, const char *name, perch_json_writer *out)
{
	const perch_entry *entry = perch_catalog_find(editor->catalog, PERCH_ENTRY_AGENT, name);
	perch_json_begin_object(out);
	json_write_text(out, "value", str_from(name));
	json_write_text(out, "name", str_from(entry && entry->title ? entry->title : name));
	if (entry && entry->description)
		json_write_text(out, "description", str_from(entry->description));
	perch_json_end_object(out);
}

/* One agent is no choice. */
static void acp_chat_write_options(const struct acp_chat *chat, perch_json_writer *out)
{
	const struct acp_editor *editor = chat->editor;
	perch_json_begin_array(out);
	perch_json_begin_object(out);
	json_write_text(out, "id", STR("agent"));
	json_write_text(out, "name", STR("Agent"));
	json_write_text(out, "description", STR("Who answers in this session"));
	json_write_text(out, "category", STR("_agent"));
	json_write_text(out, "type", STR("select"));
	json_write_text(out, "currentValue", str_from(chat->agent));
	perch_json_write_name(out, "options");
	perch_json_begin_array(out);
	for (size_t i = 0; editor->agents[i]; i++)
		acp_chat_write_choice(editor, editor->agents[i], out);
	perch_json_end_array(out);
	perch_json_end_object(out);
	perch_json_end_array(out);
}

void acp_chat_answer(struct acp_chat *chat, struct acp_request *request, bool is_new)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	if (chat->editor->agents[1])
		acp_chat_write_options(chat, &out);
	acp_request_session(request, is_new ? chat->session : NULL,
		text.failed ? (struct str){ 0 } : (struct str){ text.data, text.len });
	acp_chat_tell_commands(chat);
}

void acp_chat_configure(struct acp_editor *editor, const struct acp_wish *wish)
{
	struct acp_chat *chat = acp_session_data(wish->session);
	size_t i = 0;
	while (editor->agents[i] && !str_is(wish->value, editor->agents[i]))
		i++;
	if (!editor->agents[1] || !str_is(wish->option, "agent") || !editor->agents[i]) {
		acp_request_fail(wish->request, JSONRPC_INVALID_PARAMS,
			STR("there is no such option, or no such value of it"), (struct str){ 0 });
		return;
	}
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	chat->agent = editor->agents[i];
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "configOptions");
	acp_chat_write_options(chat, &out);
	perch_json_end_object(&out);
	if (text.failed)
		acp_request_fail(
			wish->request, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
	else
		acp_request_object(wish->request, (struct str){ text.data, text.len });
}

/* ---- commands -------------------------------------------------------------- */

static void acp_chat_write_command(const perch_entry *entry, perch_json_writer *out)
{
	const char *words = entry->description ? entry->description : "";
	perch_json_begin_object(out);
	json_write_text(out, "name", str_from(entry->name));
	json_write_text(out, "description", str_from(words));
	perch_json_write_name(out, "input");
	perch_json_begin_object(out);
	json_write_text(out, "hint", STR("arguments"));
	perch_json_end_object(out);
	perch_json_end_object(out);
}

void acp_chat_tell_commands(struct acp_chat *chat)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	size_t count = 0, told = 0;
	const perch_entry *entries = perch_catalog_entries(chat->editor->catalog, &count);
	perch_json_begin_object(&out);
	json_write_text(&out, "sessionUpdate", STR("available_commands_update"));
	perch_json_write_name(&out, "availableCommands");
	perch_json_begin_array(&out);
	for (size_t i = 0; i < count; i++) {
		if (entries[i].kind != PERCH_ENTRY_COMMAND || entries[i].problem)
			continue;
		acp_chat_write_command(&entries[i], &out);
		told++;
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	if (!text.failed && (told || chat->has_commands))
		acp_session_update(chat->session, (struct str){ text.data, text.len });
	chat->has_commands = told > 0;
}

/* ---- new ones -------------------------------------------------------------- */

static bool acp_chat_name(char name[ACP_NAME_SIZE])
{
	unsigned char bytes[16];
	int len = snprintf(name, ACP_NAME_SIZE, "acp-");
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		len += snprintf(name + len, ACP_NAME_SIZE - (size_t)len, "%02x", bytes[i]);
	return true;
}

void acp_chat_new(struct acp_editor *editor, const struct acp_wish *wish)
{
	char name[ACP_NAME_SIZE];
	perch_err err = { 0 };
	struct acp_chat *chat =
		acp_chat_name(name) ? acp_chat_open(editor, &wish->place, str_from(name), &err) : NULL;
	if (chat)
		acp_chat_answer(chat, wish->request, true);
	else
		acp_request_fail(wish->request, JSONRPC_INTERNAL_ERROR,
			str_from(err.text[0] ? err.text : "there are no random numbers"), (struct str){ 0 });
}
