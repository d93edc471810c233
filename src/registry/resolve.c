/* What a command name stands for: the program to start and the plugin it
 * belongs to. The links in bin/ may lead anywhere: where they lead decides
 * about the owner only, never about whether they are followed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/shell_word.h"
#include "base/str.h"
#include "data/toml.h"
#include "registry/names.h"
#include "registry/registry.h"

#define PREFIX "fledge-"

/* ---- the program -------------------------------------------------------- */

/* The problems that a user can solve: they are told how. */
static const char GONE[] = "it is a link to a file that is gone";
static const char NOT_EXECUTABLE[] = "it is not executable";

/* NULL when path leads to a file that can be executed; else what is wrong,
 * with *ret_code -ENOENT when there is nothing at all, or -EACCES. */
static const char *resolve_program_problem(const char *path, int *ret_code)
{
	struct stat link;
	struct stat about;
	*ret_code = -ENOENT;
	if (lstat(path, &link) < 0 && errno != EACCES)
		return "there is no such file";
	*ret_code = -EACCES;
	if (stat(path, &about) < 0)
		return errno == ENOENT ? GONE : perch_strerror(-errno);
	if (!S_ISREG(about.st_mode))
		return "it is not a regular file";
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return errno == EACCES ? NOT_EXECUTABLE : perch_strerror(-errno);
	return NULL;
}

static char *resolve_program_path(struct arena *arena, struct str directory, const char *command)
{
	size_t command_size = strlen(command) + 1;
	static const char middle[] = "/" PREFIX;
	char *path = arena_alloc(arena, directory.len + sizeof(middle) + command_size);
	if (!path)
		return NULL;
	memcpy(path, directory.data, directory.len);
	memcpy(path + directory.len, middle, sizeof(middle));
	memcpy(path + directory.len + sizeof(middle) - 1, command, command_size);
	return path;
}

/* A place where the command was looked for. */
struct candidate {
	char *path;
	const char *problem; /* NULL = this is it */
	int code;
};

static int resolve_look_in(
	struct str directory, const char *command, struct arena *arena, struct candidate *ret)
{
	ret->path = resolve_program_path(arena, directory, command);
	if (!ret->path)
		return -ENOMEM;
	ret->problem = resolve_program_problem(ret->path, &ret->code);
	return 0;
}

/* bin/ first; then PATH, where one that can be executed is looked for behind
 * one that cannot. Directories that depend on where we stand are left out: a
 * project must not bring its own commands. *best is the first that is there. */
static int resolve_find_program(const char *bin, const char *command, const char *path,
	struct arena *arena, struct candidate *best)
{
	int r = resolve_look_in(str_from(bin), command, arena, best);
	if (r < 0 || !best->problem || best->code != -ENOENT)
		return r;
	struct str rest = str_from(path);
	while (rest.len) {
		struct str directory = str_cut(&rest, ':');
		if (directory.len == 0 || directory.data[0] != '/')
			continue;
		struct candidate found;
		r = resolve_look_in(directory, command, arena, &found);
		if (r < 0)
			return r;
		/* A program that is not there and one in a directory that we may not enter: the same. */
		struct stat there;
		if (found.problem && lstat(found.path, &there) < 0)
			continue;
		if (!found.problem || (best->code == -ENOENT && found.code != -ENOENT))
			*best = found;
		if (!best->problem)
			return 0;
	}
	return 0;
}

/* ---- its owner ---------------------------------------------------------- */

/* The directory of a plugin under development is itself a link. */
static bool resolve_holds(const struct registry_entry *entry, const char *target)
{
	char directory[PATH_MAX];
	if (!realpath(entry->directory, directory))
		return false;
	size_t len = strlen(directory);
	return strncmp(target, directory, len) == 0 && target[len] == '/';
}

/* Of several that list the command, the one that holds the program: what one
 * plugin was granted must not go to the program of another. */
static const struct registry_entry *resolve_find_lister(
	const struct registry *registry, const char *command, const char *target)
{
	const struct registry_entry *lister = NULL;
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_entry *entry = &registry->entries[i];
		if (!list_has(entry->commands, command))
			continue;
		if (resolve_holds(entry, target))
			return entry;
		lister = lister ? lister : entry;
	}
	return lister;
}

/* Only for a command that nobody lists are the directories of all plugins resolved. */
static const struct registry_entry *resolve_find_owner(
	const struct registry *registry, const char *command, const char *target)
{
	const struct registry_entry *owner = resolve_find_lister(registry, command, target);
	for (size_t i = 0; i < registry->count && !owner; i++) {
		if (resolve_holds(&registry->entries[i], target))
			owner = &registry->entries[i];
	}
	return owner;
}

