/* The hooks of a plugin and its build. */
#include "plugins/hooks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "fledge/context.h"
#include "plugins/plugin_confinement.h"
#include "proc/program.h"
#include "registry/names.h"

bool hook_is_lifecycle(const char *name)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		if (strcmp(hook_table[i].name, name) == 0)
			return hook_table[i].is_lifecycle;
	}
	return false;
}

/* The path of the file of the plugin that the text names, in the arena; "" when it
 * is a command for the shell; NULL without memory. */
static const char *hooks_file(const char *directory, const char *text, struct arena *arena)
{
	struct stat status;
	if (binary_problem(str_from(text)))
		return "";
	_cleanup_free_ char *path = str_join(directory, "/", text, NULL);
	if (!path)
		return NULL;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? arena_dup(arena, str_from(path))
															   : "";
}

const char *hook_repository(const char *path, struct arena *arena)
{
	char above[PATH_MAX];
	char mark[PATH_MAX + sizeof("/.git")];
	snprintf(above, sizeof(above), "%s", path);
	for (char *slash; above[0]; *slash = '\0') {
		snprintf(mark, sizeof(mark), "%s/.git", above);
		if (git_user_owns(mark) && git_user_owns(above))
			return arena_dup(arena, str_from(above));
		slash = strrchr(above, '/');
		if (!slash)
			break;
	}
	return arena_dup(arena, str_from(path));
}

/* ---- the environment ----------------------------------------------------- */

static const char *hooks_make_variable(struct arena *arena, const char *name, const char *value)
{
	return arena_join(arena, name, "=", value, NULL);
}

static const char *const *hooks_make_environment(
	const struct hook *hook, const char *cache, const struct sandbox *sandbox, struct arena *arena)
{
	const char *const extra[] = {
		hooks_make_variable(arena, "FLEDGE_PLUGIN_DIR", hook->directory),
		hooks_make_variable(arena, "FLEDGE_REPO_ROOT", hook->repository),
		NULL,
	};
	if (!extra[0] || !extra[1])
		return NULL;
	return confinement_environment(hook->widening, cache, sandbox, extra, arena);
}

/* ---- running ------------------------------------------------------------- */

static int hooks_run_in(struct workshop *workshop, const struct hook *hook, const char *cache,
	const struct sandbox *sandbox, struct arena *arena, perch_err *err)
{
	const char *file = hooks_file(hook->directory, hook->text, arena);
	if (!file)
		return err_no_memory(err);
	const char *const shell[] = { "sh", "-c", hook->text, NULL };
	const char *const program[] = { file, NULL };
	char title[128];
	snprintf(title, sizeof(title), "%s of %s", hook->name, hook->plugin);
	const struct process_spec spec = {
		.argv = file[0] ? program : shell,
		.program = file[0] ? NULL : PROGRAM_SHELL,
		.env = hooks_make_environment(hook, cache, sandbox, arena),
		.cwd = hook->directory,
		.confine = sandbox_confine(sandbox),
		.title = title,
		.shows_output = hook->shows_output,
		.log = hook->log,
	};
	return spec.env ? process_run(workshop, &spec, err) : err_no_memory(err);
}

int hook_run(struct workshop *workshop, const struct hook *hook, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	const char *cache = confinement_cache(hook->plugin, &arena);
	const struct confinement confinement = {
		.config = hook->config,
		.project = hook->is_lifecycle ? hook->repository : "",
		.directory = hook->directory,
		.cache = cache,
		.may_write_project = hook->is_lifecycle,
		.may_write_directory = !hook->is_lifecycle,
		.has_network = hook->has_network,
		.widening = hook->widening,
	};
	struct sandbox *sandbox = NULL;
	int r = confinement_open(workshop->host, &confinement, &arena, &sandbox, err);
	if (r < 0)
		return r;
	r = hooks_run_in(workshop, hook, cache, sandbox, &arena, err);
	sandbox_close(sandbox);
	return r;
}
