/* The way of a job from its beginning on: it is submitted to the service, and what it tells becomes
 * events, questions and a result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "queue/job_request.h"
#include "serve/serve_catalog.h"
#include "serve/jobs.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

/* ---- the end ----------------------------------------------------------------------- */

static void jobs_saved(void *data, int error)
{
	struct record *record = data;
	record->saving--;
	record->is_unsaved = error < 0;
}

/* Frees what is not needed behind the end. */
void jobs_settle(struct record *record, enum queue_state state)
{
	struct serve *serve = record->serve;
	struct record_ask *ask;
	record->ended_ms = record_now_ms();
	record_become(record, state);
	while ((ask = list_first(&record->asks))) {
		list_remove(&record->asks, ask);
		free(ask);
	}
	uploads_remove(&record->uploads);
	serve_note_end(record);
	buf_free(&record->result.text);
	record->request = (struct str){ 0 };
	free(steal(&record->request_text));
	record->is_unsaved = !serve->options.queue; /* else it was the queue that told */
	if (record->is_unsaved && record_save(record, jobs_saved, record) < 0)
		serve_warn(serve, "the end of a job is not written: there is no memory for it");
	metrics_job(&serve->metrics, record->kind, state,
		(uint64_t)(record->ended_ms - record->created_ms) * NSEC_PER_MSEC);
	jobs_schedule(serve);
}

static void jobs_log_text(
	struct record *record, const char *event, const char *code, const char *text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	json_write_text(&out, "event", str_from(event));
	if (code)
		json_write_text(&out, "code", str_from(code));
	json_write_text(&out, "message", str_from(text));
	perch_json_end_object(&out);
	if (!json.failed)
		record_log(record, (struct str){ json.data, json.len });
}

/* The clients that wait for the end wait for this event. */
static void jobs_log_end(struct record *record, struct str text)
{
	record->end_number = record->serve->records.last_number + 1;
	record_log(record, text);
}

void jobs_fail(struct record *record, enum queue_state state, const char *code, const char *text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	jobs_log_text(record, "error", code, text);
	job_result_finish(&record->result, record->kind == JOBS_TURN, NULL);
	jobs_settle(record, state);
	perch_json_begin_object(&out);
	json_write_text(&out, "event", STR("end"));
	json_write_flag(&out, "success", false);
	json_write_text(&out, "state", str_from(queue_state_name(state)));
	perch_json_end_object(&out);
	if (!json.failed)
		jobs_log_end(record, (struct str){ json.data, json.len });
}

/* ---- what it tells --------------------------------------------------------------------- */

static void jobs_keep_ask(struct record *record, const perch_ask *ask, perch_text text)
{
	struct record_ask *kept = malloc(sizeof(*kept) + text.len);
	if (!kept)
		return;
	kept->number = ask->number;
	kept->kind = ask->kind;
	kept->len = text.len;
	kept->option_count = ask->question ? ask->question->option_count : ask->option_count;
	memcpy(kept->text, text.data, text.len);
	list_append(&record->asks, kept);
}

static void jobs_note(struct record *record, const perch_event *event, perch_text text)
{
	job_result_note(&record->result, event, text);
	switch (event->kind) {
	case PERCH_EVENT_ASK:
		jobs_keep_ask(record, event->ask, text);
		break;
	case PERCH_EVENT_WITHDRAW:
		record_close_ask(record, event->number);
		break;
	default:
		break;
	}
}

static void jobs_keep_layers(struct record *record, const char *const *layers)
{
	perch_json_writer out = json_writer_on(&record->layers);
	record_write_list(&out, layers);
	if (record->layers.failed)
		buf_free(&record->layers);
}

static void jobs_ended(struct record *record, const perch_job_end *end, struct str text)
{
	_cleanup_(buf_free) struct buf copy = { 0 };
	enum queue_state state = end->was_cancelled ? QUEUE_CANCELLED
		: end->success                          ? QUEUE_DONE
												: QUEUE_FAILED;
	buf_append(&copy, text.data, text.len); /* the job owns the text */
	job_result_finish(&record->result, record->kind == JOBS_TURN, end);
	jobs_keep_layers(record, end->sandbox);
	perch_job_free(steal(&record->job));
	jobs_settle(record, state);
	if (!copy.failed)
		jobs_log_end(record, (struct str){ copy.data, copy.len });
}

