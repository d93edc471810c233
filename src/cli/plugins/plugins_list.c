/* perch plugins list. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/macros.h"
#include "cli/ui/envelope.h"
#include "cli/plugins/plugins_registry.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/ui/table.h"

static const char *plugins_list_or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static const char *plugins_list_joined(struct arena *arena, const char *const *list)
{
	struct buf text = { 0 };
	const char *kept = arena_dup(arena, str_from(page_join(&text, list, "-")));
	buf_free(&text);
	return kept ? kept : "";
}

/* The source of a plugin; where its files are gone, the remedy stands before it, because a narrow
 * terminal cuts the end. */
static const char *plugins_list_source_of(struct arena *arena, const struct registry_entry *entry)
{
	const char *source = plugins_list_or_dash(entry->source);
	if (!registry_is_gone(entry))
		return source;
	const char *told =
		arena_join(arena, "gone: ", source, " (perch plugins remove ", entry->name, ")", NULL);
	return told ? told : source;
}

static int plugins_list_print_for_people(const struct cli *cli, struct installed *installed)
{
	static const char *const headings[] = { "NAME", "VERSION", "TRUST", "COMMANDS", "SOURCE" };
	const struct registry *registry = &installed->registry;
	if (!registry->count) {
		puts("No plugins are installed. To install one: perch plugins install SOURCE");
		return EXIT_SUCCESS;
	}
	struct table table = { .columns = COUNT(headings) };
	table_add(&table, headings);
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_entry *entry = &registry->entries[i];
		const char *const cells[] = {
			entry->name,
			plugins_list_or_dash(entry->version),
			trust_name(trust_of(&installed->trust, entry->source)),
			plugins_list_joined(&installed->arena, entry->commands),
			plugins_list_source_of(&installed->arena, entry),
		};
		table_add(&table, cells);
	}
	struct page page;
	page_begin(&page, cli);
	table_print(&table, &page);
	table_free(&table);
	return page_end(&page);
}

static void plugins_list_write_entry(perch_json_writer *writer, const struct installed *installed,
	const struct registry_entry *entry)
{
	perch_json_begin_object(writer);
	member_text(writer, "name", entry->name);
	member_text(writer, "version", entry->version);
	member_text(writer, "source", entry->source);
	member_text(writer, "installed", entry->installed);
	member_list(writer, "commands", entry->commands);
	member_text(writer, "pinned_ref", entry->pinned_ref[0] ? entry->pinned_ref : NULL);
	member_text(writer, "trust_tier", trust_name(trust_of(&installed->trust, entry->source)));
	member_text(writer, "runtime", installed_runtime(entry));
	if (registry_is_gone(entry))
		member_bool(writer, "gone", true);
	perch_json_end_object(writer);
}

static int plugins_list_print_json(const struct installed *installed)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, "plugins");
	for (size_t i = 0; i < installed->registry.count; i++)
		plugins_list_write_entry(&envelope.writer, installed, &installed->registry.entries[i]);
	perch_json_end_array(&envelope.writer);
	return envelope_end(&envelope);
}

static int cli_plugins_list(struct cli *cli, int argc, char **argv)
{
	struct option_list words = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &words);
	if (r == 0 && words.count)
		r = cli_usage_error("see: perch plugins list --help", "list takes no '%s'", words.items[0]);
	free(words.items);
	if (r)
		return r;
	struct installed installed = { 0 };
	r = installed_read(&installed);
	if (r == 0)
		r = cli->json ? plugins_list_print_json(&installed)
					  : plugins_list_print_for_people(cli, &installed);
	installed_free(&installed);
	return r;
}

const struct command plugins_list = {
	.name = "list",
	.summary = "list the installed plugins",
	.help = "usage: perch plugins list [--json]\n"
			"\n"
			"Lists the installed plugins: name, version, how far the source is trusted,\n"
			"commands, source. The tiers: local (a path), official and team (the lists under\n"
			"[trust] in fledge's config.toml), unverified.\n"
			"\n"
			"example:\n"
			"  perch plugins list --json | jq -r '.plugins[].name'\n",
	.run = cli_plugins_list,
};
