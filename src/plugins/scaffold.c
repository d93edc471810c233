/* Making a new plugin that runs at once. */
#include "plugins/scaffold.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/embedded.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/toml.h"
#include "data/toml_edit.h"
#include "plugins/new_file.h"
#include "registry/names.h"

extern const struct embedded templates[]; /* made by tools/embed.py */

static const char *const scaffold_languages[] = { "bash", "python", "node", "c", NULL };
static const char *const scaffold_other_languages[] = { "sh", "python", "javascript", "c", NULL };

/* Those of plugins are in a folder for each language. */
static const char *const scaffold_folders[] = {
	[SCAFFOLD_AGENT] = "agent",
	[SCAFFOLD_TOOL] = "tool",
};

/* ---- names ---------------------------------------------------------------------- */

/* The name of the command: that of the plugin, without the prefix that many
 * plugins have. */
static const char *scaffold_command_of(const char *name)
{
	static const struct str prefix = { "fledge-", 7 };
	return str_has_prefix(str_from(name), prefix) ? name + prefix.len : name;
}

/* The name becomes a part of file names, and of programs in four languages. */
static const char *scaffold_name_problem(const char *name)
{
	const char *problem = plugin_name_problem(str_from(name));
	if (!problem)
		problem = command_name_problem(str_from(scaffold_command_of(name)));
	if (!problem && strlen(name) > SCAFFOLD_NAME_MAX)
		problem = "is too long";
	for (const char *c = name; *c && !problem; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			problem = "may have a to z, A to Z, digits, - _ and . in it";
	}
	return problem;
}

static bool scaffold_is_plain_text(const char *text)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
			return false;
	}
	return len && len <= SCAFFOLD_DESCRIPTION_MAX && utf8_is_valid(text, len);
}

static bool scaffold_is_language(const struct scaffold_options *options)
{
	return list_has(
		options->kind ? scaffold_other_languages : scaffold_languages, options->language);
}

static int scaffold_check(const struct scaffold_options *options, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	const char *problem = scaffold_name_problem(options->name);
	if (problem)
		return err_set(
			err, -EINVAL, "the name %s %s", toml_quote(str_from(options->name), quoted), problem);
	if (!scaffold_is_language(options))
		return err_set(err, -EINVAL, "the language is %s, python, %s or c, not %s",
			options->kind ? "sh" : "bash", options->kind ? "javascript" : "node",
			toml_quote(str_from(options->language), quoted));
	if (!scaffold_is_plain_text(options->description))
		return err_set(err, -EINVAL,
			"the description must be one line of text, of %d bytes at most",
			SCAFFOLD_DESCRIPTION_MAX);
	return 0;
}

/* ---- files from templates ------------------------------------------------------- */

static const struct {
	const char *language; /* NULL = all */
	const char *source;   /* below templates/LANGUAGE/, or else templates/common/ */
	const char *path;     /* in the plugin */
	mode_t mode;
	enum scaffold_kind kind;
} files[] = {
	{ NULL, "plugin.toml", "plugin.toml", 0666, SCAFFOLD_PLUGIN },
	{ NULL, "README.md", "README.md", 0666, SCAFFOLD_PLUGIN },
	{ NULL, "perch-test.toml", "perch-test.toml", 0666, SCAFFOLD_PLUGIN },
	{ NULL, "gitignore", ".gitignore", 0666, SCAFFOLD_PLUGIN },
	{ "bash", "program", "bin/fledge-@COMMAND@", 0777, SCAFFOLD_PLUGIN },
	{ "python", "program", "bin/fledge-@COMMAND@", 0777, SCAFFOLD_PLUGIN },
	{ "node", "program", "bin/fledge-@COMMAND@", 0777, SCAFFOLD_PLUGIN },
	{ "c", "main.c", "main.c", 0666, SCAFFOLD_PLUGIN },
	{ "c", "Makefile", "Makefile", 0666, SCAFFOLD_PLUGIN },
	{ NULL, "profile.yaml", "@NAME@.yaml", 0666, SCAFFOLD_AGENT },
	{ "sh", "agent.sh", "@PROGRAM@", 0777, SCAFFOLD_AGENT },
	{ "python", "agent.py", "@PROGRAM@", 0777, SCAFFOLD_AGENT },
	{ "javascript", "agent.js", "@PROGRAM@", 0777, SCAFFOLD_AGENT },
	{ "c", "agent.c", "@NAME@.c", 0666, SCAFFOLD_AGENT },
	{ "c", "Makefile", "Makefile", 0666, SCAFFOLD_AGENT },
	{ NULL, "rterm-plugin.json", "rterm-plugin.json", 0666, SCAFFOLD_TOOL },
	{ "sh", "tool.sh", "@PROGRAM@", 0777, SCAFFOLD_TOOL },
	{ "python", "tool.py", "@PROGRAM@", 0777, SCAFFOLD_TOOL },
	{ "javascript", "tool.js", "@PROGRAM@", 0777, SCAFFOLD_TOOL },
	{ "c", "tool.c", "@NAME@.c", 0666, SCAFFOLD_TOOL },
	{ "c", "Makefile", "Makefile", 0666, SCAFFOLD_TOOL },
};
_Static_assert(COUNT(files) <= SCAFFOLD_FILES_MAX, "every file has its place");

