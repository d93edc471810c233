/* An editor on stdin and stdout: its lines go to the engine, the engine's wishes become chats
 * (editor_chat.c) and jobs of the service (editor_task.c), and all of it ends with the editor. */
#include "acp/acp_editor.h"

#include <errno.h>
#include <stdlib.h>

#include "acp/editor_parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/paths.h"
#include "wire/acp_tape.h"

DEFINE_POINTER_CLEANUP(acp_cleanup_editor, struct acp_editor, acp_editor_free)

void acp_editor_warn(struct acp_editor *editor, const char *text)
{
	if (editor->options.warn)
		editor->options.warn(editor->options.data, text);
}

/* ---- the engine ------------------------------------------------------------ */

static void acp_editor_send(void *data, struct str line, bool is_response)
{
	struct acp_editor *editor = data;
	(void)is_response; /* editors keep order: no gap is needed */
	acp_tape(editor, "agent", true, line);
	stdio_output_take(&editor->client.output, line, false);
}

static void acp_editor_wish(void *data, const struct acp_wish *wish)
{
	struct acp_editor *editor = data;
	struct acp_task *task = wish->request ? acp_request_data(wish->request) : NULL;
	switch (wish->kind) {
	case ACP_WISH_NEW:
		acp_chat_new(editor, wish);
		break;
	case ACP_WISH_LOAD:
	case ACP_WISH_RESUME:
		acp_store_reopen(editor, wish);
		break;
	case ACP_WISH_LIST:
		acp_store_list(editor, wish);
		break;
	case ACP_WISH_DELETE:
		acp_store_delete(editor, wish);
		break;
	case ACP_WISH_CONFIGURE:
		acp_chat_configure(editor, wish);
		break;
	case ACP_WISH_PROMPT:
		acp_task_begin(editor, wish);
		break;
	case ACP_WISH_CANCEL:
		if (task)
			acp_task_cancel(task);
		break;
	case ACP_WISH_ANSWER:
		if (task)
			acp_task_answer(task, wish->number, wish->answer);
		break;
	case ACP_WISH_FORGET:
		acp_chat_forget(acp_session_data(wish->session));
		break;
	}
}

static const struct acp_agent_table acp_editor_table = {
	.send = acp_editor_send,
	.wish = acp_editor_wish,
};

/* ---- the client ------------------------------------------------------------ */

static void acp_editor_line(void *data, struct str line, bool is_too_long)
{
	struct acp_editor *editor = data;
	acp_tape(editor, "agent", false, line);
	acp_agent_line(editor->agent, line, is_too_long);
}

static bool acp_editor_is_broken(void *data)
{
	const struct acp_editor *editor = data;
	return editor->agent && acp_agent_is_broken(editor->agent);
}

static void acp_editor_hold(void *data, bool is_held)
{
	struct acp_editor *editor = data;
	for (struct acp_task *task = list_first(&editor->tasks); task; task = list_next(task))
		perch_job_hold(task->job, is_held);
}

static void acp_editor_leave(void *data)
{
	struct acp_editor *editor = data;
	for (struct acp_task *task = list_first(&editor->tasks); task; task = list_next(task)) {
		task->request = NULL;
		task->chat = NULL;
	}
	for (struct acp_chat *chat = list_first(&editor->chats); chat; chat = list_next(chat))
		chat->session = NULL;
	acp_agent_free(steal(&editor->agent));
}

static const struct stdio_client_table acp_editor_client = {
	.line_max = ACP_LINE_MAX,
	.unread_max = ACP_UNREAD_MAX,
	.line = acp_editor_line,
	.is_broken = acp_editor_is_broken,
	.hold = acp_editor_hold,
	.leave = acp_editor_leave,
};

int acp_editor_run(struct acp_editor *editor)
{
	editor->client.service = editor->service;
	return stdio_client_run(&editor->client);
}

void acp_editor_stop(struct acp_editor *editor)
{
	stdio_client_stop(&editor->client);
}

/* ---- the catalogue --------------------------------------------------------- */

static int acp_editor_read_catalog(struct acp_editor *editor, perch_err *err)
{
	perch_catalog *catalog = NULL;
	int r = perch_service_catalog(editor->service, &catalog, err);
	if (r < 0)
		return r;
	perch_catalog_free(editor->catalog);
	editor->catalog = catalog;
	return 0;
}

static void acp_editor_changed(perch_service *service, void *data)
{
	(void)service;
	struct acp_editor *editor = data;
	perch_timer_set(editor->changes, ACP_SETTLE_MS * NSEC_PER_MSEC);
}

static void acp_editor_read_again(perch_timer *timer, void *data)
{
	(void)timer;
	struct acp_editor *editor = data;
	perch_err err = { 0 };
	if (editor->client.is_ending)
		return;
	if (acp_editor_read_catalog(editor, &err) < 0) {
		acp_editor_warn(editor, err.text);
		return;
	}
	for (struct acp_chat *chat = list_first(&editor->chats); chat; chat = list_next(chat))
		acp_chat_tell_commands(chat);
}

static void acp_editor_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	acp_editor_warn(data, text);
}

