/* Finding the programs that perch starts for itself. A file that a sandboxed program may write must
 * never be one of them: `.venv/bin` stands first on the PATH of a user who activated that
 * environment, and a plugin writes there. So only directories count that a system installs programs
 * to, in the order in which PATH names them. */
#include "base/macros.h"
#include "proc/program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "proc/spawn.h"

static const char *const own_directories[] = {
	"/usr/local/bin",
	"/usr/bin",
	"/bin",
	"/run/current-system/sw/bin",
	"/run/wrappers/bin",
	"/nix/var/nix/profiles/default/bin",
	"/home/linuxbrew/.linuxbrew/bin",
	"/snap/bin",
};

/* A link in one of them may lead to these, and nowhere else. */
static const char *const own_roots[] = {
	"/usr/",
	"/bin/",
	"/opt/",
	"/nix/store/",
	"/gnu/store/",
	"/run/wrappers/",
	"/home/linuxbrew/.linuxbrew/",
	"/snap/",
};

enum {
	OWN_DIRECTORIES = COUNT(own_directories),
	OWN_ROOTS = COUNT(own_roots),
};

const char PROGRAM_OWN_PATH[] = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin:"
								"/run/wrappers/bin:/nix/var/nix/profiles/default/bin:"
								"/home/linuxbrew/.linuxbrew/bin:/snap/bin";

static bool program_own_is_listed(struct str directory)
{
	while (directory.len > 1 && directory.data[directory.len - 1] == '/')
		directory.len--;
	for (size_t i = 0; i < OWN_DIRECTORIES; i++) {
		if (str_is(directory, own_directories[i]))
			return true;
	}
	return false;
}

/* The place of the file decides: the link to it may stand in a directory of ours. */
static bool program_own_is_good(const char *path)
{
	char real[PATH_MAX];
	struct stat status;
	if (!realpath(path, real) || stat(real, &status) < 0 || !S_ISREG(status.st_mode) ||
		access(real, X_OK) < 0)
		return false;
	for (size_t i = 0; i < OWN_ROOTS; i++) {
		if (strncmp(real, own_roots[i], strlen(own_roots[i])) == 0)
			return true;
	}
	return false;
}

/* 1 and the path in *ret_path, 0 = not there, -ENOMEM. */
static int program_own_try(struct str directory, const char *name, char **ret_path)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	if (!program_own_is_listed(directory))
		return 0;
	buf_append(&path, directory.data, directory.len);
	buf_append_char(&path, '/');
	buf_append_text(&path, name);
	if (buf_terminate(&path) < 0)
		return -ENOMEM;
	if (!program_own_is_good(path.data))
		return 0;
	*ret_path = buf_steal(&path);
	return *ret_path ? 1 : -ENOMEM;
}

static int program_own_search(const char *path, const char *name, char **ret_path)
{
	struct str rest = str_from(path);
	int r = 0;
	while (r == 0 && rest.len)
		r = program_own_try(str_cut(&rest, ':'), name, ret_path);
	return r;
}

const char *program_of_shell(const char *shell)
{
	return strcmp(shell, "sh") == 0 ? PROGRAM_SHELL : NULL;
}

int program_find_own(const char *name, char **ret_path, perch_err *err)
{
	const char *path = getenv("PATH");
	int r = path ? program_own_search(path, name, ret_path) : 0;
	if (r == 0)
		r = program_own_search(PROGRAM_OWN_PATH, name, ret_path);
	if (r < 0)
		return err_no_memory(err);
	if (r > 0)
		return 0;
	err_set(err, -ENOENT,
		"'%s' is not installed: it is looked for in %s and other directories "
		"of the system, and nowhere else on PATH",
		name, own_directories[1]);
	if (err)
		err->stage = spawn_stage_name(STAGE_LOOKUP);
	return -ENOENT;
}
