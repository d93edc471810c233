/* Finding an installed plugin by the user's word for it. */
#include "plugins/find.h"

#include <errno.h>

#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"

typedef bool matches_fn(const struct registry_entry *entry, struct str word);

static bool find_has_name(const struct registry_entry *entry, struct str word)
{
	return str_is(word, entry->name);
}

static bool find_has_command(const struct registry_entry *entry, struct str word)
{
	for (const char *const *command = entry->commands; *command; command++) {
		if (str_is(word, *command))
			return true;
	}
	return false;
}

/* The end of the source, from a slash or a colon on. */
static bool find_has_source(const struct registry_entry *entry, struct str word)
{
	struct str source = str_from(entry->source);
	while (str_has_suffix(source, STR("/")))
		source.len--;
	if (str_has_suffix(source, STR(".git")))
		source.len -= 4;
	if (!word.len || !str_has_suffix(source, word))
		return false;
	return source.len == word.len || strchr("/:", source.data[source.len - word.len - 1]);
}

static const char *find_nearest(const struct registry *registry, const char *word)
{
	const char *best = NULL;
	unsigned least = 3;
	for (size_t i = 0; i < registry->count; i++) {
		unsigned distance = str_distance(word, registry->entries[i].name);
		if (distance < least) {
			least = distance;
			best = registry->entries[i].name;
		}
	}
	return best;
}

/* The one entry that matches: 1, 0 for none, -EEXIST for several. */
static int find_by(const struct registry *registry, matches_fn *matches, const char *word,
	const struct registry_entry **ret_entry, perch_err *err)
{
	const struct registry_entry *found = NULL;
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_entry *entry = &registry->entries[i];
		if (!matches(entry, str_from(word)))
			continue;
		if (found && strcmp(found->name, entry->name) != 0)
			return err_set(err, -EEXIST, "'%s' could be '%s' or '%s': use the name of the plugin",
				word, found->name, entry->name);
		if (!found)
			found = entry;
	}
	if (found)
		*ret_entry = found;
	return found != NULL;
}

int plugin_find(const struct registry *registry, const char *word,
	const struct registry_entry **ret_entry, perch_err *err)
{
	static matches_fn *const ways[] = { find_has_name, find_has_source, find_has_command };
	for (size_t i = 0; i < COUNT(ways); i++) {
		int r = find_by(registry, ways[i], word, ret_entry, err);
		if (r)
			return r < 0 ? r : 0;
	}
	char shown[FILE_SHOWN_MAX];
	const char *near = find_nearest(registry, word);
	file_shown(word, shown);
	if (!near)
		return err_set(
			err, -ENOENT, "no plugin '%s' is installed; perch plugins list shows what is", shown);
	return err_set(err, -ENOENT, "no plugin '%s' is installed; did you mean '%s'?", shown, near);
}
