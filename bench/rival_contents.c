/* What perch and yyjson write and read beside each other, once in the words of each. */
#include "rival.h"

#include <string.h>

#include "bench.h"

enum {
	TEXT_SIZE = 64 * 1024,
	NUMBERS = 1000,
	ESCAPED = 100,
	NESTED = 200,
};

static char text_ascii[TEXT_SIZE];
static char text_mixed[TEXT_SIZE];

static void contents_fill(char *text, const char *phrase)
{
	size_t length = strlen(phrase);
	memset(text, '.', TEXT_SIZE);
	for (size_t at = 0; at + length <= TEXT_SIZE; at += length)
		memcpy(text + at, phrase, length);
}

void contents_prepare(void)
{
	contents_fill(text_ascii, "The engine weaves patterns just as the loom weaves flowers; ");
	contents_fill(text_mixed,
		"Der Entwurf w\xC3\xA4"
		"chst \xE2\x80\x93 \xE8\x8A\xB1\xE3\x82\x82\xE8\x91\x89\xE3\x82\x82: ");
}

/* ---- a message ---------------------------------------------------------------- */

static const char *const branches[] = { "main", "release/1.2", "none" };
static const char question[] = "Which branch shall be \"deployed\"?\n(arrows, Enter)";

static void message_write_ours(const struct content *content, perch_json_writer *writer)
{
	(void)content;
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "type");
	perch_json_write_string(writer, "select");
	perch_json_write_name(writer, "id");
	perch_json_write_string(writer, "b7c1f0e2-4171");
	perch_json_write_name(writer, "prompt");
	perch_json_write_string(writer, question);
	perch_json_write_name(writer, "options");
	perch_json_begin_array(writer);
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		perch_json_write_string(writer, branches[i]);
	perch_json_end_array(writer);
	perch_json_write_name(writer, "cwd");
	perch_json_write_string(writer, "/home/ada/projects/site/");
	perch_json_write_name(writer, "code");
	perch_json_write_int64(writer, 12);
	perch_json_write_name(writer, "ok");
	perch_json_write_bool(writer, true);
	perch_json_end_object(writer);
}

static yyjson_mut_val *message_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	(void)content;
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "type", "select");
	yyjson_mut_obj_add_str(doc, root, "id", "b7c1f0e2-4171");
	yyjson_mut_obj_add_str(doc, root, "prompt", question);
	yyjson_mut_val *options = yyjson_mut_obj_add_arr(doc, root, "options");
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		yyjson_mut_arr_add_str(doc, options, branches[i]);
	yyjson_mut_obj_add_str(doc, root, "cwd", "/home/ada/projects/site/");
	yyjson_mut_obj_add_int(doc, root, "code", 12);
	yyjson_mut_obj_add_bool(doc, root, "ok", true);
	return root;
}

static double message_read_ours(const perch_json_value *root)
{
	size_t length = 0;
	bench_keep(perch_json_string(perch_json_get(root, "type"), &length));
	return (double)length;
}

static double message_read_theirs(yyjson_val *root)
{
	yyjson_val *type = yyjson_obj_get(root, "type");
	bench_keep(yyjson_get_str(type));
	return (double)yyjson_get_len(type);
}

/* ---- records ------------------------------------------------------------------ */

static void records_write_ours(const struct content *content, perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < content->count; i++) {
		perch_json_begin_object(writer);
		perch_json_write_name(writer, "id");
		perch_json_write_int64(writer, (int64_t)(1000 + i * 7));
		perch_json_write_name(writer, "name");
		perch_json_write_string(writer, "Ada Lovelace");
		perch_json_write_name(writer, "email");
		perch_json_write_string(writer, "ada@engine.example");
		perch_json_write_name(writer, "active");
		perch_json_write_bool(writer, i % 3 != 0);
		perch_json_write_name(writer, "score");
		perch_json_write_double(writer, (double)i / 8);
		perch_json_write_name(writer, "parent");
		perch_json_write_null(writer);
		perch_json_write_name(writer, "tags");
		perch_json_begin_array(writer);
		perch_json_write_string(writer, "first");
		perch_json_write_string(writer, "analytical");
		perch_json_end_array(writer);
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
}

