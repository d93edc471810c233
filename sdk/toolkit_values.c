/* Reading the input of a call and writing its answer. */
#include <stdarg.h>
#include <stdlib.h>

#include "toolkit_parts.h"

/* ---- the call ------------------------------------------------------------ */

const char *perch_toolkit_tool_name(const perch_toolkit_call *call)
{
	return call->tool;
}

const char *perch_toolkit_request_id(const perch_toolkit_call *call)
{
	return call->request_id;
}

const char *perch_toolkit_input(const perch_toolkit_call *call)
{
	return call->input;
}

/* A copy that lives as long as the call, which is const to its caller although it owns such
 * copies. */
static const char *toolkit_values_keep(const perch_toolkit_call *call, struct str text)
{
	return arena_dup(&((perch_toolkit_call *)call)->arena, text);
}

const char *perch_toolkit_context(const perch_toolkit_call *call, const char *name)
{
	size_t len;
	const char *text = perch_json_string(perch_json_get(call->context, name), &len);
	const char *kept = text ? toolkit_values_keep(call, (struct str){ text, len }) : NULL;
	return kept ? kept : "";
}

static const perch_json_value *toolkit_values_element(
	const perch_json_value *list, struct str place)
{
	size_t index = 0;
	for (size_t i = 0; i < place.len; i++) {
		if (place.data[i] < '0' || place.data[i] > '9' || index > UINT32_MAX)
			return NULL;
		index = index * 10 + (size_t)(place.data[i] - '0');
	}
	perch_json_iter iter = perch_json_iterate(list);
	const perch_json_value *value = perch_json_next(&iter);
	while (value && index--)
		value = perch_json_next(&iter);
	return place.len ? value : NULL;
}

static const perch_json_value *toolkit_values_find(const perch_toolkit_call *call, const char *path)
{
	const perch_json_value *value = call->root;
	struct str rest = str_from(path);
	while (value && rest.len) {
		struct str part = str_cut(&rest, '.');
		value = perch_json_type_of(value) == PERCH_JSON_ARRAY
			? toolkit_values_element(value, part)
			: perch_json_get_n(value, part.data, part.len);
	}
	return value;
}

const char *perch_toolkit_text(const perch_toolkit_call *call, const char *path)
{
	size_t len;
	const char *text = perch_json_string(toolkit_values_find(call, path), &len);
	return text ? toolkit_values_keep(call, (struct str){ text, len }) : NULL;
}

bool perch_toolkit_number(const perch_toolkit_call *call, const char *path, double *ret_number)
{
	return perch_json_double(toolkit_values_find(call, path), ret_number) == 0;
}

bool perch_toolkit_whole(const perch_toolkit_call *call, const char *path, int64_t *ret_number)
{
	return perch_json_whole_int64(toolkit_values_find(call, path), ret_number) == 0;
}

bool perch_toolkit_bool(const perch_toolkit_call *call, const char *path, bool *ret_bool)
{
	return perch_json_bool(toolkit_values_find(call, path), ret_bool) == 0;
}

size_t perch_toolkit_count(const perch_toolkit_call *call, const char *path)
{
	return perch_json_count(toolkit_values_find(call, path));
}

const char *perch_toolkit_raw(const perch_toolkit_call *call, const char *path)
{
	size_t len;
	const char *raw = perch_json_raw(toolkit_values_find(call, path), &len);
	return raw ? toolkit_values_keep(call, (struct str){ raw, len }) : NULL;
}

/* ---- the answer ---------------------------------------------------------- */

/* The writer, behind the name of a member. An answer that was given as a whole, or as an error,
 * stays. */
static struct perch_json_writer *toolkit_values_member(
	perch_toolkit_answer *answer, const char *name)
{
	if (answer->is_whole || answer->has_failed) {
		buf_clear(&answer->nowhere);
		answer->dropped = json_writer_on(&answer->nowhere);
		return &answer->dropped;
	}
	if (answer->members.depth == 0)
		perch_json_begin_object(&answer->members);
	perch_json_write_name(&answer->members, name);
	return &answer->members;
}

void perch_toolkit_put_text(perch_toolkit_answer *answer, const char *name, const char *text)
{
	perch_json_write_string(toolkit_values_member(answer, name), text);
}

void perch_toolkit_put_number(perch_toolkit_answer *answer, const char *name, double number)
{
	perch_json_write_double(toolkit_values_member(answer, name), number);
}

void perch_toolkit_put_whole(perch_toolkit_answer *answer, const char *name, int64_t number)
{
	perch_json_write_int64(toolkit_values_member(answer, name), number);
}

void perch_toolkit_put_bool(perch_toolkit_answer *answer, const char *name, bool value)
{
	perch_json_write_bool(toolkit_values_member(answer, name), value);
}

void perch_toolkit_put_raw(perch_toolkit_answer *answer, const char *name, const char *json)
{
	perch_json_write_raw(toolkit_values_member(answer, name), json, strlen(json));
}

/* Members that were put in so far are dropped. */
static void toolkit_values_start_over(perch_toolkit_answer *answer)
{
	buf_clear(&answer->text);
	answer->members = json_writer_on(&answer->text);
}

void perch_toolkit_output(perch_toolkit_answer *answer, const char *json)
{
	if (answer->has_failed)
		return;
	toolkit_values_start_over(answer);
	answer->is_whole = true;
	buf_append_text(&answer->text, json);
}

void perch_toolkit_fail(perch_toolkit_answer *answer, const char *code, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *message = kit_format(format, arguments);
	va_end(arguments);
	toolkit_values_start_over(answer);
	answer->has_failed = true;
	perch_json_begin_object(&answer->members);
	kit_put(&answer->members, "code", code);
	kit_put(&answer->members, "message", message && message[0] ? message : "failed");
	free(message);
}