static void jobs_told(perch_job *job, void *data, const perch_event *event)
{
	struct record *record = data;
	perch_text text = { "{}", 2 };
	int r = perch_event_json(job, event, NULL, &text);
	if (r < 0)
		serve_warn(record->serve, "an event is lost: %s", perch_strerror(r));
	jobs_note(record, event, text);
	if (event->kind == PERCH_EVENT_END)
		jobs_ended(record, event->end, str_of(text));
	else if (r == 0)
		record_log(record, str_of(text));
}

/* ---- the beginning ---------------------------------------------------------------------- */

static int jobs_submit(struct record *record, perch_err *err)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	const struct queue_job job = {
		.name = record->name,
		.owner = record->owner,
		.session = record->session,
		.request = record->request,
		.client = str_from(record->client),
	};
	record->uploads.arena = &record->arena;
	record->uploads.id = record->id;
	int r = job_request_fill(&job, record->entry_kind, &record->uploads, &request, err);
	if (r < 0)
		return r;
	request.sink = jobs_told;
	request.data = record;
	return perch_job_submit(record->serve->service, &request, &record->job, err);
}

void jobs_begin(struct record *record)
{
	perch_err err = { 0 };
	int r = jobs_submit(record, &err);
	if (r < 0)
		jobs_fail(record, QUEUE_FAILED, r == -ENOENT ? "not_found" : "start",
			err.text[0] ? err.text : perch_strerror(r));
}

/* ---- behind a death ----------------------------------------------------------------------- */

int jobs_load(struct serve *serve, const struct queue_job *job)
{
	unsigned kind = 0;
	while (kind < METRICS_KINDS && !str_is(job->kind, metrics_kinds[kind]))
		kind++;
	if (kind == METRICS_KINDS || !queue_is_id(job->id))
		return 0; /* of another perch, or another program */
	struct record *record = record_new(serve, kind, job->name, job->owner);
	if (!record)
		return -ENOMEM;
	memset(record->id, 0, sizeof(record->id));
	memcpy(record->id, job->id.data, job->id.len);
	record->state = job->state;
	record->created_ms = job->created_ms;
	record->started_ms = job->started_ms;
	record->ended_ms = job->ended_ms;
	record->tries = job->tries;
	record->is_written = true;
	static const perch_entry_kind entries[] = { PERCH_ENTRY_AGENT, PERCH_ENTRY_TOOL,
		PERCH_ENTRY_COMMAND };
	record->entry_kind = entries[kind];
	int r = record_set(record, &record->session, job->session);
	if (r == 0)
		r = record_set(record, &record->key, job->key);
	bool is_to_run = !queue_is_over(job->state) && !serve->options.queue;
	record->request_text = is_to_run ? str_dup(job->request) : NULL;
	if (record->request_text)
		record->request = (struct str){ record->request_text, job->request.len };
	if (job->result.len)
		r = buf_append(&record->result.json, job->result.data, job->result.len) < 0 ? -ENOMEM : r;
	if (r < 0 || (!record->request_text && is_to_run)) {
		record_free(record);
		return -ENOMEM;
	}
	records_add(&serve->records, record);
	return 0;
}

static int jobs_load_one(void *data, const struct queue_job *job)
{
	return jobs_load(data, job);
}

static int jobs_load_event(void *data, const struct queue_event *event)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, event->job);
	if (!queue_event_is_whole(event))
		return 0;
	if (event->number > serve->records.last_number)
		serve->records.last_number = event->number;
	return record && !record_put(record, event->number, event->text) ? -ENOMEM : 0;
}

struct queue_loader jobs_loader(struct serve *serve)
{
	return (struct queue_loader){ .job = jobs_load_one, .event = jobs_load_event, .data = serve };
}

/* How often an agent may be tried again, because its profile says that this does no harm. */
static int64_t jobs_retries(const struct record *record)
{
	return record->kind == JOBS_TURN ? catalog_retries(record->serve, record->name.data) : 0;
}

void jobs_recover(struct serve *serve)
{
	serve->records.last_number += QUEUE_UNWRITTEN_MAX;
	for (struct record *item = list_first(&serve->records.all); item; item = list_next(item)) {
		if (item->state != QUEUE_RUNNING)
			continue;
		int64_t retries = jobs_retries(item);
		if (item->tries <= retries)
			record_become(item, QUEUE_WAITING);
		else if (retries)
			jobs_fail(item, QUEUE_DEAD, "dead", "every try of it was interrupted");
		else
			jobs_fail(item, QUEUE_INTERRUPTED, "interrupted",
				"the server died while it ran; how far it came is not known");
	}
	jobs_schedule(serve);
}