static yyjson_mut_val *records_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_arr(doc);
	for (size_t i = 0; i < content->count; i++) {
		yyjson_mut_val *record = yyjson_mut_arr_add_obj(doc, root);
		yyjson_mut_obj_add_int(doc, record, "id", (int64_t)(1000 + i * 7));
		yyjson_mut_obj_add_str(doc, record, "name", "Ada Lovelace");
		yyjson_mut_obj_add_str(doc, record, "email", "ada@engine.example");
		yyjson_mut_obj_add_bool(doc, record, "active", i % 3 != 0);
		yyjson_mut_obj_add_real(doc, record, "score", (double)i / 8);
		yyjson_mut_obj_add_null(doc, record, "parent");
		yyjson_mut_val *tags = yyjson_mut_obj_add_arr(doc, record, "tags");
		yyjson_mut_arr_add_str(doc, tags, "first");
		yyjson_mut_arr_add_str(doc, tags, "analytical");
	}
	return root;
}

/* Every record, as who lists them: two of its members. */
static double records_read_ours(const perch_json_value *root)
{
	double sum = 0;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *record; (record = perch_json_next(&iter));) {
		int64_t id = 0;
		size_t length;
		perch_json_int64(perch_json_get(record, "id"), &id);
		bench_keep(perch_json_string(perch_json_get(record, "name"), &length));
		sum += (double)id + (double)length;
	}
	return sum;
}

static double records_read_theirs(yyjson_val *root)
{
	double sum = 0;
	yyjson_val *record;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	while ((record = yyjson_arr_iter_next(&iter))) {
		yyjson_val *name = yyjson_obj_get(record, "name");
		bench_keep(yyjson_get_str(name));
		sum += (double)yyjson_get_sint(yyjson_obj_get(record, "id")) + (double)yyjson_get_len(name);
	}
	return sum;
}

/* ---- texts -------------------------------------------------------------------- */

static const char *text_of(const struct content *content)
{
	return content->count ? text_mixed : text_ascii;
}

static void text_write_ours(const struct content *content, perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	perch_json_write_string_n(writer, text_of(content), TEXT_SIZE);
	perch_json_end_array(writer);
}

static yyjson_mut_val *text_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_arr(doc);
	yyjson_mut_arr_add_strn(doc, root, text_of(content), TEXT_SIZE);
	return root;
}

/* Lines of a log. */
static void escapes_write_ours(const struct content *content, perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < content->count; i++)
		perch_json_write_string(writer, "C:\\temp\\log:\t\"failed\"\n\tat line 4\n\ttwice\n");
	perch_json_end_array(writer);
}

static yyjson_mut_val *escapes_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_arr(doc);
	for (size_t i = 0; i < content->count; i++)
		yyjson_mut_arr_add_str(doc, root, "C:\\temp\\log:\t\"failed\"\n\tat line 4\n\ttwice\n");
	return root;
}

/* All strings, decoded. */
static double strings_read_ours(const perch_json_value *root)
{
	double sum = 0;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		size_t length;
		bench_keep(perch_json_string(value, &length));
		sum += (double)length;
	}
	return sum;
}

static double strings_read_theirs(yyjson_val *root)
{
	double sum = 0;
	yyjson_val *value;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	while ((value = yyjson_arr_iter_next(&iter))) {
		bench_keep(yyjson_get_str(value));
		sum += (double)yyjson_get_len(value);
	}
	return sum;
}

/* ---- numbers ------------------------------------------------------------------ */

static int64_t whole_at(size_t i)
{
	return (int64_t)(i * i * 37) - 5000;
}

static double real_at(size_t i)
{
	return (double)whole_at(i) / 1000.0 + 0.1;
}

