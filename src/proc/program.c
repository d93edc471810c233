/* Finding the file that a command name means. */
#include "proc/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "proc/spawn.h"

/* The path that execvp uses without a PATH. */
static const char DEFAULT_PATH[] = "/bin:/usr/bin";

static const char *program_path_of(const char *const *env)
{
	for (; *env; env++) {
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	}
	return DEFAULT_PATH;
}

/* "directory/name" in buf. A relative directory is made absolute: the child
 * may start somewhere else. */
static int program_join(struct buf *buf, struct str directory, const char *name)
{
	buf_clear(buf);
	if (!directory.len || directory.data[0] != '/') {
		_cleanup_free_ char *here = getcwd(NULL, 0);
		if (!here)
			return -errno;
		buf_append_text(buf, here);
		buf_append_char(buf, '/');
	}
	buf_append(buf, directory.data, directory.len);
	buf_append_char(buf, '/');
	buf_append_text(buf, name);
	return buf_terminate(buf);
}

/* 0 when it can be executed, -EACCES when it is there and cannot, else -ENOENT: a directory on PATH
 * that we may not enter counts as empty. */
static int program_check_executable(const char *path)
{
	struct stat info;
	if (stat(path, &info) < 0)
		return -ENOENT;
	if (!S_ISREG(info.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int program_fail(perch_err *err, int code, const char *text, const char *name)
{
	err_set(err, code, "%s: '%s'", text, name);
	if (err)
		err->stage = spawn_stage_name(STAGE_LOOKUP);
	return code;
}

static int program_search(const char *name, const char *path, struct buf *found)
{
	int result = -ENOENT;
	struct str rest = str_from(path);
	do {
		int r = program_join(found, str_cut(&rest, ':'), name);
		if (r == -ENOMEM || !found->data)
			return r;
		if (r == 0)
			r = program_check_executable(found->data);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			result = r;
	} while (rest.len);
	return result;
}

int program_find(const char *name, const char *const *env, char **ret_path, perch_err *err)
{
	_cleanup_(buf_free) struct buf found = { 0 };
	int r;
	if (!name[0])
		return program_fail(err, -ENOENT, "the command is empty", name);
	if (strchr(name, '/'))
		r = buf_append_text(&found, name);
	else
		r = program_search(name, program_path_of(env), &found);
	if (r == -ENOENT)
		return program_fail(err, r, "no such command on PATH", name);
	if (r == -EACCES)
		return program_fail(err, r, "found on PATH, but not executable", name);
	char *path = r < 0 ? NULL : buf_steal(&found);
	if (!path)
		return err_no_memory(err);
	*ret_path = path;
	return 0;
}

struct str program_interpreter(int fd, char line[PROGRAM_FIRST_LINE + 1])
{
	memset(line, 0, PROGRAM_FIRST_LINE + 1);
	ssize_t n = fd < 0 ? -1 : read(fd, line, PROGRAM_FIRST_LINE);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return (struct str){ 0 };
	struct str rest = { line + 2, (size_t)n - 2 };
	struct str first_line = str_trim(str_cut(&rest, '\n'));
	size_t word = 0;
	while (word < first_line.len && !strchr(" \t\r", first_line.data[word]))
		word++;
	return (struct str){ first_line.data, word };
}

static bool program_is_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, "python", 6) == 0;
}

bool program_keeps_output_back(const char *path, const char *const *args)
{
	if (program_is_python(path))
		return args && args[0] && !list_has(args, "-u");
	char head[256] = { 0 };
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || read(fd, head, sizeof(head) - 1) < 0)
		return false;
	head[strcspn(head, "\n")] = '\0';
	return strncmp(head, "#!", 2) == 0 && strstr(head, "python") && !strstr(head, " -u");
}
