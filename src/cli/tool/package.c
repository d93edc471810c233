/* Packages of registries: how they are named, what is asked of npm and pip, and what of that is the
 * server. */
#include "cli/tool/package.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "data/json.h"

/* ---- names ------------------------------------------------------------------------ */

static bool package_is_of(struct str text, const char *more)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!is_plain && !strchr(more, c))
			return false;
	}
	return text.len && text.data[0] != '-' && text.data[0] != '.';
}

/* @scope/name or name. */
static bool package_is_npm_name(struct str name)
{
	if (name.len && name.data[0] == '@') {
		struct str rest = { name.data + 1, name.len - 1 };
		struct str scope = str_cut(&rest, '/');
		return package_is_of(scope, "-._~") && package_is_of(rest, "-._~");
	}
	return package_is_of(name, "-._~");
}

/* Where the version begins: behind the last @ that is not the first character; behind ==. */
static size_t package_find_version(struct str word, enum package_kind kind, size_t *ret_skip)
{
	*ret_skip = kind == PACKAGE_NPM ? 1 : 2;
	for (size_t i = word.len; i-- > 1;) {
		if (kind == PACKAGE_NPM && word.data[i] == '@')
			return i;
		if (kind == PACKAGE_PIP && word.data[i] == '=' && word.data[i - 1] == '=')
			return i - 1;
	}
	*ret_skip = 0;
	return word.len;
}

int package_parse(
	const char *word, struct arena *arena, struct package *ret_package, perch_err *err)
{
	bool is_npm = strncmp(word, "npm:", 4) == 0;
	if (!is_npm && strncmp(word, "pip:", 4) != 0)
		return 0;
	struct package package = { .kind = is_npm ? PACKAGE_NPM : PACKAGE_PIP };
	struct str whole = str_from(word + 4);
	size_t skip, at = package_find_version(whole, package.kind, &skip);
	struct str name = { whole.data, at };
	struct str version = { whole.data + at + skip, whole.len - at - skip };
	bool is_right = is_npm ? package_is_npm_name(name) : package_is_of(name, "-._");
	if (!is_right || name.len > PACKAGE_NAME_MAX || (skip && !package_is_of(version, "-.+")))
		return err_set(
			err, -EINVAL, "write npm:NAME@VERSION or pip:NAME==VERSION, not '%.200s'", word);
	package.name = arena_dup(arena, name);
	package.version = arena_dup(arena, version);
	if (!package.name || !package.version)
		return err_no_memory(err);
	*ret_package = package;
	return 1;
}

/* ---- what npm and pip are given ----------------------------------------------------- */

int package_write_json(const struct package *package, struct buf *out, perch_err *err)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_flag(&writer, "private", true);
	perch_json_write_name(&writer, "dependencies");
	perch_json_begin_object(&writer);
	json_write_text(
		&writer, package->name, str_from(package->version[0] ? package->version : "latest"));
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	return out->failed ? err_no_memory(err) : 0;
}

static struct str package_text(const perch_json_value *object, const char *name)
{
	struct str text = { 0 };
	text.data = perch_json_string(perch_json_get(object, name), &text.len);
	return text.data ? text : STR("");
}

static int package_write_requirement(const perch_json_value *item, struct buf *out, perch_err *err)
{
	const perch_json_value *metadata = perch_json_get(item, "metadata");
	const perch_json_value *archive =
		perch_json_get(perch_json_get(item, "download_info"), "archive_info");
	struct str name = package_text(metadata, "name"), version = package_text(metadata, "version");
	struct str hash = package_text(perch_json_get(archive, "hashes"), "sha256");
	if (!package_is_of(name, "-._") || !package_is_of(version, "-.+!_"))
		return err_set(err, -EINVAL, "pip reports a package without name or version");
	if (hash.len != 64 || !package_is_of(hash, ""))
		return err_set(err, -EINVAL, "pip reports no SHA-256 of %.*s", (int)name.len, name.data);
	buf_printf(out, "%.*s==%.*s --hash=sha256:%.*s\n", (int)name.len, name.data, (int)version.len,
		version.data, (int)hash.len, hash.data);
	return out->failed ? err_no_memory(err) : 0;
}

int package_write_requirements(struct str report, struct buf *out, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, report.data, report.len, &root, err);
	perch_json_iter iter = perch_json_iterate(perch_json_get(root, "install"));
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));)
		r = package_write_requirement(item, out, err);
	return r == 0 && !out->len ? err_set(err, -EINVAL, "pip would install nothing") : r;
}

/* ---- what was installed ----------------------------------------------------------------- */

/* The program among `bin`: a text, or the member that is called as the package, or the only one. */
static const perch_json_value *package_choose_bin(
	const perch_json_value *bin, const struct package *package)
{
	const char *slash = strrchr(package->name, '/');
	if (perch_json_type_of(bin) == PERCH_JSON_STRING)
		return bin;
	const perch_json_value *named = perch_json_get(bin, slash ? slash + 1 : package->name);
	perch_json_iter iter = perch_json_iterate(bin);
	const perch_json_value *first = perch_json_next(&iter);
	return named ? named : perch_json_count(bin) == 1 ? first : NULL;
}