static void wholes_write_ours(const struct content *content, perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < content->count; i++)
		perch_json_write_int64(writer, whole_at(i));
	perch_json_end_array(writer);
}

static yyjson_mut_val *wholes_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_arr(doc);
	for (size_t i = 0; i < content->count; i++)
		yyjson_mut_arr_add_sint(doc, root, whole_at(i));
	return root;
}

static double wholes_read_ours(const perch_json_value *root)
{
	double sum = 0;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		int64_t number = 0;
		perch_json_int64(value, &number);
		sum += (double)number;
	}
	return sum;
}

static double wholes_read_theirs(yyjson_val *root)
{
	double sum = 0;
	yyjson_val *value;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	while ((value = yyjson_arr_iter_next(&iter)))
		sum += (double)yyjson_get_sint(value);
	return sum;
}

static void reals_write_ours(const struct content *content, perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < content->count; i++)
		perch_json_write_double(writer, real_at(i));
	perch_json_end_array(writer);
}

static yyjson_mut_val *reals_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_arr(doc);
	for (size_t i = 0; i < content->count; i++)
		yyjson_mut_arr_add_real(doc, root, real_at(i));
	return root;
}

static double reals_read_ours(const perch_json_value *root)
{
	double sum = 0;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		double number = 0;
		perch_json_double(value, &number);
		sum += number;
	}
	return sum;
}

static double reals_read_theirs(yyjson_val *root)
{
	double sum = 0;
	yyjson_val *value;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	while ((value = yyjson_arr_iter_next(&iter)))
		sum += yyjson_get_num(value);
	return sum;
}

/* ---- depth -------------------------------------------------------------------- */

static void nested_write_ours(const struct content *content, perch_json_writer *writer)
{
	for (size_t i = 0; i < content->count; i++) {
		perch_json_begin_object(writer);
		perch_json_write_name(writer, "in");
		perch_json_begin_array(writer);
	}
	for (size_t i = 0; i < content->count; i++) {
		perch_json_end_array(writer);
		perch_json_end_object(writer);
	}
}

static yyjson_mut_val *nested_write_theirs(const struct content *content, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_val *inner = yyjson_mut_obj_add_arr(doc, root, "in");
	for (size_t i = 1; i < content->count; i++)
		inner = yyjson_mut_obj_add_arr(doc, yyjson_mut_arr_add_obj(doc, inner), "in");
	return root;
}

static double nested_read_ours(const perch_json_value *root)
{
	return (double)perch_json_count(perch_json_get(root, "in"));
}

static double nested_read_theirs(yyjson_val *root)
{
	return (double)yyjson_arr_size(yyjson_obj_get(root, "in"));
}

#define MESSAGE message_write_ours, message_write_theirs, message_read_ours, message_read_theirs
#define RECORDS records_write_ours, records_write_theirs, records_read_ours, records_read_theirs
#define TEXT text_write_ours, text_write_theirs, strings_read_ours, strings_read_theirs
#define ESCAPES escapes_write_ours, escapes_write_theirs, strings_read_ours, strings_read_theirs
#define WHOLES wholes_write_ours, wholes_write_theirs, wholes_read_ours, wholes_read_theirs
#define REALS reals_write_ours, reals_write_theirs, reals_read_ours, reals_read_theirs
#define NEST nested_write_ours, nested_write_theirs, nested_read_ours, nested_read_theirs

const struct content contents[] = {
	{ "195", 0, MESSAGE },
	{ "records-1.5k", 12, RECORDS },
	{ "records-100k", 800, RECORDS },
	{ "records-1m", 8000, RECORDS },
	{ "text-64k", 0, TEXT },
	{ "text-mixed-64k", 1, TEXT },
	{ "escapes", ESCAPED, ESCAPES },
	{ "wholes", NUMBERS, WHOLES },
	{ "reals", NUMBERS, REALS },
	{ "nested", NESTED, NEST },
};

const size_t contents_count = sizeof(contents) / sizeof(contents[0]);
