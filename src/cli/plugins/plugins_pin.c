/* perch plugins pin and unpin: whether an update moves a plugin. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/plugins/plugins_registry.h"
#include "cli/ui/envelope.h"
#include "plugins/find.h"
#include "plugins/source.h"
#include "registry/write.h"

int plugins_pin_split(const char *word, struct arena *arena, const char **ret_name,
	const char **ret_ref, perch_err *err)
{
	const char *at = strrchr(word, '@');
	*ret_ref = at && at > word ? at + 1 : NULL;
	*ret_name =
		arena_dup(arena, (struct str){ word, *ret_ref ? (size_t)(at - word) : strlen(word) });
	if (!*ret_name)
		return err_no_memory(err);
	const char *problem = *ret_ref ? source_ref_problem(*ret_ref) : NULL;
	return problem ? err_set(err, -EINVAL, "the ref of '%.128s' %s", word, problem) : 0;
}

struct pinning {
	struct cli *cli;
	bool unpins;
	struct installed installed;
};

/* A plugin stays at the commit that is installed. Its source is not asked. */
static int plugins_pin_choose(const struct pinning *pinning, const struct registry_entry *entry,
	const char **ret_ref, perch_err *err)
{
	*ret_ref = pinning->unpins ? "" : entry->commit;
	if (pinning->unpins && !entry->pinned_ref[0])
		return err_set(err, -EINVAL, "%s is not pinned", entry->name);
	if (!pinning->unpins && !entry->commit[0])
		return err_set(
			err, -EINVAL, "%s comes from a directory: there is nothing to pin it to", entry->name);
	return 0;
}

static int plugins_pin_one(struct pinning *pinning, const char *name, perch_err *err)
{
	const struct registry_entry *entry;
	const char *ref = "";
	int r = plugin_find(&pinning->installed.registry, name, &entry, err);
	if (r == 0)
		r = plugins_pin_choose(pinning, entry, &ref, err);
	if (r < 0)
		return r;
	struct registry_entry changed = *entry;
	changed.pinned_ref = ref;
	r = registry_put(&changed, err);
	if (r < 0 || pinning->cli->json)
		return r;
	cli_tell(stdout,
		pinning->unpins ? "%s is not pinned any more: updates follow its source%s\n"
						: "%s is pinned to %s\n",
		entry->name, ref);
	return 0;
}

static int plugins_pin_run(struct cli *cli, int argc, char **argv, bool unpins)
{
	struct pinning pinning = { .cli = cli, .unpins = unpins };
	struct option_list names = { 0 };
	perch_err err = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &names);
	if (r == 0 && !names.count)
		r = cli_usage_error(
			"perch plugins list shows the names", "%s what? A NAME is missing", argv[0]);
	if (r == 0)
		r = installed_read(&pinning.installed);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		if (plugins_pin_one(&pinning, names.items[i], &err) == 0)
			continue;
		cli_error(NULL, "%s", err.text);
		r = EXIT_FAILURE;
	}
	installed_free(&pinning.installed);
	free(names.items);
	return r;
}

static int cli_plugins_pin(struct cli *cli, int argc, char **argv)
{
	return plugins_pin_run(cli, argc, argv, false);
}

static int cli_plugins_unpin(struct cli *cli, int argc, char **argv)
{
	return plugins_pin_run(cli, argc, argv, true);
}

const struct command plugins_pin = {
	.name = "pin",
	.words = WORDS_PLUGINS,
	.summary = "keep plugins at what is installed",
	.help = "usage: perch plugins pin NAME…\n"
			"\n"
			"Pins plugins to the commits that are installed: no update moves them. To move to\n"
			"another tag, branch or commit, and pin that: perch plugins update NAME@REF.\n"
			"\n"
			"example:\n"
			"  perch plugins pin standup\n",
	.run = cli_plugins_pin,
};

const struct command plugins_unpin = {
	.name = "unpin",
	.words = WORDS_PLUGINS,
	.summary = "let updates move plugins again",
	.help = "usage: perch plugins unpin NAME…\n"
			"\n"
			"Takes the pins of plugins away: updates follow their sources again.\n"
			"\n"
			"example:\n"
			"  perch plugins unpin standup\n",
	.run = cli_plugins_unpin,
};
