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
	serve->records.asked -= record->request.len;
	record->request = (struct str){ 0 };
	free(steal(&record->request_text));
	metrics_job(&serve->metrics, record->kind, state,
		(uint64_t)(record->ended_ms - record->created_ms) * NSEC_PER_MSEC);
}

/* The queue numbers what it is told, and tells it. */
static void jobs_log(struct record *record, struct str text)
{
	const struct queue_lease lease = { str_from(record->id), record->fence };
	struct queue *queue = record->serve->queue;
	if (queue->table->publish(queue, &lease, ++record->told, &text, 1, NULL, NULL) < 0)
		serve_warn(record->serve, "an event is not written: there is no memory for it");
}

/* The clients that wait for the end wait for this event. */
static void jobs_finish(struct record *record, enum queue_state state, struct str text)
{
	_cleanup_(buf_free) struct buf result = record->result.json;
	struct queue *queue = record->serve->queue;
	const struct queue_end end = {
		.lease = { str_from(record->id), record->fence },
		.state = state,
		.result = { result.data, result.len },
		.text = text,
	};
	record->result.json = (struct buf){ 0 }; /* it comes back with the news */
	if (queue->table->finish(queue, &end, NULL, NULL) < 0)
		serve_warn(record->serve, "the end of a job is not written: there is no memory for it");
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
		jobs_log(record, (struct str){ json.data, json.len });
}

void jobs_fail(struct record *record, enum queue_state state, const char *code, const char *text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	jobs_log_text(record, "error", code, text);
	job_result_fail(&record->result, record->kind == JOBS_TURN, code, text);
	perch_json_begin_object(&out);
	json_write_text(&out, "event", STR("end"));
	json_write_flag(&out, "success", false);
	json_write_text(&out, "state", str_from(queue_state_name(state)));
	perch_json_end_object(&out);
	jobs_finish(record, state, json.failed ? STR("{}") : (struct str){ json.data, json.len });
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
	perch_job *job = steal(&record->job);
	if (!record->is_guest)
		perch_job_free(job);
	jobs_finish(record, state, copy.failed ? STR("{}") : (struct str){ copy.data, copy.len });
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
		jobs_log(record, str_of(text));
}

/* Of its questions only the approval is answered here. It may end before the queue lets it begin.
 */
void jobs_adopted_told(struct record *record, perch_job *job, const perch_event *event)
{
	struct queue *queue = record->serve->queue;
	bool is_end = event->kind == PERCH_EVENT_END;
	if (event->kind == PERCH_EVENT_ASK && event->ask->kind != PERCH_ASK_APPROVAL)
		return;
	if (record->fence) {
		jobs_told(job, record, event);
	} else if (is_end) {
		record->job = NULL;
		queue->table->cancel(queue, str_from(record->id));
	}
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
