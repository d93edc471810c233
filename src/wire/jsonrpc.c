/* JSON-RPC 2.0: what a line says, and how a message is written. */
#include "wire/jsonrpc.h"

#include <errno.h>
#include <stdio.h>

/* ---- ids ------------------------------------------------------------------- */

bool jsonrpc_id_read(const perch_json_value *value, struct jsonrpc_id *ret_id)
{
	struct jsonrpc_id id = { .kind = JSONRPC_ID_INTEGER };
	if (perch_json_type_of(value) == PERCH_JSON_STRING) {
		id = (struct jsonrpc_id){ .kind = JSONRPC_ID_TEXT, .text = json_str(value) };
		if (id.text.len > JSONRPC_ID_MAX)
			return false;
	} else if (perch_json_whole_int64(value, &id.number) < 0) {
		return false;
	}
	*ret_id = id;
	return true;
}

bool jsonrpc_id_eq(const struct jsonrpc_id *a, const struct jsonrpc_id *b)
{
	return a->kind == b->kind && a->number == b->number && str_eq(a->text, b->text);
}

void jsonrpc_id_write(perch_json_writer *writer, const struct jsonrpc_id *id)
{
	if (id->kind == JSONRPC_ID_INTEGER)
		perch_json_write_int64(writer, id->number);
	else if (id->kind == JSONRPC_ID_TEXT)
		perch_json_write_string_n(writer, id->text.data, id->text.len);
	else
		perch_json_write_null(writer);
}

/* ---- reading --------------------------------------------------------------- */

static void jsonrpc_refuse(struct jsonrpc_message *message, int code, const char *text)
{
	message->kind = JSONRPC_INVALID;
	message->code = code;
	message->text = str_from(text);
}

/* With a method: a request, or without an id a notification, which is never answered. */
static void jsonrpc_read_call(
	const perch_json_value *object, const perch_json_value *method, struct jsonrpc_message *message)
{
	const perch_json_value *id = perch_json_get(object, "id");
	bool is_text = perch_json_type_of(method) == PERCH_JSON_STRING;
	message->is_answered = id || !is_text;
	bool is_read = !id || jsonrpc_id_read(id, &message->id);
	message->params = perch_json_get(object, "params");
	perch_json_type params = perch_json_type_of(message->params);
	if (!is_read) {
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "the id " JSONRPC_ID_WANTED);
	} else if (!is_text) {
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "method must be a string");
	} else if (params != PERCH_JSON_NONE && params != PERCH_JSON_OBJECT) {
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "params must be an object");
	} else {
		message->kind = id ? JSONRPC_REQUEST : JSONRPC_NOTIFICATION;
		message->method = json_str(method);
	}
}

static void jsonrpc_read_failure(const perch_json_value *error, struct jsonrpc_message *message)
{
	const perch_json_value *text = perch_json_get(error, "message");
	message->kind = JSONRPC_ERROR;
	message->data = perch_json_get(error, "data");
	if (perch_json_whole_int64(perch_json_get(error, "code"), &message->code) < 0)
		message->code = 0;
	if (perch_json_type_of(text) == PERCH_JSON_STRING)
		message->text = json_str(text);
}

/* Without a method: a response. One that is broken is not answered: its id is ours, and
 * would be taken for one of the peer's. */
static void jsonrpc_read_response(const perch_json_value *object, struct jsonrpc_message *message)
{
	const perch_json_value *id = perch_json_get(object, "id");
	const perch_json_value *error = perch_json_get(object, "error");
	message->result = perch_json_get(object, "result");
	bool is_read = id && jsonrpc_id_read(id, &message->id);
	message->is_answered = !message->result && !error;
	if (!message->result == !error)
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST,
			error ? "it has a result and an error" : "it has no method");
	else if (message->result && !is_read)
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "a response has no id that can be read");
	else if (message->result)
		message->kind = JSONRPC_RESULT;
	else
		jsonrpc_read_failure(error, message);
}

