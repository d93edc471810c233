/* What a sandboxed process may do, as data: the defaults. */
#include "sandbox/policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "sandbox/policy/hidden_paths.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/way.h"
#include "sandbox/git/work_tree.h"

#define MIB (UINT64_C(1024) * 1024)

const char *const policy_system_directories[] = {
	"/bin",
	"/etc",
	"/gnu/store",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/nix/store",
	"/opt",
	"/proc",
	"/run/current-system",
	"/run/systemd/resolve",
	"/sbin",
	"/sys",
	"/usr",
	"/var/lib/dpkg/alternatives",
	NULL,
};

static const struct sandbox_limits tool_limits = {
	.memory = 1024 * MIB,
	.files = 256,
	.size = 256 * MIB,
	.cpu = 60,
};

struct sandbox_limits policy_tool_limits(const struct sandbox_limits *given)
{
	return (struct sandbox_limits){
		.memory = given->memory ? given->memory : tool_limits.memory,
		.processes = given->processes ? given->processes : tool_limits.processes,
		.files = given->files ? given->files : tool_limits.files,
		.size = given->size ? given->size : tool_limits.size,
		.cpu = given->cpu ? given->cpu : tool_limits.cpu,
	};
}

bool policy_is_inside(const char *path, const char *directory)
{
	size_t len = strlen(directory);
	if (!len || strncmp(path, directory, len) != 0)
		return false;
	return directory[len - 1] == '/' || path[len] == '/' || path[len] == '\0';
}

bool policy_is_inside_any(const char *path, const char *const *directories)
{
	for (; directories && *directories; directories++) {
		if (policy_is_inside(path, *directories))
			return true;
	}
	return false;
}

bool policy_leads_into(
	struct arena *arena, const char *path, const char *const *directories, bool *ret_leads)
{
	struct places places = { .arena = arena };
	for (; directories && *directories; directories++)
		places_add(&places, *directories, true);
	*ret_leads = places_relate(&places, path).is_inside;
	bool is_known = !places.failed;
	places_free(&places);
	return is_known;
}

/* ---- plugins ------------------------------------------------------------- */

/* The lists of a plugin's policy while they are built. */
struct lists {
	struct path_list hide;
	struct path_list reveal;
	struct path_list write;
	struct path_list protect;
	struct path_list fixed;
};

static bool policy_has_failed(const struct lists *lists)
{
	return lists->hide.failed || lists->reveal.failed || lists->write.failed ||
		lists->protect.failed || lists->fixed.failed;
}

static void policy_add_hidden(struct path_list *hide, const struct policy_plugin *plugin)
{
	hidden_paths_add(hide, plugin->home);
	path_list_add(hide, plugin->config);
	path_list_add(hide, plugin->own_config);
	path_list_add(hide, plugin->own_state);
	path_list_add(hide, plugin->own_cache);
}

const char *const policy_shared[] = { "/tmp", "/var/tmp", "/dev/shm", NULL };

bool policy_is_shared(const char *path)
{
	return policy_is_inside_any(path, policy_shared);
}

const char *policy_find_hidden_program(
	struct arena *arena, const struct sandbox_policy *policy, const char *path)
{
	char program[PATH_MAX];
	bool is_hidden = path && way_resolve(path, program) && policy_is_shared(program) &&
		!policy_is_inside_any(program, policy->write);
	return is_hidden ? arena_dup(arena, str_from(program)) : NULL;
}

/* The places that a project must neither hold nor lie in. */
struct hidden_places {
	struct places usual; /* a directory that holds one of these or lies in one is not written */
	/* Moved by the user (by a variable, say), perhaps into a project: a directory that lies in one
	 * of these is not written, but one that holds it is. */
	struct places moved;
};

/* Where a path leads; where it leads nowhere, the path itself. */
static const char *policy_resolve(const struct hidden_places *hidden, const char *path)
{
	struct way way;
	bool exists = way_find(&way, path, NULL) == 0;
	const char *resolved =
		exists || way.path[0] ? arena_dup(hidden->usual.arena, str_from(way.path)) : path;
	way_leave(&way);
	return resolved ? resolved : path;
}

/* Hidden places that do not exist are not in `hidden`: a directory that would hold one is
 * recognized by its name. */
