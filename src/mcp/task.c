/* A call of a client as a job of the service: what the job tells goes to the engine. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "mcp/front_parts.h"

/* ---- texts ----------------------------------------------------------------- */

bool mcp_task_add(struct buf *buf, size_t max, struct str text)
{
	size_t room = max > buf->len ? max - buf->len : 0;
	return buf_append(buf, text.data, text.len < room ? text.len : room) == 0 && text.len <= room;
}

static void mcp_task_note(struct mcp_task *task, struct str text)
{
	if (task->notes.len)
		mcp_task_add(&task->notes, MCP_NOTES_MAX, STR("\n"));
	mcp_task_add(&task->notes, MCP_NOTES_MAX, str_trim(text));
}

/* The last of it counts. */
static void mcp_task_add_tail(struct mcp_task *task, struct str text)
{
	const size_t most = MCP_NOTES_MAX;
	if (text.len > most)
		text = (struct str){ text.data + text.len - most, most };
	if (task->tail.len + text.len > most)
		buf_consume(&task->tail, task->tail.len + text.len - most);
	buf_append(&task->tail, text.data, text.len);
	if (task->kind == PERCH_ENTRY_COMMAND) /* they come as lines there */
		mcp_task_add(&task->tail, most, STR("\n"));
}

static void mcp_task_log(struct mcp_task *task, enum mcp_level level, struct str text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	if (!task->wire || !mcp_job_wants_log(task->wire, level))
		return;
	perch_json_write_string_n(&out, text.data, text.len);
	if (!json.failed)
		mcp_job_log(task->wire, level, str_from(task->name), (struct str){ json.data, json.len });
}

static enum mcp_level mcp_task_level(struct str name)
{
	if (str_is(name, "warn"))
		return MCP_LEVEL_WARNING;
	for (int level = MCP_LEVEL_DEBUG; level < MCP_LEVEL_NONE; level++) {
		if (str_is(name, mcp_level_name((enum mcp_level)level)))
			return (enum mcp_level)level;
	}
	return MCP_LEVEL_INFO;
}

/* What an MCP server says goes on as it is. */
static void mcp_task_log_shown(struct mcp_task *task, const perch_shown *shown)
{
	enum mcp_level level = mcp_task_level(str_of(shown->level));
	if (!shown->json.len)
		mcp_task_log(task, level, str_of(shown->text));
	else if (task->wire)
		mcp_job_log(task->wire, level, str_of(shown->key), str_of(shown->json));
}

/* ---- what a plugin shows --------------------------------------------------- */

static void mcp_task_shown(struct mcp_task *task, const perch_shown *shown)
{
	struct str text = str_of(shown->text);
	switch (shown->kind) {
	case PERCH_SHOWN_OUTPUT:
		task->is_cut = !mcp_task_add(&task->text, MCP_TEXT_MAX, text) || task->is_cut;
		break;
	case PERCH_SHOWN_LOG:
		mcp_task_log_shown(task, shown);
		break;
	case PERCH_SHOWN_PROGRESS:
		if (task->wire)
			mcp_job_progress(task->wire, shown->has_amount ? shown->current : -1,
				shown->has_amount ? shown->total : -1, text);
		break;
	case PERCH_SHOWN_WARNING:
		mcp_task_log(task, MCP_LEVEL_WARNING, text);
		break;
	case PERCH_SHOWN_ERROR:
		mcp_task_note(task, text);
		break;
	default:
		break;
	}
}

/* ---- the sink -------------------------------------------------------------- */

static void mcp_task_partial(struct mcp_task *task, struct str text)
{
	task->is_cut = !mcp_task_add(&task->text, MCP_TEXT_MAX, text) || task->is_cut;
	if (task->wire)
		mcp_job_progress(task->wire, -1, -1, text);
}

static void mcp_task_tell_end(const struct mcp_task *task, const perch_job_end *end)
{
	const struct mcp_front_options *options = &task->front->options;
	const struct mcp_call_end told = {
		.kind = task->kind,
		.name = task->name,
		.caller = task->caller,
		.took_ns = clock_now_ns() - task->begun_ns,
		.success = end->success,
		.was_cancelled = task->is_abandoned,
		.was_kept = task->kept,
	};
	if (options->ended)
		options->ended(options->data, &told);
}

