/* What the queue tells of jobs, whoever runs them: the gateway's records are a copy of what the
 * queue has, its own jobs and those of other gateways alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "serve/jobs.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

/* ---- jobs ------------------------------------------------------------------------------- */

/* Whether it was a call of an MCP client, which waits for it no longer: mcp_approval.c marks these
 * at the end of what is stored. */
static bool jobs_news_is_orphan(struct str request)
{
	static const struct str mark = { JOBS_GUEST_MARK, sizeof(JOBS_GUEST_MARK) - 1 };
	return request.len > mark.len &&
		memcmp(request.data + request.len - mark.len, mark.data, mark.len) == 0;
}

static int jobs_news_load(struct serve *serve, const struct queue_job *job)
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
	record->is_orphan = jobs_news_is_orphan(job->request);
	bool is_to_run = !queue_is_over(job->state) && !serve->options.queue;
	record->client = job->client.data ? str_dup(job->client) : NULL;
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

static bool jobs_news_knows(void *data, struct str id)
{
	const struct serve *serve = data;
	return records_find(&serve->records, id);
}

/* The reply is in the result: what keeps transcripts looks for it. */
static void jobs_news_read_text(struct record *record)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (record->kind != JOBS_TURN || record->result.text.len || !record->request.data ||
		perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, record->result.json.data, record->result.json.len, &root, NULL) < 0)
		return;
	const perch_json_value *text = perch_json_get(root, "text");
	if (perch_json_type_of(text) == PERCH_JSON_STRING)
		buf_append(&record->result.text, json_str(text).data, json_str(text).len);
}

static void jobs_news_end(struct record *record, const struct queue_job *job)
{
	buf_clear(&record->result.json);
	buf_append(&record->result.json, job->result.data, job->result.len);
	jobs_news_read_text(record);
	record->revision = job->revision;
	jobs_settle(record, job->state);
	record->ended_ms = job->ended_ms;
}

static int jobs_news_job(void *data, const struct queue_job *job)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, job->id);
	if (!record) {
		int r = jobs_news_load(serve, job);
		record = records_find(&serve->records, job->id);
		if (record)
			record->revision = job->revision;
		return r;
	}
	record->is_written = true;
	if (job->revision <= record->revision)
		return 0;
	if (queue_is_over(job->state)) {
		jobs_news_end(record, job);
	} else {
		record->revision = job->revision;
		record->started_ms = job->started_ms;
		record_become(record, job->state);
	}
	watchers_touch(record);
	return 0;
}

static int jobs_news_event(void *data, const struct queue_event *event)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, event->job);
	const struct link *last = record ? record->events.last : NULL;
	if (!queue_event_is_whole(event))
		return 0; /* another program has written it */
	if (!record || (last && ((const struct logged *)last)->number >= event->number))
		return 0; /* forgotten, or told twice */
	if (!record_put(record, event->number, event->text)) {
		serve_warn(serve, "an event is lost: there is no memory for it");
		return -ENOMEM;
	}
	watchers_touch(record);
	return 0;
}

static void jobs_news_state(
	void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, id);
	if (!record || revision <= record->revision)
		return;
	record->revision = revision;
	record->started_ms = started_ms;
	record->tries += state == QUEUE_RUNNING;
	record_become(record, state);
	watchers_touch(record);
}

static void jobs_news_over(void *data, const struct queue_job *job, const struct queue_event *last)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, job->id);
	if (!record || job->revision <= record->revision || !queue_event_is_whole(last))
		return;
	record->end_number = last->number;
	jobs_news_end(record, job);
	jobs_news_event(serve, last);
}

struct queue_news jobs_news(struct serve *serve)
{
	return (struct queue_news){
		.knows = jobs_news_knows,
		.loader = { .job = jobs_news_job, .event = jobs_news_event, .data = serve },
		.state = jobs_news_state,
		.over = jobs_news_over,
	};
}
