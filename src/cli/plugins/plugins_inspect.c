/* perch plugins inspect: what a source would bring, without installing it. It is fetched as for an
 * installation; nothing of it runs, and nothing of it stays. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/ui/consent.h"
#include "plugins/files.h"

enum { INSPECT_FILES_MAX = 200, INSPECT_FILE_BYTES = 1024 * 1024 };

struct inspecting {
	struct cli *cli;
	struct console console;
	struct candidate candidate;
	const char *file; /* to be printed; NULL = none */
	char directory[PATH_MAX];
	struct option_list files; /* in the candidate's arena */
	size_t count;             /* with those that are not listed */
};

static void plugins_inspect_found(void *data, enum file_trouble trouble, const char *path)
{
	struct inspecting *inspecting = data;
	if (trouble != FILE_PRESENT || inspecting->count++ >= INSPECT_FILES_MAX)
		return;
	const char *kept = arena_dup(&inspecting->candidate.arena, str_from(path));
	options_add(&inspecting->files, kept ? kept : "");
}

/* A link may lead anywhere: it is not followed. */
static int plugins_inspect_read(
	const struct inspecting *inspecting, const char *name, struct buf *ret_text, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	_cleanup_free_ char *path = str_join(inspecting->directory, "/", name, NULL);
	_cleanup_free_ char *resolved = path ? realpath(path, NULL) : NULL;
	if (!path)
		return err_no_memory(err);
	if (!resolved || strcmp(resolved, path) != 0)
		return err_set(err, -ENOENT,
			"there is no file '%s' in it: without --file the files are listed",
			file_shown(name, shown));
	return file_read(path, INSPECT_FILE_BYTES, ret_text, err);
}

/* ---- for people ----------------------------------------------------------------------- */

static void plugins_inspect_print_files(const struct inspecting *inspecting, struct page *page)
{
	page_style(page, STYLE_MESSAGE, "\nfiles\n");
	for (size_t i = 0; i < inspecting->files.count; i++) {
		struct stat status;
		const char *name = inspecting->files.items[i];
		_cleanup_free_ char *path = str_join(inspecting->directory, "/", name, NULL);
		bool is_known = path && lstat(path, &status) == 0;
		buf_printf(&page->out, "  %9" PRId64 "%s  ", is_known ? (int64_t)status.st_size : 0,
			is_known && S_ISREG(status.st_mode) && (status.st_mode & S_IXUSR) ? "  x" : "   ");
		page_cut(page, str_from(name), 0);
		buf_append_text(&page->out, is_known && S_ISLNK(status.st_mode) ? " (a link)\n" : "\n");
	}
	if (inspecting->count > inspecting->files.count)
		buf_printf(&page->out, "  and %zu more\n", inspecting->count - inspecting->files.count);
}

static void plugins_inspect_print_lines(struct page *page, const struct buf *text)
{
	page_style(page, STYLE_MESSAGE, "\nplugin.toml\n");
	struct str rest = { text->data, text->len };
	while (rest.len) {
		buf_append_text(&page->out, "  ");
		page_cut(page, str_cut(&rest, '\n'), 0);
		buf_append_char(&page->out, '\n');
	}
}

static int plugins_inspect_print(const struct inspecting *inspecting, const struct buf *manifest)
{
	struct page page;
	page_begin(&page, inspecting->cli);
	consent_describe(&page, &inspecting->candidate);
	plugins_inspect_print_files(inspecting, &page);
	plugins_inspect_print_lines(&page, manifest);
	return page_end(&page);
}

/* ---- for programs --------------------------------------------------------------------- */

