#include "cli/ui/created.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/envelope.h"

static int created_print_json(
	const struct scaffold *scaffold, const struct scaffold_options *options)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "action", "create");
	member_text(&envelope.writer, "path", scaffold->path);
	member_text(&envelope.writer, "name", options->name);
	if (options->kind != SCAFFOLD_AGENT)
		member_text(&envelope.writer, "description", options->description);
	member_list(&envelope.writer, "files_created", scaffold->files);
	return envelope_end(&envelope);
}

static int created_print(const struct cli *cli, const struct scaffold *scaffold,
	const struct scaffold_options *options, created_next_fn *next)
{
	bool is_built = strcmp(options->language, "c") == 0;
	struct page page;
	page_begin(&page, cli);
	page_cut(&page, str_from(scaffold->path), 0);
	buf_append_char(&page.out, '\n');
	for (const char *const *file = scaffold->files; *file; file++)
		buf_printf(&page.out, "  %s\n", *file);
	buf_append_char(&page.out, '\n');
	next(&page, scaffold, options, is_built ? " (it needs make and a C compiler)" : "",
		is_built ? "make && " : "");
	return page_end(&page);
}

static int created_make(const struct cli *cli, const struct scaffold_options *options,
	const char *hint, created_next_fn *next)
{
	struct arena arena = { 0 };
	struct scaffold scaffold = { 0 };
	perch_err err = { 0 };
	int r = scaffold_create(options, &arena, &scaffold, &err);
	if (r == -EINVAL) {
		r = cli_usage_error(hint, "%s", err.text);
	} else if (r < 0) {
		cli_error(NULL, "%s", err.text);
		r = EXIT_FAILURE;
	} else {
		r = cli->json ? created_print_json(&scaffold, options)
					  : created_print(cli, &scaffold, options, next);
	}
	arena_free(&arena);
	return r;
}

int created_run(struct cli *cli, int argc, char **argv, struct scaffold_options *options,
	const char *hint, created_next_fn *next)
{
	const struct option_spec specs[] = {
		{ "lang", 'l', OPTION_TEXT, &options->language },
		{ "description", 'd', OPTION_TEXT, &options->description },
		{ 0 },
	};
	struct option_list words = { 0 };
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count > 1)
		r = cli_usage_error(hint, "create takes one name, not '%s' too", words.items[1]);
	else if (r == 0 && !words.count)
		r = cli_usage_error(hint, "create what? A name is missing");
	if (r == 0) {
		options->name = words.items[0];
		r = created_make(cli, options, hint, next);
	}
	free(words.items);
	return r;
}
