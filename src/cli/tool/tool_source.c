/* The argument of `perch tool add`: an executable, a bundle, or the folder of one. */
#include "cli/tool/tool_source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/sha256.h"
#include "proc/program.h"
#include "sandbox/policy/policy.h"
#include "tool/schema.h"

static int tool_source_keep(
	struct arena *arena, const char *text, const char **ret_text, perch_err *err)
{
	const char *kept = text ? arena_dup(arena, str_from(text)) : NULL;
	if (!kept)
		return err_no_memory(err);
	*ret_text = kept;
	return 0;
}

/* Links in the folders are followed, the file itself may be one: some programs
 * look at the name they are called by. */
static int tool_source_make_absolute(
	const char *path, struct arena *arena, const char **ret_path, perch_err *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		slash ? str_dup((struct str){ path, (size_t)(slash - path) + 1 }) : str_dup(STR("."));
	char full[PATH_MAX];
	if (!folder)
		return err_no_memory(err);
	if (!realpath(folder, full))
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	const char *joined =
		arena_join(arena, strcmp(full, "/") == 0 ? "" : full, "/", slash ? slash + 1 : path, NULL);
	if (!joined)
		return err_no_memory(err);
	*ret_path = joined;
	return 0;
}

/* ---- a bundle ------------------------------------------------------------ */

/* Where the bundle lies: with the slash at its end, if it is the root. */
static int tool_source_folder(
	const struct tool_bundle *bundle, struct arena *arena, const char **ret_folder, perch_err *err)
{
	size_t len = (size_t)(strrchr(bundle->path, '/') - bundle->path);
	*ret_folder = arena_dup(arena, (struct str){ bundle->path, len ? len : 1 });
	return *ret_folder ? 0 : err_no_memory(err);
}

/* A stranger wrote the bundle: it must not name files outside of its folder. */
static int tool_source_refuse(
	const char *what, const char *given, const char *option, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(err, -EXDEV,
		"the %s of the bundle, '%s', leads out of its folder: look at it first; %s names one "
		"yourself",
		what, file_shown(given, shown), option);
}

/* The operator's choice, or that of the bundle, which must not leave its folder. */
static int tool_source_find_directory(const struct tool_bundle *bundle, const char *folder,
	const char *named, struct arena *arena, const char **ret_directory, perch_err *err)
{
	char full[PATH_MAX];
	const char *given = named ? named : bundle->directory;
	if (!realpath(given, full))
		return err_set(err, -errno, "%s: %s", given, perch_strerror(-errno));
	if (!named && !policy_is_inside(full, folder))
		return tool_source_refuse("dir", given, "--dir PATH", err);
	return tool_source_keep(arena, full, ret_directory, err);
}

/* A bare name is a program beside the bundle, or one on PATH. */
static int tool_source_look_for_command(const struct tool_bundle *bundle, const char *folder,
	struct arena *arena, const char **ret_command, perch_err *err)
{
	if (bundle->command[0] == '/')
		return tool_source_keep(arena, bundle->command, ret_command, err);
	_cleanup_free_ char *beside = str_join(folder, "/", bundle->command, NULL);
	if (!beside)
		return err_no_memory(err);
	if (strchr(bundle->command, '/') || access(beside, X_OK) == 0)
		return tool_source_make_absolute(beside, arena, ret_command, err);
	_cleanup_free_ char *found = NULL;
	int r = program_find(bundle->command, (const char *const *)environ, &found, err);
	return r < 0 ? r : tool_source_keep(arena, found, ret_command, err);
}

/* A command on PATH, or one that every tool may read, is the system's; any other must lie in the
 * bundle's folder. */
static bool tool_source_may_run(
	const struct tool_bundle *bundle, const char *folder, const char *path)
{
	char full[PATH_MAX];
	bool is_on_path = !strchr(bundle->command, '/') && !policy_is_inside(path, folder);
	if (is_on_path || !realpath(path, full)) /* one that is missing is told at the start */
		return is_on_path || policy_is_inside(path, folder);
	return policy_is_inside(full, folder) || policy_is_system(full);
}

static int tool_source_find_command(const struct tool_bundle *bundle, const char *folder,
	const char *named, struct arena *arena, const char **ret_command, perch_err *err)
{
	if (named)
		return tool_source_make_absolute(named, arena, ret_command, err);
	int r = tool_source_look_for_command(bundle, folder, arena, ret_command, err);
	if (r == 0 && !tool_source_may_run(bundle, folder, *ret_command))
		r = tool_source_refuse("command", bundle->command, "--command FILE", err);
	return r;
}

static int tool_source_check_schemas(const struct tool_bundle *bundle, perch_err *err)
{
	for (size_t i = 0; i < bundle->tool_count; i++) {
		const struct tool_known *tool = &bundle->tools[i].known;
		perch_err inner = { 0 };
		int r = tool->input_schema[0] ? tool_schema_check(str_from(tool->input_schema), &inner) : 0;
		if (r == -ENOMEM)
			return err_no_memory(err);
		if (r < 0)
			return err_set(err, r, "the input_schema of %.100s: %s", tool->name, inner.text);
	}
	return 0;
}

/* A link in the folder's place would make another folder the bundle's. */
static int tool_source_check_file(
	const char *path, const struct tool_bundle *bundle, perch_err *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *named =
		slash ? str_dup((struct str){ path, (size_t)(slash - path) + 1 }) : str_dup(STR("."));
	if (!named)
		return err_no_memory(err);
	if (!realpath(named, folder))
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	if (policy_is_inside(bundle->path, folder))
		return 0;
	char shown[FILE_SHOWN_MAX];
	return err_set(err, -EXDEV, "%s is a link that leads out of its folder: name the file itself",
		file_shown(path, shown));
}