static int plugins_inspect_print_json(
	const struct inspecting *inspecting, const struct buf *manifest_text)
{
	const struct candidate *candidate = &inspecting->candidate;
	const struct manifest *manifest = &candidate->manifest;
	struct envelope envelope;
	envelope_begin(&envelope);
	perch_json_writer *writer = &envelope.writer;
	member_text(writer, "action", "inspect");
	member_text(writer, "name", manifest->name);
	member_text(writer, "version", manifest->version);
	member_text(writer, "description", manifest->description);
	member_text(writer, "source", candidate->source.location);
	member_text(writer, "commit", candidate->commit[0] ? candidate->commit : NULL);
	member_text(writer, "trust_tier", trust_name(candidate->tier));
	member_array(writer, "commands");
	for (size_t i = 0; i < manifest->command_count; i++)
		perch_json_write_string(writer, manifest->commands[i].name);
	perch_json_end_array(writer);
	member_capabilities(writer, "capabilities", &manifest->wishes);
	member_text(writer, "build", candidate->build[0] ? candidate->build : NULL);
	member_array(writer, "files");
	for (size_t i = 0; i < inspecting->files.count; i++)
		perch_json_write_string(writer, inspecting->files.items[i]);
	perch_json_end_array(writer);
	member_number(writer, "file_count", (int64_t)inspecting->count);
	perch_json_write_name(writer, "manifest");
	perch_json_write_string_n(writer, manifest_text->data, manifest_text->len);
	return envelope_end(&envelope);
}

/* ---- the command ------------------------------------------------------------------------ */

static int plugins_inspect_look(struct inspecting *inspecting, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!realpath(inspecting->candidate.directory, inspecting->directory))
		return err_set(err, -errno, "cannot look into the plugin: %s", perch_strerror(-errno));
	int r = plugins_inspect_read(
		inspecting, inspecting->file ? inspecting->file : "plugin.toml", &text, err);
	if (r < 0)
		return r;
	if (inspecting->file)
		return cli_print_text(&text);
	files_walk(inspecting->directory, plugins_inspect_found, inspecting);
	return inspecting->cli->json ? plugins_inspect_print_json(inspecting, &text)
								 : plugins_inspect_print(inspecting, &text);
}

static int plugins_inspect_source(struct inspecting *inspecting, const char *source)
{
	const struct install_options options = { .source = source, .force = true, .only_looks = true };
	perch_err err = { 0 };
	int r = console_open(&inspecting->console, inspecting->cli, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		console_close(&inspecting->console);
		return EXIT_HOST;
	}
	r = candidate_open(
		&inspecting->console.workshop, &options, (struct arena){ 0 }, &inspecting->candidate, &err);
	if (r == 0)
		r = plugins_inspect_look(inspecting, &err);
	if (r < 0) {
		console_tell_failure(&inspecting->console, NULL, &err);
		r = console_failure_code(&inspecting->console);
	}
	candidate_free(&inspecting->candidate);
	console_close(&inspecting->console);
	return r;
}

static int cli_plugins_inspect(struct cli *cli, int argc, char **argv)
{
	struct inspecting inspecting = { .cli = cli };
	const struct option_spec options[] = {
		{ "file", 0, OPTION_TEXT, &inspecting.file },
		{ 0 },
	};
	struct option_list words = { 0 };
	int r = cli_options(cli, options, argc, argv, &words);
	if (r == 0 && words.count != 1)
		r = cli_usage_error("see: perch plugins inspect --help", "inspect takes one SOURCE");
	if (r == 0)
		r = plugins_inspect_source(&inspecting, words.items[0]);
	free(inspecting.files.items);
	free(words.items);
	return r;
}

const struct command plugins_inspect = {
	.name = "inspect",
	.summary = "look at a source without installing it",
	.help = "usage: perch plugins inspect SOURCE [OPTIONS]\n"
			"\n"
			"Fetches a plugin as `install` does and shows it: what it is and asks for, its\n"
			"files, its plugin.toml. Nothing of it runs, and nothing of it stays.\n"
			"\n"
			"  --file PATH     print this file of it instead\n"
			"  --json          one object, for programs\n"
			"\n"
			"example:\n"
			"  perch plugins inspect someone/fledge-deploy --file bin/deploy\n",
	.run = cli_plugins_inspect,
};
