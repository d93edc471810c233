/* The life of a writer, and what perch writes often. */
#include "perch/json.h"

#include <errno.h>
#include <stdlib.h>

#include "data/json.h"

int perch_json_writer_new(perch_json_style style, perch_json_writer **ret_writer)
{
	perch_json_writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->out = &writer->own;
	writer->style = style;
	*ret_writer = writer;
	return 0;
}

void perch_json_writer_free(perch_json_writer *writer)
{
	if (!writer)
		return;
	buf_free(&writer->own);
	free(writer);
}

void perch_json_writer_clear(perch_json_writer *writer)
{
	buf_clear(writer->out);
	writer->place = JSON_FIRST;
	writer->depth = 0;
}

int perch_json_writer_finish(perch_json_writer *writer, const char **ret_text, size_t *ret_length)
{
	int r = buf_terminate(writer->out);
	if (r < 0)
		return r;
	if (writer->depth != 0)
		return -EINVAL;
	*ret_text = writer->out->data;
	*ret_length = writer->out->len;
	return 0;
}

void json_write_text(perch_json_writer *writer, const char *name, struct str text)
{
	perch_json_write_name(writer, name);
	perch_json_write_string_n(writer, text.data ? text.data : "", text.len);
}

void json_write_flag(perch_json_writer *writer, const char *name, bool flag)
{
	perch_json_write_name(writer, name);
	perch_json_write_bool(writer, flag);
}
