/* The keys of a profile: each a row of a table, with the values that it takes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/profile_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"

#define SECONDS_MAX 1e9
#define CHARS_MAX 1e15

/* ---- what is wrong ------------------------------------------------------- */

int profile_refuse(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *format, ...)
{
	char what[256];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return err_set_at(reader->err, -EINVAL, entry->value->line, entry->value->column, "%s%.100s %s",
		reader->prefix, entry->name, what);
}

int profile_refuse_type(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *wanted)
{
	return profile_refuse(
		reader, entry, "must be %s, not %s", wanted, yaml_type_name(entry->value->type));
}

/* ---- kinds of values ----------------------------------------------------- */

static int profile_keys_read_text(
	struct profile_reader *reader, const struct yaml_entry *entry, const char **target)
{
	if (entry->value->type != YAML_STRING)
		return profile_refuse_type(reader, entry, "a string");
	*target = entry->value->text;
	return 0;
}

/* Words for people: nothing depends on them, so a number or a date will do. */
static int profile_keys_read_words(
	struct profile_reader *reader, const struct yaml_entry *entry, const char **target)
{
	if (entry->value->type >= YAML_LIST)
		return profile_refuse_type(reader, entry, "a string");
	*target = entry->value->text;
	return 0;
}

static int profile_keys_read_bool(
	struct profile_reader *reader, const struct yaml_entry *entry, bool *target)
{
	if (entry->value->type != YAML_BOOL)
		return profile_refuse_type(reader, entry, "true or false");
	*target = entry->value->boolean;
	return 0;
}

static int profile_keys_read_number(
	struct profile_reader *reader, const struct yaml_entry *entry, double most, double *ret_number)
{
	const struct yaml_value *value = entry->value;
	if (value->type != YAML_INT && value->type != YAML_FLOAT)
		return profile_refuse_type(reader, entry, "a number");
	if (!(value->number >= 0 && value->number <= most))
		return profile_refuse(reader, entry, "must be from 0 to %g, not %.40s", most, value->text);
	*ret_number = value->number;
	return 0;
}

static int profile_keys_read_seconds(
	struct profile_reader *reader, const struct yaml_entry *entry, uint64_t *target)
{
	double seconds = 0;
	int r = profile_keys_read_number(reader, entry, SECONDS_MAX, &seconds);
	if (r == 0)
		*target = (uint64_t)(seconds * (double)NSEC_PER_SEC);
	return r;
}

static int profile_keys_read_count(
	struct profile_reader *reader, const struct yaml_entry *entry, size_t *target)
{
	double number = 0;
	int r = profile_keys_read_number(reader, entry, CHARS_MAX, &number);
	if (r < 0)
		return r;
	if (number != (double)(uint64_t)number)
		return profile_refuse(
			reader, entry, "must be a whole number, not %.40s", entry->value->text);
	*target = (size_t)number;
	return 0;
}

