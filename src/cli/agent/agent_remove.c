/* perch agent remove: a name is taken away, and a profile of the catalogue with it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/console.h"
#include "cli/ui/envelope.h"
#include "registry/grants.h"
#include "service/agent_files.h"

struct removing {
	struct cli *cli;
	struct console console;
	bool has_console;
	bool yes;
	const char *name;
	char *path;            /* of the file that has the name */
	bool is_link;          /* to a profile that stays where it is */
	char target[PATH_MAX]; /* that profile, or the file itself; "" = it leads nowhere */
};

static int agent_remove_look(struct removing *removing, perch_err *err)
{
	struct stat info;
	char shown[FILE_SHOWN_MAX];
	int r = agent_file_path(removing->name, &removing->path, err);
	if (r < 0)
		return r;
	if (lstat(removing->path, &info) < 0 && errno == ENOENT)
		return err_set(err, -ENOENT,
			"there is no agent '%s'; perch agent list shows those that have a name",
			file_shown(removing->name, shown));
	removing->is_link = file_is_link(removing->path);
	if (!realpath(removing->path, removing->target))
		removing->target[0] = '\0';
	return 0;
}

/* What is as it came can be added again. */
static bool agent_remove_loses(const struct removing *removing)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *ours = agent_catalogue_text(removing->name);
	if (removing->is_link)
		return false;
	return !ours || file_read(removing->path, strlen(ours), &text, NULL) < 0 ||
		!str_is((struct str){ text.data, text.len }, ours);
}

static int agent_remove_ask(struct removing *removing, perch_err *err)
{
	char question[FILE_SHOWN_MAX + 64];
	char shown[FILE_SHOWN_MAX];
	if (removing->yes || !agent_remove_loses(removing))
		return 0;
	int r = console_open(&removing->console, removing->cli, err);
	removing->has_console = true;
	if (r < 0)
		return r;
	file_shown(removing->path, shown);
	snprintf(question, sizeof(question), "Delete %s? It is not as the catalogue has it.", shown);
	r = console_confirm(&removing->console, question);
	if (r == -ENOTTY)
		return err_set(err, r,
			"%s is not as the catalogue has it, and nobody can be asked here: --yes deletes it",
			shown);
	return r > 0 ? 0 : err_set(err, -ECANCELED, "nothing was changed");
}

/* What was allowed goes first: the next profile of that path has none of it. */
static int agent_remove_file(const struct removing *removing, perch_err *err)
{
	int r = removing->is_link || !removing->target[0]
		? 0
		: grants_remove(GRANT_AGENT, removing->target, err);
	if (r < 0)
		return r;
	return unlink(removing->path) == 0
		? 0
		: err_set(err, -errno, "cannot remove %.200s: %s", removing->path, perch_strerror(-errno));
}

static int agent_remove_tell(const struct removing *removing)
{
	struct envelope envelope;
	const char *kept = removing->is_link && removing->target[0] ? removing->target : NULL;
	if (removing->cli->json) {
		envelope_begin(&envelope);
		member_text(&envelope.writer, "name", removing->name);
		member_text(&envelope.writer, "removed", removing->path);
		member_text(&envelope.writer, "kept", kept);
		return envelope_end(&envelope);
	}
	if (removing->cli->quiet)
		return 0;
	int r = kept
		? cli_tell(stdout, "removed the name %s; its profile stays: %s\n", removing->name, kept)
		: cli_tell(stdout, "removed %s\n", removing->name);
	return r ? EXIT_HOST : 0;
}

static int agent_remove_fail(const struct removing *removing, const perch_err *err)
{
	if (removing->cli->json)
		return envelope_fail(err->text, EXIT_FAILURE);
	console_tell_failure(&removing->console, NULL, err);
	return console_failure_code(&removing->console);
}

static int agent_remove_run(struct removing *removing)
{
	perch_err err = { 0 };
	int r = agent_remove_look(removing, &err);
	if (r == 0)
		r = agent_remove_ask(removing, &err);
	if (r == 0)
		r = agent_remove_file(removing, &err);
	int code = r < 0 ? agent_remove_fail(removing, &err) : agent_remove_tell(removing);
	if (removing->has_console)
		console_close(&removing->console);
	free(removing->path);
	return code;
}

static int agent_remove(struct cli *cli, int argc, char **argv)
{
	struct removing removing = { .cli = cli };
	struct option_list words = { 0 };
	const struct option_spec specs[] = {
		{ "yes", 'y', OPTION_FLAG, &removing.yes },
		{ 0 },
	};
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count != 1)
		r = cli_usage_error("perch agent list shows those that have a name",
			words.count ? "remove takes one NAME" : "which agent? a name is missing");
	if (r == 0) {
		removing.name = words.items[0];
		r = agent_remove_run(&removing);
	}
	free(words.items);
	return r;
}

const struct command agent_remove_command = {
	.name = "remove",
	.summary = "take a name away, and what was added from the catalogue",
	.help = "usage: perch agent remove NAME [--yes] [--json]\n"
			"\n"
			"Takes away the name that `perch agent add` gave. A profile of yours stays where\n"
			"it is, with what it was allowed. One of the catalogue is deleted, with what it\n"
			"was allowed; where you have changed it, you are asked first. Stored sessions\n"
			"stay: perch agent sessions rm forgets them.\n"
			"\n"
			"  -y, --yes   ask nothing\n"
			"  --json      one object, for programs\n"
			"\n"
			"example:\n"
			"  perch agent remove ollama\n",
	.words = WORDS_AGENTS,
	.run = agent_remove,
};
