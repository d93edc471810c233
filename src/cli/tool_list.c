/* perch tool list, and perch tool remove. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"
#include "cli/envelope.h"
#include "cli/tool.h"
#include "registry/grants.h"

/* ---- list ---------------------------------------------------------------- */

struct listed {
	const char *name;
	struct tool_binding binding;
	perch_err err; /* code 0: it could be read */
};

static void write_listed(struct perch_json_writer *out, const struct listed *listed)
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

static int print_json(const struct listed *all, size_t count)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	perch_json_begin_array(&out);
	for (size_t i = 0; i < count; i++)
		write_listed(&out, &all[i]);
	perch_json_end_array(&out);
	buf_append_char(&text, '\n');
	if (text.failed)
		return -ENOMEM;
	fwrite(text.data, 1, text.len, stdout);
	return 0;
}

static void print_padded(const char *text, size_t width)
{
	cli_put_text(stdout, str_from(text));
	for (size_t used = utf8_width(text, strlen(text)); used < width + 2; used++)
		fputc(' ', stdout);
}

static size_t widest(const struct listed *all, size_t count, bool is_id)
{
	size_t width = 0;
	for (size_t i = 0; i < count; i++) {
		const char *text = is_id && !all[i].err.code ? all[i].binding.name : all[i].name;
		size_t its_width = utf8_width(text, strlen(text));
		width = its_width > width ? its_width : width;
	}
	return width;
}

static void print_table(const struct listed *all, size_t count)
{
	size_t name_width = widest(all, count, false);
	size_t id_width = widest(all, count, true);
	for (size_t i = 0; i < count; i++) {
		print_padded(all[i].name, name_width);
		if (all[i].err.code) {
			fputs("broken: ", stdout);
			cli_put_text(stdout, str_from(all[i].err.text));
			fputc('\n', stdout);
			continue;
		}
		print_padded(all[i].binding.name, id_width);
		printf(
			"%zu tool%s  ", all[i].binding.tool_count, all[i].binding.tool_count == 1 ? "" : "s");
		cli_put_text(stdout, str_from(all[i].binding.command));
		fputc('\n', stdout);
	}
}

static int read_all(struct arena *arena, struct listed **ret_all, size_t *ret_count, perch_err *err)
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

static int run_list(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { TOOL_GLOBALS(cli) };
	int r = tool_words(specs, argc, argv, "write: perch tool list", 0, 0, NULL);
	if (r)
		return r;
	struct arena arena = { 0 };
	struct listed *all = NULL;
	size_t count = 0;
	perch_err err = { 0 };
	r = read_all(&arena, &all, &count, &err);
	if (r == 0 && cli->json)
		r = print_json(all, count);
	else if (r == 0 && count)
		print_table(all, count);
	else if (r == 0)
		fputs("no tool is bound; perch tool add SOURCE binds one\n", stderr);
	arena_free(&arena);
	if (r < 0)
		cli_error(NULL, "%s", err.text[0] ? err.text : perch_strerror(r));
	return r < 0 ? EXIT_HOST : 0;
}

const struct command tool_verb_list = {
	.name = "list",
	.summary = "what is bound",
	.help = "usage: perch tool list [--json]\n"
			"\n"
			"Lists what is bound: its name, the plugin, how many tools it had when it was\n"
			"added, and its command. A binding that cannot be read is listed with the reason.\n"
			"\n"
			"example:\n"
			"  perch tool list --json | jq -r '.[].name'\n",
	.run = run_list,
};

/* ---- remove -------------------------------------------------------------- */

/* -ENOENT comes with a suggestion. A broken binding can be removed, too. */
static int remove_binding(const char *name, struct arena *arena, perch_err *err)
{
	const char *path;
	struct tool_binding binding;
	int r = tool_binding_path(name, arena, &path, err);
	if (r == 0)
		r = grants_remove(GRANT_TOOL, name, err); /* first: the next of that name has none */
	if (r < 0)
		return r;
	if (unlink(path) == 0)
		return 0;
	if (errno == ENOENT)
		return tool_binding_find(name, arena, &binding, err);
	return err_set(err, -errno, "cannot remove %s: %s", path, perch_strerror(-errno));
}

static int run_remove(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { TOOL_GLOBALS(cli) };
	const char *name;
	int r = tool_words(specs, argc, argv, "write: perch tool remove NAME", 1, 1, &name);
	if (r)
		return r;
	struct arena arena = { 0 };
	perch_err err = { 0 };
	r = remove_binding(name, &arena, &err);
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
			"Takes a binding away, and what was allowed beyond it. The plugin itself is not\n"
			"touched.\n"
			"\n"
			"example:\n"
			"  perch tool remove acme.echo\n",
	.run = run_remove,
};
