/* perch plugins allow --grant: what a plugin asked for and was not given when it was installed, and
 * which others it may call. */
#include "cli/plugins/plugins_grant.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "cli/ui/page.h"
#include "plugins/find.h"
#include "registry/approval.h"
#include "registry/write.h"

int plugins_grant_find(const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	struct registry registry;
	const struct registry_entry *entry;
	int r = registry_read(arena, &registry, err);
	if (r == 0)
		r = plugin_find(&registry, word, &entry, err);
	if (r == 0)
		*ret_name = entry->name;
	return r;
}

/* Which plugins it may call: with `who` in the list or without. */
int plugins_grant_callee(
	const char *who, bool revokes, struct arena *arena, struct grant *grant, perch_err *err)
{
	size_t count = list_count(grant->callees);
	const char **list = arena_alloc(arena, (count + 2) * sizeof(*list));
	size_t kept = 0;
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(grant->callees[i], who) != 0)
			list[kept++] = grant->callees[i];
	}
	if (!revokes)
		list[kept++] = who;
	list[kept] = NULL;
	grant->callees = list;
	return 0;
}

/* The word behind "plugins:" is what the user calls a plugin. */
static int plugins_grant_plugins(
	struct str who, bool revokes, struct arena *arena, struct grant *grant, perch_err *err)
{
	const char *name = arena_dup(arena, who);
	if (!name)
		return err_no_memory(err);
	if (!name[0])
		name = GRANT_ANY_PLUGIN;
	else if (!revokes && plugins_grant_find(name, arena, &name, err) < 0)
		return err->code;
	int r = plugins_grant_callee(name, revokes, arena, grant, err);
	if (r == 0 && revokes && !who.len) /* all of it */
		grant->callees = NULL;
	return r;
}

/* Only what its manifest asks for, and was approved with it, can be granted. */
static int plugins_grant_check_wish(const struct registry_entry *entry, struct str word,
	const struct capability *capability, struct arena *arena, const struct grant *grant,
	perch_err *err)
{
	struct manifest manifest = { 0 };
	const char *words[WISHES_MAX + 1];
	char excess[APPROVAL_EXCESS_MAX] = "";
	int r = manifest_read(entry->directory, arena, &manifest, err);
	if (r < 0)
		return r;
	if (grant->has_approval)
		approval_excess(&grant->approval, &manifest, excess);
	if (excess[0])
		return err_set(err, -EPERM,
			"the plugin '%s' is not what was approved: %s. To approve that: perch plugins allow %s "
			"--manifest",
			entry->name, excess, entry->name);
	if (capability && capabilities_have(&manifest.wishes, capability))
		return 0;
	struct buf list = { 0 };
	wishes_words(&manifest.wishes, words);
	err_set(err, -EINVAL, "the plugin.toml of '%s' does not ask for '%.*s'; it asks for: %s",
		entry->name, utf8_quoted(word), word.data, page_join(&list, words, "nothing"));
	buf_free(&list);
	return -EINVAL;
}

static int plugins_grant_say(const struct registry_entry *entry, const struct grant *grant,
	struct arena *arena, const char **ret_words, perch_err *err)
{
	const char *words[WISHES_MAX + 1];
	struct capabilities granted = entry->granted;
	struct buf list = { 0 };
	granted.plugins = list_count(grant->callees) > 0;
	granted.says_network = granted.network; /* no word about what is closed */
	wishes_words(&granted, words);
	*ret_words = arena_dup(arena, str_from(page_join(&list, words, "nothing")));
	buf_free(&list);
	return *ret_words ? 0 : err_no_memory(err);
}

/* One word: a capability, "plugins" or "plugins:NAME". */
static int plugins_grant_word(struct registry_entry *entry, struct str word, bool revokes,
	struct arena *arena, struct grant *grant, perch_err *err)
{
	struct str who = word;
	const struct capability *capability = capability_find(word);
	if (str_is(str_cut(&who, ':'), WISH_PLUGINS))
		return plugins_grant_plugins(who, revokes, arena, grant, err);
	int r = 0;
	if (!revokes || !capability)
		r = plugins_grant_check_wish(entry, word, capability, arena, grant, err);
	if (r == 0)
		capabilities_put(&entry->granted, capability, !revokes);
	return r;
}

/* All of them, or none. */
int plugins_grant_words(const char *name, const struct option_list *words, bool revokes,
	struct arena *arena, struct grant *grant, const char **ret_words, perch_err *err)
{
	struct registry registry;
	int r = registry_read(arena, &registry, err);
	const struct registry_entry *found = r < 0 ? NULL : registry_find(&registry, name);
	if (!found)
		return r < 0 ? r : err_set(err, -ENOENT, "no plugin '%s' is installed", name);
	struct registry_entry entry = *found;
	for (size_t i = 0; i < words->count && r == 0; i++) {
		struct str rest = str_from(words->items[i]);
		do
			r = plugins_grant_word(
				&entry, str_trim(str_cut(&rest, ',')), revokes, arena, grant, err);
		while (rest.len && r == 0);
	}
	entry.has_capabilities = true;
	if (r == 0)
		r = plugins_grant_say(&entry, grant, arena, ret_words, err);
	return r < 0 ? r : registry_put(&entry, err);
}