/* A file of the package itself: its own words do not lead out of it. */
static int package_inside(
	const char *folder, struct str name, struct arena *arena, const char **ret_path, perch_err *err)
{
	char root[PATH_MAX], full[PATH_MAX];
	_cleanup_free_ char *word = str_dup(name);
	const char *path = word ? arena_join(arena, folder, "/", word, NULL) : NULL;
	if (!path)
		return err_no_memory(err);
	if (!realpath(folder, root) || !realpath(path, full) || access(full, R_OK) < 0)
		return err_set(err, -errno, "the package has no %.200s", word);
	if (!policy_is_inside(full, root))
		return err_set(err, -EXDEV, "the program of the package leads out of it: %.200s", word);
	*ret_path = path;
	return 0;
}

static const char *const *package_list(
	struct arena *arena, const char *one, const char *two, const char *three)
{
	return arena_dup_list(arena, (const char *const[]){ one, two, three, NULL });
}

int package_find_npm(const struct package *package, const char *directory, const char *node,
	struct arena *arena, struct package_program *ret_program, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	const perch_json_value *root = NULL;
	const char *folder = arena_join(arena, directory, "/node_modules/", package->name, NULL);
	const char *path = folder ? arena_join(arena, folder, "/package.json", NULL) : NULL;
	if (!path || perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = file_read(path, PACKAGE_FILE_MAX, &text, err);
	if (r == 0)
		r = perch_json_parse(json, text.data, text.len, &root, err);
	if (r < 0)
		return r;
	const perch_json_value *bin = package_choose_bin(perch_json_get(root, "bin"), package);
	const char *script = NULL;
	if (perch_json_type_of(bin) != PERCH_JSON_STRING)
		return err_set(err, -ENOENT, "the package %s has no program of its name", package->name);
	r = package_inside(folder, json_str(bin), arena, &script, err);
	if (r < 0)
		return r;
	*ret_program = (struct package_program){
		.command = node,
		.args = package_list(arena, script, NULL, NULL),
		.env = package_list(arena, NULL, NULL, NULL),
		.read = package_list(arena, directory, NULL, NULL),
		.version = arena_dup(arena, package_text(root, "version")),
	};
	bool is_whole =
		ret_program->args && ret_program->env && ret_program->read && ret_program->version;
	return is_whole ? 0 : err_no_memory(err);
}

/* The version that the requirements name. */
static const char *package_pip_version(
	const struct package *package, struct str text, struct arena *arena)
{
	size_t len = strlen(package->name);
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		bool is_it = line.len > len + 2 && strncasecmp(line.data, package->name, len) == 0 &&
			line.data[len] == '=';
		struct str version = { line.data + len + 2, line.len - len - 2 };
		if (is_it)
			return arena_dup(arena, str_cut(&version, ' '));
	}
	return "";
}

/* A script that is called as the package, or its module. */
static int package_pip_args(const struct package *package, const char *site, struct arena *arena,
	const char *const **ret_args, perch_err *err)
{
	const char *script = arena_join(arena, site, "/bin/", package->name, NULL);
	char *module = arena_dup(arena, str_from(package->name));
	for (char *c = module; c && *c; c++)
		*c = *c == '-' || *c == '.' ? '_' : *c;
	const char *main_file =
		module ? arena_join(arena, site, "/", module, "/__main__.py", NULL) : NULL;
	if (!script || !main_file)
		return err_no_memory(err);
	bool has_script = access(script, R_OK) == 0;
	if (!has_script && access(main_file, R_OK) < 0)
		return err_set(err, -ENOENT, "the package %s has no program of its name", package->name);
	*ret_args = has_script ? package_list(arena, script, NULL, NULL)
						   : package_list(arena, "-m", module, NULL);
	return *ret_args ? 0 : err_no_memory(err);
}

int package_find_pip(const struct package *package, const char *directory,
	const struct package_python *python, struct arena *arena, struct package_program *ret_program,
	perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *site = arena_join(arena, directory, "/site", NULL);
	const char *list = arena_join(arena, directory, "/requirements.txt", NULL);
	const char *path = site ? arena_join(arena, "PYTHONPATH=", site, NULL) : NULL;
	struct package_program program = { .command = python->program };
	if (!site || !list || !path)
		return err_no_memory(err);
	int r = package_pip_args(package, site, arena, &program.args, err);
	if (r == 0)
		r = file_read(list, PACKAGE_FILE_MAX, &text, err);
	if (r < 0)
		return r;
	bool is_system = strcmp(python->prefix, "/usr") == 0;
	program.env = package_list(arena, path, "PYTHONDONTWRITEBYTECODE=1", NULL);
	program.read = package_list(arena, directory, is_system ? NULL : python->prefix, NULL);
	program.version = package_pip_version(package, (struct str){ text.data, text.len }, arena);
	if (!program.env || !program.read || !program.version)
		return err_no_memory(err);
	*ret_program = program;
	return 0;
}
