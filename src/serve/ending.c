/* What is written down of jobs that have ended (the transcript, the conversation of a stateless
 * client, a line in the log) and of requests that were refused. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/openai.h"
#include "serve/serve_parts.h"

/* So long a transcript waits for others: the client of the turn need not wait until a thread has
 * been woken for it. */
#define ENDING_PATIENCE_NS (10 * NSEC_PER_MSEC)

static void ending_store(struct record *record)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	struct serve *serve = record->serve;
	if (!serve->transcripts || record->kind != JOBS_TURN || !record->request.data ||
		!record->started_ms)
		return;
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, record->request.data, record->request.len, &root, NULL) < 0)
		return;
	const perch_json_value *message = perch_json_get(root, "message");
	const struct transcripts_turn turn = {
		.agent = record->name,
		.owner = record->owner,
		.session = record->session,
		.job = str_from(record->id),
		.message = message ? json_str(message) : (struct str){ 0 },
		.reply = { record->result.text.data, record->result.text.len },
		.time_ms = record->ended_ms,
		.patience_ns = ENDING_PATIENCE_NS,
	};
	if (transcripts_add(serve->transcripts, &turn) < 0)
		serve_warn(serve, "a turn is not in the transcripts: there is no memory for it");
}

static void ending_log(struct record *record)
{
	struct serve *serve = record->serve;
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	if (!serve->options.note)
		return;
	perch_json_begin_object(&out);
	json_write_text(&out, "id", str_from(record->id));
	json_write_text(&out, "kind", str_from(metrics_kinds[record->kind]));
	json_write_text(&out, "name", record->name);
	json_write_text(&out, "user", record->owner);
	json_write_text(&out, "state", str_from(queue_state_name(record->state)));
	perch_json_write_name(&out, "seconds");
	perch_json_write_double(&out, (double)(record->ended_ms - record->created_ms) / 1000);
	perch_json_end_object(&out);
	if (!json.failed)
		serve->options.note(serve->options.data, (struct str){ json.data, json.len });
}

void serve_note_refusal(const struct exchange *exchange, struct str name, const char *why)
{
	enum { NAME_MAX_BYTES = 200 };
	struct serve *serve = exchange->peer->serve;
	struct str client_name = exchange_field(exchange, "User-Agent");
	name.len = name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES;
	_cleanup_free_ char *subject = str_dup(name);
	_cleanup_free_ char *client = str_dup(client_name);
	const perch_service_note note = {
		.size = sizeof(note),
		.kind = "refusal",
		.name = subject,
		.text = why,
		.caller = { exchange->who ? exchange->who->token.name : NULL, client },
	};
	perch_err err = { 0 };
	if (perch_service_record(serve->service, &note, &err) < 0)
		serve_warn(serve, "a refusal is not in the audit log: %s", err.text);
}

void serve_note_end(struct record *record)
{
	ending_store(record);
	openai_note_end(record);
	ending_log(record);
}
