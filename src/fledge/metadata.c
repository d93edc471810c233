/* The answers to `metadata` as JSON: the environment, the project's fledge.toml, the lines of a git
 * command. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/regular.h"
#include "data/json.h"
#include "data/toml.h"
#include "fledge/context.h"
#include "sandbox/policy/secret_variables.h"

enum { CONFIG_MAX = 1024 * 1024 };

/* ---- the environment ----------------------------------------------------- */

struct variable {
	struct str name;
	struct str value;
	size_t index; /* the first of a name counts, as for getenv */
};

static int metadata_order_variables(const void *left, const void *right)
{
	const struct variable *a = left;
	const struct variable *b = right;
	int order = str_compare(a->name, b->name);
	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* An entry without '=', or without a name before it, is no variable. */
static size_t metadata_take_variables(const char *const *env, struct variable *variables)
{
	size_t count = 0;
	for (size_t i = 0; env && env[i]; i++) {
		const char *equals = strchr(env[i], '=');
		if (!equals || equals == env[i])
			continue;
		struct str name = { env[i], (size_t)(equals - env[i]) };
		variables[count++] = (struct variable){ name, str_from(equals + 1), i };
	}
	if (count)
		qsort(variables, count, sizeof(*variables), metadata_order_variables);
	return count;
}

int metadata_env_json(struct buf *out, const char *const *env)
{
	size_t most = 1;
	while (env && env[most - 1])
		most++;
	struct variable *variables = calloc(most, sizeof(*variables));
	if (!variables)
		return -ENOMEM;
	size_t count = metadata_take_variables(env, variables);
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	for (size_t i = 0; i < count; i++) {
		const struct variable *v = &variables[i];
		bool is_repeated = i && str_eq(v->name, variables[i - 1].name);
		if (is_repeated || secret_looking(v->name, v->value))
			continue;
		perch_json_write_name_n(&writer, v->name.data, v->name.len);
		perch_json_write_string_n(&writer, v->value.data, v->value.len);
	}
	perch_json_end_object(&writer);
	free(variables);
	return out->failed ? -ENOMEM : 0;
}

/* ---- fledge.toml --------------------------------------------------------- */

/* A float stays one: 1.0 is not written as 1. JSON has no word for infinity and NaN: null. */
static void metadata_write_float(perch_json_writer *writer, double number)
{
	if (!isfinite(number)) {
		perch_json_write_null(writer);
		return;
	}
	char text[JSON_DOUBLE_MAX + 2];
	size_t length = json_format_double(number, text);
	if (!memchr(text, '.', length) && !memchr(text, 'e', length)) {
		text[length++] = '.';
		text[length++] = '0';
	}
	perch_json_write_raw(writer, text, length);
}

static void metadata_append_fraction(struct buf *text, uint32_t nanosecond)
{
	if (nanosecond == 0)
		return;
	buf_printf(text, ".%09u", nanosecond);
	while (text->len && text->data[text->len - 1] == '0')
		text->len--;
}

/* As RFC 3339 and TOML write it. */
static void metadata_append_time(
	struct buf *text, enum toml_type type, const struct toml_time *time)
{
	if (type != TOML_LOCAL_TIME)
		buf_printf(text, "%04u-%02u-%02u", time->year, time->month, time->day);
	if (type == TOML_LOCAL_DATE)
		return;
	if (type != TOML_LOCAL_TIME)
		buf_append_char(text, 'T');
	buf_printf(text, "%02u:%02u:%02u", time->hour, time->minute, time->second);
	metadata_append_fraction(text, time->nanosecond);
	if (type != TOML_OFFSET_DATETIME)
		return;
	int offset = time->offset_minutes;
	unsigned size = (unsigned)abs(offset);
	if (offset == 0)
		buf_append_char(text, 'Z');
	else
		buf_printf(text, "%c%02u:%02u", offset < 0 ? '-' : '+', size / 60, size % 60);
}

static void metadata_write_time(perch_json_writer *writer, const struct toml_value *value)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	metadata_append_time(&text, value->type, &value->time);
	writer->out->failed |= text.failed;
	perch_json_write_string_n(writer, text.data, text.len);
}

static int metadata_order_values(const void *left, const void *right)
{
	const struct toml_value *const *a = left;
	const struct toml_value *const *b = right;
	return str_compare((*a)->key, (*b)->key);
}