int profile_texts(struct profile_reader *reader, const struct yaml_entry *entry, bool takes_numbers,
	const char *const **ret_list)
{
	const struct yaml_value *value = entry->value;
	if (value->type != YAML_LIST)
		return profile_refuse_type(reader, entry, "a list");
	const char **list = arena_alloc(reader->arena, (value->count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reader->err);
	for (size_t i = 0; i < value->count; i++) {
		const struct yaml_value *item = value->entries[i].value;
		bool is_number = item->type == YAML_INT || item->type == YAML_FLOAT;
		const struct yaml_entry at = { .name = entry->name, .value = item };
		if (item->type != YAML_STRING && !(is_number && takes_numbers))
			return profile_refuse(reader, &at, "must be a list of strings, but has %s in it",
				yaml_type_name(item->type));
		list[i] = item->text;
	}
	list[value->count] = NULL;
	*ret_list = list;
	return 0;
}

/* ---- keys that are more than a value ------------------------------------- */

static int profile_keys_read_args(struct profile_reader *reader, const struct yaml_entry *entry)
{
	reader->profile->has_args = true;
	return profile_texts(reader, entry, true, &reader->profile->args);
}

/* One of two words; whether it is the second. */
static int profile_keys_read_choice(struct profile_reader *reader, const struct yaml_entry *entry,
	const char *first, const char *second, bool *target)
{
	const char *word = "";
	int r = profile_keys_read_text(reader, entry, &word);
	if (r < 0)
		return r;
	*target = strcmp(word, second) == 0;
	if (!*target && strcmp(word, first) != 0)
		return profile_refuse(reader, entry, "must be %s or %s, not '%.100s'", first, second, word);
	return 0;
}

static int profile_keys_read_stdin(struct profile_reader *reader, const struct yaml_entry *entry)
{
	return profile_keys_read_choice(
		reader, entry, "none", "message", &reader->profile->message_on_stdin);
}

static int profile_keys_read_background(
	struct profile_reader *reader, const struct yaml_entry *entry)
{
	return profile_keys_read_choice(
		reader, entry, "end", "keep", &reader->profile->keeps_background);
}

static bool profile_keys_is_variable_name(const char *name)
{
	return name[0] && !strchr(name, '=');
}

int profile_pairs(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *const **ret_list)
{
	const struct yaml_value *map = entry->value;
	if (map->type != YAML_MAP)
		return profile_refuse_type(reader, entry, "a mapping");
	const char **list = arena_alloc(reader->arena, (map->count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reader->err);
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml_entry *variable = &map->entries[i];
		enum yaml_type type = variable->value->type;
		const struct yaml_entry at = { .name = entry->name, .value = variable->value };
		if (!profile_keys_is_variable_name(variable->name))
			return profile_refuse(
				reader, &at, "has a name that cannot be: '%.100s'", variable->name);
		if (type == YAML_NULL || type >= YAML_LIST)
			return profile_refuse(reader, &at, "must have strings, but %.100s is %s",
				variable->name, yaml_type_name(type));
		list[i] = arena_join(reader->arena, variable->name, "=", variable->value->text, NULL);
		if (!list[i])
			return err_no_memory(reader->err);
	}
	list[map->count] = NULL;
	*ret_list = list;
	return 0;
}

static int profile_keys_read_env(struct profile_reader *reader, const struct yaml_entry *entry)
{
	return profile_pairs(reader, entry, &reader->profile->env);
}

static int profile_keys_read_env_allowlist(
	struct profile_reader *reader, const struct yaml_entry *entry)
{
	reader->profile->has_env_allowlist = true;
	return profile_texts(reader, entry, false, &reader->profile->env_allowlist);
}

static int profile_keys_read_prefix(struct profile_reader *reader, const struct yaml_entry *entry)
{
	int r = profile_keys_read_text(reader, entry, &reader->profile->session_prefix);
	if (r == 0 && (!entry->value->text[0] || strpbrk(entry->value->text, "\r\n")))
		return profile_refuse(reader, entry, "must be the start of a line, and not empty");
	return r;
}

/* 0.4 without quotes is a number, and meant all the same. */
static int profile_keys_read_protocol(struct profile_reader *reader, const struct yaml_entry *entry)
{
	const char *text = entry->value->type < YAML_LIST ? entry->value->text : "";
	if (!agent_dialect_find(text, &reader->profile->dialect))
		return profile_refuse(reader, entry, "must be \"0.1\", \"0.4\" or acp, not '%.40s'", text);
	reader->has_protocol = true;
	reader->profile->evidence = DIALECT_SAID;
	return 0;
}

static int profile_keys_read_executor(struct profile_reader *reader, const struct yaml_entry *entry)
{
	reader->has_executor = true;
	return profile_keys_read_text(reader, entry, &reader->executor);
}

static int profile_keys_read_permission(
	struct profile_reader *reader, const struct yaml_entry *entry)
{
	reader->has_permission = true;
	return profile_keys_read_bool(reader, entry, &reader->profile->permission);
}

static int profile_keys_read_tags(struct profile_reader *reader, const struct yaml_entry *entry)
{
	return profile_texts(reader, entry, true, &reader->profile->about.tags);
}

static int profile_keys_read_acp(struct profile_reader *reader, const struct yaml_entry *entry);

/* ---- the table ----------------------------------------------------------- */

enum kind { KIND_TEXT, KIND_WORDS, KIND_BOOL, KIND_SECONDS, KIND_COUNT, KIND_OWN };

#define AT(member) offsetof(struct agent_profile, member)

struct key {
	const char *name;
	enum kind kind;
	size_t offset; /* in struct agent_profile, unless: */
	int (*read)(struct profile_reader *reader, const struct yaml_entry *entry);
};

static const struct key keys[] = {
	{ "command", KIND_TEXT, AT(command), NULL },
	{ "args", KIND_OWN, 0, profile_keys_read_args },
	{ "stdin", KIND_OWN, 0, profile_keys_read_stdin },
	{ "cwd", KIND_TEXT, AT(cwd), NULL },
	{ "env", KIND_OWN, 0, profile_keys_read_env },
	{ "env_allowlist", KIND_OWN, 0, profile_keys_read_env_allowlist },
	{ "timeout_secs", KIND_SECONDS, AT(timeout_ns), NULL },
	{ "idle_timeout_secs", KIND_SECONDS, AT(idle_timeout_ns), NULL },
	{ "budget_secs", KIND_SECONDS, AT(budget_ns), NULL },
	{ "max_turn_tokens", KIND_COUNT, AT(max_turn_tokens), NULL },
	{ "kill_grace_secs", KIND_SECONDS, AT(kill_grace_ns), NULL },
	{ "background", KIND_OWN, 0, profile_keys_read_background },
	{ "retry", KIND_COUNT, AT(retry), NULL },
	{ "max_reply_chars", KIND_COUNT, AT(max_reply_chars), NULL },
	{ "truncation_suffix", KIND_TEXT, AT(truncation_suffix), NULL },
	{ "include_stderr_in_reply", KIND_BOOL, AT(include_stderr_in_reply), NULL },
	{ "send_error_reply", KIND_BOOL, AT(send_error_reply), NULL },
	{ "streaming", KIND_BOOL, AT(streaming), NULL },
	{ "session_line_prefix", KIND_OWN, 0, profile_keys_read_prefix },
	{ "protocol", KIND_OWN, 0, profile_keys_read_protocol },
	{ "executor", KIND_OWN, 0, profile_keys_read_executor },
	{ "permission", KIND_OWN, 0, profile_keys_read_permission },
	{ "permission_timeout_secs", KIND_SECONDS, AT(permission_timeout_ns), NULL },
	{ "sandbox", KIND_OWN, 0, profile_read_sandbox },
	{ "acp", KIND_OWN, 0, profile_keys_read_acp },
	{ "mcp_servers", KIND_OWN, 0, profile_read_servers },
	{ "name", KIND_WORDS, AT(about.name), NULL },
	{ "description", KIND_WORDS, AT(about.description), NULL },
	{ "cli", KIND_WORDS, AT(about.cli), NULL },
	{ "cli_install", KIND_WORDS, AT(about.cli_install), NULL },
	{ "tested", KIND_WORDS, AT(about.tested), NULL },
	{ "maintainer", KIND_WORDS, AT(about.maintainer), NULL },
	{ "tags", KIND_OWN, 0, profile_keys_read_tags },
	{ "notes", KIND_WORDS, AT(about.notes), NULL },
};
_Static_assert(COUNT(keys) == PROFILE_KEYS, "PROFILE_KEYS counts them");

/* Those below `acp`. */
static const struct key acp_keys[] = {
	{ "fs", KIND_BOOL, AT(acp.fs), NULL },
	{ "terminal", KIND_BOOL, AT(acp.terminal), NULL },
	{ "elicitation", KIND_BOOL, AT(acp.elicitation), NULL },
	{ "idle_secs", KIND_SECONDS, AT(acp.idle_ns), NULL },
	{ "max_processes", KIND_COUNT, AT(acp.max_processes), NULL },
};

static int profile_keys_read_value(
	struct profile_reader *reader, const struct key *key, const struct yaml_entry *entry)
{
	void *target = (char *)reader->profile + key->offset;
	switch (key->kind) {
	case KIND_TEXT:
		return profile_keys_read_text(reader, entry, target);
	case KIND_WORDS:
		return profile_keys_read_words(reader, entry, target);
	case KIND_BOOL:
		return profile_keys_read_bool(reader, entry, target);
	case KIND_SECONDS:
		return profile_keys_read_seconds(reader, entry, target);
	case KIND_COUNT:
		return profile_keys_read_count(reader, entry, target);
	case KIND_OWN:
		return key->read(reader, entry);
	}
	return 0;
}

int profile_read_key(struct profile_reader *reader, int which, const struct yaml_entry *entry)
{
	return profile_keys_read_value(reader, &keys[which], entry);
}

static int profile_keys_read_acp(struct profile_reader *reader, const struct yaml_entry *entry)
{
	const struct yaml_value *map = entry->value;
	const char *prefix = reader->prefix;
	int r = 0;
	if (map->type != YAML_MAP)
		return profile_refuse_type(reader, entry, "a mapping");
	reader->prefix = "acp.";
	for (size_t i = 0; r == 0 && i < map->count; i++) {
		const struct yaml_entry *inner = &map->entries[i];
		size_t which = 0;
		while (which < COUNT(acp_keys) && strcmp(acp_keys[which].name, inner->name) != 0)
			which++;
		r = which < COUNT(acp_keys) ? profile_keys_read_value(reader, &acp_keys[which], inner)
									: profile_warn_unknown(reader, inner, NULL);
	}
	reader->prefix = prefix;
	return r;
}

const char *profile_nearest_key(const char *name)
{
	return str_nearest(name, &keys[0].name, PROFILE_KEYS, sizeof(keys[0]));
}

int profile_find_key(const char *name)
{
	for (int i = 0; i < PROFILE_KEYS; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return i;
	}
	return -1;
}
