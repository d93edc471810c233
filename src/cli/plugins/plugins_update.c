/* perch plugins update. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/ui/consent.h"
#include "cli/ui/envelope.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/find.h"
#include "plugins/update.h"

enum update_status { STATUS_UPDATED, STATUS_SKIPPED, STATUS_FAILED, STATUS_COUNT };

static const char *const status_names[STATUS_COUNT] = { "updated", "skipped", "failed" };

struct updating {
	struct cli *cli;
	struct console console;
	struct consent consent;
	struct option_list names;
	bool to_latest;
	const char *clone_max_text;
	uint64_t clone_max;
	struct arena arena;
	struct registry registry;
	struct envelope envelope;
	size_t counts[STATUS_COUNT];
};

/* ---- telling ------------------------------------------------------------- */

static void plugins_update_tell(struct updating *updating, const struct registry_entry *entry,
	enum update_status status, const struct update_plan *plan, const char *detail)
{
	perch_json_writer *writer = &updating->envelope.writer;
	bool is_updated = status == STATUS_UPDATED;
	const char *version = is_updated ? plan->candidate.manifest.version : entry->version;
	const char *ref = is_updated ? plan->candidate.source.ref : entry->pinned_ref;
	updating->counts[status]++;
	perch_json_begin_object(writer);
	member_text(writer, "name", entry->name);
	member_text(writer, "status", status_names[status]);
	member_text(writer, "version", version);
	if (detail)
		member_text(writer, "detail", detail);
	if (ref[0])
		member_text(writer, "pinned_ref", ref);
	if (plan->latest_tag)
		member_text(writer, "latest_tag", plan->latest_tag);
	perch_json_end_object(writer);
	if (!updating->cli->json && status != STATUS_FAILED)
		cli_tell(stdout, "%s %s: %s%s%s\n", status_names[status], entry->name,
			is_updated ? entry->version : detail, is_updated ? " -> " : "",
			is_updated ? version : "");
}

static void plugins_update_tell_failed(struct updating *updating,
	const struct registry_entry *entry, const struct update_plan *plan, const perch_err *err)
{
	plugins_update_tell(updating, entry, STATUS_FAILED, plan, err->text);
	if (!updating->cli->json)
		console_tell_failure(&updating->console, entry->name, err);
}

/* ---- one plugin ---------------------------------------------------------- */

/* A plugin is never silently granted more than was approved. */
static int plugins_update_ask(struct updating *updating, const struct registry_entry *entry,
	struct update_plan *plan, struct capabilities *ret_granted, perch_err *err)
{
	const struct consent *consent = &updating->consent;
	const struct candidate *candidate = &plan->candidate;
	bool asks_for_more = plan->excess[0];
	int r = asks_for_more ? consent_check_trust(&updating->console, consent, candidate, err) : 0;
	if (r < 0)
		return r;
	if (asks_for_more) {
		char question[APPROVAL_EXCESS_MAX + 256];
		consent_show(&updating->console, candidate);
		snprintf(question, sizeof(question), "%s asks for more now: %s. Update it and agree?",
			entry->name, plan->excess);
		r = consent_get(&updating->console, consent, question, &candidate->manifest, err);
		if (r == -ENOTTY) {
			const perch_err inner = *err;
			return err_set(err, r, "it asks for more now: %s; %s", plan->excess, inner.text);
		}
		if (r < 0)
			return r;
	}
	*ret_granted = consent->has_grants
		? consent->granted
		: update_granted(entry, &candidate->grant.approval, &candidate->manifest, asks_for_more);
	return 0;
}

static void plugins_update_one(
	struct updating *updating, const struct registry_entry *entry, const char *ref)
{
	const struct update_wish wish = { .to_latest = updating->to_latest, .ref = ref };
	struct update_plan plan;
	struct capabilities granted;
	struct registry_entry updated;
	perch_err err = { 0 };
	int r = update_open(&updating->console.workshop, entry, &wish, &plan, &err);
	bool is_skipped = r == 0 && !plan.is_due;
	if (r == 0 && !is_skipped)
		r = plugins_update_ask(updating, entry, &plan, &granted, &err);
	if (r == 0 && !is_skipped)
		r = candidate_install(&plan.candidate, &granted, &updated, &err);
	if (is_skipped)
		plugins_update_tell(updating, entry, STATUS_SKIPPED, &plan, plan.reason);
	else if (r < 0)
		plugins_update_tell_failed(updating, entry, &plan, &err);
	else
		plugins_update_tell(updating, entry, STATUS_UPDATED, &plan, NULL);
	update_free(&plan);
}

