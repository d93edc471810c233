/* Real repositories for tests. */
#include "harness/repository.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/folder.h"

const char *repository_folder(void)
{
	const char *folder = folder_new();
	static const char *const unwanted[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "XDG_CONFIG_HOME" };
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		unsetenv(unwanted[i]);
	setenv("HOME", folder, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "A", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "A", 1);
	setenv("GIT_COMMITTER_EMAIL", "a@example.org", 1);
	setenv("LC_ALL", "C", 1);
	folder_write(
		".gitconfig", "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n");
	return folder;
}

void repository_new(const char *name)
{
	free(
		folder_run("git init -q '%s' && git -C '%s' commit -q --allow-empty -m first", name, name));
}

struct git_context repository_read(const char *name, struct arena *arena)
{
	struct git_context git;
	ck_assert_int_eq(git_read(folder_path("%s", name), arena, &git), 0);
	return git;
}

static void become(
	const char *directory, const char *const *argv, const char *const *environment, int out)
{
	for (; environment && *environment; environment++)
		putenv((char *)(uintptr_t)*environment);
	if (dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDERR_FILENO) >= 0 && chdir(directory) == 0 &&
		dup2(out, STDOUT_FILENO) >= 0)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

int repository_ask(const char *directory, const char *const *argv, const char *const *environment,
	struct buf *ret_out)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		become(directory, argv, environment, ends[1]);
	close(ends[1]);
	char piece[4096];
	for (ssize_t n; (n = read(ends[0], piece, sizeof(piece))) > 0;)
		ck_assert_int_eq(buf_append(ret_out, piece, (size_t)n), 0);
	close(ends[0]);
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(buf_terminate(ret_out), 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
