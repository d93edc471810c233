/* The project is read from files at once; git runs until somebody wants to know. */
#include "fledge/surroundings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/err.h"
#include "proc/capture.h"

#define DIRTY_TIMEOUT_NS (10 * NSEC_PER_SEC)

struct surroundings {
	struct arena arena;
	struct project_context project;
	const char *const *git_env;
	const char *note;
	struct capture *git; /* NULL = not running */
	bool is_dirty;
	surroundings_known_fn *known;
	void *data;
};

static void git_ended(void *data, struct capture *capture)
{
	struct surroundings *surroundings = data;
	surroundings->is_dirty = capture->out.len > 0;
	surroundings->git = NULL;
	capture_free(capture);
	if (surroundings->known)
		surroundings->known(surroundings->data, surroundings->is_dirty);
}

static int ask_git(struct surroundings *surroundings, perch_host *host, const char *directory)
{
	const char *const *argv = NULL;
	int r = git_command("dirty", &surroundings->project.git, &surroundings->arena, &argv);
	if (r < 0)
		return r;
	if (!argv) {
		surroundings->note = "git is not asked whether the work tree is dirty";
		return 0;
	}
	const struct capture_spec spec = {
		.argv = argv,
		.env = surroundings->git_env,
		.cwd = directory,
		.limit = 1,
		.timeout_ns = DIRTY_TIMEOUT_NS,
		.first_byte = true,
		.drop_stderr = true,
		.done = git_ended,
		.data = surroundings,
	};
	perch_err err = { 0 };
	if (capture_start(host, &spec, &surroundings->git, &err) == 0)
		return 0;
	surroundings->note = arena_dup(&surroundings->arena, str_from(err.text));
	return surroundings->note ? 0 : -ENOMEM;
}

static int look_around(struct surroundings *surroundings, perch_host *host, const char *directory,
	const char *const *own_env)
{
	surroundings->git_env =
		environment_build(&surroundings->arena, own_env, git_keeps_variable, git_environment());
	if (!surroundings->git_env)
		return -ENOMEM;
	int r = project_read(directory, &surroundings->arena, &surroundings->project);
	if (r < 0 || !surroundings->project.git.is_repository)
		return r;
	return ask_git(surroundings, host, directory);
}

int surroundings_begin(perch_host *host, const char *directory, const char *const *own_env,
	struct surroundings **ret_surroundings, perch_err *err)
{
	struct surroundings *surroundings = calloc(1, sizeof(*surroundings));
	if (!surroundings)
		return err_no_memory(err);
	if (look_around(surroundings, host, directory, own_env) < 0) {
		surroundings_free(surroundings);
		return err_no_memory(err);
	}
	*ret_surroundings = surroundings;
	return 0;
}

const struct project_context *surroundings_project(const struct surroundings *surroundings)
{
	return &surroundings->project;
}

const char *const *surroundings_git_env(const struct surroundings *surroundings)
{
	return surroundings->git_env;
}

const char *surroundings_note(const struct surroundings *surroundings)
{
	return surroundings->note;
}

void surroundings_await(struct surroundings *surroundings, surroundings_known_fn *known, void *data)
{
	if (!surroundings->git) {
		known(data, surroundings->is_dirty);
		return;
	}
	surroundings->known = known;
	surroundings->data = data;
}

void surroundings_forget(struct surroundings *surroundings)
{
	capture_free(surroundings->git);
	surroundings->git = NULL;
}

void surroundings_free(struct surroundings *surroundings)
{
	if (!surroundings)
		return;
	capture_free(surroundings->git);
	arena_free(&surroundings->arena);
	free(surroundings);
}
