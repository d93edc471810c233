/* Why a program could not be started, in words that help. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/shell_word.h"
#include "base/str.h"
#include "proc/program.h"
#include "proc/spawn.h"

static const char *const stage_names[STAGE_COUNT] = {
	[STAGE_NONE] = "none",
	[STAGE_LOOKUP] = "lookup",
	[STAGE_PIPE] = "pipe",
	[STAGE_BIRTH] = "birth",
	[STAGE_ROOM] = "room",
	[STAGE_SESSION] = "session",
	[STAGE_PARENT] = "parent",
	[STAGE_GUARD] = "guard",
	[STAGE_CGROUP] = "cgroup",
	[STAGE_DESCRIPTORS] = "descriptors",
	[STAGE_LIMITS] = "limits",
	[STAGE_PRIVILEGES] = "privileges",
	[STAGE_LANDLOCK] = "landlock",
	[STAGE_SECCOMP] = "seccomp",
	[STAGE_SIGNALS] = "signals",
	[STAGE_CWD] = "chdir",
	[STAGE_TIME] = "time",
	[STAGE_EXEC] = "exec",
};

const char *spawn_stage_name(enum spawn_stage stage)
{
	return stage_names[stage];
}

/* A relative path was looked up in the child's directory. */
static int spawn_error_open_in_cwd(const struct spawn_plan *plan)
{
	_cleanup_fd_ int dir = open(plan->cwd ? plan->cwd : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	return openat(dir, plan->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool spawn_error_is_in_room(const struct spawn_plan *plan)
{
	return plan->confine && plan->confine->room;
}

/* Whether the interpreter exists outside of the room, so that only the sandbox can lack it. */
static bool spawn_error_can_be_run_here(struct str interpreter)
{
	_cleanup_free_ char *path = str_dup(interpreter);
	return !interpreter.len || !path || access(path, X_OK) == 0;
}

/* exec says ENOENT for a missing program and for a missing interpreter. */
static int spawn_error_explain_missing(const struct spawn_plan *plan, perch_err *err)
{
	_cleanup_fd_ int fd = spawn_error_open_in_cwd(plan);
	if (fd < 0)
		return err_set(err, -ENOENT, "cannot run '%s': there is no such file", plan->path);
	char line[PROGRAM_FIRST_LINE + 1];
	struct str interpreter = program_interpreter(fd, line);
	if (spawn_error_is_in_room(plan) && spawn_error_can_be_run_here(interpreter))
		return err_set(err, -ENOENT,
			"cannot run '%s': it, or what it needs, is hidden in its sandbox", plan->path);
	if (!interpreter.len)
		return err_set(err, PERCH_EINTERPRETER,
			"cannot run '%s': the loader or library it needs is missing", plan->path);
	bool is_dos = interpreter.data[interpreter.len] == '\r';
	return err_set(err, PERCH_EINTERPRETER,
		"cannot run '%s': its interpreter '%.*s' (first line) does not exist%s", plan->path,
		(int)interpreter.len, interpreter.data,
		is_dos ? "; the file has DOS line endings: convert it" : "");
}

static int spawn_error_explain_forbidden(const struct spawn_plan *plan, perch_err *err)
{
	_cleanup_fd_ int fd = spawn_error_open_in_cwd(plan);
	struct stat info;
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_set(err, -EACCES, "cannot run '%s': permission denied", plan->path);
	if (S_ISDIR(info.st_mode))
		return err_set(err, -EACCES, "cannot run '%s': it is a directory", plan->path);
	if (!(info.st_mode & 0111))
		return err_set_advised(err, -EACCES,
			shell_advice(advice, shell_word(plan->path, word), " (chmod +x %s)", word),
			"cannot run '%s': it is not executable", plan->path);
	char line[PROGRAM_FIRST_LINE + 1];
	struct str interpreter = program_interpreter(fd, line);
	if (interpreter.len)
		return err_set(err, -EACCES,
			"cannot run '%s': permission denied for it or its interpreter '%.*s'", plan->path,
			(int)interpreter.len, interpreter.data);
	return err_set(err, -EACCES,
		"cannot run '%s': permission denied (file mode, or a file system mounted noexec)",
		plan->path);
}

static size_t spawn_error_strings_size(const char *const *strings)
{
	size_t size = 0;
	for (; *strings; strings++)
		size += strlen(*strings) + 1 + sizeof(char *);
	return size;
}

static int spawn_error_explain_exec(int error, const struct spawn_plan *plan, perch_err *err)
{
	switch (error) {
	case ENOENT:
		return spawn_error_explain_missing(plan, err);
	case EACCES:
		return spawn_error_explain_forbidden(plan, err);
	case ENOEXEC:
		return err_set(err, -ENOEXEC,
			"cannot run '%s': neither a program for this machine nor a script with a #! line",
			plan->path);
	case E2BIG:
		return err_set(err, -E2BIG,
			"cannot run '%s': arguments and environment are too large (%zu bytes in all; one "
			"string may have %d, all together about a quarter of the stack limit)",
			plan->path, spawn_error_strings_size(plan->argv) + spawn_error_strings_size(plan->env),
			32 * 4096);
	default:
		return err_set(err, -error, "cannot run '%s': %s", plan->path, perch_strerror(-error));
	}
}

static int spawn_error_explain_stage(
	const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err)
{
	int code = -failure->error;
	const char *why = perch_strerror(code);
	switch (failure->stage) {
	case STAGE_EXEC:
		return spawn_error_explain_exec(failure->error, plan, err);
	case STAGE_CWD:
		return err_set(err, code, "cannot run '%s' in '%s'%s: %s", plan->path,
			plan->cwd ? plan->cwd : plan->here,
			spawn_error_is_in_room(plan) ? ", as its sandbox shows it" : "", why);
	case STAGE_BIRTH:
		if (failure->error == EAGAIN)
			return err_set(err, code,
				"cannot run '%s': the limit of processes is reached (ulimit -u, or the pids "
				"limit of the cgroup)",
				plan->path);
		return err_set(err, code, "cannot run '%s': %s", plan->path, why);
	case STAGE_ROOM:
		return err_set(err, PERCH_ESANDBOX,
			"cannot run '%s' in its sandbox: its room cannot be entered (has its init been "
			"killed?): %s",
			plan->path, why);
	case STAGE_TIME:
		return err_set(err, code,
			"cannot run '%s': it is too late for that (was this process stopped?)", plan->path);
	case STAGE_CGROUP:
	case STAGE_LANDLOCK:
	case STAGE_SECCOMP:
	case STAGE_PRIVILEGES:
		return err_set(err, PERCH_ESANDBOX, "cannot run '%s' in its sandbox: %s (%s)", plan->path,
			why, spawn_stage_name(failure->stage));
	default:
		return err_set(err, code, "cannot run '%s': %s (%s)", plan->path, why,
			spawn_stage_name(failure->stage));
	}
}

int spawn_explain(
	const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err)
{
	int code = spawn_error_explain_stage(failure, plan, err);
	if (err)
		err->stage = spawn_stage_name(failure->stage);
	return code;
}
