/* Reading a trace again: from bytes to records. */
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"
#include "proc/lines.h"

enum {
	TRACE_VERSION = 1,
	READ_SIZE = 64 * 1024,
	DECODED_KEEP = 256 * 1024, /* memory beyond it, for a huge line, is given back */
};

struct trace_reader {
	struct trace_reader_options options;
	struct lines lines;
	perch_json *json;
	struct buf decoded; /* of base64 */
	uint64_t number;
	perch_err why;
	int result; /* why it is over; 0 = it is not */
};

/* ---- what a line says ------------------------------------------------------ */

static bool reader_find_direction(const perch_json_value *name, enum trace_direction *ret_direction)
{
	for (int i = 0; i < TRACE_DIRECTIONS; i++) {
		if (perch_json_is(name, trace_direction_name((enum trace_direction)i))) {
			*ret_direction = (enum trace_direction)i;
			return true;
		}
	}
	return false;
}

/* The text of a line: as it is, or the bytes behind it. */
static int reader_read_text(
	struct trace_reader *reader, const perch_json_value *object, struct str *ret_text)
{
	struct str coded = { 0 };
	ret_text->data = perch_json_string(perch_json_get(object, "line"), &ret_text->len);
	coded.data = perch_json_string(perch_json_get(object, "base64"), &coded.len);
	if (ret_text->data)
		return 0;
	if (!coded.data)
		return err_set(&reader->why, -EINVAL, "it has neither a `line` nor `base64`");
	if (reader->decoded.cap > DECODED_KEEP)
		buf_free(&reader->decoded);
	buf_clear(&reader->decoded);
	int r = base64_append_decoded(&reader->decoded, coded);
	*ret_text = (struct str){ reader->decoded.data, reader->decoded.len };
	return r == -EINVAL ? err_set(&reader->why, r, "its `base64` is none") : r;
}

static int reader_read_head(struct trace_reader *reader, struct trace_record *record)
{
	int64_t version = 0;
	perch_json_int64(perch_json_get(record->object, "trace"), &version);
	record->kind = TRACE_HEAD;
	if (version == TRACE_VERSION)
		return 0;
	return err_set(&reader->why, -EINVAL, "it is a trace of another version than %d: %lld",
		TRACE_VERSION, (long long)version);
}

static int reader_read_entry(struct trace_reader *reader, struct trace_record *record)
{
	const perch_json_value *object = record->object;
	struct trace_entry *entry = &record->entry;
	record->kind = TRACE_ENTRY;
	if (!reader_find_direction(perch_json_get(object, "dir"), &entry->direction))
		return err_set(&reader->why, -EINVAL, "its `dir` is none of in, out, err, host");
	if (perch_json_double(perch_json_get(object, "t"), &record->seconds) < 0 ||
		!(record->seconds >= 0))
		return err_set(&reader->why, -EINVAL, "its `t` is no time");
	int r = reader_read_text(reader, object, &entry->line);
	if (r < 0)
		return r;
	entry->is_masked = json_flag(object, "masked");
	entry->is_cut = json_flag(object, "cut");
	entry->is_open = json_flag(object, "open");
	entry->event = facts_text(object, "event");
	record->facts = perch_json_get(object, "facts");
	entry->facts = facts_json(object, "facts");
	return 0;
}

static int reader_read_record(
	struct trace_reader *reader, const perch_line *line, struct trace_record *record)
{
	if (line->flags & PERCH_LINE_TOO_LONG)
		return err_set(&reader->why, -EINVAL, "it is longer than %zu bytes", reader->lines.limit);
	perch_err inner = { 0 };
	int r = perch_json_parse(reader->json, line->data, line->len, &record->object, &inner);
	if (r == -ENOMEM)
		return r;
	bool is_begun = line->len > 0 && line->data[0] == '{';
	if (r < 0)
		return err_set(&reader->why, -EINVAL, "%s: %s",
			is_begun && line->flags & PERCH_LINE_UNTERMINATED ? "it is cut off" : "it is not JSON",
			inner.text);
	if (perch_json_type_of(record->object) != PERCH_JSON_OBJECT)
		return err_set(&reader->why, -EINVAL, "it is not a JSON object");
	bool is_head = perch_json_get(record->object, "trace") != NULL;
	return is_head ? reader_read_head(reader, record) : reader_read_entry(reader, record);
}

/* ---- from bytes to lines --------------------------------------------------- */

static bool reader_take_line(void *data, const perch_line *line)
{
	struct trace_reader *reader = data;
	if (reader->result)
		return true;
	struct trace_record record = { .number = ++reader->number, .raw = { line->data, line->len } };
	int r = reader_read_record(reader, line, &record);
	if (r == -EINVAL) {
		record = (struct trace_record){
			.kind = TRACE_WRONG,
			.number = record.number,
			.raw = record.raw,
			.why = reader->why.text,
		};
		r = 0;
	}
	reader->result = r < 0 ? r : reader->options.take(reader->options.data, &record);
	return true;
}

int trace_reader_new(const struct trace_reader_options *options, struct trace_reader **ret_reader)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	const perch_json_options json_options = {
		.size = sizeof(json_options),
		.text_max = PERCH_JSON_TEXT_CEILING,
	};
	int r = perch_json_new(&json_options, &reader->json);
	if (r < 0) {
		free(reader);
		return r;
	}
	reader->options = *options;
	size_t most = options->record_max ? options->record_max : TRACE_RECORD_MAX;
	lines_init(&reader->lines, most, reader_take_line, reader);
	*ret_reader = reader;
	return 0;
}

void trace_reader_free(struct trace_reader *reader)
{
	if (!reader)
		return;
	lines_free(&reader->lines);
	perch_json_free(reader->json);
	buf_free(&reader->decoded);
	free(reader);
}

int trace_reader_feed(struct trace_reader *reader, char *data, size_t len)
{
	int r = reader->result ? 0 : lines_feed(&reader->lines, data, len);
	return r < 0 ? r : reader->result;
}

int trace_reader_finish(struct trace_reader *reader)
{
	int r = reader->result ? 0 : lines_finish(&reader->lines);
	return r < 0 ? r : reader->result;
}

DEFINE_POINTER_CLEANUP(free_reader, struct trace_reader, trace_reader_free)

int trace_read(int fd, const struct trace_reader_options *options, perch_err *err)
{
	_cleanup_(free_reader) struct trace_reader *reader = NULL;
	_cleanup_free_ char *bytes = malloc(READ_SIZE + 1);
	int r = bytes ? trace_reader_new(options, &reader) : -ENOMEM;
	for (bool is_over = false; r == 0 && !is_over;) {
		ssize_t n = read(fd, bytes, READ_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "the trace cannot be read: %s", perch_strerror(-errno));
		is_over = n == 0;
		r = is_over ? trace_reader_finish(reader) : trace_reader_feed(reader, bytes, (size_t)n);
	}
	return r == -ENOMEM ? err_no_memory(err) : r;
}
