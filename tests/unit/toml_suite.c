/* toml-test, the test suite of the TOML community: every valid text must
 * decode to its JSON, every invalid one must be refused. */
#include "harness/suite.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/toml.h"
#include "harness/toml_trial.h"

static const char *const json_types[] = {
	[TOML_STRING] = "string",
	[TOML_INTEGER] = "integer",
	[TOML_FLOAT] = "float",
	[TOML_BOOL] = "bool",
	[TOML_OFFSET_DATETIME] = "datetime",
	[TOML_LOCAL_DATETIME] = "datetime-local",
	[TOML_LOCAL_DATE] = "date-local",
	[TOML_LOCAL_TIME] = "time-local",
};

static bool is_alike(const struct toml_value *value, const json_t *expected);

static void read_whole(const char *path, struct buf *buf)
{
	FILE *file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	char block[4096];
	size_t got;
	while ((got = fread(block, 1, sizeof(block), file)) > 0)
		ck_assert_int_eq(buf_append(buf, block, got), 0);
	fclose(file);
}

static bool is_same_float(double value, const char *expected)
{
	double wanted = strtod(expected, NULL);
	return isnan(wanted) ? isnan(value) : value == wanted;
}

/* Minutes since a day long ago: only differences matter. */
static long minutes_of(const struct toml_time *time)
{
	long year = time->month > 2 ? time->year : time->year - 1;
	long month = time->month > 2 ? time->month - 3 : time->month + 9;
	long days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + time->day;
	return (days * 24 + time->hour) * 60 + time->minute - time->offset_minutes;
}

static const char *scan_date(const char *text, struct toml_time *time)
{
	unsigned year, month, day;
	int used = 0;
	ck_assert_int_eq(sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &used), 3);
	time->year = (uint16_t)year;
	time->month = (uint8_t)month;
	time->day = (uint8_t)day;
	return text + used + (text[used] != '\0');
}

static const char *scan_clock(const char *text, struct toml_time *time)
{
	unsigned hour, minute, second;
	int used = 0;
	ck_assert_int_eq(sscanf(text, "%2u:%2u:%2u%n", &hour, &minute, &second, &used), 3);
	time->hour = (uint8_t)hour;
	time->minute = (uint8_t)minute;
	time->second = (uint8_t)second;
	if (text[used] != '.')
		return text + used;
	char *end;
	time->nanosecond = (uint32_t)lround(strtod(text + used, &end) * 1e9);
	return end;
}

static bool is_same_time(const struct toml_value *value, const char *expected)
{
	struct toml_time wanted = { 0 };
	if (value->type != TOML_LOCAL_TIME)
		expected = scan_date(expected, &wanted);
	if (value->type != TOML_LOCAL_DATE)
		expected = scan_clock(expected, &wanted);
	if (value->type == TOML_OFFSET_DATETIME && *expected != 'Z') {
		int hours, minutes;
		ck_assert_int_eq(sscanf(expected, "%d:%d", &hours, &minutes), 2);
		wanted.offset_minutes = (int16_t)(hours * 60 + (expected[0] == '-' ? -minutes : minutes));
	}
	return minutes_of(&value->time) == minutes_of(&wanted) && value->time.second == wanted.second &&
		value->time.nanosecond == wanted.nanosecond;
}

/* The text with U+E000 for NUL, in out. */
static const char *without_nul(struct str text, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < text.len; i++)
		buf_append_text(out, text.data[i] ? (char[]){ text.data[i], 0 } : "\xEE\x80\x80");
	ck_assert_int_eq(buf_terminate(out), 0);
	return out->data;
}

static bool is_same_string(struct str string, const char *expected)
{
	struct buf buf = { 0 };
	bool is_same = strcmp(without_nul(string, &buf), expected) == 0;
	buf_free(&buf);
	return is_same;
}

static bool is_same_scalar(const struct toml_value *value, const json_t *expected)
{
	const char *type = json_string_value(json_object_get(expected, "type"));
	const char *text = json_string_value(json_object_get(expected, "value"));
	if (!type || !text || strcmp(type, json_types[value->type]) != 0)
		return false;
	char printed[32];
	switch (value->type) {
	case TOML_STRING:
		return is_same_string(value->string, text);
	case TOML_INTEGER:
		snprintf(printed, sizeof(printed), "%lld", (long long)value->integer);
		return strcmp(printed, text) == 0;
	case TOML_FLOAT:
		return is_same_float(value->number, text);
	case TOML_BOOL:
		return strcmp(value->boolean ? "true" : "false", text) == 0;
	default:
		return is_same_time(value, text);
	}
}

