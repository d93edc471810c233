/* fledge-v1: the meaning of each type of message. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "fledge/reading.h"

enum { FLEDGE_MESSAGE_WAY_MAX = 512 };

/* ---- one-way messages ---------------------------------------------------- */

/* A one-way message with an id gets an answer all the same. */
static void fledge_message_acknowledge(struct reading *reading)
{
	engine_respond(reading->engine, engine_enqueue(reading->engine, reading->id), STR("null"));
}

static void fledge_message_show(struct reading *reading, const struct shown *shown)
{
	if (reading->is_wrong)
		return;
	engine_show(reading->engine, shown);
	fledge_message_acknowledge(reading);
}

static void fledge_message_handle_output(struct reading *reading)
{
	struct str text = reading_required_text(reading, "text");
	fledge_message_show(reading, &(struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = text });
}

static void fledge_message_handle_log(struct reading *reading)
{
	struct str level = STR("info");
	reading_text(reading, "level", &level);
	struct str text = reading_required_text(reading, "message");
	fledge_message_show(
		reading, &(struct shown){ .kind = PERCH_SHOWN_LOG, .level = level, .text = text });
}

static void fledge_message_handle_progress(struct reading *reading)
{
	bool is_done = false;
	struct shown shown = { .kind = PERCH_SHOWN_PROGRESS };
	reading_bool(reading, "done", &is_done);
	reading_text(reading, "message", &shown.text);
	bool has_current = reading_number(reading, "current", &shown.current);
	bool has_total = reading_number(reading, "total", &shown.total);
	shown.has_amount = has_current && has_total;
	if (is_done)
		shown.kind = PERCH_SHOWN_PROGRESS_DONE;
	fledge_message_show(reading, &shown);
}

/* ---- services of the host ------------------------------------------------ */

static uint64_t fledge_message_ticket_of(const struct request *request)
{
	return request ? request->ticket : 0;
}

/* Without a store nothing is stored, and a load finds nothing. */
static bool fledge_message_may_use_store(struct fledge_engine *engine, struct request *request)
{
	if (engine->options->granted.store)
		return true;
	engine_note(engine, "store capability not granted: answered null");
	engine_respond(engine, request, STR("null"));
	return false;
}

/* A plugin that takes a cancel for an empty answer would store that over the good value. */
static void fledge_message_refuse_store(struct fledge_engine *engine, struct str key)
{
	engine_say(engine, PERCH_SHOWN_WARNING, "store rejected: the run was cancelled ('%.*s')",
		utf8_quoted(key), key.data);
}

static void fledge_message_handle_store(struct reading *reading)
{
	struct fledge_engine *engine = reading->engine;
	struct str key = reading_required_text(reading, "key");
	struct str value = reading_required_text(reading, "value");
	if (reading->is_wrong)
		return;
	if (engine->cancel_reason && engine->options->granted.store)
		fledge_message_refuse_store(engine, key);
	if (engine->cancel_reason) {
		engine_refuse(engine, engine_enqueue(engine, reading->id), engine->cancel_reason);
		return;
	}
	struct request *request = engine_enqueue(engine, reading->id);
	if (!fledge_message_may_use_store(engine, request))
		return;
	engine_show(engine, &(struct shown){ .kind = PERCH_SHOWN_STORE, .key = key });
	engine->effects->store(engine->data, fledge_message_ticket_of(request), key, value);
}

void message_load(struct fledge_engine *engine, struct request *request, struct str key)
{
	if (!fledge_message_may_use_store(engine, request))
		return;
	engine_show(engine, &(struct shown){ .kind = PERCH_SHOWN_LOAD, .key = key });
	engine->effects->load(engine->data, fledge_message_ticket_of(request), key);
}

static void fledge_message_handle_load(struct reading *reading)
{
	struct str key = reading_required_text(reading, "key");
	if (!reading->is_wrong)
		message_load(reading->engine, engine_enqueue(reading->engine, reading->id), key);
}

