/* The escape matrix: attempts to get out of a sandbox, and what should come of
 * each, given the layers that are in force.
 *
 *     escape try                    tries every row: "NAME done", "NAME denied ERRNO" …
 *     escape expect ABI ROOM NET    says what should come: "NAME done", "NAME denied"
 *     escape serve                  see escape.h                                      */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ATTEMPT_SECONDS = 10 };

static const struct row *const tables[] = { file_rows, process_rows, socket_rows };
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const char *attempt_path(const char *variable, const char *below)
{
	static char paths[4][4096];
	static unsigned next;
	const char *base = getenv(variable);
	if (!base) {
		fprintf(stderr, "%s is not set\n", variable);
		_exit(64);
	}
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s%s%s", base, below[0] ? "/" : "", below);
	return path;
}

long attempt_number(const char *variable)
{
	return atol(attempt_path(variable, ""));
}

int attempt_result(long r)
{
	return r < 0 ? errno : 0;
}

int attempt_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	int error = attempt_result(fd);
	if (fd >= 0)
		close(fd);
	return error;
}

/* What a kernel says to an attempt that it does not want. */
static bool is_denial(int error)
{
	static const int denials[] = { EACCES, EPERM, EROFS, ENOSYS, ENOENT, EXDEV, EBUSY, ESRCH,
		EBADF };
	for (size_t i = 0; i < sizeof(denials) / sizeof(denials[0]); i++) {
		if (error == denials[i])
			return true;
	}
	return false;
}

static const char *error_name(int error)
{
#ifdef __GLIBC__
	const char *name = strerrorname_np(error);
#else
	const char *name = NULL; /* musl has words alone */
#endif
	return name ? name : strerror(error);
}

/* In a process of its own: it may be killed for it. */
static void try_row(const struct row *row)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		alarm(ATTEMPT_SECONDS);
		_exit(row->attempt());
	}
	int status = 0;
	waitpid(child, &status, 0);
	int error = WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		printf("%s %s %s\n", row->name, WTERMSIG(status) == SIGSYS ? "denied" : "odd",
			strsignal(WTERMSIG(status)));
	else if (error == 0)
		printf("%s done\n", row->name);
	else
		printf("%s %s %s\n", row->name, is_denial(error) ? "denied" : "odd", error_name(error));
}

struct layers {
	int abi;
	bool has_room;
	bool has_net;
};

static bool is_stopped(const struct row *row, const struct layers *layers)
{
	if (row->only_without_net && layers->has_net)
		return false;
	if (row->needs_room_and)
		return !layers->has_room || layers->abi < row->needs_room_and;
	return row->by_privileges || row->by_seccomp || (row->by_room && layers->has_room) ||
		(row->by_landlock && layers->abi >= row->by_landlock);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	if (strcmp(verb, "serve") == 0)
		return serve();
	struct layers layers = { 0 };
	if (argc == 5)
		layers = (struct layers){ atoi(argv[2]), atoi(argv[3]) != 0, strcmp(argv[4], "full") == 0 };
	bool expects = strcmp(verb, "expect") == 0 && argc == 5;
	if (!expects && strcmp(verb, "try") != 0)
		return 64;
	for (size_t i = 0; i < TABLES; i++) {
		for (const struct row *row = tables[i]; row->name; row++) {
			if (expects)
				printf("%s %s\n", row->name, is_stopped(row, &layers) ? "denied" : "done");
			else
				try_row(row);
		}
	}
	return 0;
}
