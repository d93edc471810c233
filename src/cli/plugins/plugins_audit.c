/* perch plugins audit. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/ui/envelope.h"
#include "cli/ui/layers_in_force.h"
#include "cli/plugins/plugins_registry.h"
#include "cli/ui/page.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/find.h"
#include "plugins/plugin_audit.h"
#include "plugins/plugin_confinement.h"
#include "registry/approval.h"

/* ---- the sandbox that is in force here ------------------------------------------ */

/* The sandbox that a run in this directory would have. */
static int plugins_audit_find_in_force(const struct registry *registry, const struct audit *audit,
	struct arena *arena, struct in_force *ret_in_force, perch_err *err)
{
	char directory[PATH_MAX];
	struct sandbox_policy policy;
	if (!audit->is_sandboxed)
		return in_force_find(NULL, arena, ret_in_force);
	struct capabilities force = capabilities_in_force(&audit->granted, &audit->manifest.wishes);
	struct confinement confinement = confinement_by(&force);
	confinement.config = registry->config;
	confinement.project = getcwd(directory, sizeof(directory)) ? directory : "";
	confinement.directory = audit->entry->directory;
	confinement.manifest = &audit->manifest;
	confinement.widening = &audit->grant.widening;
	perch_err why = { 0 };
	int r = confinement_policy(&confinement, arena, &policy, &why);
	if (r == 0)
		r = in_force_find(&policy, arena, ret_in_force);
	else
		r = in_force_problem(why.text, arena, ret_in_force);
	return r < 0 ? err_no_memory(err) : 0;
}

/* ---- for people ---------------------------------------------------------------- */

static void plugins_audit_print_line(
	struct page *page, const char *label, enum style style, const char *text)
{
	buf_printf(&page->out, "  %-11s", label);
	buf_append_text(&page->out, style_begin(&page->look, style));
	page_wrap(page, str_from(text), 13);
	buf_append_text(&page->out, style_end(&page->look, style));
	buf_append_char(&page->out, '\n');
}

static void plugins_audit_print_words(struct page *page, const char *label, const char *const *list)
{
	struct buf text = { 0 };
	plugins_audit_print_line(page, label, STYLE_PLAIN, page_join(&text, list, "-"));
	buf_free(&text);
}

static void plugins_audit_print_hooks(struct page *page, const struct manifest *manifest)
{
	const char *names[HOOK_COUNT + 1] = { NULL };
	size_t count = 0;
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		const char *name = manifest_hook(manifest, i, &text);
		if (text[0])
			names[count++] = name;
	}
	plugins_audit_print_words(page, "hooks", names);
}

static void plugins_audit_print_in_force(struct page *page, const struct in_force *in_force)
{
	if (in_force->problem)
		plugins_audit_print_line(page, "problem", STYLE_WARN, in_force->problem);
	else
		plugins_audit_print_words(page, "layers", in_force->layers);
	for (const char *const *missing = in_force->missing; *missing; missing++)
		plugins_audit_print_line(page, "warning", STYLE_WARN, *missing);
}

static void plugins_audit_print_audit(
	struct page *page, const struct audit *audit, const struct in_force *in_force)
{
	const struct registry_entry *entry = audit->entry;
	const char *words[WISHES_MAX + 1];
	buf_append_text(&page->out, style_begin(&page->look, STYLE_MESSAGE));
	page_cut(page, str_from(entry->name), 0);
	buf_append_text(&page->out, style_end(&page->look, STYLE_MESSAGE));
	buf_append_text(&page->out, entry->version[0] ? " " : "");
	page_cut(page, str_from(entry->version), 0);
	buf_append_char(&page->out, '\n');
	plugins_audit_print_line(page, "source", STYLE_PLAIN, entry->source[0] ? entry->source : "-");
	plugins_audit_print_line(page, "trust", STYLE_PLAIN, trust_name(audit->tier));
	plugins_audit_print_words(page, "commands", entry->commands);
	wishes_words(&audit->granted, words);
	plugins_audit_print_words(page, "granted", words);
	if (audit->has_manifest) {
		wishes_words(&audit->manifest.wishes, words);
		plugins_audit_print_words(page, "requested", words);
		plugins_audit_print_hooks(page, &audit->manifest);
	}
	plugins_audit_print_line(page, "sandbox", STYLE_PLAIN, audit->is_sandboxed ? "yes" : "no");
	if (audit->is_sandboxed)
		plugins_audit_print_in_force(page, in_force);
	for (size_t i = 0; i < audit->policy_count; i++)
		plugins_audit_print_line(page, audit->policy[i].name, STYLE_HINT, audit->policy[i].text);
	for (size_t i = 0; i < audit->warnings.count; i++)
		plugins_audit_print_line(page, "warning", STYLE_WARN, audit->warnings.items[i].text);
}

/* ---- for programs --------------------------------------------------------------- */

