/* perch plugins search and recommend: what an index that the user names has. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/macros.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/plugins/plugins_registry.h"
#include "cli/ui/console.h"
#include "cli/ui/envelope.h"
#include "cli/ui/table.h"
#include "fledge/context.h"
#include "plugins/plugin_index.h"

/* What is looked for: a word (NULL = any), or a language of projects. */
struct looking {
	const char *word;
	const char *language;
};

static bool plugins_index_fits(const struct index_entry *entry, const struct looking *looking)
{
	if (looking->language)
		return list_has(entry->languages, looking->language);
	return !looking->word || strcasestr(entry->name, looking->word) ||
		strcasestr(entry->description, looking->word);
}

static int plugins_index_print_json(const struct registry *registry,
	const struct plugin_index *index, const struct looking *looking)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, "plugins");
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *entry = &index->entries[i];
		if (!plugins_index_fits(entry, looking))
			continue;
		perch_json_begin_object(&envelope.writer);
		member_text(&envelope.writer, "name", entry->name);
		member_text(&envelope.writer, "source", entry->source);
		member_text(&envelope.writer, "description", entry->description);
		member_bool(&envelope.writer, "default", entry->is_default);
		member_bool(&envelope.writer, "installed", registry_find(registry, entry->name) != NULL);
		perch_json_end_object(&envelope.writer);
	}
	perch_json_end_array(&envelope.writer);
	return envelope_end(&envelope);
}

static int plugins_index_print(const struct cli *cli, const struct registry *registry,
	const struct plugin_index *index, const struct looking *looking)
{
	static const char *const headings[] = { "NAME", "INSTALLED", "SOURCE", "DESCRIPTION" };
	if (cli->json)
		return plugins_index_print_json(registry, index, looking);
	struct table table = { .columns = COUNT(headings) };
	struct page page;
	size_t count = 0;
	table_add(&table, headings);
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *entry = &index->entries[i];
		if (!plugins_index_fits(entry, looking))
			continue;
		const char *const cells[] = { entry->name,
			registry_find(registry, entry->name) ? "yes" : "no", entry->source,
			entry->description };
		table_add(&table, cells);
		count++;
	}
	page_begin(&page, cli);
	if (count)
		table_print(&table, &page);
	else
		buf_append_text(&page.out, "The index has nothing of that.\n");
	table_free(&table);
	return page_end(&page);
}

static int plugins_index_look(struct cli *cli, const struct looking *looking)
{
	struct console console;
	struct arena arena = { 0 };
	struct registry registry;
	struct plugin_index index;
	perch_err err = { 0 };
	int r = console_open(&console, cli, &err);
	if (r == 0)
		r = registry_read(&arena, &registry, &err);
	if (r == 0)
		r = index_read(&console.workshop, registry.config, &arena, &index, &err);
	if (r < 0) {
		console_tell_failure(&console, NULL, &err);
		r = console_failure_code(&console);
	} else {
		r = plugins_index_print(cli, &registry, &index, looking);
	}
	console_close(&console);
	arena_free(&arena);
	return r;
}

static int cli_plugins_search(struct cli *cli, int argc, char **argv)
{
	struct option_list words = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &words);
	if (r == 0 && words.count > 1)
		r = cli_usage_error("see: perch plugins search --help", "search takes one WORD");
	if (r == 0)
		r = plugins_index_look(
			cli, &(struct looking){ .word = words.count ? words.items[0] : NULL });
	free(words.items);
	return r;
}

static int cli_plugins_recommend(struct cli *cli, int argc, char **argv)
{
	struct option_list words = { 0 };
	struct arena arena = { 0 };
	struct project_context project = { .language = "generic" };
	char here[PATH_MAX];
	int r = cli_options(cli, NULL, argc, argv, &words);
	if (r == 0 && words.count)
		r = cli_usage_error("see: perch plugins recommend --help", "recommend takes no word");
	if (r == 0 && getcwd(here, sizeof(here)) && project_read(here, &arena, &project) < 0)
		r = cli_no_memory();
	if (r == 0 && project.is_known)
		project_look_at_language(&project);
	if (r == 0)
		r = plugins_index_look(cli, &(struct looking){ .language = project.language });
	arena_free(&arena);
	free(words.items);
	return r;
}

#define INDEX_HELP                                                                    \
	"The index is a file, or a repository with an index.toml, that you name: index\n" \
	"under [registry] in fledge's config.toml. perch has none of its own.\n"

const struct command plugins_search = {
	.name = "search",
	.summary = "look for plugins in an index that you name",
	.help =
		"usage: perch plugins search [WORD] [--json]\n"
		"\n"
		"Lists the plugins of the index whose name or description has WORD in it.\n" INDEX_HELP "\n"
		"example:\n"
		"  perch plugins search sql\n",
	.run = cli_plugins_search,
};

const struct command plugins_recommend = {
	.name = "recommend",
	.summary = "plugins of that index for this kind of project",
	.help =
		"usage: perch plugins recommend [--json]\n"
		"\n"
		"Lists the plugins of the index that name the language of this project.\n" INDEX_HELP "\n"
		"example:\n"
		"  perch plugins recommend --json | jq -r '.plugins[].source'\n",
	.run = cli_plugins_recommend,
};
