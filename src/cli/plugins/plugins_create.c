/* perch plugins create. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/scaffold.h"

static int plugins_create_print_json(
	const struct scaffold *scaffold, const struct scaffold_options *options)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "action", "create");
	member_text(&envelope.writer, "path", scaffold->path);
	member_text(&envelope.writer, "name", options->name);
	member_text(&envelope.writer, "description", options->description);
	member_list(&envelope.writer, "files_created", scaffold->files);
	return envelope_end(&envelope);
}

static int plugins_create_print_for_people(
	const struct cli *cli, const struct scaffold *scaffold, const struct scaffold_options *options)
{
	struct page page;
	page_begin(&page, cli);
	page_cut(&page, str_from(scaffold->path), 0);
	buf_append_char(&page.out, '\n');
	for (const char *const *file = scaffold->files; *file; file++)
		buf_printf(&page.out, "  %s\n", *file);
	bool is_built = strcmp(options->language, "c") == 0;
	buf_printf(&page.out,
		"\n"
		"Now try it%s:\n"
		"  cd %s && %sperch plugins test\n"
		"and use it:\n"
		"  perch plugins install . && perch run %s\n"
		"Its cases are in perch-test.toml: change them with the plugin.\n",
		is_built ? " (it needs make and a C compiler)" : "", options->name,
		is_built ? "make && " : "", scaffold->command);
	return page_end(&page);
}

/* A name or a language that cannot be is a mistake of the command line, not a failure. */
static int plugins_create_create(const struct cli *cli, const struct scaffold_options *options)
{
	struct arena arena = { 0 };
	struct scaffold scaffold = { 0 };
	perch_err err = { 0 };
	int r = scaffold_create(options, &arena, &scaffold, &err);
	if (r == -EINVAL)
		r = cli_usage_error("see: perch plugins create --help", "%s", err.text);
	else if (r < 0) {
		cli_error(NULL, "%s", err.text);
		r = EXIT_FAILURE;
	} else
		r = cli->json ? plugins_create_print_json(&scaffold, options)
					  : plugins_create_print_for_people(cli, &scaffold, options);
	arena_free(&arena);
	return r;
}

static int cli_plugins_create(struct cli *cli, int argc, char **argv)
{
	struct scaffold_options options = {
		.parent = ".",
		.language = "bash",
		.description = SCAFFOLD_DESCRIPTION_DEFAULT,
	};
	const struct option_spec specs[] = {
		{ "lang", 'l', OPTION_TEXT, &options.language },
		{ "description", 'd', OPTION_TEXT, &options.description },
		{ 0 },
	};
	struct option_list words = { 0 };
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count != 1)
		r = cli_usage_error("see: perch plugins create --help",
			words.count ? "create takes one name, not '%s' too"
						: "create what? A name is missing%s",
			words.count ? words.items[1] : "");
	if (r == 0) {
		options.name = words.items[0];
		r = plugins_create_create(cli, &options);
	}
	free(words.items);
	return r;
}

const struct command plugins_create = {
	.name = "create",
	.summary = "begin a new plugin that runs at once",
	.help = "usage: perch plugins create NAME [OPTIONS]\n"
			"\n"
			"Makes the directory NAME with a plugin that runs at once: plugin.toml, its\n"
			"program, a README and cases for `perch plugins test`. Its command is NAME,\n"
			"without a `fledge-` in front. What is there already is never changed.\n"
			"\n"
			"  -l, --lang WORD     bash (the default), python, node or c\n"
			"  -d, --description TEXT\n"
			"                      one line for plugin.toml\n"
			"  --json              what was made, for programs\n"
			"\n"
			"example:\n"
			"  perch plugins create fledge-greet --lang python && cd fledge-greet &&\n"
			"      perch plugins test\n",
	.run = cli_plugins_create,
};
