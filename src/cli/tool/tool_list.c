/* perch tool list, and perch tool remove. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/tree.h"
#include "cli/tool/package.h"
#include "cli/ui/envelope.h"
#include "cli/ui/table.h"
#include "cli/tool/tool_commands.h"
#include "registry/grants.h"

/* ---- list ---------------------------------------------------------------- */

struct listed {
	const char *name;
	struct tool_binding binding;
	perch_err err; /* code 0: it could be read */
};

static void tool_list_write_listed(struct perch_json_writer *out, const struct listed *listed)
{
	perch_json_begin_object(out);
	member_text(out, "name", listed->name);
	if (listed->err.code) {
		member_text(out, "error", listed->err.text);
	} else {
		member_text(out, "plugin_id", listed->binding.name);
		member_text(out, "command", listed->binding.command);
		member_list(out, "capabilities", listed->binding.capabilities);
		member_array(out, "tools");
		for (size_t i = 0; i < listed->binding.tool_count; i++)
			perch_json_write_string(out, listed->binding.tools[i].name);
		perch_json_end_array(out);
		member_text(out, "path", listed->binding.path);
	}
	perch_json_end_object(out);
}

static int tool_list_print_json(const struct listed *all, size_t count)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, "bindings");
	for (size_t i = 0; i < count; i++)
		tool_list_write_listed(&envelope.writer, &all[i]);
	perch_json_end_array(&envelope.writer);
	return envelope_end(&envelope);
}

/* A name is not printed twice. */
static void tool_list_add_row(struct table *table, const struct listed *listed, struct arena *arena)
{
	const struct tool_binding *binding = &listed->binding;
	const char *names = tool_known_names(binding, arena);
	const char *const cells[] = {
		listed->name,
		strcmp(binding->name, listed->name) == 0 ? "-" : binding->name,
		names[0] ? names : "-",
		binding->server.url[0] ? binding->server.url : binding->command,
	};
	table_add(table, cells);
}

/* The reasons stand below the table, where there is room for them. */
static void tool_list_tell_broken(struct page *page, const struct listed *listed)
{
	size_t used = page_cut(page, str_from(listed->name), 0);
	buf_append_text(&page->out, " is broken: ");
	page_wrap(page, str_from(listed->err.text), used + strlen(" is broken: "));
	buf_append_char(&page->out, '\n');
}

static int tool_list_print_for_people(
	const struct cli *cli, const struct listed *all, size_t count, struct arena *arena)
{
	static const char *const headings[] = { "NAME", "PLUGIN", "TOOLS", "COMMAND" };
	struct table table = { .columns = COUNT(headings) };
	struct page page;
	page_begin(&page, cli);
	table_add(&table, headings);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].err.code)
			tool_list_add_row(&table, &all[i], arena);
	}
	if (table.count > table.columns)
		table_print(&table, &page);
	for (size_t i = 0; i < count; i++) {
		if (all[i].err.code)
			tool_list_tell_broken(&page, &all[i]);
	}
	page.out.failed = page.out.failed || table.failed;
	table_free(&table);
	return page_end(&page);
}

static int tool_list_read_all(
	struct arena *arena, struct listed **ret_all, size_t *ret_count, perch_err *err)
{
	const char *const *names;
	int r = tool_binding_names(arena, &names, err);
	if (r < 0)
		return r;
	size_t count = 0;
	while (names[count])
		count++;
	struct listed *all = arena_alloc(arena, (count + 1) * sizeof(*all));
	if (!all)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		all[i] = (struct listed){ .name = names[i] };
		tool_binding_find(names[i], arena, &all[i].binding, &all[i].err);
	}
	*ret_all = all;
	*ret_count = count;
	return 0;
}

