/* perch agent add: a profile of the catalogue, or of a file, gets a name. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"
#include "base/replace.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/envelope.h"
#include "service/agent_files.h"

struct addition {
	const char *name;
	const char *file; /* NULL = of the catalogue */
	bool is_forced;   /* an agent of the same name is replaced */
	char *path;       /* where it will be */
};

static int agent_add_refuse_unknown(const char *name, perch_err *err)
{
	struct buf names = { 0 };
	for (size_t i = 0; agent_catalogue_name(i).len; i++) {
		struct str each = agent_catalogue_name(i);
		buf_printf(&names, "%s%.*s", i ? ", " : "", (int)each.len, each.data);
	}
	int r = buf_terminate(&names) < 0 || names.failed
		? err_no_memory(err)
		: err_set(err, -ENOENT,
			  "there is no '%.100s' in the catalogue, which has %.300s; a profile of your own is "
			  "added by: perch agent add NAME FILE",
			  name, names.data);
	buf_free(&names);
	return r;
}

/* The file stays where it is, so that {{PROFILE_DIR}} means what it meant. */
static int agent_add_link(const struct addition *addition, perch_err *err)
{
	char target[PATH_MAX];
	if (!realpath(addition->file, target))
		return err_set(err, -errno, "%.200s: %s", addition->file, perch_strerror(-errno));
	if (addition->is_forced && unlink(addition->path) < 0 && errno != ENOENT)
		return err_set(
			err, -errno, "cannot replace %.200s: %s", addition->path, perch_strerror(-errno));
	if (symlink(target, addition->path) < 0)
		return err_set(
			err, -errno, "cannot make %.200s: %s", addition->path, perch_strerror(-errno));
	return 0;
}

static int agent_add_copy(const struct addition *addition, perch_err *err)
{
	int r = replace_path(addition->path, str_from(agent_catalogue_text(addition->name)));
	return r < 0 ? err_set(err, r, "cannot write %.200s: %s", addition->path, perch_strerror(r))
				 : 0;
}

static int agent_add_make_directory(const char *path, perch_err *err)
{
	_cleanup_free_ char *directory = str_dup(str_from(path));
	if (!directory)
		return err_no_memory(err);
	*strrchr(directory, '/') = '\0';
	return paths_make(directory, err);
}

/* A file is read before it gets a name, so that its mistakes are told now. */
static int agent_add_place(struct addition *addition, struct arena *arena, perch_err *err)
{
	struct stat info;
	struct agent_profile profile;
	int r = addition->file ? agent_profile_read(addition->file, arena, &profile, err) : 0;
	if (r == 0 && !addition->file && !agent_catalogue_text(addition->name))
		r = agent_add_refuse_unknown(addition->name, err);
	if (r == 0)
		r = agent_file_path(addition->name, &addition->path, err);
	if (r < 0)
		return r;
	if (!addition->is_forced && lstat(addition->path, &info) == 0)
		return err_set(err, -EEXIST,
			"there is an agent '%.100s' already: %.200s; --force replaces it", addition->name,
			addition->path);
	r = agent_add_make_directory(addition->path, err);
	if (r < 0)
		return r;
	return addition->file ? agent_add_link(addition, err) : agent_add_copy(addition, err);
}

static int agent_add_tell(const struct cli *cli, const struct addition *addition, perch_err *needs)
{
	struct envelope envelope;
	if (cli->json) {
		envelope_begin(&envelope);
		member_text(&envelope.writer, "name", addition->name);
		member_text(&envelope.writer, "path", addition->path);
		member_text(&envelope.writer, "problem", needs->code ? needs->text : NULL);
		return envelope_end(&envelope);
	}
	cli_tell(stdout, "added %s: %s\n", addition->name, addition->path);
	if (needs->code)
		cli_tell(stdout, "%s\n", needs->text);
	return cli_tell(stdout, "talk to it by: perch agent chat %s\n", addition->name) ? EXIT_HOST : 0;
}

static int agent_add_profile(const struct cli *cli, struct addition *addition)
{
	struct arena arena = { 0 };
	struct agent_profile profile;
	perch_err err = { 0 };
	perch_err needs = { 0 };
	int r = agent_add_place(addition, &arena, &err);
	if (r == 0)
		r = agent_profile_read(addition->path, &arena, &profile, &err);
	if (r == 0 && agent_needs_check(&profile, NULL, &needs) == -ENOMEM)
		r = err_no_memory(&err);
	int code = r == 0 ? agent_add_tell(cli, addition, &needs) : EXIT_FAILURE;
	if (r < 0 && cli->json)
		code = envelope_fail(err.text, EXIT_FAILURE);
	else if (r < 0)
		cli_error(NULL, "%s", err.text);
	free(addition->path);
	arena_free(&arena);
	return code;
}

static int agent_add(struct cli *cli, int argc, char **argv)
{
	struct addition addition = { 0 };
	struct option_list words = { 0 };
	const struct option_spec specs[] = {
		{ "force", 0, OPTION_FLAG, &addition.is_forced },
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ 0 },
	};
	int r = options_parse_words(specs, argc, argv, &words);
	if (r == 0 && (words.count < 1 || words.count > 2))
		r = cli_usage_error("perch agent list shows the catalogue",
			words.count ? "add takes a name and a file" : "which agent? a name is missing");
	if (r == 0) {
		addition.name = words.items[0];
		addition.file = words.count > 1 ? words.items[1] : NULL;
		r = agent_add_profile(cli, &addition);
	}
	free(words.items);
	return r;
}

const struct command agent_add_command = {
	.name = "add",
	.summary = "give an agent a name: one of the catalogue, or a profile of yours",
	.help = "usage: perch agent add NAME [FILE] [--force] [--json]\n"
			"\n"
			"Adds the profile of that name from the catalogue that comes with perch: a file\n"
			"of yours that you may edit, in $XDG_CONFIG_HOME/perch/agents. With FILE, that\n"
			"profile gets the name; it stays where it is. Then run, chat and check take the\n"
			"name.\n"
			"\n"
			"  --force   replace the one that has the name\n"
			"  --json    one object, for programs\n"
			"\n"
			"example:\n"
			"  perch agent add ollama\n",
	.words = WORDS_CATALOGUE,
	.run = agent_add,
};
