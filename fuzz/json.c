/* Reads arbitrary bytes as JSON under every option and, when they are JSON,
 * looks at every value in every way and writes them again: what was written
 * must read as the same. */
#include "fuzz.h"

#include "base/utf8.h"
#include "data/json.h"

/* The first byte chooses the options. */
static perch_json_options choose_options(uint8_t choice)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.duplicates = (perch_json_duplicates)(choice % 3);
	options.replace_invalid_utf8 = choice & 4;
	options.reject_lone_surrogates = choice & 8;
	options.depth_max = choice & 16 ? 5 : 0;
	return options;
}

static void look_at_scalar(perch_json_writer *writer, const perch_json_value *value)
{
	size_t length;
	int64_t integer, whole;
	double number;
	const char *text = perch_json_string(value, &length);
	if (text) {
		check(utf8_is_valid(text, length));
		perch_json_write_string_n(writer, text, length);
		return;
	}
	if (perch_json_int64(value, &integer) == 0)
		check(perch_json_whole_int64(value, &whole) == 0 && whole == integer);
	if (perch_json_double(value, &number) == 0) {
		perch_json_write_double(writer, number);
		return;
	}
	text = perch_json_raw(value, &length);
	perch_json_write_raw(writer, text, length);
}

/* Recursion is fine here: the reader has bounded the depth. */
static void rewrite(perch_json_writer *writer, const perch_json_value *value)
{
	perch_json_type type = perch_json_type_of(value);
	if (type < PERCH_JSON_ARRAY) {
		look_at_scalar(writer, value);
		return;
	}
	(type == PERCH_JSON_ARRAY ? perch_json_begin_array : perch_json_begin_object)(writer);
	perch_json_iter iter = perch_json_iterate(value);
	size_t count = 0;
	for (const perch_json_value *entry; (entry = perch_json_next(&iter)); count++) {
		size_t length;
		const char *name = perch_json_string(iter.name, &length);
		check((name != NULL) == (type == PERCH_JSON_OBJECT));
		if (name) {
			if (count < 50)
				check(perch_json_get_n(value, name, length) == entry);
			perch_json_write_name_n(writer, name, length);
		}
		rewrite(writer, entry);
	}
	check(count == perch_json_count(value));
	(type == PERCH_JSON_ARRAY ? perch_json_end_array : perch_json_end_object)(writer);
}

/* Reads a text that we wrote, which has no duplicates left, and writes it. */
static struct buf read_and_write(const struct buf *text, perch_json_style style)
{
	perch_json_options options = { .duplicates = PERCH_JSON_DUPLICATES_REJECT,
		.reject_lone_surrogates = true,
		.text_max = PERCH_JSON_TEXT_CEILING };
	perch_json *json;
	const perch_json_value *root;
	struct buf out = { 0 };
	struct perch_json_writer writer = json_writer_on(&out);
	writer.style = style;
	check(perch_json_new(&options, &json) == 0);
	check(perch_json_parse(json, text->data, text->len, &root, NULL) == 0);
	rewrite(&writer, root);
	perch_json_free(json);
	return out;
}

static void check_document(const perch_json_value *root)
{
	struct buf out = { 0 }, laid_out = { 0 };
	struct perch_json_writer writer = json_writer_on(&out);
	rewrite(&writer, root);
	struct buf pretty = read_and_write(&out, PERCH_JSON_PRETTY);
	struct buf again = read_and_write(&pretty, PERCH_JSON_COMPACT);
	check(again.len == out.len && memcmp(again.data, out.data, out.len) == 0);
	writer = json_writer_on(&laid_out);
	perch_json_write_value(&writer, root);
	check(utf8_is_valid(laid_out.data, laid_out.len));
	buf_free(&out);
	buf_free(&pretty);
	buf_free(&again);
	buf_free(&laid_out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	perch_json_options options = choose_options(data[0]);
	perch_json *json;
	const perch_json_value *root;
	perch_err err = { 0 };
	check(perch_json_new(&options, &json) == 0);
	/* Twice: a document guesses by what it read before. */
	for (int i = 0; i < 2; i++) {
		if (perch_json_parse(json, (const char *)data + 1, size - 1, &root, &err) == 0)
			check_document(root);
		else
			check(err.code < 0 && err.text[0] && utf8_is_valid(err.text, strlen(err.text)));
	}
	perch_json_free(json);
	return 0;
}
