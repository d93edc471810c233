/* The body of a request. */
#include "serve/body.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/json_member.h"
#include "serve/serve_parts.h"

enum { BODY_WARNINGS_MAX = 16, BODY_SESSION_MAX = 200 };

void body_refuse(struct body *body, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list arguments;
	if (!body->exchange)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	exchange_error(steal(&body->exchange), 400, "bad_request", NULL, "%s", text);
}

static int body_parse(const struct buf *text, perch_json **ret_json,
	const perch_json_value **ret_root, perch_err *err)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.depth_max = BODY_DEPTH_MAX;
	options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	options.text_max = text->len + 1;
	int r = perch_json_new(&options, ret_json);
	if (r == 0)
		r = perch_json_parse(*ret_json, text->data ? text->data : "", text->len, ret_root, err);
	return r;
}

static const perch_json_value *body_read(
	struct exchange *exchange, const struct buf *text, perch_json **ret_json)
{
	const perch_json_value *root = NULL;
	perch_err err = { 0 };
	int r = body_parse(text, ret_json, &root, &err);
	if (r == -ENOMEM)
		exchange_no_memory(exchange);
	else if (r < 0)
		exchange_error(exchange, 400, "bad_json", NULL,
			"the body is no JSON: line %u, column %u: %s", err.line, err.column, err.text);
	else if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		exchange_error(exchange, 400, "bad_request", NULL, "the body must be an object, not %s",
			perch_json_type_name(perch_json_type_of(root)));
	else
		return root;
	return NULL;
}

bool body_open(struct body *body, struct exchange *exchange)
{
	*body = (struct body){ .exchange = exchange, .text = exchange->body };
	exchange->body = (struct buf){ 0 };
	body->root = body_read(exchange, &body->text, &body->json);
	if (!body->root)
		body->exchange = NULL;
	return body->root;
}

void body_close(struct body *body)
{
	perch_json_free(body->json);
	buf_free(&body->text);
}

const perch_json_value *body_get(struct body *body, const char *name, perch_json_type type)
{
	const perch_json_value *value = NULL;
	perch_err err = { 0 };
	if (body->asked_count < BODY_ASKED_MAX)
		body->asked[body->asked_count++] = name;
	if (type != PERCH_JSON_NONE && json_member_of(body->root, name, type, &value, &err) < 0)
		body_refuse(body, "%s", err.text);
	return type == PERCH_JSON_NONE ? json_member(body->root, name) : value;
}

const perch_json_value *body_demand(struct body *body, const char *name, perch_json_type type)
{
	const perch_json_value *value = body_get(body, name, type);
	if (!value)
		body_refuse(body, "\"%s\" is missing", name);
	return value;
}

double body_seconds(struct body *body, const char *name)
{
	double seconds = 0;
	const perch_json_value *value = body_get(body, name, PERCH_JSON_NUMBER);
	if (value && (perch_json_double(value, &seconds) < 0 || !(seconds > 0)))
		body_refuse(body, "\"%s\" must be more than 0 seconds", name);
	return seconds;
}

void body_check_text(struct body *body, const char *name, const perch_json_value *text)
{
	struct str str = text ? json_str(text) : (struct str){ "", 0 };
	if (str.len && memchr(str.data, '\0', str.len))
		body_refuse(body, "\"%s\" has a NUL, which no program can be given", name);
}

void body_check_session(struct body *body, struct str session)
{
	if (!session.len || session.len > BODY_SESSION_MAX || memchr(session.data, '\0', session.len))
		body_refuse(body, "\"session\" has 1 to %d bytes, and no NUL", BODY_SESSION_MAX);
}

static bool body_has_asked(const struct body *body, const perch_json_value *name)
{
	for (size_t i = 0; i < body->asked_count; i++) {
		if (perch_json_is(name, body->asked[i]))
			return true;
	}
	return false;
}

char *body_warnings(const struct body *body)
{
	struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	size_t count = 0;
	perch_json_begin_array(&out);
	perch_json_iter iter = perch_json_iterate(body->root);
	while (perch_json_next(&iter) && count < BODY_WARNINGS_MAX) {
		struct str name = json_str(iter.name);
		char sentence[128];
		if (body_has_asked(body, iter.name))
			continue;
		snprintf(sentence, sizeof(sentence), "\"%.*s\" means nothing here",
			(int)(name.len < 64 ? name.len : 64), name.data);
		perch_json_write_string(&out, sentence);
		count++;
	}
	perch_json_end_array(&out);
	char *list = count ? buf_steal(&text) : NULL;
	buf_free(&text);
	return list;
}