/* The text behind "not granted"; the command that grants it is shown only once. */
static const char *fledge_message_way_to_grant(
	struct fledge_engine *engine, const char *name, char out[static FLEDGE_MESSAGE_WAY_MAX])
{
	const struct capability *capability = capability_find(str_from(name));
	bool *was_told = &engine->told_to_grant[capability - capability_table];
	out[0] = '\0';
	if (!engine->options->grant_by || *was_told)
		return out;
	*was_told = true;
	if (capabilities_have(&engine->options->wishes, capability))
		snprintf(
			out, FLEDGE_MESSAGE_WAY_MAX, "; to grant it: %s%s", engine->options->grant_by, name);
	else
		snprintf(out, FLEDGE_MESSAGE_WAY_MAX, "; its plugin.toml does not ask for it");
	return out;
}

static void fledge_message_handle_exec(struct reading *reading)
{
	struct fledge_engine *engine = reading->engine;
	struct fledge_exec exec = { .command = reading_required_text(reading, "command") };
	exec.has_cwd = reading_text(reading, "cwd", &exec.cwd);
	exec.has_timeout = reading_number(reading, "timeout", &exec.timeout_seconds);
	if (exec.has_timeout && !(exec.timeout_seconds > 0))
		reading_unfit(reading, "timeout", "more than 0");
	if (reading->is_wrong)
		return;
	struct request *request = engine_enqueue(engine, reading->id);
	if (!engine->options->granted.exec) {
		char way[FLEDGE_MESSAGE_WAY_MAX];
		engine_say(engine, PERCH_SHOWN_WARNING, "exec capability not granted: `%.*s` was not run%s",
			utf8_quoted(exec.command), exec.command.data,
			fledge_message_way_to_grant(engine, "exec", way));
		engine_respond(engine, request,
			STR("{\"code\":126,\"stderr\":\"exec capability not granted\",\"stdout\":\"\"}"));
		return;
	}
	engine_show(engine, &(struct shown){ .kind = PERCH_SHOWN_EXEC, .text = exec.command });
	engine->effects->exec(engine->data, fledge_message_ticket_of(request), &exec);
}

static void fledge_message_handle_metadata(struct reading *reading)
{
	struct fledge_engine *engine = reading->engine;
	struct arena arena = { 0 };
	size_t count;
	const perch_text *keys = reading_required_list(reading, "keys", &arena, &count);
	struct request *request = NULL;
	if (!reading->is_wrong && keys)
		request = engine_enqueue(engine, reading->id);
	if (request && !engine->options->granted.metadata) {
		char way[FLEDGE_MESSAGE_WAY_MAX];
		engine_say(engine, PERCH_SHOWN_WARNING, "metadata capability not granted%s",
			fledge_message_way_to_grant(engine, "metadata", way));
		engine_respond(engine, request, STR("{}"));
	} else if (request) {
		struct buf names = { 0 };
		for (size_t i = 0; i < count; i++) {
			buf_append_text(&names, i ? ", " : "");
			buf_append(&names, keys[i].data, keys[i].len);
		}
		engine_show(engine,
			&(struct shown){ .kind = PERCH_SHOWN_METADATA, .text = { names.data, names.len } });
		buf_free(&names);
		engine->effects->metadata(engine->data, request->ticket, keys, count);
	}
	arena_free(&arena);
}

/* ---- types --------------------------------------------------------------- */

static const struct message_type {
	struct str name;
	bool is_request; /* expects an answer: an id is needed */
	void (*handle)(struct reading *reading);
} types[] = {
	{ { "output", 6 }, false, fledge_message_handle_output },
	{ { "log", 3 }, false, fledge_message_handle_log },
	{ { "progress", 8 }, false, fledge_message_handle_progress },
	{ { "store", 5 }, false, fledge_message_handle_store },
	{ { "load", 4 }, true, fledge_message_handle_load },
	{ { "exec", 4 }, true, fledge_message_handle_exec },
	{ { "metadata", 8 }, true, fledge_message_handle_metadata },
	{ { "prompt", 6 }, true, message_prompt },
	{ { "confirm", 7 }, true, message_confirm },
	{ { "select", 6 }, true, message_select },
	{ { "multi_select", 12 }, true, message_multi_select },
};

/* The types that only a host may send. */
static bool fledge_message_is_inbound(struct str type)
{
	return str_is(type, "response") || str_is(type, "cancel") || str_is(type, "init");
}

static const struct message_type *fledge_message_find_type(struct str name)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		if (str_eq(name, types[i].name))
			return &types[i];
	}
	return NULL;
}