static const char *scaffold_find_template(const char *folder, const char *name)
{
	for (const struct embedded *template = templates; template->path; template ++) {
		struct str rest = str_from(template->path);
		if (str_is(str_cut(&rest, '/'), folder) && str_is(rest, name))
			return template->text;
	}
	return NULL;
}

/* Of an agent's or a tool's program. */
static const char *scaffold_suffix(const char *language)
{
	if (strcmp(language, "sh") == 0)
		return ".sh";
	if (strcmp(language, "python") == 0)
		return ".py";
	return strcmp(language, "javascript") == 0 ? ".js" : "";
}

static void scaffold_put_json(struct buf *out, const char *text)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_write_string(&writer, text);
}

/* Appends the value of a word between two @; false when there is none. */
static bool scaffold_put_word(
	struct buf *out, struct str word, const struct scaffold_options *options)
{
	if (str_is(word, "NAME"))
		buf_append_text(out, options->name);
	else if (str_is(word, "COMMAND"))
		buf_append_text(out, scaffold_command_of(options->name));
	else if (str_is(word, "PROGRAM"))
		buf_printf(out, "%s%s", options->name, scaffold_suffix(options->language));
	else if (str_is(word, "DESCRIPTION"))
		buf_append_text(out, options->description);
	else if (str_is(word, "DESCRIPTION_JSON"))
		scaffold_put_json(out, options->description);
	else if (str_is(word, "DESCRIPTION_STRING"))
		toml_write_string(out, options->description);
	else
		return false;
	return true;
}

static void scaffold_fill_in(
	struct buf *out, const char *text, const struct scaffold_options *options)
{
	struct str rest = str_from(text);
	while (rest.len) {
		struct str plain = str_cut(&rest, '@');
		buf_append(out, plain.data, plain.len);
		if (plain.data[plain.len] != '@')
			return;
		struct str behind = rest;
		if (scaffold_put_word(out, str_cut(&behind, '@'), options))
			rest = behind;
		else
			buf_append_char(out, '@');
	}
}

static int scaffold_write_file(const struct scaffold_options *options, size_t i,
	struct arena *arena, struct scaffold *scaffold, size_t *count, perch_err *err)
{
	if (files[i].kind != options->kind ||
		(files[i].language && strcmp(files[i].language, options->language) != 0))
		return 0;
	const char *folder = scaffold_folders[options->kind];
	const char *text = scaffold_find_template(folder ? folder : options->language, files[i].source);
	if (!text)
		text = scaffold_find_template("common", files[i].source);
	_cleanup_(buf_free) struct buf path = { 0 };
	_cleanup_(buf_free) struct buf content = { 0 };
	scaffold_fill_in(&path, files[i].path, options);
	scaffold_fill_in(&content, text, options);
	const char *kept = arena_dup(arena, (struct str){ path.data, path.len });
	if (!kept || path.failed || content.failed)
		return err_no_memory(err);
	scaffold->files[(*count)++] = kept;
	return new_file_write(
		scaffold->path, kept, files[i].mode, (struct str){ content.data, content.len }, err);
}

static int scaffold_write_files(const struct scaffold_options *options, struct arena *arena,
	struct scaffold *scaffold, perch_err *err)
{
	char resolved[PATH_MAX];
	if (!realpath(scaffold->path, resolved))
		return err_set(err, -errno, "the new directory is gone: %s", perch_strerror(-errno));
	scaffold->path = arena_dup(arena, str_from(resolved));
	scaffold->command = arena_dup(arena, str_from(scaffold_command_of(options->name)));
	if (!scaffold->path || !scaffold->command)
		return err_no_memory(err);
	size_t count = 0;
	int r = 0;
	for (size_t i = 0; i < COUNT(files) && r == 0; i++)
		r = scaffold_write_file(options, i, arena, scaffold, &count, err);
	return r;
}

int scaffold_create(const struct scaffold_options *options, struct arena *arena,
	struct scaffold *ret_scaffold, perch_err *err)
{
	int r = scaffold_check(options, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *path = str_join(options->parent, "/", options->name, NULL);
	if (!path)
		return err_no_memory(err);
	char shown[FILE_SHOWN_MAX];
	int made = mkdir(path, 0777);
	if (made < 0 && errno == EEXIST)
		return err_set(err, -EEXIST, "there is a %s already: choose another name, or remove it",
			file_shown(path, shown));
	if (made < 0)
		return err_set(
			err, -errno, "%s cannot be made: %s", file_shown(path, shown), perch_strerror(-errno));
	struct scaffold scaffold = { .path = path };
	r = scaffold_write_files(options, arena, &scaffold, err);
	if (r < 0) {
		tree_remove(path);
		return r;
	}
	*ret_scaffold = scaffold;
	return 0;
}
