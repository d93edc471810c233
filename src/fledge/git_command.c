/* The git commands behind the questions that files cannot answer. A repository's
 * config must not run code in the host. What stops it is the sandbox, in which git
 * starts no program at all (sandbox/git/own_git.h); what is switched off here would only
 * fail there, and make git fail with it:
 *
 *   core.fsmonitor, hooks            switched off by -c
 *   filter.*.clean and .process      status asks them about files that may have
 *                                    changed; each one that a config is known to
 *                                    define is switched off by name
 *   config of submodules             --ignore-submodules=dirty: not entered
 *   core.pager, pager.*              --no-pager
 *   gpg.program (log.showSignature)  --no-show-signature
 *   core.sshCommand, ext:: urls …    a partial clone fetches what it lacks: no
 *                                    protocol is allowed, and no lazy fetching
 *   a bare repository in the tree    safe.bareRepository=explicit
 *   diff.external, textconv, aliases not used by these commands
 *
 * The user's and the system's config stay in force otherwise: safe.directory and
 * excludes belong to the user. */
#include <errno.h>

#include "base/macros.h"
#include "fledge/context.h"

/* clang-format off */
#define GIT "git", "--no-pager", "--no-optional-locks", \
	"-c", "core.fsmonitor=false", \
	"-c", "core.hooksPath=/dev/null", \
	"-c", "safe.bareRepository=explicit", \
	"-c", "submodule.recurse=false"

static const char *const dirty_argv[] = { GIT,
	"status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty",
	"--no-renames", NULL };

static const char *const status_argv[] = { GIT,
	"status", "--porcelain", "--ignore-submodules=dirty", NULL };

static const char *const tags_argv[] = { GIT,
	"tag", "-l", "--sort=-v:refname", "--no-column", "--color=never", NULL };

static const char *const log_argv[] = { GIT,
	"log", "-20", "--oneline", "--no-decorate", "--no-color", "--no-show-signature",
	"--encoding=UTF-8", NULL };
/* clang-format on */

static const struct {
	const char *key;
	const char *const *argv;
	bool asks_filters;
} commands[] = {
	{ "dirty", dirty_argv, true },
	{ "git_status", status_argv, true },
	{ "git_tags", tags_argv, false },
	{ "git_log", log_argv, false },
};

enum {
	COMMANDS = COUNT(commands),
	FILTER_SETTINGS = 3,
};

static size_t git_command_find_command(const char *key)
{
	size_t i = 0;
	while (i < COMMANDS && strcmp(commands[i].key, key) != 0)
		i++;
	return i;
}

const char *const *git_argv(const char *key)
{
	size_t command = git_command_find_command(key);
	return command < COMMANDS ? commands[command].argv : NULL;
}

/* "-c filter.NAME.clean=" and its like: an empty command does not run, and a required one would
 * make git fail. */
static int git_command_append_filter(const char **argv, const char *name, struct arena *arena)
{
	static const char *const settings[FILTER_SETTINGS] = { "clean=", "process=", "required=false" };
	for (size_t i = 0; i < FILTER_SETTINGS; i++) {
		const char *text = arena_join(arena, "filter.", name, ".", settings[i], NULL);
		if (!text)
			return -ENOMEM;
		*argv++ = "-c";
		*argv++ = text;
	}
	return 0;
}

/* git itself stays in front, its other options come behind the filters. */
static int git_command_join_filters(
	const char *const *argv, const char *const *filters, struct arena *arena, const char ***ret)
{
	size_t argv_count = list_count(argv);
	size_t filter_count = list_count(filters);
	size_t room = argv_count + filter_count * FILTER_SETTINGS * 2 + 1;
	const char **joined = arena_alloc(arena, room * sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	const char **at = joined;
	*at++ = argv[0];
	for (size_t i = 0; i < filter_count; i++, at += FILTER_SETTINGS * (size_t)2)
		if (git_command_append_filter(at, filters[i], arena) < 0)
			return -ENOMEM;
	memcpy(at, argv + 1, argv_count * sizeof(*argv));
	*ret = joined;
	return 0;
}

int git_command(const char *key, const struct git_context *git, struct arena *arena,
	const char *const **ret_argv)
{
	size_t command = git_command_find_command(key);
	const char **joined = NULL;
	if (command == COMMANDS || !git->root) {
		*ret_argv = NULL;
		return 0;
	}
	if (!commands[command].asks_filters) {
		*ret_argv = commands[command].argv;
		return 0;
	}
	int r = git_command_join_filters(commands[command].argv, git->filters, arena, &joined);
	if (r < 0)
		return r;
	*ret_argv = (const char *const *)joined;
	return 0;
}

const char *const *git_environment(void)
{
	static const char *const environment[] = {
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat",
		"GIT_ALLOW_PROTOCOL=none", /* no such protocol: nothing is fetched */
		"GIT_NO_LAZY_FETCH=1",
		"GIT_SSH_COMMAND=false",
		NULL,
	};
	return environment;
}

bool git_keeps_variable(const char *variable)
{
	static const char *const dropped[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
		"GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE",
		"GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_ATTR_SOURCE",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_CONFIG" };
	size_t length = strcspn(variable, "=");
	for (size_t i = 0; i < COUNT(dropped); i++)
		if (strlen(dropped[i]) == length && memcmp(variable, dropped[i], length) == 0)
			return false;
	return true;
}
