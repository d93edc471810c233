/* perch plugins create. */
#include "cli/plugins/plugins_commands.h"
#include "cli/ui/created.h"

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
	return created_run(
		cli, argc, argv, &options, "see: perch plugins create --help", plugins_create_next);
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
