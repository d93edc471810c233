/* perch plugins install. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/ui/consent.h"
#include "cli/ui/envelope.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/plugin_index.h"

struct installing {
	struct cli *cli;
	struct console console;
	struct consent consent;
	struct option_list sources;
	bool copies;
	const char *copy_max_text, *clone_max_text;
	uint64_t copy_max, clone_max;
	bool force;
	bool skips_build;
	bool takes_defaults;
	struct arena arena;       /* of what the index names */
	struct envelope envelope; /* for programs: installed */
	struct envelope failures; /* its second list, kept apart until the end */
	size_t installed;
	size_t failed;
};

/* ---- telling ------------------------------------------------------------- */

static void plugins_install_write_installed(struct installing *installing,
	const struct candidate *candidate, const struct registry_entry *entry)
{
	perch_json_writer *writer = &installing->envelope.writer;
	perch_json_begin_object(writer);
	member_text(writer, "name", entry->name);
	member_text(writer, "source", entry->source);
	member_text(writer, "version", entry->version);
	member_text(writer, "trust_tier", trust_name(candidate->tier));
	member_list(writer, "commands", entry->commands);
	member_text(writer, "pinned_ref", entry->pinned_ref[0] ? entry->pinned_ref : NULL);
	member_capabilities(writer, "capabilities", &entry->granted);
	member_text(writer, "network",
		network_state_words(capabilities_network(&entry->granted, &candidate->manifest.wishes)));
	perch_json_end_object(writer);
}

static void plugins_install_tell_installed(struct installing *installing,
	const struct candidate *candidate, const struct registry_entry *entry)
{
	installing->installed++;
	plugins_install_write_installed(installing, candidate, entry);
	if (installing->cli->json)
		return;
	cli_tell(stdout, "installed %s %s", entry->name, entry->version);
	for (size_t i = 0; entry->commands[i]; i++)
		cli_tell(stdout, "%s%s", i ? ", " : ": perch run ", entry->commands[i]);
	printf("%s\n", entry->commands[0] ? "" : ": it has no commands, so nothing of it can be run");
}

static void plugins_install_tell_failed(
	struct installing *installing, const char *source, const perch_err *err)
{
	perch_json_writer *writer = &installing->failures.writer;
	installing->failed++;
	perch_json_begin_object(writer);
	member_text(writer, "source", source);
	member_text(writer, "error", err->text);
	perch_json_end_object(writer);
	if (!installing->cli->json)
		console_tell_failure(&installing->console, NULL, err);
}

/* ---- one source ---------------------------------------------------------- */

static int plugins_install_ask(struct installing *installing, const struct candidate *candidate,
	struct capabilities *ret_granted, perch_err *err)
{
	const struct consent *consent = &installing->consent;
	int r = consent_check_trust(&installing->console, consent, candidate, err);
	if (r < 0)
		return r;
	consent_show(&installing->console, candidate);
	r = consent_grant(&installing->console, consent, candidate, ret_granted, err);
	return r < 0 ? r : 0;
}

static void plugins_install_one(struct installing *installing, const char *source)
{
	const struct install_options options = {
		.source = source,
		.copies = installing->copies,
		.copy_max = installing->copy_max,
		.force = installing->force,
		.skips_build = installing->skips_build,
	};
	struct candidate candidate;
	struct capabilities granted;
	struct registry_entry entry;
	perch_err err = { 0 };
	int r = candidate_open(
		&installing->console.workshop, &options, (struct arena){ 0 }, &candidate, &err);
	if (r == 0)
		r = plugins_install_ask(installing, &candidate, &granted, &err);
	if (r == 0)
		r = candidate_install(&candidate, &granted, &entry, &err);
	if (r == 0)
		plugins_install_tell_installed(installing, &candidate, &entry);
	else
		plugins_install_tell_failed(installing, source, &err);
	candidate_free(&candidate);
}

/* ---- all of them --------------------------------------------------------- */

static int plugins_install_finish(struct installing *installing)
{
	perch_json_writer *writer = &installing->envelope.writer;
	perch_json_end_array(writer);
	perch_json_end_array(&installing->failures.writer);
	perch_json_write_name(writer, "failed");
	perch_json_write_raw(writer, installing->failures.out.data, installing->failures.out.len);
	member_object(writer, "summary");
	member_number(writer, "total", (int64_t)installing->sources.count);
	member_number(writer, "installed", (int64_t)installing->installed);
	member_number(writer, "failed", (int64_t)installing->failed);
	perch_json_end_object(writer);
	int r = installing->cli->json ? envelope_end(&installing->envelope) : 0;
	if (!installing->cli->json)
		buf_free(&installing->envelope.out);
	buf_free(&installing->failures.out);
	return r;
}

