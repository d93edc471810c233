/* What `perch tool add` is given. */
#include "cli/tool_source.h"

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
#include "tool/schema.h"

static int keep(struct arena *arena, const char *text, const char **ret_text, perch_err *err)
{
	const char *kept = text ? arena_dup(arena, str_from(text)) : NULL;
	if (!kept)
		return err_no_memory(err);
	*ret_text = kept;
	return 0;
}

/* Links in the folders are followed, the file itself may be one: some programs
 * look at the name they are called by. */
static int make_absolute(
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

/* A bare name is a program beside the bundle, or one on PATH. */
static int find_command(
	const struct tool_bundle *bundle, struct arena *arena, const char **ret_command, perch_err *err)
{
	if (bundle->command[0] == '/')
		return keep(arena, bundle->command, ret_command, err);
	size_t len = (size_t)(strrchr(bundle->path, '/') - bundle->path);
	_cleanup_free_ char *folder = str_dup((struct str){ bundle->path, len });
	_cleanup_free_ char *beside = folder ? str_join(folder, "/", bundle->command, NULL) : NULL;
	if (!beside)
		return err_no_memory(err);
	if (strchr(bundle->command, '/') || access(beside, X_OK) == 0)
		return make_absolute(beside, arena, ret_command, err);
	_cleanup_free_ char *found = NULL;
	int r = program_find(bundle->command, (const char *const *)environ, &found, err);
	return r < 0 ? r : keep(arena, found, ret_command, err);
}

static int check_schemas(const struct tool_bundle *bundle, perch_err *err)
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

static int read_bundle(
	const char *path, struct arena *arena, struct tool_source *source, perch_err *err)
{
	const struct tool_bundle *bundle = &source->bundle;
	struct tool_binding *binding = &source->binding;
	int r = tool_bundle_read(path, arena, &source->bundle, err);
	if (r == 0)
		r = check_schemas(bundle, err);
	if (r == 0)
		r = find_command(bundle, arena, &binding->command, err);
	if (r < 0)
		return r;
	source->has_bundle = true;
	binding->name = bundle->plugin_id;
	binding->args = bundle->args;
	binding->directory = bundle->directory;
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

int tool_source_read(
	const char *path, struct arena *arena, struct tool_source *ret_source, perch_err *err)
{
	struct tool_source source = { .binding = tool_binding_default() };
	source.binding.name = TOOL_SOURCE_NAMELESS;
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
		r = read_bundle(inside, arena, &source, err);
	else if (str_has_suffix(str_from(path), STR(".json")))
		r = read_bundle(path, arena, &source, err);
	else
		r = make_absolute(path, arena, &source.binding.command, err);
	if (r == 0)
		*ret_source = source;
	return r;
}

/* ---- pins ---------------------------------------------------------------- */

static int add_pin(const char *path, struct arena *arena, struct tool_pin *pin, perch_err *err)
{
	char hex[SHA256_HEX_SIZE];
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDONLY);
	int r = fd < 0 ? fd : sha256_of_fd(fd, hex);
	if (r < 0)
		return err_set(err, r, "cannot pin %s: %s", path, perch_strerror(r));
	r = keep(arena, path, &pin->path, err);
	return r < 0 ? r : keep(arena, hex, &pin->sha256, err);
}

/* The file that an argument names, from the folder the plugin runs in; NULL = none
 * (or no memory: then it is not pinned, and add says what is). */
static char *file_of_argument(const struct tool_binding *binding, const char *argument)
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
	int r = add_pin(binding->command, arena, &pins[0], err);
	for (const char *const *argument = binding->args; *argument && r == 0; argument++) {
		_cleanup_free_ char *path = file_of_argument(binding, *argument);
		if (path)
			r = add_pin(path, arena, &pins[count++], err);
	}
	binding->pins = pins;
	binding->pin_count = count;
	return r;
}