/* ---- did you mean ------------------------------------------------------- */

struct nearest {
	const char *word;
	unsigned distance;
	char name[NAME_LENGTH_MAX + 1];
};

/* The word itself may be listed although its program is gone. */
static void resolve_consider(struct nearest *nearest, const char *name)
{
	if (strcmp(nearest->word, name) != 0 && str_is_nearer(nearest->word, name, &nearest->distance))
		memcpy(nearest->name, name, strlen(name) + 1);
}

static void resolve_consider_links(struct nearest *nearest, const char *bin)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, bin, 0);
	for (const char *name; (name = listing_next(listing));) {
		if (!str_has_prefix(str_from(name), STR(PREFIX)))
			continue;
		const char *command = name + sizeof(PREFIX) - 1;
		if (!command_name_problem(str_from(command)))
			resolve_consider(nearest, command);
	}
}

static int resolve_suggest(const struct registry *registry, const char *command, perch_err *err)
{
	struct nearest nearest = { .word = command, .distance = UINT_MAX };
	for (size_t i = 0; i < registry->count; i++) {
		const char *const *listed = registry->entries[i].commands;
		for (; *listed; listed++)
			resolve_consider(&nearest, *listed);
	}
	resolve_consider_links(&nearest, registry->bin);
	if (nearest.distance == UINT_MAX)
		return err_set(err, -ENOENT,
			"there is no command '%s'; perch plugins list shows what is installed", command);
	return err_set(
		err, -ENOENT, "there is no command '%s'; did you mean '%s'?", command, nearest.name);
}

/* ------------------------------------------------------------------------- */

static int resolve_refuse_name(const char *command, const char *problem, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	return err_set(
		err, -EINVAL, "the command name %s %s", toml_quote(str_from(command), quoted), problem);
}

/* Where a link leads, as it says itself; the path when it is none. */
static const char *resolve_link_text(const char *path, char out[PATH_MAX])
{
	ssize_t len = readlink(path, out, PATH_MAX - 1);
	if (len < 0)
		return path;
	out[len] = '\0';
	return out;
}

/* The directory of the plugin was moved, or its program was removed. */
static int resolve_refuse_gone(const struct registry *registry, const char *command,
	const struct candidate *candidate, perch_err *err)
{
	const struct registry_entry *owner = NULL;
	for (size_t i = 0; i < registry->count && !owner; i++) {
		if (list_has(registry->entries[i].commands, command))
			owner = &registry->entries[i];
	}
	bool is_moved = owner && registry_is_gone(owner);
	char target[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	char lost[FILE_SHOWN_MAX];
	file_shown(resolve_link_text(is_moved ? owner->directory : candidate->path, target), lost);
	return err_set(err, candidate->code, "the command '%s' cannot be run: %s: %s: %s%s%s%s",
		command, file_shown(candidate->path, shown), candidate->problem, lost,
		owner ? "; perch plugins remove " : "", owner ? owner->name : "",
		owner ? ", then install it again" : "");
}

static int resolve_refuse_program(const struct registry *registry, const char *command,
	const struct candidate *candidate, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	if (candidate->problem == GONE)
		return resolve_refuse_gone(registry, command, candidate, err);
	file_shown(candidate->path, shown);
	if (candidate->problem == NOT_EXECUTABLE)
		return err_set_advised(err, candidate->code,
			shell_advice(advice, shell_word(candidate->path, word), ": chmod +x %s", word),
			"the command '%s' cannot be run: %s: %s", command, shown, NOT_EXECUTABLE);
	return err_set(err, candidate->code, "the command '%s' cannot be run: %s: %s", command, shown,
		candidate->problem);
}

int registry_resolve(const struct registry *registry, const char *command, const char *path,
	struct arena *arena, struct registry_command *ret_command, perch_err *err)
{
	const char *problem = command_name_problem(str_from(command));
	if (problem)
		return resolve_refuse_name(command, problem, err);
	struct candidate program = { 0 };
	if (resolve_find_program(registry->bin, command, path, arena, &program) < 0)
		return err_no_memory(err);
	if (program.problem && program.code == -ENOENT)
		return resolve_suggest(registry, command, err);
	char resolved[PATH_MAX];
	if (!program.problem && !realpath(program.path, resolved)) {
		program.problem = perch_strerror(-errno);
		program.code = -EACCES;
	}
	if (program.problem)
		return resolve_refuse_program(registry, command, &program, err);
	const char *target = arena_dup(arena, str_from(resolved));
	if (!target)
		return err_no_memory(err);
	*ret_command = (struct registry_command){
		.path = program.path,
		.target = target,
		.owner = resolve_find_owner(registry, command, target),
	};
	return 0;
}
