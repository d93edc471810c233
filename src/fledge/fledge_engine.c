/* fledge-v1: the queue of requests, and the end of a conversation. */
#include "fledge/fledge_engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "fledge/fledge_engine_parts.h"

int fledge_engine_new(const struct fledge_engine_options *options,
	const struct fledge_effects *effects, void *data, struct fledge_engine **ret_engine)
{
	struct fledge_engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	perch_json_options json_options = PERCH_JSON_OPTIONS_INIT;
	json_options.replace_invalid_utf8 = true;
	json_options.text_max = PERCH_JSON_TEXT_CEILING;
	int r = perch_json_new(&json_options, &engine->json);
	if (r < 0) {
		free(engine);
		return r;
	}
	engine->options = options;
	engine->effects = effects;
	engine->data = data;
	engine->asking = options->asking;
	engine->question_deadline_ns = NEVER;
	*ret_engine = engine;
	return 0;
}

void fledge_engine_free(struct fledge_engine *engine)
{
	if (!engine)
		return;
	requests_free(&engine->requests);
	buf_free(&engine->quick);
	perch_json_free(engine->json);
	free(engine);
}

/* ---- showing ------------------------------------------------------------- */

void engine_show(struct fledge_engine *engine, const struct shown *shown)
{
	struct shown copy = *shown;
	copy.plugin = engine->options->plugin;
	engine->effects->show(engine->data, &copy);
}

void engine_say(struct fledge_engine *engine, perch_shown_kind kind, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	engine_show(engine, &(struct shown){ .kind = kind, .text = str_from(text) });
}

void engine_note(struct fledge_engine *engine, const char *format, ...)
{
	if (!engine->effects->note)
		return;
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	engine->effects->note(engine->data, text);
}

/* ---- the queue ----------------------------------------------------------- */

static void fledge_engine_set_hold(struct fledge_engine *engine)
{
	size_t pending = engine->requests.count;
	if (engine->is_holding ? pending > ENGINE_PENDING_MAX / 2 : pending < ENGINE_PENDING_MAX)
		return;
	engine->is_holding = !engine->is_holding;
	engine->effects->hold(engine->data, engine->is_holding);
}

/* The id as it was written; but broken UTF-8 in it must not go back broken. */
static void fledge_engine_copy_id(const perch_json_value *id, struct buf *out)
{
	size_t len;
	const char *raw = perch_json_raw(id, &len);
	if (utf8_is_valid(raw, len)) {
		buf_append(out, raw, len);
		return;
	}
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_write_value(&writer, id);
}

/* Puts a request with its id into the queue; NULL = there was no memory for one of them. */
static struct request *fledge_engine_enqueue(struct fledge_engine *engine, struct request *request)
{
	bool is_whole = request && !request->id.failed;
	if (request && requests_push(&engine->requests, request) < 0)
		is_whole = false;
	if (!is_whole) {
		engine->is_broken = true;
		return NULL;
	}
	fledge_engine_set_hold(engine);
	return request;
}

struct request *engine_enqueue(struct fledge_engine *engine, const perch_json_value *id)
{
	if (!id)
		return NULL;
	struct request *request = requests_make(&engine->requests);
	if (request)
		fledge_engine_copy_id(id, &request->id);
	return fledge_engine_enqueue(engine, request);
}

/* The same for an id of plain ASCII, as JSON text. */
static struct request *fledge_engine_enqueue_plain(struct fledge_engine *engine, struct str id)
{
	struct request *request = requests_make(&engine->requests);
	if (request)
		buf_append(&request->id, id.data, id.len);
	return fledge_engine_enqueue(engine, request);
}

/* Sends every answer that has no unanswered request before it. */
static void fledge_engine_send_ready(struct fledge_engine *engine)
{
	struct request *request;
	while ((request = requests_first(&engine->requests)) && request->answer.len) {
		engine->effects->send(
			engine->data, (struct str){ request->answer.data, request->answer.len });
		requests_pop(&engine->requests);
	}
	fledge_engine_set_hold(engine);
}