static struct places_relation policy_relate(
	const struct policy_plugin *plugin, const struct hidden_places *hidden, const char *path)
{
	struct places_relation relation = places_relate(&hidden->usual, path);
	relation.is_inside = relation.is_inside || places_relate(&hidden->moved, path).is_inside;
	if (!relation.holds && plugin->home[0])
		relation.holds =
			hidden_paths_lie_in(policy_resolve(hidden, path), policy_resolve(hidden, plugin->home));
	return relation;
}

/* A user in a sub-directory works in the whole work tree, and git in the directories behind it. */
static void policy_add_work_tree(
	struct lists *lists, const struct policy_plugin *plugin, const struct hidden_places *hidden)
{
	const char *places[WORK_TREE_PLACES + 1];
	if (work_tree_places(lists->write.arena, plugin->project, places) < 0) {
		lists->write.failed = true;
		return;
	}
	for (const char *const *place = places; *place; place++) {
		struct places_relation relation = policy_relate(plugin, hidden, *place);
		bool is_allowed =
			!relation.holds && !relation.is_inside && !list_has(policy_shared, *place);
		if (!is_allowed && place == places)
			return;
		if (is_allowed && !policy_is_inside_any(*place, lists->write.items)) {
			path_list_add(&lists->write, *place);
			path_list_add(&lists->reveal, *place);
			path_list_add(&lists->fixed, *place);
		}
	}
}

/* The variable by which this directory is a place for secrets; NULL = it is one without. */
static const char *policy_hidden_by(struct path_list *scratch, const struct policy_plugin *plugin)
{
	for (size_t i = 0; i < hidden_table_count && !scratch->failed; i++) {
		struct path_list moved;
		bool is_inside = false;
		path_list_begin(&moved, scratch->arena, NULL);
		const char *variable = hidden_paths_add_moved_by(&moved, plugin->home, i);
		scratch->failed |= moved.failed ||
			!policy_leads_into(scratch->arena, plugin->project, moved.items, &is_inside);
		if (variable && is_inside)
			return variable;
	}
	return NULL;
}

/* When users work in a hidden directory, they see nothing of it in the sandbox: they are told why.
 */
static const char *policy_note_hidden(struct lists *lists, const struct policy_plugin *plugin)
{
	const char *variable = policy_hidden_by(&lists->hide, plugin);
	const char *note = arena_join(lists->hide.arena,
		"this directory is hidden in the sandbox, because it is, or lies in, a place for secrets",
		variable ? ", as " : "", variable ? variable : "", variable ? " says" : "", NULL);
	lists->hide.failed |= !note;
	return note;
}

/* A directory that is the home directory, or holds or lies in a hidden place, is not written: else
 * a plugin could write files that other programs trust. Resolved paths are compared, not spellings.
 * Returns the note for the user where it is not written. */
static const char *policy_add_project_beside(
	struct lists *lists, const struct policy_plugin *plugin, const struct hidden_places *hidden)
{
	struct places_relation relation = policy_relate(plugin, hidden, plugin->project);
	if (relation.is_inside)
		return policy_note_hidden(lists, plugin);
	path_list_add(&lists->reveal, plugin->project);
	path_list_add(&lists->fixed, plugin->project);
	if (!plugin->may_write_project)
		return NULL;
	if (relation.holds)
		return "this directory is not writable in the sandbox, because it is, or holds, your home "
			   "directory or a place for secrets";
	path_list_add(&lists->write, plugin->project);
	policy_add_work_tree(lists, plugin, hidden);
	return NULL;
}

static const char *policy_add_project(
	struct lists *lists, const struct policy_plugin *plugin, const char *const *moved)
{
	struct arena *arena = lists->hide.arena;
	struct hidden_places hidden = { { .arena = arena }, { .arena = arena } };
	if (lists->hide.failed || !plugin->project[0])
		return NULL;
	if (plugin->home[0])
		places_add(&hidden.usual, plugin->home, false);
	for (const char *const *path = lists->hide.items; *path; path++)
		places_add(&hidden.usual, *path, true);
	for (; *moved; moved++)
		places_add(&hidden.moved, *moved, true);
	lists->write.failed |= hidden.usual.failed || hidden.moved.failed;
	const char *note = policy_add_project_beside(lists, plugin, &hidden);
	places_free(&hidden.usual);
	places_free(&hidden.moved);
	return note;
}

/* A developer who works on a plugin in place, by a link to it, changes it on purpose: then none of
 * its files is protected. */
