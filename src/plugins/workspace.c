/* The workspace of one test of a plugin. */
#include "plugins/plugin_test_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/macros.h"
#include "base/regular.h"
#include "base/tree.h"
#include "fledge/state.h"
#include "fledge/store.h"
#include "plugins/new_file.h"

void workspace_remove(struct workspace *workspace)
{
	if (workspace->top)
		tree_remove(workspace->top);
	free(workspace->top);
	free(workspace->project);
	free(workspace->directory);
	free(workspace->program);
	*workspace = (struct workspace){ 0 };
}

static int workspace_name_parts(struct workspace *workspace, const struct manifest *manifest,
	const struct manifest_command *command, perch_err *err)
{
	const char *top = workspace->top;
	workspace->project = str_join(top, "/project", NULL);
	workspace->directory = str_join(top, "/fledge/plugins/", manifest->name, NULL);
	workspace->program = str_join(top, "/fledge/plugins/bin/fledge-", command->name, NULL);
	if (!workspace->project || !workspace->directory || !workspace->program)
		return err_no_memory(err);
	return 0;
}

static int workspace_make_directories(const struct workspace *workspace, perch_err *err)
{
	static const char *const between[] = { "/fledge", "/fledge/plugins", "/fledge/plugins/bin" };
	int r = mkdir(workspace->project, 0700);
	for (size_t i = 0; i < COUNT(between) && r == 0; i++) {
		_cleanup_free_ char *path = str_join(workspace->top, between[i], NULL);
		if (!path)
			return err_no_memory(err);
		r = mkdir(path, 0700);
	}
	if (r == 0)
		r = mkdir(workspace->directory, 0700);
	if (r < 0)
		return err_set(
			err, -errno, "no directory can be made for the test: %s", perch_strerror(-errno));
	return 0;
}

/* ---- the plugin ---------------------------------------------------------------- */

/* Its state is the test's own, and so is its manifest: a file, because that is
 * what a sandbox protects. */
static bool workspace_is_linked(const char *name)
{
	return strcmp(name, ".git") != 0 && strcmp(name, "plugin.toml") != 0 &&
		strncmp(name, "state.json", 10) != 0;
}

static int workspace_link_one(const struct workspace *workspace, const char *from, const char *name)
{
	_cleanup_free_ char *target = str_join(from, "/", name, NULL);
	_cleanup_free_ char *path = str_join(workspace->directory, "/", name, NULL);
	if (!target || !path)
		return -ENOMEM;
	return symlink(target, path) < 0 ? -errno : 0;
}

static int workspace_link_files(const struct workspace *workspace, const char *from, perch_err *err)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, from, 0);
	if (!listing)
		return err_set(
			err, -errno, "the plugin's directory cannot be read: %s", perch_strerror(-errno));
	int r = 0;
	size_t count = 0;
	for (const char *file; r == 0 && (file = listing_next(listing));) {
		if (workspace_is_linked(file))
			r = count++ == WORKSPACE_LINKS_MAX ? -EFBIG : workspace_link_one(workspace, from, file);
	}
	if (r == -EFBIG)
		return err_set(err, r, "the plugin's directory holds more than %d files at its top",
			WORKSPACE_LINKS_MAX);
	return r < 0 ? err_set(err, r, "the plugin cannot be linked: %s", perch_strerror(r)) : 0;
}

static int workspace_copy_manifest(
	const struct workspace *workspace, const char *from, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_free_ char *path = str_join(from, "/plugin.toml", NULL);
	if (!path)
		return err_no_memory(err);
	int r = file_read(path, TOML_SIZE_MAX, &text, err);
	if (r < 0)
		return r;
	return new_file_write(
		workspace->directory, "plugin.toml", 0600, (struct str){ text.data, text.len }, err);
}

/* A path as a link of bin/ has it: through the plugin's directory. */
static int workspace_link_program(const struct workspace *workspace,
	const struct manifest *manifest, const struct manifest_command *command, perch_err *err)
{
	_cleanup_free_ char *target = str_join("../", manifest->name, "/", command->binary, NULL);
	if (!target)
		return err_no_memory(err);
	if (symlink(target, workspace->program) < 0)
		return err_set(err, -errno, "the command cannot be linked: %s", perch_strerror(-errno));
	return 0;
}

/* ---- what the case brings along ------------------------------------------------- */

static int workspace_write_state(
	const struct workspace *workspace, const struct author_pairs *pairs, perch_err *err)
{
	struct state state = { 0 };
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *reason = NULL;
	int r = 0;
	for (size_t i = 0; i < pairs->count && r == 0; i++)
		r = state_set(
			&state, str_from(pairs->items[i].key), str_from(pairs->items[i].value), &reason);
	if (r == 0)
		r = state_write(&state, &text);
	state_free(&state);
	if (r == PERCH_ELIMIT)
		return err_set(err, r, "the state of the case cannot be stored: %s", reason);
	if (r < 0)
		return err_no_memory(err);
	return new_file_write(
		workspace->directory, "state.json", 0600, (struct str){ text.data, text.len }, err);
}

static int workspace_write_files(
	const struct workspace *workspace, const struct author_pairs *files, perch_err *err)
{
	int r = 0;
	for (size_t i = 0; i < files->count && r == 0; i++)
		r = new_file_write(
			workspace->project, files->items[i].key, 0666, str_from(files->items[i].value), err);
	return r;
}

/* A project has no links on its way, whatever TMPDIR says. */
static int workspace_make_top(char **ret_top, perch_err *err)
{
	_cleanup_free_ char *top = NULL;
	int r = tree_make("perch-case-", &top, err);
	if (r < 0)
		return r;
	*ret_top = realpath(top, NULL);
	if (*ret_top)
		return 0;
	r = -errno;
	tree_remove(top);
	return err_set(err, r, "no directory can be made for the test: %s", perch_strerror(r));
}

int workspace_make(const char *plugin_directory, const struct manifest *manifest,
	const struct test_case *test, struct workspace *ret_workspace, perch_err *err)
{
	struct workspace workspace = { 0 };
	int r = workspace_make_top(&workspace.top, err);
	if (r == 0)
		r = workspace_name_parts(&workspace, manifest, test->command, err);
	if (r == 0)
		r = workspace_make_directories(&workspace, err);
	if (r == 0)
		r = workspace_link_files(&workspace, plugin_directory, err);
	if (r == 0)
		r = workspace_copy_manifest(&workspace, plugin_directory, err);
	if (r == 0)
		r = workspace_link_program(&workspace, manifest, test->command, err);
	if (r == 0 && test->state.count)
		r = workspace_write_state(&workspace, &test->state, err);
	if (r == 0)
		r = workspace_write_files(&workspace, &test->files, err);
	if (r < 0) {
		workspace_remove(&workspace);
		return r;
	}
	*ret_workspace = workspace;
	return 0;
}

int workspace_read_state(const struct workspace *workspace, struct buf *out)
{
	_cleanup_free_ char *path = str_join(workspace->directory, "/state.json", NULL);
	if (!path)
		return -ENOMEM;
	int r = regular_read(AT_FDCWD, path, O_NOFOLLOW, STORE_FILE_MAX, out);
	return r == -ENOENT ? 0 : r;
}