static void fledge_message_refuse_late(struct reading *reading)
{
	struct fledge_engine *engine = reading->engine;
	engine_note(engine, "too late: the run was cancelled (%s)", engine->cancel_reason);
	engine_refuse(engine, engine_enqueue(engine, reading->id), engine->cancel_reason);
}

static void fledge_message_handle_known(struct reading *reading, const struct message_type *type)
{
	struct fledge_engine *engine = reading->engine;
	if (type->is_request && !reading->id)
		engine_say(engine, PERCH_SHOWN_WARNING,
			"line %llu of the plugin: `%s`: missing id; skipped",
			(unsigned long long)engine->line_number, type->name.data);
	else if (reading->id && engine->cancel_reason && type->handle != fledge_message_handle_store)
		fledge_message_refuse_late(reading);
	else
		type->handle(reading);
}

/* Whether this unknown type is to be warned of; the next time it is not. */
static bool fledge_message_is_news(struct fledge_engine *engine, const char *word)
{
	for (size_t i = 0; i < engine->unknown_type_count; i++) {
		if (strcmp(engine->unknown_types[i], word) == 0)
			return false;
	}
	if (engine->unknown_type_count == ENGINE_UNKNOWN_TYPES_MAX)
		return false;
	strcpy(engine->unknown_types[engine->unknown_type_count++], word);
	return true;
}

/* An unknown message with an id expects an answer that will not come, which is a mistake; one
 * without may belong to a later protocol. */
static void fledge_message_refuse_unknown(struct reading *reading, struct str name)
{
	struct fledge_engine *engine = reading->engine;
	char word[ENGINE_TYPE_SIZE];
	snprintf(word, sizeof(word), "%.*s", utf8_quoted(name), name.data);
	const char *nearest = str_nearest(word, &types[0].name.data, COUNT(types), sizeof(types[0]));
	perch_shown_kind kind = reading->id && fledge_message_is_news(engine, word)
		? PERCH_SHOWN_WARNING
		: PERCH_SHOWN_DEBUG;
	engine_say(engine, kind, "line %llu of the plugin: there is no message type '%.*s'%s%s%s: %s",
		(unsigned long long)engine->line_number, utf8_quoted(name), name.data,
		nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "",
		reading->id ? "answered by cancel" : "ignored");
	engine_refuse(engine, engine_enqueue(engine, reading->id), "unsupported");
}

static void fledge_message_handle_unknown(struct reading *reading, struct str name)
{
	struct fledge_engine *engine = reading->engine;
	if (fledge_message_is_inbound(name))
		engine_say(engine, PERCH_SHOWN_WARNING,
			"line %llu of the plugin: `%.*s` answers nothing that was asked; ignored",
			(unsigned long long)engine->line_number, utf8_quoted(name), name.data);
	else
		fledge_message_refuse_unknown(reading, name);
}

/* An id is a string or a number; anything else cannot be echoed. */
static const perch_json_value *fledge_message_find_id(struct reading *reading)
{
	const perch_json_value *id = reading_field(reading, "id");
	perch_json_type type = perch_json_type_of(id);
	if (!id || type == PERCH_JSON_STRING || type == PERCH_JSON_NUMBER)
		return id;
	engine_say(reading->engine, PERCH_SHOWN_WARNING,
		"line %llu of the plugin: `id` must be a string or a number, not %s",
		(unsigned long long)reading->engine->line_number, perch_json_type_name(type));
	return NULL;
}

void message_handle(struct fledge_engine *engine, const perch_json_value *message, uint64_t now_ns)
{
	struct reading reading = { .engine = engine, .message = message, .now_ns = now_ns };
	reading.id = fledge_message_find_id(&reading);
	const perch_json_value *type = reading_field(&reading, "type");
	if (perch_json_type_of(type) != PERCH_JSON_STRING) {
		reading.type = "message";
		reading_wrong(&reading, "type", "a string");
		return;
	}
	struct str name = json_str(type);
	const struct message_type *known = fledge_message_find_type(name);
	if (known) {
		reading.type = known->name.data;
		fledge_message_handle_known(&reading, known);
	} else {
		fledge_message_handle_unknown(&reading, name);
	}
}
