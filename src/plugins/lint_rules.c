/* The messages of fledge-v1 as a table, and rules that concern more than one field. */
#include "plugins/lint.h"

#include "base/macros.h"
#include "base/utf8.h"
#include "data/json_member.h"
#include "fledge/store.h"
#include "validate.h"

/* The text of a field that is one. */
static struct str lint_rules_text_of(const perch_json_value *message, const char *name)
{
	const perch_json_value *value = json_member(message, name);
	return value ? json_str(value) : (struct str){ "", 0 };
}

static void lint_rules_look_at_log(struct lint *lint, const perch_json_value *message)
{
	static const char *const levels[] = { "debug", "info", "warn", "error", NULL };
	struct str level = lint_rules_text_of(message, "level");
	if (level.len && !list_has_str(levels, level))
		LINT_WARNING(lint, "the level '%.*s' is not one of debug, info, warn and error",
			utf8_quoted(level), level.data);
}

static void lint_rules_look_at_progress(struct lint *lint, const perch_json_value *message)
{
	bool is_done = false;
	perch_json_bool(json_member(message, "done"), &is_done);
	const perch_json_value *current = json_member(message, "current");
	const perch_json_value *total = json_member(message, "total");
	double now = 0;
	double end = 0;
	if (!is_done && !json_member(message, "message"))
		LINT_ERROR(lint, "`progress` needs a `message`, or `done`: true");
	if (!current != !total)
		LINT_WARNING(lint, "`progress` shows a bar only with both `current` and `total`");
	else if (perch_json_double(current, &now) == 0 && perch_json_double(total, &end) == 0 &&
		now > end)
		LINT_WARNING(lint, "`current` is more than `total`");
}

static void lint_rules_look_at_key(struct lint *lint, const perch_json_value *message)
{
	struct str key = lint_rules_text_of(message, "key");
	if (!key.len || key.len > STORE_KEY_MAX)
		LINT_ERROR(lint, "`key` must have 1 to %d bytes, not %zu", STORE_KEY_MAX, key.len);
	size_t value_len = lint_rules_text_of(message, "value").len;
	if (value_len > STORE_VALUE_MAX)
		LINT_ERROR(lint, "`value` must have at most %d bytes, not %zu", STORE_VALUE_MAX, value_len);
}

static void lint_rules_look_at_exec(struct lint *lint, const perch_json_value *message)
{
	if (!str_trim(lint_rules_text_of(message, "command")).len)
		LINT_WARNING(lint, "`command` is empty: nothing is run");
}

static void lint_rules_look_at_metadata(struct lint *lint, const perch_json_value *message)
{
	static const char *const known[] = { "fledge_config", "git_tags", "git_status", "git_log",
		"env", NULL };
	perch_json_iter iter = perch_json_iterate(json_member(message, "keys"));
	for (const perch_json_value *key; (key = perch_json_next(&iter));) {
		struct str name = json_str(key);
		if (!list_has_str(known, name))
			LINT_WARNING(lint, "there is no metadata '%.*s': its value is null", utf8_quoted(name),
				name.data);
	}
}

static void lint_rules_look_at_prompt(struct lint *lint, const perch_json_value *message)
{
	struct str name = lint_rules_text_of(message, "validate");
	perch_validator validator;
	if (!name.len)
		return;
	if (!validator_from_name(name, &validator))
		LINT_ERROR(lint, "there is no validator '%.*s': non_empty, integer, path_exists, url",
			utf8_quoted(name), name.data);
	else if (validator != PERCH_VALIDATE_PATH_EXISTS && json_member(message, "default") &&
		validate(validator, lint_rules_text_of(message, "default")))
		LINT_WARNING(
			lint, "`default` does not pass the validator %.*s", utf8_quoted(name), name.data);
}

static void lint_rules_look_at_options(struct lint *lint, const perch_json_value *message)
{
	if (!perch_json_count(json_member(message, "options")))
		LINT_ERROR(lint, "`options` must not be empty");
}

/* Fields with their number; too many do not compile (an array of -1). */
#define FIELDS_GIVEN(...) COUNT(((struct field_rule[]){ __VA_ARGS__ }))
#define FIELDS(...)                                                                             \
	FIELDS_GIVEN(__VA_ARGS__) * sizeof(char[FIELDS_GIVEN(__VA_ARGS__) <= FIELDS_MAX ? 1 : -1]), \
	{                                                                                           \
		__VA_ARGS__                                                                             \
	}

static const struct message_rule rules[] = {
	{ "output", false, NULL, NULL, FIELDS({ "text", FIELD_TEXT, true }) },
	{ "log", false, NULL, lint_rules_look_at_log,
		FIELDS({ "level", FIELD_TEXT, false }, { "message", FIELD_TEXT, true }) },
	{ "progress", false, NULL, lint_rules_look_at_progress,
		FIELDS({ "message", FIELD_TEXT, false }, { "current", FIELD_NUMBER, false },
			{ "total", FIELD_NUMBER, false }, { "done", FIELD_BOOL, false }) },
	{ "store", false, "store", lint_rules_look_at_key,
		FIELDS({ "key", FIELD_TEXT, true }, { "value", FIELD_TEXT, true }) },
	{ "load", true, "store", lint_rules_look_at_key, FIELDS({ "key", FIELD_TEXT, true }) },
	{ "exec", true, "exec", lint_rules_look_at_exec,
		FIELDS({ "command", FIELD_TEXT, true }, { "cwd", FIELD_TEXT, false },
			{ "timeout", FIELD_POSITIVE, false }) },
	{ "metadata", true, "metadata", lint_rules_look_at_metadata,
		FIELDS({ "keys", FIELD_TEXTS, true }) },
	{ "prompt", true, NULL, lint_rules_look_at_prompt,
		FIELDS({ "message", FIELD_TEXT, true }, { "default", FIELD_TEXT, false },
			{ "validate", FIELD_TEXT, false }) },
	{ "confirm", true, NULL, NULL,
		FIELDS({ "message", FIELD_TEXT, true }, { "default", FIELD_BOOL, false }) },
	{ "select", true, NULL, lint_rules_look_at_options,
		FIELDS({ "message", FIELD_TEXT, true }, { "options", FIELD_TEXTS, true },
			{ "default", FIELD_INDEX, false }) },
	{ "multi_select", true, NULL, lint_rules_look_at_options,
		FIELDS({ "message", FIELD_TEXT, true }, { "options", FIELD_TEXTS, true },
			{ "defaults", FIELD_INDEXES, false }) },
};
enum { RULES = COUNT(rules) };

const struct message_rule *message_rule_find(struct str name)
{
	for (size_t i = 0; i < RULES; i++) {
		if (str_is(name, rules[i].name))
			return &rules[i];
	}
	return NULL;
}

const char *message_rule_meant(struct str name)
{
	const char *names[RULES + 1] = { NULL };
	for (size_t i = 0; i < RULES; i++)
		names[i] = rules[i].name;
	return name_meant(name, names);
}
