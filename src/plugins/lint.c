/* Checks every line between plugin and host against fledge-v1. */
#include "plugins/lint.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "data/json_member.h"

/* A message that gets exactly one response or cancel. */
struct lint_request {
	unsigned line;
	const struct message_rule *rule; /* NULL = no answer is expected */
};

int lint_init(struct lint *lint, const struct capabilities *wishes, struct findings *findings)
{
	*lint = (struct lint){ .findings = findings, .wishes = *wishes };
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	return perch_json_new(&options, &lint->json);
}

void lint_free(struct lint *lint)
{
	perch_json_free(lint->json);
	free(lint->waiting);
	*lint = (struct lint){ 0 };
}

/* ---- fields ------------------------------------------------------------------ */

static const char *const wanted[] = {
	[FIELD_TEXT] = "a string",
	[FIELD_BOOL] = "true or false",
	[FIELD_NUMBER] = "a number",
	[FIELD_POSITIVE] = "a number above 0",
	[FIELD_INDEX] = "the index of an option",
	[FIELD_INDEXES] = "a list of indexes of options",
	[FIELD_TEXTS] = "a list of strings",
};

static bool lint_is_number_above(const perch_json_value *value, bool must_be_positive)
{
	double number;
	return perch_json_double(value, &number) == 0 && (number > 0 || !must_be_positive);
}

static bool lint_is_index(const perch_json_value *value, const perch_json_value *message)
{
	int64_t index;
	size_t count = perch_json_count(json_member(message, "options"));
	return perch_json_whole_int64(value, &index) == 0 && index >= 0 && (uint64_t)index < count;
}

/* A list whose elements are all strings, or all indexes. */
static bool lint_is_list(
	const perch_json_value *list, const perch_json_value *message, bool of_texts)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		bool fits = of_texts ? perch_json_type_of(value) == PERCH_JSON_STRING
							 : lint_is_index(value, message);
		if (!fits)
			return false;
	}
	return perch_json_type_of(list) == PERCH_JSON_ARRAY;
}

static bool lint_fits(
	enum field_kind kind, const perch_json_value *value, const perch_json_value *message)
{
	switch (kind) {
	case FIELD_TEXT:
		return perch_json_type_of(value) == PERCH_JSON_STRING;
	case FIELD_BOOL:
		return perch_json_type_of(value) == PERCH_JSON_BOOL;
	case FIELD_NUMBER:
	case FIELD_POSITIVE:
		return lint_is_number_above(value, kind == FIELD_POSITIVE);
	case FIELD_INDEX:
		return lint_is_index(value, message);
	case FIELD_INDEXES:
	case FIELD_TEXTS:
		return lint_is_list(value, message, kind == FIELD_TEXTS);
	}
	return false;
}

static bool lint_check_fields(
	struct lint *lint, const perch_json_value *message, const struct message_rule *rule)
{
	bool is_right = true;
	for (size_t i = 0; i < rule->field_count; i++) {
		const struct field_rule *field = &rule->fields[i];
		const perch_json_value *value = json_member(message, field->name);
		if (value ? lint_fits(field->kind, value, message) : !field->is_needed)
			continue;
		is_right = false;
		if (value)
			LINT_ERROR(lint, "`%s`: `%s` must be %s", rule->name, field->name, wanted[field->kind]);
		else
			LINT_ERROR(lint, "`%s` needs `%s`, %s", rule->name, field->name, wanted[field->kind]);
	}
	return is_right;
}

/* Unknown fields may come with a later protocol; typing errors do not. */
static void lint_check_names(
	struct lint *lint, const perch_json_value *message, const struct message_rule *rule)
{
	const char *names[FIELDS_MAX + 3] = { "type", "id" };
	size_t count = 2;
	for (size_t i = 0; i < rule->field_count; i++)
		names[count++] = rule->fields[i].name;
	perch_json_iter iter = perch_json_iterate(message);
	while (perch_json_next(&iter)) {
		char name[64];
		struct str found = json_str(iter.name);
		if (found.len >= sizeof(name))
			continue;
		memcpy(name, found.data, found.len);
		name[found.len] = '\0';
		const char *meant = name_meant((struct str){ name, found.len }, names);
		if (meant && strcmp(meant, name) != 0)
			LINT_WARNING(
				lint, "`%s` has no field `%s`: did you mean `%s`?", rule->name, name, meant);
	}
}

/* ---- messages ---------------------------------------------------------------- */

static void lint_await_answer(struct lint *lint, const struct message_rule *rule)
{
	struct lint_request *waiting =
		vec_grow(lint->waiting, &lint->waiting_cap, lint->waiting_count + 1, sizeof(*waiting));
	if (!waiting) {
		lint->findings->failed = true;
		return;
	}
	lint->waiting = waiting;
	waiting[lint->waiting_count++] =
		(struct lint_request){ lint->line, rule && rule->is_request ? rule : NULL };
}