static void mcp_task_end(struct mcp_task *task, const perch_job_end *end)
{
	mcp_task_tell_end(task, end);
	if (task->wire)
		mcp_task_result(task, end);
	perch_job_free(task->job);
	mcp_task_free(task);
}

static void mcp_task_take(perch_job *job, void *data, const perch_event *event)
{
	struct mcp_task *task = data;
	struct str text = str_of(event->text);
	mcp_front_tick(task->front);
	task->has_told = true;
	if (task->kept)
		task->front->options.told(task->front->options.data, task->kept, job, event);
	switch (event->kind) {
	case PERCH_EVENT_SHOWN:
		mcp_task_shown(task, event->shown);
		break;
	case PERCH_EVENT_PARTIAL:
		mcp_task_partial(task, text);
		break;
	case PERCH_EVENT_REPLY:
		task->is_cut = !mcp_task_add(&task->text, MCP_TEXT_MAX, text) || task->is_cut;
		break;
	case PERCH_EVENT_USAGE:
		buf_clear(&task->usage);
		mcp_task_add(&task->usage, MCP_NOTES_MAX, text);
		break;
	case PERCH_EVENT_STDERR:
		mcp_task_add_tail(task, text);
		break;
	case PERCH_EVENT_WARNING:
		mcp_task_log(task, MCP_LEVEL_WARNING, text);
		break;
	case PERCH_EVENT_ERROR:
		mcp_task_note(task, text);
		break;
	case PERCH_EVENT_ASK:
		mcp_task_ask(task, event->ask);
		break;
	case PERCH_EVENT_WITHDRAW:
		mcp_task_withdraw(task, event->number);
		break;
	case PERCH_EVENT_END:
		mcp_task_end(task, event->end);
		break;
	default:
		break;
	}
}

/* ---- life ------------------------------------------------------------------ */

void mcp_task_free(struct mcp_task *task)
{
	if (!task)
		return;
	if (task->job)
		list_remove(&task->front->tasks, task);
	buf_free(&task->text);
	buf_free(&task->notes);
	buf_free(&task->tail);
	buf_free(&task->usage);
	free(task);
}
DEFINE_POINTER_CLEANUP(mcp_cleanup_task, struct mcp_task, mcp_task_free)

void mcp_task_abandon(struct mcp_task *task)
{
	task->wire = NULL;
	task->is_abandoned = true;
	perch_job_hold(task->job, false); /* its end must be seen */
	perch_job_cancel(task->job, SIGTERM);
}

static struct mcp_task *mcp_task_new(
	struct mcp_front *front, const struct mcp_wish *wish, const perch_entry *entry)
{
	const struct mcp_caller *caller = mcp_caller_of(wish->connection);
	struct str name = str_from(entry->name), whose = str_from(caller->name);
	struct mcp_task *task = calloc(1, sizeof(*task) + name.len + whose.len + 2);
	if (!task)
		return NULL;
	task->work = MCP_WORK_TASK;
	task->front = front;
	task->wire = wish->job;
	task->kind = entry->kind;
	task->begun_ns = clock_now_ns();
	task->approves = caller->approves;
	task->advice = caller->advice;
	memcpy(task->name, name.data, name.len);
	task->caller = memcpy(task->name + name.len + 1, whose.data, whose.len);
	return task;
}

static int mcp_task_most(struct str text, int most)
{
	return text.len < (size_t)most ? (int)text.len : most;
}

/* For the audit log: the client's own words. */
static const char *mcp_task_client(const struct mcp_wish *wish, struct arena *arena)
{
	char text[512];
	const struct mcp_client *client = &wish->client;
	snprintf(text, sizeof(text), "%.*s %.*s (MCP %s)%s%.*s", mcp_task_most(client->name, 100),
		client->name.data ? client->name.data : "", mcp_task_most(client->version, 60),
		client->version.data ? client->version.data : "", wish->version->name,
		client->traceparent.len ? " " : "", mcp_task_most(client->traceparent, 100),
		client->traceparent.data ? client->traceparent.data : "");
	return arena_dup(arena, str_from(text));
}

void mcp_task_tell_client(
	const struct mcp_wish *wish, struct arena *arena, perch_job_request *request)
{
	const struct mcp_caller *caller = mcp_caller_of(wish->connection);
	request->caller.name = caller->name[0] ? caller->name : NULL;
	request->caller.client = mcp_task_client(wish, arena);
	request->session = caller->session[0] ? caller->session : NULL;
	request->is_legacy = !wish->version->is_modern;
	request->log_level = wish->level == MCP_LEVEL_NONE ? NULL : mcp_level_name(wish->level);
	request->answers_forms = wish->abilities & MCP_CAN_ELICIT;
	request->answers_sampling = wish->abilities & MCP_CAN_SAMPLE;
	request->answers_roots = wish->abilities & MCP_HAS_ROOTS;
}

