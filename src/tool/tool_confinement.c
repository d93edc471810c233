/* What a tool is confined to. */
#include "tool/tool_confinement.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "registry/grants.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/reuse/policy_memory.h"

static const char *tool_confinement_directory_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	return slash ? arena_dup(arena, (struct str){ path, len ? len : 1 }) : "";
}

/* ---- its own folder -------------------------------------------------------- */

/* Files and directories are compared by device and inode, not by name. */
struct identity {
	dev_t device;
	ino_t inode;
};

struct identities {
	struct identity *items;
	size_t count;
};

/* A path and the directories above it. */
enum { CONFINEMENT_DEPTH_MAX = 128 };

struct above {
	struct identity places[CONFINEMENT_DEPTH_MAX];
	size_t count;
};

/* The path must have no links in it. */
static void tool_confinement_look_above(struct above *above, const char *path)
{
	char name[PATH_MAX];
	struct stat info;
	above->count = 0;
	snprintf(name, sizeof(name), "%s", path);
	for (size_t len = strlen(name); above->count < CONFINEMENT_DEPTH_MAX;) {
		if (stat(len ? name : "/", &info) == 0)
			above->places[above->count++] = (struct identity){ info.st_dev, info.st_ino };
		if (!len)
			break;
		while (len > 0 && name[--len] != '/')
			;
		name[len] = '\0';
	}
}

/* Of those that exist. 0 or -ENOMEM. */
static int tool_confinement_look_up(
	struct arena *arena, const char *const *paths, struct identities *ret_found)
{
	struct identities found = { 0 };
	struct stat info;
	found.items = arena_alloc(arena, (list_count(paths) + 1) * sizeof(*found.items));
	if (!found.items)
		return -ENOMEM;
	for (; paths && *paths; paths++) {
		if (stat(*paths, &info) == 0)
			found.items[found.count++] = (struct identity){ info.st_dev, info.st_ino };
	}
	*ret_found = found;
	return 0;
}

/* How far above the path the nearest of these is; beyond the last = none is. */
static size_t tool_confinement_meets(const struct above *above, const struct identities *found)
{
	size_t nearest = above->count;
	for (size_t at = 0; at < found->count; at++) {
		const struct identity *one = &found->items[at];
		for (size_t i = 0; i < nearest; i++) {
			if (above->places[i].inode == one->inode && above->places[i].device == one->device)
				nearest = i;
		}
	}
	return nearest;
}

/* A stranger often chooses where a tool lies: a tool in a hidden place is refused, unless the
 * operator has named the directory. */
static int tool_confinement_check_hidden(const struct tool_binding *binding, const char *path,
	struct arena *arena, const struct sandbox_policy *policy, const struct identities *hide,
	perch_err *err)
{
	char full[PATH_MAX];
	struct above above;
	struct identities read;
	struct identities write;
	if (!path[0] || !realpath(path, full))
		return 0; /* if it is missing, the start of the tool says so */
	tool_confinement_look_above(&above, full);
	size_t hidden = tool_confinement_meets(&above, hide);
	if (hidden == above.count)
		return 0;
	if (tool_confinement_look_up(arena, policy->read, &read) < 0 ||
		tool_confinement_look_up(arena, policy->write, &write) < 0)
		return err_no_memory(err);
	if (tool_confinement_meets(&above, &read) <= hidden ||
		tool_confinement_meets(&above, &write) <= hidden)
		return 0;
	char shown[FILE_SHOWN_MAX];
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	if (binding->widen_in)
		snprintf(advice, sizeof(advice), ", or name it in read, under [sandbox] in its file");
	else
		shell_advice(advice, shell_word(full, word), ", or let it see that by %s--read %s",
			binding->widen_by ? binding->widen_by : "", word);
	return err_set_advised(err, -EACCES, advice,
		"the tool lies in a place that is hidden from all tools, '%s': move it",
		file_shown(full, shown));
}

/* ---------------------------------------------------------------------------- */

/* The tool's own paths, which the policy may not show yet: the target of its command, the directory
 * of the command, and the one it runs in. */