/* Whether there is a request that the host answers. */
static bool lint_check_id(
	struct lint *lint, const perch_json_value *message, const struct message_rule *rule)
{
	const perch_json_value *id = json_member(message, "id");
	perch_json_type type = perch_json_type_of(id);
	if (!id && rule && rule->is_request)
		LINT_ERROR(lint, "`%s` needs an `id`: it is skipped, and no answer comes", rule->name);
	else if (type == PERCH_JSON_NUMBER)
		LINT_WARNING(lint, "`id` should be a string, not a number");
	else if (id && type != PERCH_JSON_STRING)
		LINT_ERROR(lint, "`id` must be a string, not %s", perch_json_type_name(type));
	return type == PERCH_JSON_STRING || type == PERCH_JSON_NUMBER;
}

static void lint_check_known(
	struct lint *lint, const perch_json_value *message, const struct message_rule *rule)
{
	if (lint_check_id(lint, message, rule))
		lint_await_answer(lint, rule);
	lint_check_names(lint, message, rule);
	if (lint_check_fields(lint, message, rule) && rule->closer)
		rule->closer(lint, message);
	if (rule->capability &&
		!capabilities_have(&lint->wishes, capability_find(str_from(rule->capability))))
		LINT_ERROR(lint, "`%s` needs `%s = true` in [capabilities] of plugin.toml", rule->name,
			rule->capability);
	if (rule->is_request && lint->is_cancelled)
		LINT_WARNING(
			lint, "`%s` after the host has cancelled: the plugin should leave", rule->name);
}

static void lint_check_unknown(struct lint *lint, const perch_json_value *message, struct str name)
{
	char word[64];
	bool is_short = name.len < sizeof(word);
	memcpy(word, name.data, is_short ? name.len : 0);
	word[is_short ? name.len : 0] = '\0';
	if (str_is(name, "init") || str_is(name, "response") || str_is(name, "cancel")) {
		LINT_ERROR(lint, "`%s` is what a host says: it is ignored", word);
		return;
	}
	if (lint_check_id(lint, message, NULL))
		lint_await_answer(lint, NULL);
	const char *meant = message_rule_meant((struct str){ word, strlen(word) });
	if (meant)
		LINT_ERROR(lint, "there is no message of type `%s`: did you mean `%s`?", word, meant);
	else
		LINT_ERROR(lint, "there is no message of type `%s` in " MANIFEST_PROTOCOL, word);
}

void lint_from_plugin(struct lint *lint, struct str line)
{
	lint->line++;
	if (!str_trim(line).len)
		return;
	const perch_json_value *message;
	perch_err err = { 0 };
	int r = perch_json_parse(lint->json, line.data, line.len, &message, &err);
	if (r == -ENOMEM) {
		lint->findings->failed = true;
	} else if (r < 0) {
		LINT_ERROR(lint, "this is not JSON: column %u: %s", err.column, err.text);
	} else if (perch_json_type_of(message) != PERCH_JSON_OBJECT) {
		LINT_ERROR(lint, "a message must be an object, not %s",
			perch_json_type_name(perch_json_type_of(message)));
	} else if (perch_json_type_of(json_member(message, "type")) != PERCH_JSON_STRING) {
		LINT_ERROR(lint, "a message needs a `type`, a string");
		if (lint_check_id(lint, message, NULL))
			lint_await_answer(lint, NULL);
	} else {
		struct str name = json_str(json_member(message, "type"));
		const struct message_rule *rule = message_rule_find(name);
		if (rule)
			lint_check_known(lint, message, rule);
		else
			lint_check_unknown(lint, message, name);
	}
}

/* ---- the host ---------------------------------------------------------------- */

static bool lint_ends_the_run(const perch_json_value *message)
{
	const perch_json_value *reason = json_member(message, "reason");
	return perch_json_is(json_member(message, "type"), "cancel") &&
		!perch_json_is(reason, "unsupported") && !perch_json_is(reason, "invalid_request");
}

/* Answers come in the order of the requests. */
void lint_to_plugin(struct lint *lint, struct str line)
{
	const perch_json_value *message;
	if (perch_json_parse(lint->json, line.data, line.len, &message, NULL) < 0)
		return;
	lint->is_cancelled = lint->is_cancelled || lint_ends_the_run(message);
	if (json_member(message, "id") && lint->waiting_from < lint->waiting_count)
		lint->waiting_from++;
	if (lint->waiting_from == lint->waiting_count)
		lint->waiting_from = lint->waiting_count = 0;
}

void lint_end(struct lint *lint)
{
	for (size_t i = lint->waiting_from; i < lint->waiting_count; i++) {
		const struct lint_request *request = &lint->waiting[i];
		if (request->rule)
			findings_add(lint->findings, FINDING_ERROR, &(struct toml_place){ request->line, 0 },
				"`%s` was not answered yet when the plugin ended: it must wait",
				request->rule->name);
	}
}
