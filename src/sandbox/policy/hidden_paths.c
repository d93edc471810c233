/* Where the secrets of this user are: the table, for each home, and for what variables say. */
#include "sandbox/policy/hidden_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/paths.h"
#include "sandbox/policy/policy.h"

/* Root owns these: it can read them even without a capability. */
static const char *const system_secrets[] = {
	"/etc/shadow",
	"/etc/gshadow",
	"/etc/ssh/ssh_host_rsa_key",
	"/etc/ssh/ssh_host_ecdsa_key",
	"/etc/ssh/ssh_host_ed25519_key",
	"/etc/ssl/private",
};

/* Directories of a home that have a variable each, and many places. */
static const struct hidden_base {
	const char *directory;
	const char *variable;
} hidden_bases[] = {
	{ ".config/", "XDG_CONFIG_HOME" },
	{ ".local/share/", "XDG_DATA_HOME" },
	{ ".local/state/", "XDG_STATE_HOME" },
	{ ".cache/", "XDG_CACHE_HOME" },
};

/* The part of the place that is below the base; NULL = it is not below it. */
static const char *hidden_below(const char *place, const struct hidden_base *base)
{
	size_t len = strlen(base->directory);
	return place && strncmp(place, base->directory, len) == 0 ? place + len : NULL;
}

/* ---- homes ----------------------------------------------------------------------- */

/* Adds those places of the table that are below the base and may be there. */
static void hidden_add_base(
	struct path_list *hide, const struct hidden_base *base, const char *directory)
{
	struct hidden_names names;
	hidden_names_read(&names, directory, false);
	for (size_t i = 0; i < hidden_table_count; i++) {
		const char *below = hidden_below(hidden_table[i].place, base);
		if (below && hidden_names_may_have(&names, below))
			path_list_add_below(hide, directory, below);
	}
	hidden_names_free(&names);
}

/* The first base is worth a listing of its own. */
static void hidden_add_home(struct path_list *hide, const char *home)
{
	struct hidden_names names;
	if (!home[0])
		return;
	hidden_names_read(&names, home, true);
	const struct hidden_base *config = &hidden_bases[0];
	for (size_t i = 0; i < hidden_table_count; i++) {
		const char *place = hidden_table[i].place;
		if (place && !hidden_below(place, config) && hidden_names_may_have(&names, place))
			path_list_add_below(hide, home, place);
	}
	if (hidden_names_may_have(&names, config->directory)) {
		const char *directory = arena_join(hide->arena, home, "/.config", NULL);
		if (directory)
			hidden_add_base(hide, config, directory);
		hide->failed |= !directory;
	}
	hidden_names_free(&names);
}

/* The user's home directory by the password file, which may differ from HOME. */
static void hidden_add_account(struct path_list *hide, const char *home)
{
	char directory[PATH_MAX];
	if (!paths_account_home(directory) || strcmp(directory, home) == 0)
		return;
	if (directory[1] && access(directory, F_OK) == 0)
		hidden_add_home(hide, directory);
}

/* ---- where variables have moved them ------------------------------------------------ */

/* A relative path starts in our directory, as for the program that reads the variable. */
static const char *hidden_absolute(
	struct path_list *paths, struct str value, enum hidden_which which)
{
	char here[PATH_MAX] = "";
	const char *path = arena_dup(paths->arena, value);
	if (path && path[0] != '/' && which == HIDDEN_EXISTING)
		path = getcwd(here, sizeof(here)) ? arena_join(paths->arena, here, "/", path, NULL) : "";
	paths->failed |= !path;
	return path ? path : "";
}

/* HISTFILE=/dev/null, KUBECONFIG=/dev/fd/63. */
static bool hidden_is_device(const char *path)
{
	return policy_is_inside(path, "/dev") || policy_is_inside(path, "/proc");
}

/* A value that would hide everything is no place for a secret. */
static bool hidden_is_too_much(const char *path, const char *home)
{
	return !path[strspn(path, "/")] || policy_is_inside(home, path);
}

/* Without namespaces a path is hidden by allowing its siblings one by one: for a path that does not
 * exist that would only make the siblings hard to reach. */
