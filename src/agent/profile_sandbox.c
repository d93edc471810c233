/* The key `sandbox` of a profile: on, off, or what the agent may do beyond what
 * a sandboxed agent may.
 *
 *     sandbox:
 *       read: [/srv/data, ~/notes]     # relative paths: from the profile's directory
 *       write: [out, ~/.bot/]          # a / at the end: it is made where it is missing
 *       net: none                      # or full
 *       env: [GH_TOKEN]                # variables that are kept although they look secret
 *       presets: [git]
 */
#include <errno.h>
#include <string.h>

#include "agent/profile_parts.h"
#include "base/err.h"

static int profile_sandbox_read_switch(
	struct profile_reader *reader, const struct yaml_entry *entry)
{
	const struct yaml_value *value = entry->value;
	bool is_on = value->type == YAML_BOOL ? value->boolean : strcmp(value->text, "on") == 0;
	if (value->type != YAML_BOOL && !is_on && strcmp(value->text, "off") != 0)
		return profile_refuse(
			reader, entry, "must be on, off or a mapping, not '%.100s'", value->text);
	reader->profile->is_sandboxed = is_on;
	return 0;
}

static int profile_sandbox_read_net(struct profile_reader *reader, const struct yaml_entry *entry)
{
	const char *text = entry->value->type == YAML_STRING ? entry->value->text : "";
	bool is_full = strcmp(text, "full") == 0;
	if (!is_full && strcmp(text, "none") != 0)
		return profile_refuse(reader, entry, "must be none or full");
	reader->profile->widening.net = is_full ? WIDENING_NET_FULL : WIDENING_NET_NONE;
	return 0;
}

static int profile_sandbox_refuse_home(
	const struct profile_reader *reader, const struct yaml_entry *entry)
{
	return err_set_at(reader->err, -ENOENT, entry->value->line, entry->value->column,
		"%s%.100s has '%.100s', but HOME is not set: set it, or write the whole path",
		reader->prefix, entry->name, entry->value->text);
}

/* The policy wants absolute paths. */
static int profile_sandbox_make_absolute(
	const struct profile_reader *reader, const struct yaml_entry *entry, const char **path)
{
	bool is_home = profile_is_home(*path);
	const char *base = is_home ? reader->home : reader->profile->directory;
	if ((*path)[0] == '/')
		return 0;
	if (is_home && !base[0])
		return profile_sandbox_refuse_home(reader, entry);
	*path = arena_join(reader->arena, base, is_home ? "" : "/", *path + is_home, NULL);
	return *path ? 0 : err_no_memory(reader->err);
}

static int profile_sandbox_read_paths(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *const **ret_list)
{
	const char *const *list;
	int r = profile_texts(reader, entry, false, &list);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && list[i]; i++) {
		const struct yaml_entry at = { entry->name, .value = entry->value->entries[i].value };
		r = profile_sandbox_make_absolute(reader, &at, (const char **)&list[i]);
	}
	if (r == 0)
		*ret_list = list;
	return r;
}

/* Those with a / at the end are to be made; for the policy they are paths like others. */
static int profile_sandbox_read_written(
	struct profile_reader *reader, const struct yaml_entry *entry)
{
	struct agent_profile *profile = reader->profile;
	const char *const *list = NULL;
	int r = profile_sandbox_read_paths(reader, entry, &list);
	if (r < 0)
		return r;
	struct path_list made;
	path_list_begin(&made, reader->arena, NULL);
	for (const char **path = (const char **)list; *path; path++) {
		size_t len = strlen(*path);
		while (len > 1 && (*path)[len - 1] == '/')
			len--;
		if (!(*path)[len])
			continue;
		*path = arena_dup(reader->arena, (struct str){ *path, len });
		if (!*path)
			return err_no_memory(reader->err);
		path_list_add(&made, *path);
	}
	profile->widening.write = list;
	profile->made = made.items;
	return made.failed ? err_no_memory(reader->err) : 0;
}

static int profile_sandbox_read_key(struct profile_reader *reader, const struct yaml_entry *entry)
{
	struct policy_widening *widening = &reader->profile->widening;
	if (strcmp(entry->name, "read") == 0)
		return profile_sandbox_read_paths(reader, entry, &widening->read);
	if (strcmp(entry->name, "write") == 0)
		return profile_sandbox_read_written(reader, entry);
	if (strcmp(entry->name, "env") == 0)
		return profile_texts(reader, entry, false, &widening->env);
	if (strcmp(entry->name, "presets") == 0)
		return profile_texts(reader, entry, false, &widening->presets);
	if (strcmp(entry->name, "net") == 0)
		return profile_sandbox_read_net(reader, entry);
	return profile_warn_unknown(reader, entry, NULL);
}

int profile_read_sandbox(struct profile_reader *reader, const struct yaml_entry *entry)
{
	if (entry->value->type < YAML_LIST)
		return profile_sandbox_read_switch(reader, entry);
	if (entry->value->type == YAML_LIST)
		return profile_refuse(reader, entry, "must be on, off or a mapping, not a list");
	reader->profile->is_sandboxed = true;
	const char *prefix = reader->prefix;
	reader->prefix = "sandbox.";
	int r = 0;
	for (size_t i = 0; r == 0 && i < entry->value->count; i++)
		r = profile_sandbox_read_key(reader, &entry->value->entries[i]);
	reader->prefix = prefix;
	return r;
}