static void fledge_engine_settle(struct fledge_engine *engine, struct request *request)
{
	if (request->answer.failed) {
		engine->is_broken = true;
		return;
	}
	requests_weigh(&engine->requests, request);
	fledge_engine_send_ready(engine);
}

void engine_respond(struct fledge_engine *engine, struct request *request, struct str json)
{
	if (!request || request->answer.len)
		return;
	buf_append_text(&request->answer, "{\"type\":\"response\",\"id\":");
	buf_append(&request->answer, request->id.data, request->id.len);
	buf_append_text(&request->answer, ",\"value\":");
	buf_append(&request->answer, json.data, json.len);
	buf_append_text(&request->answer, "}\n");
	fledge_engine_settle(engine, request);
}

static void fledge_engine_write_cancel(struct buf *line, struct str id, const char *reason)
{
	buf_append_text(line, "{\"type\":\"cancel\",");
	if (id.len) {
		buf_append_text(line, "\"id\":");
		buf_append(line, id.data, id.len);
		buf_append_char(line, ',');
	}
	buf_printf(line, "\"reason\":\"%s\"}\n", reason);
}

void engine_refuse(struct fledge_engine *engine, struct request *request, const char *reason)
{
	if (!request || request->answer.len)
		return;
	fledge_engine_write_cancel(
		&request->answer, (struct str){ request->id.data, request->id.len }, reason);
	fledge_engine_settle(engine, request);
}

void fledge_engine_result(
	struct fledge_engine *engine, uint64_t ticket, struct str json, uint64_t now_ns)
{
	(void)now_ns;
	engine_respond(engine, requests_find(&engine->requests, ticket), json);
}

/* ---- the end of a conversation ------------------------------------------- */

static void fledge_engine_send_plain_cancel(struct fledge_engine *engine, const char *reason)
{
	struct buf line = { 0 };
	fledge_engine_write_cancel(&line, (struct str){ 0 }, reason);
	if (!line.failed)
		engine->effects->send(engine->data, (struct str){ line.data, line.len });
	buf_free(&line);
}

/* An answer that waited behind another request becomes a cancel, too: after a cancel the plugin
 * gets no answer that it could not use. */
static void fledge_engine_cancel_pending(struct fledge_engine *engine, const char *reason)
{
	engine->effects->drop(engine->data);
	for (size_t i = 0; i < engine->requests.count; i++)
		buf_clear(&requests_get(&engine->requests, i)->answer);
	while (engine->requests.count && !engine->is_broken)
		engine_refuse(engine, requests_first(&engine->requests), reason);
}

void fledge_engine_cancel(struct fledge_engine *engine, const char *reason, uint64_t now_ns)
{
	(void)now_ns;
	if (engine->cancel_reason)
		return;
	engine->cancel_reason = reason;
	question_close(engine);
	engine->first_question = NULL;
	if (!engine->requests.count)
		fledge_engine_send_plain_cancel(engine, reason);
	else
		fledge_engine_cancel_pending(engine, reason);
	engine->effects->stop(engine->data);
}

void fledge_engine_tick(struct fledge_engine *engine, uint64_t now_ns)
{
	if (!engine->open || now_ns < engine->question_deadline_ns)
		return;
	struct str message = str_of(engine->open->question.message);
	engine_say(engine, PERCH_SHOWN_ERROR, "no answer to '%.*s' for %.0f seconds: cancelled",
		utf8_quoted(message), message.data, (double)engine->options->prompt_timeout_ns / 1e9);
	engine->has_failed = true;
	fledge_engine_cancel(engine, "timeout", now_ns);
}

uint64_t fledge_engine_deadline(const struct fledge_engine *engine)
{
	return engine->open ? engine->question_deadline_ns : NEVER;
}

void fledge_engine_delay(struct fledge_engine *engine, uint64_t delay_ns)
{
	engine->question_deadline_ns = clock_after(engine->question_deadline_ns, delay_ns);
}

bool fledge_engine_is_asking(const struct fledge_engine *engine)
{
	return engine->open != NULL;
}

size_t fledge_engine_held(const struct fledge_engine *engine)
{
	return engine->requests.held;
}

size_t fledge_engine_pending(const struct fledge_engine *engine)
{
	return engine->requests.count;
}

