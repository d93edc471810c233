/* git, as perch starts it for itself. */
#include "sandbox/git/own_git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "proc/program.h"
#include "sandbox/sandbox.h"

struct own_git {
	int program;
	struct sandbox *sandbox;
};

int own_git_find(char **ret_path, perch_err *err)
{
	const char *named = getenv("PERCH_GIT");
	if (!named || named[0] != '/')
		return program_find_own("git", ret_path, err);
	*ret_path = str_dup(str_from(named));
	return *ret_path ? 0 : err_no_memory(err);
}

static int own_git_open_program(struct own_git *git, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = own_git_find(&path, err);
	if (r < 0)
		return r;
	int program = open(path, O_PATH | O_CLOEXEC);
	r = program < 0 ? -errno : fd_above_stdio(program);
	if (r < 0)
		return err_set(err, r, "cannot run '%s': %s", path, perch_strerror(r));
	git->program = r;
	return 0;
}

static int own_git_confine_it(
	struct own_git *git, perch_host *host, const char *directory, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct sandbox_policy policy;
	if (policy_for_git(&arena, directory, &policy) < 0)
		return err_no_memory(err);
	int r = sandbox_open(host, &policy, &git->sandbox, err);
	if (r < 0 || sandbox_confine(git->sandbox)->filter)
		return r;
	return err_set(err, PERCH_ESANDBOX,
		"git is not asked: nothing here keeps it from starting what a repository names "
		"(needs seccomp filters)");
}

int own_git_open(perch_host *host, const char *directory, struct own_git **ret_git, perch_err *err)
{
	struct own_git *git = calloc(1, sizeof(*git));
	if (!git)
		return err_no_memory(err);
	git->program = -1;
	sandbox_begin(host, SANDBOX_OF_GIT);
	int r = own_git_open_program(git, err);
	if (r == 0)
		r = own_git_confine_it(git, host, directory, err);
	if (r < 0) {
		own_git_close(git);
		return r;
	}
	*ret_git = git;
	return 0;
}

int own_git_program(const struct own_git *git)
{
	return git->program;
}

const struct perch_confine *own_git_confine(const struct own_git *git)
{
	return sandbox_confine(git->sandbox);
}

void own_git_close(struct own_git *git)
{
	if (!git)
		return;
	sandbox_close(git->sandbox);
	fd_close(git->program);
	free(git);
}