static void policy_add_directory(struct lists *lists, const struct policy_plugin *plugin)
{
	path_list_add(&lists->reveal, plugin->directory);
	path_list_add_below(&lists->reveal, plugin->config, "plugins/bin");
	if (plugin->may_write_directory)
		path_list_add(&lists->write, plugin->directory);
	if (file_is_link(plugin->directory))
		return;
	path_list_add_below(&lists->protect, plugin->directory, "plugin.toml");
	for (const char *const *binary = plugin->binaries; binary && *binary; binary++)
		path_list_add_below(&lists->protect, plugin->directory, *binary);
}

/* "" where there is no such directory: then it is not hidden. NULL without memory. */
static const char *policy_user_path(struct arena *arena, enum path_kind kind, const char *below)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(kind, below, &path, NULL);
	if (r < 0)
		return r == -ENOMEM ? NULL : "";
	return arena_dup(arena, str_from(path));
}

struct policy_plugin policy_plugin_of(struct arena *arena, const char *home)
{
	return (struct policy_plugin){
		.home = home ? home : "",
		.config = policy_user_path(arena, PATH_CONFIG, "fledge"),
		.own_config = policy_user_path(arena, PATH_CONFIG, "perch"),
		.own_state = policy_user_path(arena, PATH_STATE, "perch"),
		.own_cache = policy_user_path(arena, PATH_CACHE, "perch"),
		.project = "",
		.directory = "",
	};
}

int policy_for_plugin(
	struct arena *arena, const struct policy_plugin *plugin, struct sandbox_policy *ret_policy)
{
	static const char *const nothing[] = { NULL };
	struct lists lists;
	if (!plugin->config || !plugin->own_config || !plugin->own_state || !plugin->own_cache)
		return -ENOMEM;
	path_list_begin(&lists.hide, arena, NULL);
	path_list_begin(&lists.reveal, arena, NULL);
	path_list_begin(&lists.write, arena, NULL);
	path_list_begin(&lists.protect, arena, NULL);
	path_list_begin(&lists.fixed, arena, NULL);
	policy_add_hidden(&lists.hide, plugin);
	struct path_list moved;
	path_list_begin(&moved, arena, NULL);
	hidden_paths_add_moved(&moved, plugin->home);
	if (moved.failed)
		return -ENOMEM;
	const char *note = policy_add_project(&lists, plugin, moved.items);
	for (const char *const *path = moved.items; *path; path++)
		path_list_add(&lists.hide, *path);
	hidden_sockets_add(&lists.hide);
	policy_add_directory(&lists, plugin);
	if (policy_has_failed(&lists))
		return -ENOMEM;
	*ret_policy = (struct sandbox_policy){
		.reads_everything = true,
		.read = nothing,
		.write = lists.write.items,
		.hide = lists.hide.items,
		.reveal = lists.reveal.items,
		.protect = lists.protect.items,
		.net = SANDBOX_NET_FULL,
		.has_private_tmp = true,
		.named = lists.fixed.items,
		.fixed = lists.fixed.items,
		.note = note,
		.withheld = note ? plugin->project : NULL,
	};
	return 0;
}

/* ---- tools --------------------------------------------------------------- */

bool policy_is_system(const char *path)
{
	return policy_is_inside_any(path, policy_system_directories);
}

int policy_for_tool(
	struct arena *arena, const struct policy_tool *tool, struct sandbox_policy *ret_policy)
{
	struct path_list read;
	struct path_list hide;
	path_list_begin(&read, arena, NULL);
	path_list_begin(&hide, arena, NULL);
	for (const char *const *path = policy_system_directories; *path; path++) {
		if (access(*path, F_OK) == 0)
			path_list_add(&read, *path);
	}
	path_list_add(&read, tool->directory);
	hidden_paths_add(&hide, tool->home);
	hidden_paths_add_moved(&hide, tool->home);
	hidden_sockets_add(&hide);
	/* A tool may lie in the home directory, and must not see perch's own files there. */
	const char *const own[] = {
		policy_user_path(arena, PATH_CONFIG, "perch"),
		policy_user_path(arena, PATH_STATE, "perch"),
	};
	for (size_t i = 0; i < COUNT(own); i++) {
		hide.failed |= !own[i];
		path_list_add(&hide, own[i] ? own[i] : "");
	}
	if (read.failed || hide.failed)
		return -ENOMEM;
	*ret_policy = (struct sandbox_policy){
		.read = read.items,
		.hide = hide.items,
		.net = SANDBOX_NET_NONE,
		.has_private_tmp = true,
		.limits = tool_limits,
		.refuses_unsupported = true,
		.may_be_used_again = true,
	};
	return 0;
}