static int tool_list_run_list(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { TOOL_GLOBALS(cli) };
	int r = tool_words(specs, argc, argv, "write: perch tool list", 0, 0, NULL);
	if (r)
		return r;
	struct arena arena = { 0 };
	struct listed *all = NULL;
	size_t count = 0;
	perch_err err = { 0 };
	r = tool_list_read_all(&arena, &all, &count, &err);
	if (r == 0 && cli->json)
		r = tool_list_print_json(all, count);
	else if (r == 0 && count)
		r = tool_list_print_for_people(cli, all, count, &arena);
	else if (r == 0)
		fputs("no tool is bound; perch tool add SOURCE binds one\n", stderr);
	arena_free(&arena);
	if (r < 0)
		cli_error(NULL, "%s", err.text[0] ? err.text : perch_strerror(r));
	return r < 0 ? EXIT_HOST : r;
}

const struct command tool_verb_list = {
	.name = "list",
	.summary = "what is bound",
	.help = "usage: perch tool list [--json]\n"
			"\n"
			"Lists what is bound: its name, the plugin where that has another one, the tools\n"
			"it had when it was added, and its command. A binding that cannot be read is\n"
			"listed below, with the reason.\n"
			"\n"
			"example:\n"
			"  perch tool list --json | jq -r '.bindings[].name'\n",
	.run = tool_list_run_list,
};

/* ---- remove -------------------------------------------------------------- */

/* What perch has installed or written down for an MCP server of that name. */
static int tool_list_remove_belongings(const char *name, struct arena *arena, perch_err *err)
{
	const char *place = NULL;
	_cleanup_free_ char *folder = NULL;
	int r = package_directory(name, arena, &place, err);
	if (r == 0)
		r = tree_remove(place);
	if (r < 0)
		return err_set(err, r, "cannot remove %s: %s", place, perch_strerror(r));
	r = paths_user(PATH_CONFIG, "perch/secrets", &folder, err);
	const char *secrets = r == 0 ? arena_join(arena, folder, "/", name, NULL) : NULL;
	if (r == 0 && !secrets)
		return err_no_memory(err);
	if (r == 0 && unlink(secrets) < 0 && errno != ENOENT)
		r = err_set(err, -errno, "cannot remove %s: %s", secrets, perch_strerror(-errno));
	return r;
}

/* -ENOENT comes with a suggestion. A broken binding can be removed, too. */
static int tool_list_remove_binding(const char *name, struct arena *arena, perch_err *err)
{
	const char *path;
	struct tool_binding binding;
	int r = tool_binding_path(name, arena, &path, err);
	if (r == 0)
		r = grants_remove(GRANT_TOOL, name, err); /* first: the next of that name has none */
	if (r < 0)
		return r;
	if (unlink(path) == 0)
		return tool_list_remove_belongings(name, arena, err);
	if (errno == ENOENT)
		return tool_binding_find(name, arena, &binding, err);
	return err_set(err, -errno, "cannot remove %s: %s", path, perch_strerror(-errno));
}

static int tool_list_run_remove(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { TOOL_GLOBALS(cli) };
	const char *name;
	int r = tool_words(specs, argc, argv, "write: perch tool remove NAME", 1, 1, &name);
	if (r)
		return r;
	struct arena arena = { 0 };
	perch_err err = { 0 };
	r = tool_list_remove_binding(name, &arena, &err);
	arena_free(&arena);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return r == -ENOENT || r == -EINVAL ? EXIT_USAGE : EXIT_HOST;
	}
	if (cli->json)
		printf("{\"removed\":true}\n");
	else if (!cli->quiet)
		printf("%s is no longer bound\n", name);
	return 0;
}

const struct command tool_verb_remove = {
	.name = "remove",
	.summary = "take a binding away",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool remove NAME\n"
			"\n"
			"Takes a binding away, and what was allowed beyond it; also what npm: or pip: has\n"
			"installed for it, and secrets of an import. The plugin itself is not touched.\n"
			"\n"
			"example:\n"
			"  perch tool remove acme.echo\n",
	.run = tool_list_run_remove,
};
