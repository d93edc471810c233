/* The project is read from files at once; git runs until its answer is wanted. */
#include "fledge/surroundings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/err.h"
#include "proc/capture.h"
#include "proc/host.h"
#include "sandbox/git/own_git.h"

#define DIRTY_TIMEOUT_NS (10 * NSEC_PER_SEC)

struct surroundings {
	struct arena arena;
	struct project_context project;
	perch_host *host;
	const char *directory;
	const char *const *own_env;
	const char *const *git_env; /* NULL = was not needed yet */
	struct own_git *own_git;    /* NULL = nothing was asked yet */
	const char *note;
	struct capture *git; /* NULL = not running */
	bool is_dirty;
	bool asks_no_more;
	surroundings_known_fn *known;
	void *data;
};

/* The kernel takes its time to end a room: that of git ends beside the plugin. A host that stays
 * would wait for it. */
static void surroundings_let_git_go(struct surroundings *surroundings)
{
	if (!surroundings->asks_no_more || surroundings->git || !surroundings->host->runs_once)
		return;
	own_git_close(surroundings->own_git);
	surroundings->own_git = NULL;
}

static void surroundings_git_ended(void *data, struct capture *capture)
{
	struct surroundings *surroundings = data;
	surroundings->is_dirty = capture->out.len > 0;
	surroundings->git = NULL;
	capture_free(capture);
	if (surroundings->known)
		surroundings->known(surroundings->data, surroundings->is_dirty);
	surroundings_let_git_go(surroundings);
}

/* Git is ended by its first byte of output, or when its answer is not wanted any more. */
static int surroundings_start_git(
	struct surroundings *surroundings, const char *const *argv, perch_err *err)
{
	const struct own_git *own = NULL;
	const char *const *env = surroundings_git_env(surroundings);
	int r = env ? surroundings_own_git(surroundings, &own, err) : err_no_memory(err);
	if (r < 0)
		return r;
	const struct capture_spec spec = {
		.argv = argv,
		.program_fd = own_git_program(own),
		.confine = own_git_confine(own),
		.env = env,
		.cwd = surroundings->directory,
		.limit = 1,
		.timeout_ns = DIRTY_TIMEOUT_NS,
		.first_byte = true,
		.drop_stderr = true,
		.done = surroundings_git_ended,
		.data = surroundings,
	};
	return capture_start(surroundings->host, &spec, &surroundings->git, err);
}

static int surroundings_ask_git(struct surroundings *surroundings)
{
	const char *const *argv = NULL;
	int r = git_command("dirty", &surroundings->project.git, &surroundings->arena, &argv);
	if (r < 0)
		return r;
	perch_err err = { 0 };
	if (!argv || surroundings_start_git(surroundings, argv, &err) == 0)
		return 0;
	surroundings->note = arena_dup(&surroundings->arena, str_from(err.text));
	return surroundings->note ? 0 : -ENOMEM;
}

static int surroundings_look_around(struct surroundings *surroundings)
{
	int r = project_read(surroundings->directory, &surroundings->arena, &surroundings->project);
	if (r < 0 || !surroundings->project.git.is_repository)
		return r;
	return surroundings_ask_git(surroundings);
}

int surroundings_begin(perch_host *host, const char *directory, const char *const *own_env,
	struct surroundings **ret_surroundings, perch_err *err)
{
	struct surroundings *surroundings = calloc(1, sizeof(*surroundings));
	if (!surroundings)
		return err_no_memory(err);
	surroundings->host = host;
	surroundings->directory = directory;
	surroundings->own_env = own_env;
	if (surroundings_look_around(surroundings) < 0) {
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

const char *const *surroundings_git_env(struct surroundings *surroundings)
{
	if (!surroundings->git_env)
		surroundings->git_env = environment_build(
			&surroundings->arena, surroundings->own_env, git_keeps_variable, git_environment());
	return surroundings->git_env;
}

int surroundings_own_git(
	struct surroundings *surroundings, const struct own_git **ret_git, perch_err *err)
{
	const struct project_context *project = &surroundings->project;
	int r = 0;
	if (!surroundings->own_git)
		r = own_git_open(surroundings->host,
			project->git.root ? project->git.root : surroundings->directory, &surroundings->own_git,
			err);
	if (r == 0)
		*ret_git = surroundings->own_git;
	return r;
}

const char *surroundings_note(const struct surroundings *surroundings)
{
	return surroundings->note;
}

/* By now the plugin starts: what nothing but its first line tells is looked for meanwhile. */
void surroundings_await(struct surroundings *surroundings, surroundings_known_fn *known, void *data)
{
	if (surroundings->project.is_known)
		project_look_at_language(&surroundings->project);
	if (!surroundings->git) {
		known(data, surroundings->is_dirty);
		return;
	}
	surroundings->known = known;
	surroundings->data = data;
}

void surroundings_ask_no_more(struct surroundings *surroundings)
{
	surroundings->asks_no_more = true;
	surroundings_let_git_go(surroundings);
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
	own_git_close(surroundings->own_git);
	arena_free(&surroundings->arena);
	free(surroundings);
}