/* ---- life ------------------------------------------------------------------ */

static int acp_editor_open_service(struct acp_editor *editor, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.frontend = "acp";
	options.profiles = editor->options.profiles;
	options.no_store = editor->options.no_store;
	options.trace = editor->options.trace;
	options.trace_secrets = editor->options.trace_secrets;
	options.changed = acp_editor_changed;
	options.warn = acp_editor_service_warns;
	options.data = editor;
	int r = perch_service_new(editor->host, &options, &editor->service, err);
	return r < 0 ? r : acp_editor_read_catalog(editor, err);
}

/* The name that the catalogue has for a file. */
static const perch_entry *acp_editor_find_agent(struct acp_editor *editor, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str stem = str_from(slash ? slash + 1 : path);
	if (str_has_suffix(stem, STR(".yaml")))
		stem.len -= strlen(".yaml");
	const char *name = arena_dup(&editor->arena, stem);
	return name ? perch_catalog_find(editor->catalog, PERCH_ENTRY_AGENT, name) : NULL;
}

static int acp_editor_find_agents(
	struct acp_editor *editor, bool *ret_has_directories, perch_err *err)
{
	size_t count = list_count(editor->options.profiles);
	editor->agents = arena_alloc(&editor->arena, (count + 1) * sizeof(*editor->agents));
	const char *list = arena_dup(&editor->arena, STR(","));
	for (size_t i = 0; i < count && editor->agents && list; i++) {
		const char *path = editor->options.profiles[i];
		const perch_entry *entry = acp_editor_find_agent(editor, path);
		if (!entry)
			return err_set(err, -ENOENT, "there is no profile %.200s", path);
		if (entry->problem)
			return err_set(err, -EINVAL, "%s", entry->problem);
		*ret_has_directories = *ret_has_directories || strcmp(entry->protocol, "0.1") != 0;
		editor->agents[i] = arena_dup(&editor->arena, str_from(entry->name));
		editor->agents[i + 1] = NULL;
		list = arena_join(&editor->arena, list, entry->name, ",", NULL);
		if (!editor->agents[i])
			return err_no_memory(err);
	}
	editor->agent_list = list;
	return editor->agents && list ? 0 : err_no_memory(err);
}

static int acp_editor_open_engine(struct acp_editor *editor, perch_err *err)
{
	struct acp_agent_options options = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
		.has_store = !editor->options.no_store,
		.has_attachments = true,
	};
	int r = acp_editor_find_agents(editor, &options.has_directories, err);
	if (r < 0)
		return r;
	const perch_entry *first =
		perch_catalog_find(editor->catalog, PERCH_ENTRY_AGENT, editor->agents[0]);
	options.title = str_from(first->title ? first->title : first->name);
	if (acp_agent_new(&options, &acp_editor_table, editor, &editor->agent) < 0)
		return err_no_memory(err);
	return 0;
}

static int acp_editor_open_store(struct acp_editor *editor, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	if (editor->options.no_store)
		return 0;
	int r = paths_user(PATH_STATE, "perch", &directory, err);
	if (r == 0)
		r = paths_make(directory, err);
	_cleanup_free_ char *path = r == 0 ? str_join(directory, "/transcripts.db", NULL) : NULL;
	if (r == 0 && !path)
		r = err_no_memory(err);
	return r < 0 ? r : transcripts_open(editor->host, path, &editor->transcripts, err);
}

int acp_editor_new(perch_host *host, const struct acp_editor_options *options,
	struct acp_editor **ret_editor, perch_err *err)
{
	_cleanup_(acp_cleanup_editor) struct acp_editor *editor = calloc(1, sizeof(*editor));
	if (!editor)
		return err_no_memory(err);
	editor->host = host;
	editor->options = *options;
	editor->client =
		(struct stdio_client){ .table = &acp_editor_client, .data = editor, .host = host };
	int r = stdio_client_open(&editor->client, options->input, options->output, err);
	if (r == 0)
		r = perch_timer_new(host, acp_editor_read_again, editor, &editor->changes, err);
	if (r == 0)
		r = acp_editor_open_service(editor, err);
	if (r == 0)
		r = acp_editor_open_engine(editor, err);
	if (r == 0)
		r = acp_editor_open_store(editor, err);
	if (r < 0)
		return r;
	*ret_editor = steal(&editor);
	return 0;
}

/* What is under way in the transcripts is finished before: it has requests of the engine. */
void acp_editor_free(struct acp_editor *editor)
{
	if (!editor)
		return;
	editor->client.is_ending = true;
	acp_agent_free(steal(&editor->agent));
	perch_service_free(editor->service);
	struct acp_task *task;
	while ((task = list_first(&editor->tasks)))
		acp_task_free(task);
	struct acp_chat *chat;
	while ((chat = list_first(&editor->chats)))
		acp_chat_free(chat);
	transcripts_free(editor->transcripts);
	perch_catalog_free(editor->catalog);
	perch_timer_free(editor->changes);
	stdio_client_close(&editor->client);
	arena_free(&editor->arena);
	free(editor);
}