static void jsonrpc_read(const perch_json_value *value, struct jsonrpc_message *message)
{
	*message = (struct jsonrpc_message){ .is_answered = true };
	if (perch_json_type_of(value) != PERCH_JSON_OBJECT) {
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "a message must be an object");
		return;
	}
	const perch_json_value *method = perch_json_get(value, "method");
	if (method)
		jsonrpc_read_call(value, method, message);
	else
		jsonrpc_read_response(value, message);
	if (!perch_json_is(perch_json_get(value, "jsonrpc"), "2.0"))
		jsonrpc_refuse(message, JSONRPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
}

int jsonrpc_open(perch_json *json, struct str line, struct jsonrpc_frame *ret_frame)
{
	perch_err err = { 0 };
	*ret_frame = (struct jsonrpc_frame){ 0 };
	int r = perch_json_parse(json, line.data, line.len, &ret_frame->root, &err);
	if (r == -ENOMEM)
		return r;
	ret_frame->only.is_answered = true;
	if (r < 0) {
		ret_frame->root = NULL;
		snprintf(ret_frame->fault, sizeof(ret_frame->fault), "%s", err.text);
		jsonrpc_refuse(&ret_frame->only, JSONRPC_PARSE_ERROR, ret_frame->fault);
	} else if (perch_json_type_of(ret_frame->root) != PERCH_JSON_ARRAY) {
		jsonrpc_read(ret_frame->root, &ret_frame->only);
	} else if (perch_json_count(ret_frame->root)) {
		ret_frame->is_batch = true;
		ret_frame->count = perch_json_count(ret_frame->root);
		ret_frame->iter = perch_json_iterate(ret_frame->root);
	} else {
		jsonrpc_refuse(&ret_frame->only, JSONRPC_INVALID_REQUEST, "a batch must not be empty");
	}
	return 0;
}

bool jsonrpc_next(struct jsonrpc_frame *frame, struct jsonrpc_message *ret_message)
{
	if (frame->is_batch) {
		const perch_json_value *value = perch_json_next(&frame->iter);
		if (value)
			jsonrpc_read(value, ret_message);
		return value != NULL;
	}
	if (frame->is_given)
		return false;
	frame->is_given = true;
	*ret_message = frame->only;
	if (!frame->root)
		ret_message->text = str_from(frame->fault); /* the frame may have been moved */
	return true;
}

/* ---- writing --------------------------------------------------------------- */

static void jsonrpc_begin(perch_json_writer *writer, const struct jsonrpc_id *id)
{
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "jsonrpc");
	perch_json_write_string(writer, "2.0");
	if (id && id->kind != JSONRPC_ID_NONE) {
		perch_json_write_name(writer, "id");
		jsonrpc_id_write(writer, id);
	}
}

void jsonrpc_begin_result(perch_json_writer *writer, const struct jsonrpc_id *id)
{
	jsonrpc_begin(writer, id);
	perch_json_write_name(writer, "result");
}

void jsonrpc_begin_request(
	perch_json_writer *writer, const struct jsonrpc_id *id, const char *method)
{
	jsonrpc_begin(writer, id);
	perch_json_write_name(writer, "method");
	perch_json_write_string(writer, method);
}

void jsonrpc_begin_notification(perch_json_writer *writer, const char *method)
{
	jsonrpc_begin_request(writer, NULL, method);
}

void jsonrpc_end(perch_json_writer *writer)
{
	perch_json_end_object(writer);
}

void jsonrpc_write_error(perch_json_writer *writer, const struct jsonrpc_id *id, int64_t code,
	struct str text, struct str data)
{
	jsonrpc_begin(writer, id);
	perch_json_write_name(writer, "error");
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "code");
	perch_json_write_int64(writer, code);
	json_write_text(writer, "message", text);
	if (data.len) {
		perch_json_write_name(writer, "data");
		perch_json_write_raw(writer, data.data, data.len);
	}
	perch_json_end_object(writer);
	jsonrpc_end(writer);
}
