/* The reader against jansson: random documents, and what random changes make
 * of them, are accepted or rejected alike and read as the same values. */
#include "harness/suite.h"

#include <jansson.h>

#include "base/buf.h"
#include "data/json.h"
#include "unit/json_doc.h"
#include "unit/json_random.h"

static void compare_values(const perch_json_value *ours, json_t *theirs);

static void compare_object(const perch_json_value *ours, json_t *theirs)
{
	const char *name;
	json_t *value;
	ck_assert_int_eq(perch_json_type_of(ours), PERCH_JSON_OBJECT);
	ck_assert_uint_eq(perch_json_count(ours), json_object_size(theirs));
	json_object_foreach(theirs, name, value) compare_values(perch_json_get(ours, name), value);
}

static void compare_array(const perch_json_value *ours, json_t *theirs)
{
	ck_assert_int_eq(perch_json_type_of(ours), PERCH_JSON_ARRAY);
	ck_assert_uint_eq(perch_json_count(ours), json_array_size(theirs));
	perch_json_iter iter = perch_json_iterate(ours);
	for (size_t i = 0; i < json_array_size(theirs); i++)
		compare_values(perch_json_next(&iter), json_array_get(theirs, i));
	ck_assert_ptr_null(perch_json_next(&iter));
}

static void compare_numbers(const perch_json_value *ours, json_t *theirs)
{
	int64_t integer = 0;
	double number = 0;
	if (json_is_integer(theirs)) {
		ck_assert_int_eq(perch_json_int64(ours, &integer), 0);
		ck_assert_int_eq(integer, json_integer_value(theirs));
	}
	ck_assert_int_eq(perch_json_double(ours, &number), 0);
	ck_assert(number == json_number_value(theirs));
}

static void compare_values(const perch_json_value *ours, json_t *theirs)
{
	bool flag;
	switch (json_typeof(theirs)) {
	case JSON_OBJECT:
		compare_object(ours, theirs);
		break;
	case JSON_ARRAY:
		compare_array(ours, theirs);
		break;
	case JSON_STRING:
		check_string(ours, json_string_value(theirs), json_string_length(theirs));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		compare_numbers(ours, theirs);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		ck_assert_int_eq(perch_json_bool(ours, &flag), 0);
		ck_assert(flag == json_is_true(theirs));
		break;
	case JSON_NULL:
		ck_assert_int_eq(perch_json_type_of(ours), PERCH_JSON_NULL);
		break;
	}
}

/* Where we are meant to accept more: numbers of any size, NULs in names, and
 * (not reached here) a depth beyond jansson's fixed 2048. */
static bool differs_on_purpose(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);
	return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
		code == json_error_stack_overflow;
}

static unsigned accepted, rejected;

static void compare(const struct buf *text, bool reject_duplicates)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.reject_lone_surrogates = true; /* as jansson does */
	options.depth_max = 2048;
	size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
	if (reject_duplicates) {
		options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
		flags |= JSON_REJECT_DUPLICATES;
	}
	json_error_t error;
	json_t *theirs = json_loadb(text->data, text->len, flags, &error);
	_cleanup_doc_ struct doc *ours = doc_read(&options, text->data, text->len);
	bool agree = (theirs != NULL) == (ours->result == 0);
	ck_assert_msg(agree || (!theirs && differs_on_purpose(&error)), "%.*s\nours: %s\njansson: %s",
		(int)text->len, text->data, ours->result ? ours->err.text : "accepted",
		theirs ? "accepted" : error.text);
	if (theirs && ours->root)
		compare_values(ours->root, theirs);
	*(theirs ? &accepted : &rejected) += 1;
	json_decref(theirs);
}

/* Changes, inserts or removes a byte. Never a NUL: for jansson that is the end
 * of the text. */
static void mutate(struct buf *text, uint64_t *state)
{
	static const char bytes[] =
		"{}[]\",:\\u0123456789abfnrteE+-. \t\n\r/\x01\x1F\x7F\x80\xA9\xC3\xE2\xED\xF0\xFF";
	size_t place = random_below(state, text->len + 1);
	size_t tail = text->len - place;
	char byte = bytes[random_below(state, sizeof(bytes) - 1)];
	ck_assert_int_eq(buf_reserve(text, 8), 0);
	switch (random_below(state, 3)) {
	case 0:
		if (tail)
			text->data[place] = byte;
		break;
	case 1:
		memmove(text->data + place + 1, text->data + place, tail);
		text->data[place] = byte;
		text->len++;
		break;
	default:
		if (tail) {
			memmove(text->data + place, text->data + place + 1, tail - 1);
			text->len--;
		}
	}
}

START_TEST(random_documents_read_alike)
{
	for (uint64_t seed = 0; seed < 4000; seed++) {
		uint64_t state = seed;
		_cleanup_(buf_free) struct buf text = { 0 };
		random_json(&text, &state, 5);
		compare(&text, false);
		compare(&text, true);
	}
	ck_assert_uint_gt(accepted, 4000);
}
END_TEST

START_TEST(changed_documents_read_alike)
{
	for (uint64_t seed = 0; seed < 6000; seed++) {
		uint64_t state = seed + 1000000;
		_cleanup_(buf_free) struct buf text = { 0 };
		random_json(&text, &state, 3);
		for (size_t i = 0; i < 5; i++) {
			mutate(&text, &state);
			compare(&text, seed % 2);
		}
	}
	ck_assert_uint_gt(accepted, 3000);
	ck_assert_uint_gt(rejected, 3000);
}
END_TEST

SUITE_MAIN("json_peer", random_documents_read_alike, changed_documents_read_alike)