bool fledge_engine_failed(const struct fledge_engine *engine)
{
	return engine->has_failed;
}

bool fledge_engine_is_broken(const struct fledge_engine *engine)
{
	return engine->is_broken;
}

/* ---- lines --------------------------------------------------------------- */

enum { SHOWN_CHARACTERS = 80 };

enum { EXCERPT_SIZE = SHOWN_CHARACTERS * UTF8_MAX + 1 };

/* The first printable characters of a line, for a warning about it. */
static void fledge_engine_excerpt(const char *line, size_t len, char out[EXCERPT_SIZE])
{
	size_t size = 0;
	uint32_t character;
	for (size_t i = 0, shown = 0; i < len && shown < SHOWN_CHARACTERS;) {
		i += utf8_decode(line + i, len - i, &character);
		if (utf8_is_unseen(character))
			continue;
		size += utf8_encode(character, out + size);
		shown++;
	}
	out[size] = '\0';
}

static void fledge_engine_warn_of_line(
	struct fledge_engine *engine, const char *what, const char *line, size_t len)
{
	char shown[EXCERPT_SIZE];
	fledge_engine_excerpt(line, len, shown);
	engine_say(engine, PERCH_SHOWN_WARNING, "line %llu of the plugin %s: %s",
		(unsigned long long)engine->line_number, what, shown);
}

/* Of what was meant to be a message: where it is broken. */
static void fledge_engine_say_why(
	struct fledge_engine *engine, struct str line, bool is_answered, const perch_err *why)
{
	if (!str_has_prefix(str_trim(line), STR("{")))
		return;
	bool may_wait = !is_answered && !broken_line_is_told(line);
	engine_say(engine, PERCH_SHOWN_WARNING, "column %u of line %llu: %s%s", why->column,
		(unsigned long long)engine->line_number, why->text,
		may_wait ? "; it may be waiting for an answer to the line that was skipped" : "");
}

/* Its sender may wait for an answer. `why` may be NULL. */
static void fledge_engine_skip_line(struct fledge_engine *engine, const char *what,
	const char *line, size_t len, const perch_err *why)
{
	const perch_json_value *value = NULL;
	const struct str id = broken_line_id(line, len);
	bool is_answered = id.len && perch_json_parse(engine->json, id.data, id.len, &value, NULL) == 0;
	fledge_engine_warn_of_line(engine, what, line, len);
	if (why)
		fledge_engine_say_why(engine, (struct str){ line, len }, is_answered, why);
	if (is_answered)
		engine_refuse(engine, engine_enqueue(engine, value), "invalid_request");
}

static bool fledge_engine_handle_quickly(struct fledge_engine *engine, const char *line, size_t len)
{
	struct str id;
	struct str key;
	if (quick_output(line, len, &engine->quick)) {
		struct str text = { engine->quick.data, engine->quick.len };
		engine_show(engine, &(struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = text });
		return true;
	}
	if (engine->cancel_reason || !quick_load(line, len, &id, &key))
		return false;
	message_load(engine, fledge_engine_enqueue_plain(engine, id), key);
	return true;
}

void fledge_engine_line(
	struct fledge_engine *engine, const char *line, size_t len, bool too_long, uint64_t now_ns)
{
	engine->line_number++;
	if (engine->is_broken)
		return;
	if (too_long) {
		fledge_engine_skip_line(engine, "is too long and was skipped", line, len, NULL);
		return;
	}
	if (fledge_engine_handle_quickly(engine, line, len))
		return;
	if (!str_trim((struct str){ line, len }).len)
		return;
	const perch_json_value *message;
	perch_err why = { 0 };
	int r = perch_json_parse(engine->json, line, len, &message, &why);
	if (r == -ENOMEM) {
		engine->is_broken = true;
		return;
	}
	if (r < 0)
		fledge_engine_skip_line(engine, "is not JSON and was skipped", line, len, &why);
	else if (perch_json_type_of(message) != PERCH_JSON_OBJECT)
		fledge_engine_warn_of_line(engine, "is not a JSON object and was skipped", line, len);
	else
		message_handle(engine, message, now_ns);
}
