/* Whether the program of an agent could be run, without running it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "cli/agent/agent_check.h"
#include "cli/ui/inquiry.h"
#include "proc/program.h"
#include "proc/spawn.h"

enum {
	PROGRAM_IS_HIDDEN = 3, /* exit codes of the probe */
	INTERPRETER_IS_HIDDEN = 4,
};

/* The files are opened: test -x would say yes even of a file that Landlock hides. */
static const char probe[] = "{ :; } <\"$1\" || exit 3; { :; } <\"$2\" || exit 4";

static int agent_program_explain(
	int error, const char *path, const struct perch_confine *confine, perch_err *err)
{
	const struct spawn_failure failure = { .stage = STAGE_EXEC, .error = error };
	const struct spawn_plan plan = { .path = path, .confine = confine };
	return spawn_explain(&failure, &plan, err);
}

static bool agent_program_can_be_executed(const char *path)
{
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static bool agent_program_can_be_read(const char *path)
{
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

/* Ends with a NUL in `line`; "" = it has none. */
static const char *agent_program_interpreter_of(
	const char *path, char line[PROGRAM_FIRST_LINE + 1], bool *ret_is_dos)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct str interpreter = program_interpreter(fd, line);
	if (ret_is_dos)
		*ret_is_dos = interpreter.len && line[strcspn(line, "\n") - 1] == '\r';
	if (!interpreter.len)
		return "";
	char *start = line + (interpreter.data - line);
	start[interpreter.len] = '\0';
	return start;
}

int agent_program_check(const char *path, perch_err *err)
{
	char line[PROGRAM_FIRST_LINE + 1];
	struct stat info;
	if (stat(path, &info) < 0)
		return agent_program_explain(errno, path, NULL, err);
	if (!S_ISREG(info.st_mode))
		return agent_program_explain(EACCES, path, NULL, err);
	if (!agent_program_can_be_executed(path))
		return agent_program_explain(errno, path, NULL, err);
	bool is_dos = false;
	const char *interpreter = agent_program_interpreter_of(path, line, &is_dos);
	if (is_dos)
		return err_set(err, PERCH_EINTERPRETER,
			"cannot run '%.250s': the file has DOS line endings: convert it", path);
	/* A relative path counts from the directory in which the agent is started. */
	if (interpreter[0] == '/' && !agent_program_can_be_executed(interpreter))
		return agent_program_explain(errno, path, NULL, err);
	return 0;
}

static int agent_program_refuse_hidden(const struct perch_confine *confine, const char *path,
	const char *hidden, const char *widen_by, perch_err *err)
{
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	perch_err why = { 0 };
	int code = agent_program_explain(confine->room ? ENOENT : EACCES, path, confine, &why);
	shell_advice(
		advice, shell_word(hidden, word), "; %s--read %s shows it", widen_by ? widen_by : "", word);
	return err_set_advised(err, code, advice, "%s", why.text);
}

int agent_program_check_inside(perch_host *host, const struct sandbox *sandbox, const char *path,
	const char *cwd, const char *widen_by, perch_err *err)
{
	char line[PROGRAM_FIRST_LINE + 1];
	const struct perch_confine *confine = sandbox_confine(sandbox);
	const char *interpreter = agent_program_interpreter_of(path, line, NULL);
	const char *second = agent_program_can_be_read(interpreter) ? interpreter : path;
	const char *const argv[] = { "/bin/sh", "-c", probe, "sh", path, second, NULL };
	struct inquiry inquiry;
	perch_err why = { 0 };
	if (!confine || !agent_program_can_be_read(path))
		return 0;
	int r = inquire_confined(host, confine, cwd, argv, &inquiry, &why);
	if (r < 0 && why.stage && strcmp(why.stage, "exec") == 0)
		return 0; /* there is no shell to ask */
	if (r < 0) {
		*err = why;
		return r;
	}
	if (inquiry.code == PROGRAM_IS_HIDDEN)
		return agent_program_refuse_hidden(confine, path, path, widen_by, err);
	if (inquiry.code == INTERPRETER_IS_HIDDEN)
		return agent_program_refuse_hidden(confine, path, second, widen_by, err);
	return 0;
}
