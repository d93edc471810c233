/* The fields of a message, and the mistakes in them. */
#include "fledge/reading.h"

#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"
#include "data/json_member.h"

const perch_json_value *reading_field(const struct reading *reading, const char *name)
{
	return json_member(reading->message, name);
}

/* Once a message: further mistakes may follow from this one. */
static void reading_refuse(
	struct reading *reading, const char *name, const char *wanted, struct str found)
{
	if (reading->is_wrong)
		return;
	reading->is_wrong = true;
	engine_say(reading->engine, PERCH_SHOWN_WARNING,
		"line %llu of the plugin: `%s`: `%s` must be %s, %s%.*s",
		(unsigned long long)reading->engine->line_number, reading->type, name, wanted,
		found.len ? "not " : "and is missing", utf8_quoted(found), found.data);
	engine_refuse(reading->engine, engine_enqueue(reading->engine, reading->id), "invalid_request");
}

void reading_wrong(struct reading *reading, const char *name, const char *wanted)
{
	const perch_json_value *value = reading_field(reading, name);
	reading_refuse(reading, name, wanted,
		value ? str_from(perch_json_type_name(perch_json_type_of(value))) : STR(""));
}

void reading_unfit(struct reading *reading, const char *name, const char *wanted)
{
	struct str raw;
	raw.data = perch_json_raw(reading_field(reading, name), &raw.len);
	reading_refuse(reading, name, wanted, raw);
}

bool reading_text(struct reading *reading, const char *name, struct str *ret)
{
	const perch_json_value *value;
	int r = json_member_of(reading->message, name, PERCH_JSON_STRING, &value, NULL);
	if (r < 0)
		reading_wrong(reading, name, "a string");
	if (r > 0)
		*ret = json_str(value);
	return r > 0;
}

struct str reading_required_text(struct reading *reading, const char *name)
{
	struct str text = { "", 0 };
	if (!reading_text(reading, name, &text))
		reading_wrong(reading, name, "a string");
	return text;
}

bool reading_bool(struct reading *reading, const char *name, bool *ret)
{
	const perch_json_value *value = reading_field(reading, name);
	if (value && perch_json_bool(value, ret) < 0)
		reading_wrong(reading, name, "true or false");
	return value && !reading->is_wrong;
}

bool reading_number(struct reading *reading, const char *name, double *ret)
{
	const perch_json_value *value = reading_field(reading, name);
	if (value && perch_json_double(value, ret) < 0)
		reading_wrong(reading, name, "a number");
	return value && !reading->is_wrong;
}

bool reading_index(struct reading *reading, const char *name, const perch_json_value *value,
	size_t count, size_t *ret)
{
	int64_t index;
	int r = perch_json_whole_int64(value, &index);
	if (r < 0 && r != -ERANGE) {
		reading_wrong(reading, name, "a whole number");
		return false;
	}
	if (r == 0 && index >= 0 && (uint64_t)index < count) {
		*ret = (size_t)index;
		return true;
	}
	engine_say(reading->engine, PERCH_SHOWN_WARNING,
		"line %llu of the plugin: `%s`: `%s` is not the index of an option; ignored",
		(unsigned long long)reading->engine->line_number, reading->type, name);
	return false;
}

const perch_text *reading_required_list(
	struct reading *reading, const char *name, struct arena *arena, size_t *ret_count)
{
	const perch_json_value *list = reading_field(reading, name);
	*ret_count = 0;
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY) {
		reading_wrong(reading, name, "a list of strings");
		return NULL;
	}
	perch_text *texts = arena_alloc(arena, perch_json_count(list) * sizeof(*texts) + 1);
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; texts && (value = perch_json_next(&iter));) {
		if (perch_json_type_of(value) != PERCH_JSON_STRING) {
			char found[64];
			snprintf(found, sizeof(found), "a list with %s in it",
				perch_json_type_name(perch_json_type_of(value)));
			reading_refuse(reading, name, "a list of strings", str_from(found));
			return NULL;
		}
		struct str text = json_str(value);
		const char *copy = arena_dup(arena, text);
		texts[(*ret_count)++] = (perch_text){ copy, text.len };
		if (!copy)
			texts = NULL;
	}
	if (!texts)
		reading->engine->is_broken = true;
	return texts;
}