static bool is_same_table(const struct toml_value *table, const json_t *expected)
{
	if (!json_is_object(expected) || json_object_size(expected) != table->count)
		return false;
	struct buf key = { 0 };
	bool is_same = true;
	for (size_t i = 0; i < table->count && is_same; i++) {
		const struct toml_value *item = table->items[i];
		const json_t *json = json_object_get(expected, without_nul(item->key, &key));
		is_same = json && is_alike(item, json);
	}
	buf_free(&key);
	return is_same;
}

static bool is_same_array(const struct toml_value *array, const json_t *expected)
{
	if (!json_is_array(expected) || json_array_size(expected) != array->count)
		return false;
	for (size_t i = 0; i < array->count; i++) {
		if (!is_alike(array->items[i], json_array_get(expected, i)))
			return false;
	}
	return true;
}

static bool is_alike(const struct toml_value *value, const json_t *expected)
{
	if (value->type == TOML_TABLE)
		return is_same_table(value, expected);
	if (value->type == TOML_ARRAY)
		return is_same_array(value, expected);
	return is_same_scalar(value, expected);
}

/* jansson has no keys with NUL in them: U+E000 stands for it on both sides. */
static void replace_nul_escapes(struct buf *json)
{
	for (char *at = json->data; (at = strchr(at, '\\')); at += 2) {
		if (strncmp(at, "\\u0000", 6) == 0)
			memcpy(at, "\\uE000", 6);
	}
}

static bool passes_valid(const char *path, const struct toml *toml)
{
	char json_path[4096];
	snprintf(json_path, sizeof(json_path), "%.*s.json", (int)strlen(path) - 5, path);
	struct buf text = { 0 };
	read_whole(json_path, &text);
	ck_assert_int_eq(buf_terminate(&text), 0);
	replace_nul_escapes(&text);
	json_error_t error;
	json_t *expected = json_loads(text.data, 0, &error);
	ck_assert_msg(expected != NULL, "%s: %s", json_path, error.text);
	bool is_same = is_alike(toml_root(toml), expected);
	json_decref(expected);
	buf_free(&text);
	return is_same;
}

/* An error must have words and a place inside the text. */
static bool passes_invalid(int result, const perch_err *err)
{
	return result == PERCH_ESYNTAX && err->code == result && err->line > 0 && err->column > 0 &&
		err->text[0] != '\0';
}

static bool is_read_as_expected(const char *root, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	struct buf text = { 0 };
	read_whole(path, &text);
	perch_err err = { 0 };
	struct toml *toml = NULL;
	int result = toml_parse((struct str){ text.data, text.len }, NULL, &toml, &err);
	bool is_valid_case = strncmp(name, "valid/", 6) == 0;
	bool has_passed =
		is_valid_case ? result == 0 && passes_valid(path, toml) : passes_invalid(result, &err);
	if (getenv("TOML_SUITE_SHOW") || !has_passed)
		printf("# %s: %s %d:%d %s\n", name, has_passed ? "pass" : "FAIL", (int)err.line,
			(int)err.column, err.text);
	toml_free(toml);
	buf_free(&text);
	return has_passed;
}

typedef bool case_fn(const char *root, const char *name);

/* Calls passes for every .toml of the list; returns how many failed. */
static unsigned for_every_case(case_fn *passes)
{
	const char *root = suite_data("toml-test");
	if (!root)
		suite_skip("toml-test is not there (PERCH_TEST_DATA)");
	char line[4096];
	snprintf(line, sizeof(line), "%s/files-toml-1.0.0", root);
	FILE *list = fopen(line, "r");
	ck_assert_ptr_nonnull(list);
	unsigned ran = 0, failed = 0;
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		if (!str_has_suffix(str_from(line), STR(".toml")))
			continue;
		ran++;
		failed += !passes(root, line);
	}
	fclose(list);
	printf("# %u cases, %u failed\n", ran, failed);
	ck_assert_uint_gt(ran, 500);
	return failed;
}

START_TEST(every_case_of_toml_1_0_passes)
{
	ck_assert_uint_eq(for_every_case(is_read_as_expected), 0);
}
END_TEST

/* Random edits of the strangest texts there are. */
static bool survives_edits(const char *root, const char *name)
{
	enum { EDITS = 60 };
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	struct buf text = { 0 };
	read_whole(path, &text);
	const char *problem = NULL;
	for (unsigned seed = 0; seed < EDITS && !problem; seed++) {
		struct buf out = { 0 };
		problem = trial_run((struct str){ text.data, text.len }, seed, &out);
		if (problem)
			printf("# %s, seed %u: %s\n%.*s\n", name, seed, problem, (int)out.len, out.data);
		buf_free(&out);
	}
	buf_free(&text);
	return problem == NULL;
}

START_TEST(every_valid_case_can_be_edited)
{
	ck_assert_uint_eq(for_every_case(survives_edits), 0);
}
END_TEST

SUITE_MAIN("toml_suite", every_case_of_toml_1_0_passes, every_valid_case_can_be_edited)