static int tool_confinement_own(const struct tool_binding *binding, struct arena *arena,
	const char *ret_own[static 4], perch_err *err)
{
	char buffer[PATH_MAX];
	const char *beside = tool_confinement_directory_of(arena, binding->command);
	const char *target = realpath(binding->command, buffer);
	target = target ? arena_dup(arena, str_from(target)) : binding->command;
	if (!beside || !target)
		return err_no_memory(err);
	size_t count = 0;
	if (target[0]) /* a remote server's is found at its start */
		ret_own[count++] = target;
	if (beside[0])
		ret_own[count++] = beside;
	if (binding->directory[0])
		ret_own[count++] = binding->directory;
	ret_own[count] = NULL;
	return 0;
}

/* Files that decide this sandbox or others are not written from inside of it. */
static int tool_confinement_protect(const struct tool_binding *binding, struct arena *arena,
	struct sandbox_policy *policy, perch_err *err)
{
	const char *const own[] = { binding->path, binding->given, NULL };
	const char *const *deciding = NULL;
	if (!policy->write || !policy->write[0])
		return 0;
	const char *const *files = tool_binding_files(arena, binding);
	int r = files ? grants_deciding(arena, &deciding, err) : err_no_memory(err);
	if (r == 0 &&
		(policy_protect(arena, own[0][0] ? own : NULL, policy) < 0 ||
			policy_protect(arena, files, policy) < 0 ||
			policy_protect(arena, deciding, policy) < 0))
		r = err_no_memory(err);
	return r;
}

static const char *tool_confinement_home(void)
{
	return getenv("HOME") ? getenv("HOME") : "";
}

int tool_confinement_policy(const struct tool_binding *binding, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err)
{
	const char *home = tool_confinement_home();
	const char *own[4];
	const struct policy_tool tool = { .home = home, .directory = "" };
	int r = tool_confinement_own(binding, arena, own, err);
	if (r == 0 && policy_for_tool(arena, &tool, ret_policy) < 0)
		r = err_no_memory(err);
	if (r < 0)
		return r;
	ret_policy->limits = tool_binding_limits(binding);
	struct identities hide = { 0 };
	r = policy_widen(arena, home, &binding->widening, ret_policy, err);
	if (r == 0 && tool_confinement_look_up(arena, ret_policy->hide, &hide) < 0)
		r = err_no_memory(err);
	for (size_t i = 0; r == 0 && own[i]; i++)
		r = tool_confinement_check_hidden(binding, own[i], arena, ret_policy, &hide, err);
	const struct policy_widening visible = { .read = own };
	if (r == 0)
		r = policy_widen(arena, home, &visible, ret_policy, err);
	return r < 0 ? r : tool_confinement_protect(binding, arena, ret_policy, err);
}

/* ---- to remember it ---------------------------------------------------------- */

static void tool_confinement_add_list(struct buf *cause, const char *const *list)
{
	for (; list && *list; list++)
		buf_append(cause, *list, strlen(*list) + 1);
	buf_append_char(cause, '\0');
}

static void tool_confinement_add_widening(struct buf *cause, const struct policy_widening *widening)
{
	const unsigned words[] = { widening->is_off, widening->is_on, (unsigned)widening->net };
	const char *const allow_by[] = { widening->allow_by, NULL };
	buf_append(cause, words, sizeof(words));
	tool_confinement_add_list(cause, widening->read);
	tool_confinement_add_list(cause, widening->write);
	tool_confinement_add_list(cause, widening->env);
	tool_confinement_add_list(cause, widening->presets);
	tool_confinement_add_list(cause, widening->fixed);
	tool_confinement_add_list(cause, widening->granted);
	tool_confinement_add_list(cause, allow_by);
}

int tool_confinement_cause(const struct tool_binding *binding, struct buf *cause)
{
	const struct sandbox_limits limits = tool_binding_limits(binding);
	const char *const places[] = { binding->command, binding->directory, NULL };
	buf_append(cause, &limits, sizeof(limits));
	tool_confinement_add_list(cause, places);
	tool_confinement_add_widening(cause, &binding->widening);
	return policy_memory_add_surroundings(cause);
}

const char *const *tool_confinement_looked_up(
	const struct tool_binding *binding, struct arena *arena)
{
	struct path_list paths;
	const char *const *usual = policy_looked_up(arena, tool_confinement_home(), &binding->widening);
	path_list_begin(&paths, arena, usual);
	path_list_add(&paths, binding->command);
	return usual && !paths.failed ? paths.items : NULL;
}
