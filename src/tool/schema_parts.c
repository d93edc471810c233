/* Places in a document, and the time that work on it may take. */
#include "tool/schema_parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/utf8.h"

/* Of an error's text, for the path. */
enum { PATH_SHOWN_MAX = 200 };

/* A step after this many of them looks at the clock. */
enum { TICKS_PER_LOOK = 32 };

static bool schema_parts_is_plain(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
			return false;
	}
	return name.len > 0;
}

static void schema_parts_write_step(struct buf *out, const struct spot *spot)
{
	if (spot->is_index) {
		buf_printf(out, "[%zu]", spot->index);
	} else if (schema_parts_is_plain(spot->name)) {
		buf_append_char(out, '.');
		buf_append(out, spot->name.data, spot->name.len);
	} else {
		struct perch_json_writer writer = json_writer_on(out);
		buf_append_char(out, '[');
		perch_json_write_string_n(&writer, spot->name.data, spot->name.len);
		buf_append_char(out, ']');
	}
}

/* The nesting of a document is limited, so this is. */
static void schema_parts_write_path(struct buf *out, const struct spot *spot)
{
	if (!spot->outer) {
		buf_append_char(out, '$');
		return;
	}
	schema_parts_write_path(out, spot->outer);
	schema_parts_write_step(out, spot);
}

int spot_error(perch_err *err, int code, const struct spot *spot, const char *format, ...)
{
	char words[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	_cleanup_(buf_free) struct buf path = { 0 };
	schema_parts_write_path(&path, spot);
	if (path.failed)
		return err_no_memory(err);
	size_t from = path.len > PATH_SHOWN_MAX ? path.len - PATH_SHOWN_MAX : 0;
	while (from && from < path.len && ((unsigned char)path.data[from] & 0xC0) == 0x80)
		from++;
	return err_set(
		err, code, "%s%.*s: %s", from ? "…" : "", (int)(path.len - from), path.data + from, words);
}

void meter_start(struct meter *meter)
{
	*meter = (struct meter){ .end_ns = clock_processor_ns() + SCHEMA_TIME_MAX_NS };
}

bool meter_is_spent(struct meter *meter)
{
	return ++meter->ticks % TICKS_PER_LOOK == 0 && clock_processor_ns() > meter->end_ns;
}

int schema_read(struct str text, size_t size_max, const char *what, perch_json **ret_json,
	const perch_json_value **ret_root, perch_err *err)
{
	const perch_json_options options = {
		.text_max = size_max,
		.duplicates = PERCH_JSON_DUPLICATES_REJECT,
	};
	perch_json *json;
	if (perch_json_new(&options, &json) < 0)
		return err_no_memory(err);
	perch_err inner = { 0 };
	int r = perch_json_parse(json, text.data, text.len, ret_root, &inner);
	if (r < 0) {
		perch_json_free(json);
		return inner.line ? err_set_at(err, r, inner.line, inner.column, "%s:%u:%u: %s", what,
								inner.line, inner.column, inner.text)
						  : err_set(err, r, "%s: %s", what, inner.text);
	}
	*ret_json = json;
	return 0;
}
