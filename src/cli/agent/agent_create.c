/* perch agent create. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/agent/agent_commands.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "plugins/scaffold.h"

static int agent_create_print_json(
	const struct scaffold *scaffold, const struct scaffold_options *options)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "action", "create");
	member_text(&envelope.writer, "path", scaffold->path);
	member_text(&envelope.writer, "name", options->name);
	member_list(&envelope.writer, "files_created", scaffold->files);
	return envelope_end(&envelope);
}

static int agent_create_print(
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
		"Now talk to it%s:\n"
		"  cd %s && %sperch agent chat %s.yaml\n"
		"and give it a name of its own:\n"
		"  perch agent add %s %s.yaml && perch agent run %s 'hello'\n",
		is_built ? " (it needs make and a C compiler)" : "", options->name,
		is_built ? "make && " : "", options->name, options->name, options->name, options->name);
	return page_end(&page);
}

static int agent_create_make(const struct cli *cli, const struct scaffold_options *options)
{
	struct arena arena = { 0 };
	struct scaffold scaffold = { 0 };
	perch_err err = { 0 };
	int r = scaffold_create(options, &arena, &scaffold, &err);
	if (r == -EINVAL) {
		r = cli_usage_error("see: perch agent create --help", "%s", err.text);
	} else if (r < 0) {
		cli_error(NULL, "%s", err.text);
		r = EXIT_FAILURE;
	} else {
		r = cli->json ? agent_create_print_json(&scaffold, options)
					  : agent_create_print(cli, &scaffold, options);
	}
	arena_free(&arena);
	return r;
}

static int agent_create(struct cli *cli, int argc, char **argv)
{
	struct scaffold_options options = {
		.parent = ".",
		.language = "sh",
		.description = "an agent to start from",
		.is_agent = true,
	};
	const struct option_spec specs[] = {
		{ "lang", 'l', OPTION_TEXT, &options.language },
		{ "description", 'd', OPTION_TEXT, &options.description },
		{ 0 },
	};
	struct option_list words = { 0 };
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count != 1)
		r = cli_usage_error("see: perch agent create --help", "create takes one name");
	if (r == 0) {
		options.name = words.items[0];
		r = agent_create_make(cli, &options);
	}
	free(words.items);
	return r;
}

const struct command agent_create_command = {
	.name = "create",
	.summary = "begin a new agent that answers at once",
	.help = "usage: perch agent create NAME [OPTIONS]\n"
			"\n"
			"Makes the directory NAME with an agent that answers at once: NAME.yaml, its\n"
			"profile, and its program. What is there already is never changed.\n"
			"\n"
			"  -l, --lang WORD     sh (the default), python, javascript or c\n"
			"  -d, --description TEXT\n"
			"                      one line for the profile\n"
			"  --json              what was made, for programs\n"
			"\n"
			"example:\n"
			"  perch agent create bot --lang python && perch agent chat bot/bot.yaml\n",
	.run = agent_create,
};
