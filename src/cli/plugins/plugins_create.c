/* perch plugins create. */
#include <stdlib.h>

#include "cli/plugins/plugins_commands.h"
#include "cli/ui/created.h"

#define PLUGINS_CREATE_HINT "see: perch plugins create --help"

static void plugins_create_next(struct page *page, const struct scaffold *scaffold,
	const struct scaffold_options *options, const char *with_compiler, const char *make)
{
	buf_printf(&page->out,
		"Now try it%s:\n"
		"  cd %s && %sperch plugins test\n"
		"and use it:\n"
		"  perch plugins install . && perch run %s\n"
		"Its cases are in perch-test.toml: change them with the plugin.\n",
		with_compiler, options->name, make, scaffold->command);
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
		r = cli_usage_error(PLUGINS_CREATE_HINT,
			words.count ? "create takes one name, not '%s' too"
						: "create what? A name is missing%s",
			words.count ? words.items[1] : "");
	if (r == 0) {
		options.name = words.items[0];
		r = created_run(cli, &options, PLUGINS_CREATE_HINT, plugins_create_next);
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