static void plugins_audit_write_audit(
	perch_json_writer *writer, const struct audit *audit, const struct in_force *in_force)
{
	const struct registry_entry *entry = audit->entry;
	perch_json_begin_object(writer);
	member_text(writer, "name", entry->name);
	member_text(writer, "version", entry->version);
	member_text(writer, "source", entry->source);
	member_text(writer, "trust_tier", trust_name(audit->tier));
	member_text(writer, "runtime", installed_runtime(entry));
	member_bool(writer, "sandboxed", audit->is_sandboxed);
	member_capabilities(writer, "capabilities", &audit->granted);
	if (audit->has_manifest)
		member_capabilities(writer, "requested", &audit->manifest.wishes);
	else
		member_text(writer, "requested", NULL);
	member_list(writer, "commands", entry->commands);
	member_bool(writer, "has_lifecycle_hooks", audit->has_lifecycle_hooks);
	in_force_write(writer, in_force);
	member_object(writer, "policy");
	for (size_t i = 0; i < audit->policy_count; i++)
		member_text(writer, audit->policy[i].name, audit->policy[i].text);
	perch_json_end_object(writer);
	member_array(writer, "warnings");
	for (size_t i = 0; i < audit->warnings.count; i++)
		perch_json_write_string(writer, audit->warnings.items[i].text);
	perch_json_end_array(writer);
	perch_json_end_object(writer);
}

/* --------------------------------------------------------------------------------- */

/* What the user calls them becomes the names that they have. */
static int plugins_audit_find(const struct registry *registry, struct option_list *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct registry_entry *entry;
		perch_err err = { 0 };
		if (plugin_find(registry, names->items[i], &entry, &err) < 0) {
			cli_error(NULL, "%s", err.text);
			return EXIT_FAILURE;
		}
		names->items[i] = entry->name;
	}
	return 0;
}

/* Where audits are printed: one of both. */
struct report {
	struct page *page;
	struct envelope *envelope;
	size_t count;
};

static int plugins_audit_one(struct installed *installed, const struct registry_entry *entry,
	struct report *report, perch_err *err)
{
	struct audit audit;
	struct in_force in_force;
	struct arena *arena = &installed->arena;
	int r = audit_plugin(&installed->registry, entry, &installed->trust, arena, &audit, err);
	if (r < 0)
		return r;
	r = plugins_audit_find_in_force(&installed->registry, &audit, arena, &in_force, err);
	if (r == 0 && report->envelope)
		plugins_audit_write_audit(&report->envelope->writer, &audit, &in_force);
	if (r == 0 && report->page) {
		buf_append_text(&report->page->out, report->count ? "\n" : "");
		plugins_audit_print_audit(report->page, &audit, &in_force);
	}
	report->count++;
	audit_free(&audit);
	return r;
}

static int plugins_audit_all(
	struct installed *installed, const struct option_list *names, struct report *report)
{
	for (size_t i = 0; i < installed->registry.count; i++) {
		const struct registry_entry *entry = &installed->registry.entries[i];
		perch_err err = { 0 };
		if (!options_want(names, entry->name) ||
			plugins_audit_one(installed, entry, report, &err) == 0)
			continue;
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	return 0;
}

static int plugins_audit_print_json(struct installed *installed, const struct option_list *names)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, "audit");
	int r = plugins_audit_all(installed, names, &(struct report){ .envelope = &envelope });
	perch_json_end_array(&envelope.writer);
	if (r == 0)
		return envelope_end(&envelope);
	buf_free(&envelope.out);
	return r;
}

static int plugins_audit_print_for_people(
	const struct cli *cli, struct installed *installed, const struct option_list *names)
{
	struct page page;
	page_begin(&page, cli);
	if (!installed->registry.count)
		buf_append_text(&page.out, "No plugins are installed.\n");
	int r = plugins_audit_all(installed, names, &(struct report){ .page = &page });
	if (r == 0)
		return page_end(&page);
	buf_free(&page.out);
	return r;
}

static int cli_plugins_audit(struct cli *cli, int argc, char **argv)
{
	struct option_list names = { 0 };
	struct installed installed = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &names);
	if (r == 0)
		r = installed_read(&installed);
	if (r == 0)
		r = plugins_audit_find(&installed.registry, &names);
	if (r == 0)
		r = cli->json ? plugins_audit_print_json(&installed, &names)
					  : plugins_audit_print_for_people(cli, &installed, &names);
	installed_free(&installed);
	free(names.items);
	return r;
}

const struct command plugins_audit = {
	.name = "audit",
	.words = WORDS_PLUGINS,
	.summary = "show what installed plugins may do, and what is odd about them",
	.help = "usage: perch plugins audit [NAME…] [--json]\n"
			"\n"
			"For each plugin, or those that are named (by the plugin, its repository or one\n"
			"of its commands): how far its source is trusted, what it was granted and what it\n"
			"asks for, its hooks, the sandbox it runs in, and what you should know: a\n"
			"manifest that has changed since you approved it, programs and links that lead\n"
			"out of it, files that every user may change.\n"
			"\n"
			"example:\n"
			"  perch plugins audit --json | jq '.audit[] | select(.sandboxed | not) | .name'\n",
	.run = cli_plugins_audit,
};
