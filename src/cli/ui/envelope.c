/* The answer of a command to a program. */
#include "cli/ui/envelope.h"

#include "base/environment.h"
#include "cli/cli.h"

void envelope_begin(struct envelope *envelope)
{
	envelope->out = (struct buf){ 0 };
	envelope->writer = json_writer_on(&envelope->out);
	perch_json_begin_object(&envelope->writer);
	member_number(&envelope->writer, "schema_version", 1);
}

int envelope_end(struct envelope *envelope)
{
	perch_json_end_object(&envelope->writer);
	buf_append_char(&envelope->out, '\n');
	return cli_print_json(&envelope->out);
}

int envelope_fail(const char *error, int code)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "error", error);
	int r = envelope_end(&envelope);
	return r ? r : code;
}

void member_text(perch_json_writer *writer, const char *name, const char *text)
{
	perch_json_write_name(writer, name);
	if (text)
		perch_json_write_string(writer, text);
	else
		perch_json_write_null(writer);
}

void member_list(perch_json_writer *writer, const char *name, const char *const *list)
{
	member_array(writer, name);
	for (; list && *list; list++)
		perch_json_write_string(writer, *list);
	perch_json_end_array(writer);
}

void member_variables(perch_json_writer *writer, const char *name, const char *const *env)
{
	member_array(writer, name);
	for (; env && *env; env++) {
		struct str variable = environment_name(*env);
		perch_json_write_string_n(writer, variable.data, variable.len);
	}
	perch_json_end_array(writer);
}

void member_bool(perch_json_writer *writer, const char *name, bool value)
{
	perch_json_write_name(writer, name);
	perch_json_write_bool(writer, value);
}

void member_number(perch_json_writer *writer, const char *name, int64_t value)
{
	perch_json_write_name(writer, name);
	perch_json_write_int64(writer, value);
}

void member_object(perch_json_writer *writer, const char *name)
{
	perch_json_write_name(writer, name);
	perch_json_begin_object(writer);
}

void member_array(perch_json_writer *writer, const char *name)
{
	perch_json_write_name(writer, name);
	perch_json_begin_array(writer);
}

void member_capabilities(
	perch_json_writer *writer, const char *name, const struct capabilities *capabilities)
{
	member_object(writer, name);
	for (const struct capability *one = capability_table; one->name; one++)
		member_bool(writer, one->name, capabilities_have(capabilities, one));
	if (capabilities->filesystem != FILESYSTEM_UNSET)
		member_text(writer, "filesystem", filesystem_name(capabilities->filesystem));
	perch_json_end_object(writer);
}