/* Those of the index that are its defaults and not installed. */
static int plugins_install_add_defaults(struct installing *installing, perch_err *err)
{
	struct registry registry;
	struct plugin_index index;
	struct option_list *sources = &installing->sources;
	int r = registry_read(&installing->arena, &registry, err);
	if (r == 0)
		r = index_read(
			&installing->console.workshop, registry.config, &installing->arena, &index, err);
	for (size_t i = 0; r == 0 && i < index.count; i++) {
		const struct index_entry *entry = &index.entries[i];
		if (!entry->is_default || registry_find(&registry, entry->name))
			continue;
		const char **items = realloc(sources->items, (sources->count + 1) * sizeof(*items));
		if (!items)
			return err_no_memory(err);
		items[sources->count++] = entry->source;
		sources->items = items;
	}
	return r;
}

static int plugins_install_all(struct installing *installing)
{
	perch_err err = { 0 };
	if (console_open(&installing->console, installing->cli, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		console_close(&installing->console);
		return EXIT_HOST;
	}
	installing->console.workshop.clone_max = installing->clone_max;
	if (installing->takes_defaults && plugins_install_add_defaults(installing, &err) < 0) {
		console_tell_failure(&installing->console, NULL, &err);
		int code = console_failure_code(&installing->console);
		console_close(&installing->console);
		return code;
	}
	envelope_begin(&installing->envelope);
	member_text(&installing->envelope.writer, "action", "install");
	member_text(&installing->envelope.writer, "scope",
		installing->sources.count == 1 ? "single" : "multiple");
	member_array(&installing->envelope.writer, "installed");
	installing->failures.writer = json_writer_on(&installing->failures.out);
	perch_json_begin_array(&installing->failures.writer);
	for (size_t i = 0; i < installing->sources.count; i++)
		plugins_install_one(installing, installing->sources.items[i]);
	int code = installing->failed ? console_failure_code(&installing->console) : EXIT_SUCCESS;
	int r = plugins_install_finish(installing);
	console_close(&installing->console);
	return code ? code : r;
}

static int cli_plugins_install(struct cli *cli, int argc, char **argv)
{
	struct installing installing = { .cli = cli };
	const struct option_spec options[] = {
		CONSENT_OPTIONS(&installing.consent),
		{ "copy", 0, OPTION_FLAG, &installing.copies },
		{ "copy-max", 0, OPTION_TEXT, &installing.copy_max_text },
		{ "clone-max", 0, OPTION_TEXT, &installing.clone_max_text },
		{ "force", 'f', OPTION_FLAG, &installing.force },
		{ "no-build", 0, OPTION_FLAG, &installing.skips_build },
		{ "defaults", 0, OPTION_FLAG, &installing.takes_defaults },
		{ 0 },
	};
	int r = cli_options(cli, options, argc, argv, &installing.sources);
	if (r == 0)
		r = consent_read(&installing.consent);
	if (r == 0)
		r = options_bytes("--copy-max", installing.copy_max_text, &installing.copy_max);
	if (r == 0)
		r = options_bytes("--clone-max", installing.clone_max_text, &installing.clone_max);
	if (r == 0 && !installing.sources.count && !installing.takes_defaults)
		r = cli_usage_error(
			"see: perch plugins install --help", "install what? A SOURCE is missing");
	if (r == 0)
		r = plugins_install_all(&installing);
	consent_free(&installing.consent);
	free(installing.sources.items);
	arena_free(&installing.arena);
	return r;
}

const struct command plugins_install = {
	.name = "install",
	.summary = "install a plugin from a directory or a repository",
	.help = "usage: perch plugins install SOURCE… [OPTIONS]\n"
			"\n"
			"SOURCE is a directory (./plugin), OWNER/REPOSITORY, an URL (https, ssh, git,\n"
			"file) or git@HOST:PATH, each with @REF. Shows what the plugin is, what it asks\n"
			"for and what it would run, and asks. Any failure leaves things as they were.\n"
			"\n"
			"  -y, --yes       grant all that it asks for, without asking\n"
			"  --grant LIST    grant exactly these (with commas between them) or none:\n"
			"                  " CAPABILITY_NAMES ", " WISH_PLUGINS "\n"
			"  --trust         where no user can be asked: also from an unverified source\n"
			"                  that wants exec, network or plugins\n"
			"  --copy          a snapshot of a directory, not a link to it\n"
			"  --copy-max N    of at most so many bytes (1G): 512M, 4G; --clone-max N: a\n"
			"                  repository with its history (1G)\n"
			"  -f, --force     replace what is installed; what it has stored stays\n"
			"  --no-build      build nothing\n"
			"  --defaults      those of your index ([registry] index in config.toml), too\n"
			"  --json          one object, for programs; asks nothing\n"
			"\n"
			"example:\n"
			"  perch plugins install ./my-plugin --grant store\n",
	.run = cli_plugins_install,
};