/* ---- all of them --------------------------------------------------------- */

static int plugins_update_finish(struct updating *updating)
{
	perch_json_writer *writer = &updating->envelope.writer;
	size_t total = 0;
	for (size_t i = 0; i < STATUS_COUNT; i++)
		total += updating->counts[i];
	perch_json_end_array(writer);
	member_object(writer, "summary");
	member_number(writer, "total", (int64_t)total);
	for (size_t i = 0; i < STATUS_COUNT; i++)
		member_number(writer, status_names[i], (int64_t)updating->counts[i]);
	perch_json_end_object(writer);
	if (updating->cli->json)
		return envelope_end(&updating->envelope);
	buf_free(&updating->envelope.out);
	if (!total && !updating->names.count)
		printf("no plugins are installed\n");
	return 0;
}

static void plugins_update_all(struct updating *updating)
{
	for (size_t i = 0; i < updating->registry.count; i++)
		plugins_update_one(updating, &updating->registry.entries[i], NULL);
}

static int plugins_update_named(struct updating *updating, perch_err *err)
{
	for (size_t i = 0; i < updating->names.count; i++) {
		const struct registry_entry *entry;
		const char *name, *ref;
		int r = plugins_pin_split(updating->names.items[i], &updating->arena, &name, &ref, err);
		if (r == 0)
			r = plugin_find(&updating->registry, name, &entry, err);
		if (r < 0)
			return r;
		plugins_update_one(updating, entry, ref);
	}
	return 0;
}

static int plugins_update_run(struct updating *updating)
{
	perch_err err = { 0 };
	int r = registry_read(&updating->arena, &updating->registry, &err);
	if (r == 0)
		r = console_open(&updating->console, updating->cli, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		console_close(&updating->console);
		return EXIT_HOST;
	}
	updating->console.workshop.clone_max = updating->clone_max;
	envelope_begin(&updating->envelope);
	member_text(&updating->envelope.writer, "action", "update");
	member_text(&updating->envelope.writer, "scope", updating->names.count ? "single" : "all");
	member_array(&updating->envelope.writer, "results");
	if (updating->names.count)
		r = plugins_update_named(updating, &err);
	else
		plugins_update_all(updating);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	bool has_failed = r < 0 || updating->counts[STATUS_FAILED];
	int code = has_failed ? console_failure_code(&updating->console) : EXIT_SUCCESS;
	int printed = plugins_update_finish(updating);
	console_close(&updating->console);
	return code ? code : printed;
}

static int cli_plugins_update(struct cli *cli, int argc, char **argv)
{
	struct updating updating = { .cli = cli };
	const struct option_spec options[] = {
		CONSENT_OPTIONS(&updating.consent),
		{ "clone-max", 0, OPTION_TEXT, &updating.clone_max_text },
		{ "latest", 0, OPTION_FLAG, &updating.to_latest },
		{ 0 },
	};
	int r = cli_options(cli, options, argc, argv, &updating.names);
	if (r == 0)
		r = consent_read(&updating.consent);
	if (r == 0)
		r = options_bytes("--clone-max", updating.clone_max_text, &updating.clone_max);
	if (r == 0)
		r = plugins_update_run(&updating);
	consent_free(&updating.consent);
	free(updating.names.items);
	arena_free(&updating.arena);
	return r;
}

const struct command plugins_update = {
	.name = "update",
	.words = WORDS_PLUGINS,
	.summary = "fetch and build installed plugins anew",
	.help = "usage: perch plugins update [NAME[@REF]…] [OPTIONS]\n"
			"\n"
			"Fetches plugins from where they came from and builds them; without NAME all of\n"
			"them. Those from a local directory are skipped; for those that are pinned to a\n"
			"tag newer tags are looked for. A plugin that asks for more than was approved is\n"
			"updated only when you agree. What it has stored stays. With @REF it moves to\n"
			"that tag, branch or commit, and is pinned to it.\n"
			"\n"
			"  --latest        move a pin to the newest tag\n"
			"  -y, --yes       agree to what it asks for anew\n"
			"  --grant LIST    grant exactly these (with commas between them) or none:\n"
			"                  " CAPABILITY_NAMES ", " WISH_PLUGINS "\n"
			"  --trust         also when an unverified source now wants exec or network\n"
			"  --clone-max N   at most so many bytes of a repository (1G): 512M, 4G\n"
			"  --json          one object, for programs; asks nothing\n"
			"\n"
			"example:\n"
			"  perch plugins update --json | jq '.results[] | select(.latest_tag)'\n",
	.run = cli_plugins_update,
};
