/* Jobs as objects of the API. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/json.h"
#include "serve/record.h"
#include "serve/serve_parts.h"

static void record_write_time(perch_json_writer *out, const char *name, int64_t ms)
{
	if (!ms)
		return;
	char text[32];
	int len = snprintf(text, sizeof(text), "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
	perch_json_write_name(out, name);
	perch_json_write_raw(out, text, (size_t)len);
}

/* Counted from the end: a job that has just been accepted is the last. */
static size_t record_position(const struct record *record)
{
	size_t position = record->serve->records.waiting;
	for (const struct link *link = record->link.behind; link; link = link->behind)
		position -= ((const struct record *)link)->state == QUEUE_WAITING;
	return position;
}

void record_write_list(perch_json_writer *out, const char *const *texts)
{
	perch_json_begin_array(out);
	for (; texts && *texts; texts++)
		perch_json_write_string(out, *texts);
	perch_json_end_array(out);
}

/* The members that every list of jobs has. */
static void record_write_members(const struct record *record, perch_json_writer *out)
{
	json_write_text(out, "id", str_from(record->id));
	json_write_text(out, "kind", str_from(metrics_kinds[record->kind]));
	json_write_text(out, "name", record->name);
	json_write_text(out, "user", record->owner);
	json_write_text(out, "state", str_from(queue_state_name(record->state)));
	if (record->session.data)
		json_write_text(out, "session", record->session);
	if (record->state == QUEUE_WAITING) {
		perch_json_write_name(out, "position");
		perch_json_write_uint64(out, record_position(record));
	}
	record_write_time(out, "created", record->created_ms);
	record_write_time(out, "started", record->started_ms);
	record_write_time(out, "ended", record->ended_ms);
	perch_json_write_name(out, "questions");
	perch_json_begin_array(out);
	for (struct record_ask *ask = list_first(&record->asks); ask; ask = list_next(ask))
		perch_json_write_raw(out, ask->text, ask->len);
	perch_json_end_array(out);
	if (record->job && perch_job_sandbox(record->job)) {
		perch_json_write_name(out, "sandbox");
		record_write_list(out, perch_job_sandbox(record->job));
	} else if (record->layers.len) {
		perch_json_write_name(out, "sandbox");
		perch_json_write_raw(out, record->layers.data, record->layers.len);
	}
	if (record->result.json.len) {
		perch_json_write_name(out, "result");
		perch_json_write_raw(out, record->result.json.data, record->result.json.len);
	}
	if (record->warnings) {
		perch_json_write_name(out, "warnings");
		perch_json_write_raw(out, record->warnings, strlen(record->warnings));
	}
}

void record_write(const struct record *record, perch_json_writer *out)
{
	perch_json_begin_object(out);
	record_write_members(record, out);
	perch_json_end_object(out);
}

void record_write_whole(const struct record *record, perch_json_writer *out)
{
	perch_json_begin_object(out);
	record_write_members(record, out);
	if (record->request.len) {
		perch_json_write_name(out, "request");
		perch_json_write_raw(out, record->request.data, record->request.len);
	}
	perch_json_end_object(out);
}