static bool hidden_is_there(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

static void hidden_add_value(struct path_list *paths, const struct hidden_path *row,
	struct str value, const char *home, enum hidden_which which)
{
	const char *path = value.len ? hidden_absolute(paths, value, which) : "";
	if (!path[0] || hidden_is_device(path))
		return;
	const char *whole = row->below ? arena_join(paths->arena, path, "/", row->below, NULL) : path;
	paths->failed |= !whole;
	if (whole && (row->below || !hidden_is_too_much(path, home)) &&
		(which == HIDDEN_ALL || hidden_is_there(whole)))
		path_list_add(paths, whole);
}

static void hidden_add_moved(struct path_list *paths, const struct hidden_path *row,
	const char *home, enum hidden_which which)
{
	const char *text = row->variable ? getenv(row->variable) : NULL;
	struct str rest = str_from(text ? text : "");
	while (rest.len) {
		struct str value = row->is_list ? str_cut(&rest, ':') : rest;
		rest = row->is_list ? rest : (struct str){ 0 };
		hidden_add_value(paths, row, value, home, which);
	}
}

/* The variable's directory; NULL where it is unset, or names the usual place. */
static const char *hidden_moved_base(const struct hidden_base *base, const char *home)
{
	const char *moved = getenv(base->variable);
	char usual[PATH_MAX];
	if (!moved || moved[0] != '/')
		return NULL;
	int len = snprintf(usual, sizeof(usual), "%s/%s", home, base->directory);
	bool is_usual = home[0] && len > 0 && (size_t)len < sizeof(usual) &&
		strncmp(moved, usual, (size_t)len - 1) == 0 && !moved[len - 1];
	return is_usual ? NULL : moved;
}

/* ---- all of it --------------------------------------------------------------------- */

void hidden_paths_add(struct path_list *hide, const char *home)
{
	hidden_add_home(hide, home);
	hidden_add_account(hide, home);
	for (size_t i = 0; geteuid() == 0 && i < COUNT(system_secrets); i++)
		path_list_add(hide, system_secrets[i]);
}

void hidden_paths_add_moved(struct path_list *hide, const char *home)
{
	for (size_t i = 0; i < COUNT(hidden_bases); i++) {
		const char *moved = hidden_moved_base(&hidden_bases[i], home);
		if (moved)
			hidden_add_base(hide, &hidden_bases[i], moved);
	}
	for (size_t i = 0; i < hidden_table_count; i++)
		hidden_add_moved(hide, &hidden_table[i], home, HIDDEN_EXISTING);
}

const char *hidden_paths_add_moved_by(struct path_list *paths, const char *home, size_t i)
{
	hidden_add_moved(paths, &hidden_table[i], home, HIDDEN_EXISTING);
	return hidden_table[i].variable;
}

bool hidden_paths_lie_in(const char *directory, const char *home)
{
	size_t len = strlen(home);
	if (!len || !policy_is_inside(directory, home))
		return len && policy_is_inside(home, directory);
	const char *below = directory + len + strspn(directory + len, "/");
	size_t below_len = strlen(below);
	while (below_len && below[below_len - 1] == '/')
		below_len--;
	for (size_t i = 0; i < hidden_table_count; i++) {
		const char *place = hidden_table[i].place;
		if (place && strncmp(place, below, below_len) == 0 &&
			(!below_len || place[below_len] == '/' || !place[below_len]))
			return true;
	}
	return false;
}

static void hidden_show(struct path_list *read, const struct hidden_path *row, const char *home,
	enum hidden_which which)
{
	if (row->place)
		path_list_add_below(read, home, row->place);
	for (size_t i = 0; i < COUNT(hidden_bases); i++) {
		const char *below = hidden_below(row->place, &hidden_bases[i]);
		const char *moved = below ? hidden_moved_base(&hidden_bases[i], home) : NULL;
		if (moved)
			path_list_add_below(read, moved, below);
	}
	hidden_add_moved(read, row, home, which);
}

void hidden_paths_of_preset(
	struct path_list *read, const char *home, const char *preset, enum hidden_which which)
{
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		if (row->preset && strcmp(row->preset, preset) == 0)
			hidden_show(read, row, home, which);
	}
}

static void hidden_add_every_place(struct path_list *paths, const char *home)
{
	for (size_t i = 0; i < hidden_table_count; i++)
		path_list_add_below(paths, home, hidden_table[i].place ? hidden_table[i].place : "");
}

void hidden_paths_add_looked_up(struct path_list *paths, const char *home)
{
	char account[PATH_MAX];
	hidden_add_every_place(paths, home);
	if (paths_account_home(account) && strcmp(account, home) != 0)
		hidden_add_every_place(paths, account);
	for (size_t i = 0; i < COUNT(hidden_bases); i++) {
		const char *moved = hidden_moved_base(&hidden_bases[i], "");
		path_list_add(paths, moved ? moved : "");
	}
	for (size_t i = 0; i < hidden_table_count; i++)
		hidden_show(paths, &hidden_table[i], "", HIDDEN_ALL);
}

bool hidden_paths_need_variable(const char *preset, struct str variable)
{
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		if (row->variable && row->preset && str_is(variable, row->variable) &&
			strcmp(row->preset, preset) == 0)
			return true;
	}
	return false;
}
