/* perch plugins allow and revoke: what a plugin gets beyond its default, and which others it may
 * call. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "cli/ui/allow.h"
#include "cli/ui/page.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/find.h"
#include "plugins/update.h"
#include "registry/approval.h"
#include "registry/write.h"

/* ---- --grant ----------------------------------------------------------------- */

static int plugins_allow_find(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
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

/* Puts a name into the list of plugins that this one may call, or takes it out of the list. */
static int plugins_allow_callee(
	const char *callee, bool revokes, struct arena *arena, struct grant *grant, perch_err *err)
{
	size_t count = list_count(grant->callees);
	const char **list = arena_alloc(arena, (count + 2) * sizeof(*list));
	size_t kept = 0;
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(grant->callees[i], callee) != 0)
			list[kept++] = grant->callees[i];
	}
	if (!revokes)
		list[kept++] = callee;
	list[kept] = NULL;
	grant->callees = list;
	return 0;
}

/* The word behind "plugins:" is what the user calls a plugin. */
static int plugins_allow_grant_plugins(
	struct str who, bool revokes, struct arena *arena, struct grant *grant, perch_err *err)
{
	const char *name = arena_dup(arena, who);
	if (!name)
		return err_no_memory(err);
	if (!name[0])
		name = GRANT_ANY_PLUGIN;
	else if (!revokes && plugins_allow_find(name, arena, &name, err) < 0)
		return err->code;
	int r = plugins_allow_callee(name, revokes, arena, grant, err);
	if (r == 0 && revokes && !who.len) /* all of it */
		grant->callees = NULL;
	return r;
}

/* Only what its manifest asks for, and was approved with it, can be granted. */
static int plugins_allow_check_wish(const struct registry_entry *entry, struct str word,
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

static int plugins_allow_list_granted(const struct registry_entry *entry, const struct grant *grant,
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
static int plugins_allow_grant_word(struct registry_entry *entry, struct str word, bool revokes,
	struct arena *arena, struct grant *grant, perch_err *err)
{
	struct str who = word;
	const struct capability *capability = capability_find(word);
	if (str_is(str_cut(&who, ':'), WISH_PLUGINS))
		return plugins_allow_grant_plugins(who, revokes, arena, grant, err);
	int r = 0;
	if (!revokes || !capability)
		r = plugins_allow_check_wish(entry, word, capability, arena, grant, err);
	if (r == 0)
		capabilities_put(&entry->granted, capability, !revokes);
	return r;
}

/* Grants what the words name (with commas between them), or takes it back: all of it, or nothing.
 */
static int plugins_allow_grant(const char *name, const struct option_list *words, bool revokes,
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
			r = plugins_allow_grant_word(
				&entry, str_trim(str_cut(&rest, ',')), revokes, arena, grant, err);
		while (rest.len && r == 0);
	}
	entry.has_capabilities = true;
	if (r == 0)
		r = plugins_allow_list_granted(&entry, grant, arena, ret_words, err);
	return r < 0 ? r : registry_put(&entry, err);
}

/* ---- --manifest -------------------------------------------------------------- */

static int plugins_allow_describe(const struct manifest *manifest,
	const struct capabilities *granted, struct arena *arena, const char **ret_words, perch_err *err)
{
	const char *words[WISHES_MAX + 1];
	struct buf list = { 0 };
	struct buf text = { 0 };
	wishes_words(granted, words);
	buf_printf(&text, "%s; granted: %s",
		manifest->protocol[0] ? manifest->protocol : "no protocol, runs with all your rights",
		page_join(&list, words, "nothing"));
	*ret_words = text.failed ? NULL : arena_dup(arena, (struct str){ text.data, text.len });
	buf_free(&list);
	buf_free(&text);
	return *ret_words ? 0 : err_no_memory(err);
}

/* New wishes are granted; capabilities that were refused before stay refused. */
static int plugins_allow_approve_plugin(const char *name, struct arena *arena, struct grant *grant,
	const char **ret_words, perch_err *err)
{
	struct registry registry;
	struct manifest manifest;
	int r = registry_read(arena, &registry, err);
	if (r < 0)
		return r;
	struct registry_entry entry = *registry_find(&registry, name);
	r = manifest_read(entry.directory, arena, &manifest, err);
	if (r == 0)
		r = manifest_check_protocol(&manifest, err);
	if (r < 0)
		return r;
	entry.granted = update_granted(&entry, &grant->approval, &manifest, true);
	entry.has_capabilities = true;
	entry.version = manifest.version;
	if (approval_of(&manifest, arena, &grant->approval) < 0)
		return err_no_memory(err);
	grant->has_approval = true;
	if (entry.granted.plugins &&
		plugins_allow_callee(GRANT_ANY_PLUGIN, false, arena, grant, err) < 0)
		return err->code;
	r = plugins_allow_describe(&manifest, &entry.granted, arena, ret_words, err);
	return r < 0 ? r : registry_put(&entry, err);
}

/* ---- the commands ------------------------------------------------------------ */

static const struct allow_subject plugin = {
	.kind = GRANT_PLUGIN,
	.noun = "plugin",
	.command = "perch plugins",
	.find = plugins_allow_find,
	.approve_option = "manifest",
	.approve = plugins_allow_approve_plugin,
	.grant = plugins_allow_grant,
};

static int cli_plugins_allow(struct cli *cli, int argc, char **argv)
{
	return cli_allow(cli, &plugin, argc, argv);
}

static int plugins_allow_cli_plugins_revoke(struct cli *cli, int argc, char **argv)
{
	return cli_revoke(cli, &plugin, argc, argv);
}

#define PLUGINS_ALLOW_HELP                                                          \
	"  --grant LIST    what its plugin.toml asks for: " CAPABILITY_NAMES ",\n"      \
	"                  and plugins: call others that are confined; plugins:NAME:\n" \
	"                  this one, even if it is not confined\n"                      \
	"  --shell NAME    the shell of its commands: bash (sh)\n"

const struct command plugins_allow = {
	.name = "allow",
	.words = WORDS_PLUGINS,
	.summary = "give a plugin more than its sandbox does, or approve its manifest",
	.help = "usage: perch plugins allow NAME OPTIONS\n"
			"\n" ALLOW_OPTIONS_HELP PLUGINS_ALLOW_HELP
			"  --manifest      approve what its plugin.toml asks for now\n"
			"\n"
			"What is allowed is kept in perch's grants.toml; `perch plugins audit` shows it.\n"
			"\n"
			"example:\n"
			"  perch plugins allow deploy --grant exec --read /srv/data --env GH_TOKEN\n",
	.run = cli_plugins_allow,
};

const struct command plugins_revoke = {
	.name = "revoke",
	.words = WORDS_PLUGINS,
	.summary = "take back what was allowed",
	.help = "usage: perch plugins revoke NAME [OPTIONS]\n"
			"\n"
			"Takes back what the options name; without options, all that was allowed. What\n"
			"was granted at install stays, until --grant names it.\n"
			"\n" ALLOW_OPTIONS_HELP PLUGINS_ALLOW_HELP "\n"
			"example:\n"
			"  perch plugins revoke deploy --env GH_TOKEN\n",
	.run = plugins_allow_cli_plugins_revoke,
};
