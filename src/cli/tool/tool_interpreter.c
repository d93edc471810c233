/* The interpreter of a tool, where no tool sees it: a virtual environment, or a Python or Node of
 * the user's own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "cli/tool/tool_add.h"
#include "proc/program.h"
#include "sandbox/policy/policy.h"

enum { INTERPRETER_ROOTS_MAX = 3, INTERPRETER_CONFIG_MAX = 64 * 1024 };

struct interpreter {
	const struct adding *adding;
	const char *roots[INTERPRETER_ROOTS_MAX + 1]; /* what it must be allowed to read */
	size_t count;
	bool is_by_env; /* env would look further where it cannot execute this one */
};

static bool interpreter_is(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

static bool interpreter_is_one(const char *path)
{
	return interpreter_is(path, "python") || interpreter_is(path, "node");
}

/* Takes `levels` names off the end; "" where there are not so many. */
static void interpreter_above(char *path, int levels)
{
	for (; levels > 0 && path[0]; levels--) {
		char *slash = strrchr(path, '/');
		*(slash ? slash : path) = '\0';
	}
}

static bool interpreter_is_seen(const struct adding *adding, const char *path)
{
	const struct tool_binding *binding = adding->binding;
	const char *slash = strrchr(binding->command, '/');
	_cleanup_free_ char *folder =
		str_dup((struct str){ binding->command, slash ? (size_t)(slash - binding->command) : 0 });
	const char *const own[] = { folder, binding->directory[0] ? binding->directory : NULL, NULL };
	return !path[0] || policy_is_system(path) || !folder || !folder[0] ||
		policy_is_inside_any(path, own) || policy_is_inside_any(path, binding->widening.read) ||
		policy_is_inside_any(path, binding->widening.write);
}

/* Where it holds the home directory, more would be seen than an interpreter. */
static void interpreter_add(struct interpreter *found, const char *root)
{
	if (interpreter_is_seen(found->adding, root) || add_holds_home(root) ||
		list_has(found->roots, root) || found->count == INTERPRETER_ROOTS_MAX)
		return;
	const char *kept = arena_dup(&found->adding->session->arena, str_from(root));
	if (kept)
		found->roots[found->count++] = kept;
}

/* `home = /opt/python/bin` in a pyvenv.cfg names the Python that it was made of. */
static void interpreter_read_config(struct interpreter *found, const char *path)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (file_read(path, INTERPRETER_CONFIG_MAX, &text, NULL) < 0)
		return;
	struct str rest = { text.data, text.len };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		struct str key = str_trim(str_cut(&line, '='));
		_cleanup_free_ char *home = str_is(key, "home") ? str_dup(str_trim(line)) : NULL;
		char full[PATH_MAX];
		if (!home || !realpath(home, full))
			continue;
		interpreter_above(full, 1);
		interpreter_add(found, full);
	}
}

/* The virtual environment that it lies in, and what it is a link to. */
static void interpreter_look_at(struct interpreter *found, const char *path)
{
	char root[PATH_MAX];
	char full[PATH_MAX];
	snprintf(root, sizeof(root), "%s", path);
	interpreter_above(root, 2);
	_cleanup_free_ char *config = str_join(root, "/pyvenv.cfg", NULL);
	if (config && root[0] && access(config, F_OK) == 0 && realpath(root, full)) {
		interpreter_add(found, full);
		interpreter_read_config(found, config);
	}
	bool is_enough = found->is_by_env && !found->count;
	if (is_enough || !realpath(path, full) || !interpreter_is_one(full) || policy_is_system(full))
		return;
	/* Node is one file; Python has its modules beside the directory of its programs. */
	interpreter_above(full, interpreter_is(full, "node") ? 1 : 2);
	interpreter_add(found, full);
}

/* The program that runs the command: the command itself, the one of its first line, or the one that
 * env would find. */
static void interpreter_find(struct interpreter *found)
{
	char line[PROGRAM_FIRST_LINE + 1];
	const char *command = found->adding->binding->command;
	_cleanup_fd_ int fd = open(command, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct str named = program_interpreter(fd, line);
	_cleanup_free_ char *path = named.len ? str_dup(named) : NULL;
	if (path && str_has_suffix(str_from(path), STR("/env"))) {
		struct str rest = { line, strcspn(line, "\n") };
		str_cut(&rest, ' ');
		_cleanup_free_ char *word = str_dup(str_trim(rest));
		free(steal(&path));
		found->is_by_env = true;
		if (!word || program_find(word, (const char *const *)environ, &path, NULL) < 0)
			path = NULL;
	}
	if (path || interpreter_is_one(command))
		interpreter_look_at(found, path ? path : command);
}

/* Adds them to what it may read. */
static int interpreter_allow(struct adding *adding, const struct interpreter *found, perch_err *err)
{
	const char *const *before = adding->binding->widening.read;
	size_t count = list_count(before);
	const char **list =
		arena_alloc(&adding->session->arena, (count + found->count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++)
		list[i] = before[i];
	for (size_t i = 0; i <= found->count; i++)
		list[count + i] = found->roots[i];
	adding->binding->widening.read = list;
	return 0;
}

int add_interpreter(struct adding *adding, bool is_decided, perch_err *err)
{
	struct interpreter found = { .adding = adding };
	_cleanup_(buf_free) struct buf roots = { 0 };
	_cleanup_(buf_free) struct buf options = { 0 };
	if (adding->binding->widening.is_off)
		return 0;
	interpreter_find(&found);
	for (size_t i = 0; i < found.count; i++) {
		char word[SHELL_WORD_MAX];
		buf_printf(&roots, "%s%s", i ? " and " : "", found.roots[i]);
		buf_printf(&options, " --read %s", shell_word(found.roots[i], word));
	}
	if (!found.count)
		return 0;
	if (buf_terminate(&roots) < 0 || buf_terminate(&options) < 0)
		return err_no_memory(err);
	if (is_decided && found.is_by_env) {
		tool_warn(adding->session,
			"its interpreter, found on PATH, lies in %s, which tools do not see; to let it: %s",
			roots.data, options.data + 1);
		return 0;
	}
	if (is_decided) {
		err_set(err, -EACCES, "its interpreter lies in %s, which tools do not see: add%s",
			roots.data, options.data);
		return add_refuse(adding, err);
	}
	_cleanup_free_ char *question =
		str_join("Its interpreter lies in ", roots.data, ": let it read that?", NULL);
	if (!question)
		return err_no_memory(err);
	int r = add_ask(adding, question, err);
	return r ? r : interpreter_allow(adding, &found, err);
}