static int tool_source_read_bundle(const char *path, const struct tool_named *named,
	struct arena *arena, struct tool_source *source, perch_err *err)
{
	const struct tool_bundle *bundle = &source->bundle;
	struct tool_binding *binding = &source->binding;
	const char *folder = NULL;
	int r = tool_bundle_read(path, arena, &source->bundle, err);
	if (r == 0)
		r = tool_source_check_file(path, bundle, err);
	if (r == 0)
		r = tool_source_check_schemas(bundle, err);
	if (r == 0)
		r = tool_source_folder(bundle, arena, &folder, err);
	if (r == 0)
		r = tool_source_find_directory(
			bundle, folder, named->directory, arena, &binding->directory, err);
	if (r == 0)
		r = tool_source_find_command(bundle, folder, named->command, arena, &binding->command, err);
	if (r < 0)
		return r;
	source->has_bundle = true;
	binding->name = bundle->plugin_id;
	binding->args = bundle->args;
	binding->env = bundle->env;
	if (bundle->protocol_version[0])
		binding->protocol = bundle->protocol_version;
	return 0;
}

const struct bundle_tool *tool_source_tool(const struct tool_source *source, struct str name)
{
	for (size_t i = 0; source->has_bundle && i < source->bundle.tool_count; i++) {
		if (str_is(name, source->bundle.tools[i].known.name))
			return &source->bundle.tools[i];
	}
	return NULL;
}

/* ------------------------------------------------------------------------- */

/* An executable that the operator named. */
static int tool_source_read_executable(const char *path, const struct tool_named *named,
	struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	char full[PATH_MAX];
	if (named->command)
		return err_set(err, -EINVAL, "--command is for a bundle: %s is an executable", path);
	if (named->directory && !realpath(named->directory, full))
		return err_set(err, -errno, "%s: %s", named->directory, perch_strerror(-errno));
	int r = named->directory ? tool_source_keep(arena, full, &binding->directory, err) : 0;
	return r < 0 ? r : tool_source_make_absolute(path, arena, &binding->command, err);
}

int tool_source_read(const char *path, const struct tool_named *named, struct arena *arena,
	struct tool_source *ret_source, perch_err *err)
{
	static const struct tool_named nothing = { 0 };
	struct tool_source source = { .binding = tool_binding_default() };
	source.binding.name = TOOL_SOURCE_NAMELESS;
	named = named ? named : &nothing;
	struct stat status;
	if (stat(path, &status) < 0)
		return err_set(err, -errno, "cannot add %s: %s", path, perch_strerror(-errno));
	_cleanup_free_ char *inside = str_join(path, "/" TOOL_BUNDLE_FILE, NULL);
	if (!inside)
		return err_no_memory(err);
	int r;
	if (S_ISDIR(status.st_mode) && access(inside, F_OK) < 0)
		r = err_set(
			err, -ENOENT, "%s has no " TOOL_BUNDLE_FILE "; name the executable itself", path);
	else if (S_ISDIR(status.st_mode))
		r = tool_source_read_bundle(inside, named, arena, &source, err);
	else if (str_has_suffix(str_from(path), STR(".json")))
		r = tool_source_read_bundle(path, named, arena, &source, err);
	else
		r = tool_source_read_executable(path, named, arena, &source.binding, err);
	if (r == 0)
		*ret_source = source;
	return r;
}

/* ---- pins ---------------------------------------------------------------- */

static int tool_source_add_pin(
	const char *path, struct arena *arena, struct tool_pin *pin, perch_err *err)
{
	char hex[SHA256_HEX_SIZE];
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDONLY);
	int r = fd < 0 ? fd : sha256_of_fd(fd, hex);
	if (r < 0)
		return err_set(err, r, "cannot pin %s: %s", path, perch_strerror(r));
	r = tool_source_keep(arena, path, &pin->path, err);
	return r < 0 ? r : tool_source_keep(arena, hex, &pin->sha256, err);
}

/* The file that an argument names, from the folder the plugin runs in; NULL = none
 * (or no memory: then it is not pinned, and add says what is). */
static char *tool_source_file_of_argument(const struct tool_binding *binding, const char *argument)
{
	bool is_absolute = argument[0] == '/';
	if (!argument[0] || (!is_absolute && !binding->directory[0]))
		return NULL;
	_cleanup_free_ char *path = is_absolute ? str_dup(str_from(argument))
											: str_join(binding->directory, "/", argument, NULL);
	struct stat status;
	bool is_file = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
	return is_file ? steal(&path) : NULL;
}

int tool_source_pin(struct tool_source *source, struct arena *arena, perch_err *err)
{
	struct tool_binding *binding = &source->binding;
	size_t most = 1;
	for (const char *const *argument = binding->args; *argument; argument++)
		most++;
	struct tool_pin *pins = arena_alloc(arena, most * sizeof(*pins));
	if (!pins)
		return err_no_memory(err);
	size_t count = 1;
	int r = tool_source_add_pin(binding->command, arena, &pins[0], err);
	for (const char *const *argument = binding->args; *argument && r == 0; argument++) {
		_cleanup_free_ char *path = tool_source_file_of_argument(binding, *argument);
		if (path)
			r = tool_source_add_pin(path, arena, &pins[count++], err);
	}
	binding->pins = pins;
	binding->pin_count = count;
	return r;
}