static int mcp_task_submit(
	struct mcp_task *task, const struct mcp_wish *wish, const perch_entry *entry, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = task->kind;
	request.name = task->name;
	request.sink = mcp_task_take;
	request.data = task;
	mcp_task_tell_client(wish, &arena, &request);
	int r = mcp_task_request(task, wish, entry, &arena, &request, err);
	return r < 0 ? r : perch_job_submit(task->front->service, &request, &task->job, err);
}

/* Its job runs. */
static void mcp_task_keep(struct mcp_task *task)
{
	struct mcp_front *front = task->front;
	mcp_job_set_data(task->wire, task);
	list_append(&front->tasks, task);
	if (front->is_held)
		perch_job_hold(task->job, true);
}

/* A caller that cannot approve what it calls: who can may be somebody else. */
static void mcp_task_entrust(
	struct mcp_task *task, const struct mcp_wish *wish, const perch_entry *entry)
{
	const struct mcp_front_options *options = &task->front->options;
	struct mcp_kept_call call = {
		.caller = mcp_caller_of(wish->connection),
		.kind = task->kind,
		.name = task->name,
		.job = task->job,
	};
	if (!options->keep || !entry->asks || entry->is_waived || task->approves)
		return;
	if (wish->arguments)
		call.arguments.data = perch_json_raw(wish->arguments, &call.arguments.len);
	perch_job_hold(task->job, true);
	task->kept = options->keep(options->data, &call);
	if (!task->kept)
		perch_job_hold(task->job, task->front->is_held);
}

void mcp_task_begin(struct mcp_front *front, const struct mcp_wish *wish)
{
	const struct mcp_offer *item = mcp_offers_find(&front->offers, wish->name);
	perch_err err = { 0 };
	if (front->is_closed) {
		mcp_job_error(wish->job, JSONRPC_INTERNAL_ERROR,
			STR("the server ends: call it again later"), (struct str){ 0 });
		return;
	}
	if (!item || !mcp_caller_may(mcp_caller_of(wish->connection), item->entry)) {
		if (front->options.refused)
			front->options.refused(
				front->options.data, mcp_caller_of(wish->connection), wish->name);
		mcp_job_unknown(wish->job, STR("there is no such tool"));
		return;
	}
	if (!mcp_task_fits_headers(wish, item->entry))
		return;
	_cleanup_(mcp_cleanup_task) struct mcp_task *task = mcp_task_new(front, wish, item->entry);
	int r = task ? mcp_task_submit(task, wish, item->entry, &err) : -ENOMEM;
	if (r == -ENOENT) {
		mcp_job_unknown(wish->job, str_from(err.text));
		return;
	}
	if (r < 0) {
		mcp_task_refuse(wish->job, err.text[0] ? err.text : perch_strerror(r));
		return;
	}
	mcp_task_keep(task);
	mcp_task_entrust(steal(&task), wish, item->entry);
}

void mcp_task_pass(struct mcp_front *front, const struct mcp_wish *wish, const char *binding,
	const char *method, struct str params)
{
	const perch_entry entry = { .kind = PERCH_ENTRY_TOOL, .name = binding };
	_cleanup_(mcp_cleanup_task) struct mcp_task *task = mcp_task_new(front, wish, &entry);
	_cleanup_(arena_free) struct arena arena = { 0 };
	perch_job_request request = mcp_passage_request(binding, method, params, mcp_task_take, task);
	perch_err err = { 0 };
	mcp_task_tell_client(wish, &arena, &request);
	int r = task ? perch_job_submit(front->service, &request, &task->job, &err) : -ENOMEM;
	if (r == -ENOENT) {
		mcp_job_unknown(wish->job, STR("there is no such resource or prompt"));
	} else if (r < 0) {
		mcp_job_error(wish->job, JSONRPC_INTERNAL_ERROR,
			str_from(err.text[0] ? err.text : perch_strerror(r)), (struct str){ 0 });
	} else {
		task->method = method;
		mcp_task_keep(steal(&task));
	}
}