static void metadata_write_value(perch_json_writer *writer, const struct toml_value *value);

/* By name, as all objects in answers. */
static void metadata_write_table(perch_json_writer *writer, const struct toml_value *table)
{
	size_t size = table->count * sizeof(struct toml_value *);
	_cleanup_free_ struct toml_value **sorted = malloc(size + 1);
	if (!sorted) {
		writer->out->failed = true;
		return;
	}
	if (size)
		memcpy(sorted, table->items, size);
	qsort(sorted, table->count, sizeof(*sorted), metadata_order_values);
	perch_json_begin_object(writer);
	for (size_t i = 0; i < table->count; i++) {
		perch_json_write_name_n(writer, sorted[i]->key.data, sorted[i]->key.len);
		metadata_write_value(writer, sorted[i]);
	}
	perch_json_end_object(writer);
}

static void metadata_write_array(perch_json_writer *writer, const struct toml_value *array)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < array->count; i++)
		metadata_write_value(writer, array->items[i]);
	perch_json_end_array(writer);
}

/* As deep as the parser lets a text be. */
static void metadata_write_value(perch_json_writer *writer, const struct toml_value *value)
{
	switch (value->type) {
	case TOML_STRING:
		perch_json_write_string_n(writer, value->string.data, value->string.len);
		return;
	case TOML_INTEGER:
		perch_json_write_int64(writer, value->integer);
		return;
	case TOML_FLOAT:
		metadata_write_float(writer, value->number);
		return;
	case TOML_BOOL:
		perch_json_write_bool(writer, value->boolean);
		return;
	case TOML_OFFSET_DATETIME:
	case TOML_LOCAL_DATETIME:
	case TOML_LOCAL_DATE:
	case TOML_LOCAL_TIME:
		metadata_write_time(writer, value);
		return;
	case TOML_ARRAY:
		metadata_write_array(writer, value);
		return;
	case TOML_TABLE:
		metadata_write_table(writer, value);
		return;
	}
}

static int metadata_read_config(const char *directory, struct buf *text)
{
	_cleanup_fd_ int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : regular_read(fd, "fledge.toml", 0, CONFIG_MAX, text);
}

/* Says in the arena why there is no config. */
static int metadata_keep_warning(
	struct arena *arena, const perch_err *err, const char **ret_warning)
{
	char text[PERCH_ERR_TEXT_MAX + 64];
	if (err->line)
		snprintf(text, sizeof(text), "fledge.toml:%u:%u: %s", err->line, err->column, err->text);
	else
		snprintf(text, sizeof(text), "fledge.toml: %s", err->text);
	*ret_warning = arena_dup(arena, str_from(text));
	return *ret_warning ? 0 : -ENOMEM;
}

/* 0 and *ret_toml, which stays NULL when there is no file; else err says why. */
static int metadata_parse_config(const char *directory, struct toml **ret_toml, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = metadata_read_config(directory, &text);
	switch (r) {
	case 0:
		return toml_parse((struct str){ text.data, text.len }, NULL, ret_toml, err);
	case -ENOENT:
		return 0;
	case -ENOTSUP:
		return err_set(err, r, "not a regular file");
	case -EFBIG:
		return err_set(err, r, "larger than 1 MiB");
	default:
		return err_set(err, r, "%s", perch_strerror(r));
	}
}

int metadata_config_json(
	struct buf *out, const char *directory, struct arena *arena, const char **ret_warning)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	const char *warning = NULL;
	int r = metadata_parse_config(directory, &toml, &err);
	if (r == -ENOMEM || (r < 0 && metadata_keep_warning(arena, &err, &warning) < 0))
		return -ENOMEM;
	struct perch_json_writer writer = json_writer_on(out);
	if (toml)
		metadata_write_value(&writer, toml_root(toml));
	else
		perch_json_write_null(&writer);
	if (out->failed)
		return -ENOMEM;
	*ret_warning = warning;
	return 0;
}

/* ---- lines --------------------------------------------------------------- */

int metadata_lines_json(struct buf *out, struct str text, size_t most)
{
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < most && text.len; i++) {
		struct str line = str_cut(&text, '\n');
		perch_json_write_string_n(&writer, line.data, line.len);
	}
	perch_json_end_array(&writer);
	return out->failed ? -ENOMEM : 0;
}
