/* perch plugins remove. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/ui/console.h"
#include "cli/ui/envelope.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/find.h"
#include "plugins/remove.h"

struct removing {
	struct cli *cli;
	struct console console;
	struct option_list names;
	bool keeps_state;
	bool yes;
	struct arena arena;
	struct registry registry;
};

/* What becomes of the stored values: a sentence for the question, and for the report. */
static const char *plugins_remove_fate_of_state(
	const struct removing *removing, const struct removal *removal)
{
	if (!removal->has_state)
		return "it has stored nothing";
	if (removal->is_live)
		return "what it has stored stays in its directory";
	return removing->keeps_state ? "what it has stored (state.json) is kept"
								 : "what it has stored (state.json) is deleted";
}

/* Only a removal that loses something needs an answer: with --keep-state no question is asked, and
 * a plugin that has stored nothing is removed where no user can be asked. */
static int plugins_remove_ask(struct removing *removing, const struct registry_entry *entry,
	const struct removal *removal, perch_err *err)
{
	const char *fate = plugins_remove_fate_of_state(removing, removal);
	if (removing->yes || removing->keeps_state)
		return 0;
	char question[512];
	snprintf(question, sizeof(question), "Remove %s? %s.", entry->name, fate);
	int r = console_confirm(&removing->console, question);
	if (r == -ENOTTY && !removal->has_state)
		return 0;
	if (r == -ENOTTY)
		return err_set(err, r,
			"nobody can be asked here, and %s: use --yes to remove it, or --keep-state", fate);
	return r > 0 ? 0 : err_set(err, -ECANCELED, "nothing was changed");
}

static int plugins_remove_tell(const struct removing *removing, const struct registry_entry *entry,
	const struct removal *removal)
{
	if (!removing->cli->json) {
		cli_tell(stdout, "removed %s: %s\n", entry->name,
			plugins_remove_fate_of_state(removing, removal));
		return 0;
	}
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "action", "remove");
	member_object(&envelope.writer, "removed");
	member_text(&envelope.writer, "name", entry->name);
	member_text(&envelope.writer, "source", entry->source);
	member_text(&envelope.writer, "version", entry->version);
	member_list(&envelope.writer, "commands", entry->commands);
	perch_json_end_object(&envelope.writer);
	return envelope_end(&envelope);
}

static int plugins_remove_run(struct removing *removing, perch_err *err)
{
	const struct registry_entry *entry;
	int r = registry_read(&removing->arena, &removing->registry, err);
	if (r == 0)
		r = plugin_find(&removing->registry, removing->names.items[0], &entry, err);
	if (r == 0)
		r = console_open(&removing->console, removing->cli, err);
	if (r < 0)
		return r;
	const struct removal removal = removal_look(entry);
	r = plugins_remove_ask(removing, entry, &removal, err);
	if (r == 0)
		r = plugin_remove(
			&removing->console.workshop, &removing->registry, entry, removing->keeps_state, err);
	return r < 0 ? r : plugins_remove_tell(removing, entry, &removal);
}

static int cli_plugins_remove(struct cli *cli, int argc, char **argv)
{
	struct removing removing = { .cli = cli };
	const struct option_spec options[] = {
		{ "keep-state", 0, OPTION_FLAG, &removing.keeps_state },
		{ "yes", 'y', OPTION_FLAG, &removing.yes },
		{ 0 },
	};
	perch_err err = { 0 };
	int r = cli_options(cli, options, argc, argv, &removing.names);
	if (r == 0 && removing.names.count != 1)
		r = cli_usage_error("see: perch plugins remove --help", "remove takes one NAME");
	if (r == 0) {
		r = plugins_remove_run(&removing, &err);
		if (r < 0) {
			console_tell_failure(&removing.console, NULL, &err);
			r = console_failure_code(&removing.console);
		}
		console_close(&removing.console);
	}
	free(removing.names.items);
	arena_free(&removing.arena);
	return r;
}

const struct command plugins_remove = {
	.name = "remove",
	.words = WORDS_PLUGINS,
	.summary = "remove an installed plugin",
	.help = "usage: perch plugins remove NAME [--keep-state] [--yes] [--json]\n"
			"\n"
			"NAME is the plugin's, that of its repository or of one of its commands. Runs its\n"
			"post_remove hook and takes it away, with its links and what it was granted. The\n"
			"directory behind a live link is never touched.\n"
			"\n"
			"  --keep-state   what it has stored is there again when it is installed again\n"
			"  -y, --yes      ask nothing; what it has stored is deleted\n"
			"\n"
			"Where no user can be asked, one that has stored nothing is removed at once.\n"
			"\n"
			"example:\n"
			"  perch plugins remove deploy --keep-state\n",
	.run = cli_plugins_remove,
};
