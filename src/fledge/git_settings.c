/* What we want from the config of a repository and of its user: the first remote, how refs
 * are stored, which filters `git status` would want to run, whether the root is trusted.
 *
 * The remote is read from the repository's own config alone: no included files,
 * no insteadOf, nothing of the user's. Filters are also looked for in every file
 * that is included, whatever the condition. One that is missed does not run, since git starts
 * no program (sandbox/git/own_git.h); but git may fail over it, if the config requires it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/regular.h"
#include "fledge/git_parts.h"
#include "perch/base.h"

enum {
	CONFIG_MAX = 2 * 1024 * 1024,
	FILTERS_MAX = 64,
	INCLUDES_MAX = 16,
	INCLUDE_DEPTH_MAX = 10, /* as in git */
};

struct collector {
	struct arena *arena;
	struct git_settings settings;
	const char *filters[FILTERS_MAX + 1];
	size_t filter_count;
	size_t include_count;
	unsigned depth;    /* of includes; 0 = the repository's own file */
	const char *path;  /* of the file that is read */
	const char *root;  /* that safe.directory may name */
	bool is_users;     /* not the repository's */
	bool is_worktrees; /* config.worktree */
	bool is_conditional;
	bool has_worktree_config;
};

/* "remote.origin.url": the subsection between the first dot and the last, and
 * the key behind it. False without a subsection. */
static bool git_settings_split_name(
	struct str name, const char *section, struct str *ret_sub, struct str *ret_key)
{
	size_t section_len = strlen(section);
	const char *last = memrchr(name.data, '.', name.len);
	if (name.len <= section_len || name.data[section_len] != '.' ||
		memcmp(name.data, section, section_len) != 0 || last == name.data + section_len)
		return false;
	const char *sub = name.data + section_len + 1;
	*ret_sub = (struct str){ sub, (size_t)(last - sub) };
	*ret_key = (struct str){ last + 1, (size_t)(name.data + name.len - last - 1) };
	return true;
}

/* `git remote` lists every name that has a variable, but for those that could be
 * paths; `git remote get-url` answers with the first url. An empty url takes
 * back those before it. */
static int git_settings_take_remote(
	struct collector *c, struct str name, struct str key, struct str value)
{
	struct git_settings *settings = &c->settings;
	if (c->depth > 0 || c->is_users || name.len == 0 || name.data[0] == '/')
		return 0;
	int order = settings->remote ? str_compare(name, str_from(settings->remote)) : -1;
	if (order > 0)
		return 0;
	if (order < 0) {
		settings->remote_url = NULL;
		settings->remote = arena_dup(c->arena, name);
		if (!settings->remote)
			return -ENOMEM;
	}
	if (!str_is(key, "url"))
		return 0;
	if (value.len == 0)
		settings->remote_url = NULL;
	if (value.len == 0 || settings->remote_url)
		return 0;
	settings->remote_url = git_url_clean(value, c->arena);
	return settings->remote_url ? 0 : -ENOMEM;
}

/* A name with '=' in it cannot be said in `-c name=value`. */
static int git_settings_take_filter(struct collector *c, struct str name)
{
	for (size_t i = 0; i < c->filter_count; i++)
		if (str_is(name, c->filters[i]))
			return 0;
	if (c->filter_count == FILTERS_MAX || name.len == 0 || memchr(name.data, '=', name.len)) {
		c->settings.may_run_code = true;
		return 0;
	}
	const char *kept = arena_dup(c->arena, name);
	if (!kept)
		return -ENOMEM;
	c->filters[c->filter_count++] = kept;
	return 0;
}

static int git_settings_read_config(struct collector *c, const char *path, bool is_included);

/* The path of an included file; NULL in *ret_path when it cannot be known. */
static int git_settings_included_path(struct collector *c, struct str value, const char **ret_path)
{
	const char *slash = strrchr(c->path, '/');
	const char *base = arena_dup(c->arena, (struct str){ c->path, (size_t)(slash - c->path) });
	if (!base)
		return -ENOMEM;
	*ret_path = NULL;
	if (value.len == 0 || value.data[0] == '%')
		return 0;
	if (value.data[0] == '~') {
		base = getenv("HOME");
		if (!base || value.len < 2 || value.data[1] != '/')
			return 0;
		value = (struct str){ value.data + 2, value.len - 2 };
	}
	*ret_path = git_path_resolve(base, value, c->arena);
	return *ret_path ? 0 : -ENOMEM;
}

static int git_settings_take_include(
	struct collector *c, const struct git_variable *variable, bool is_conditional)
{
	const char *path = NULL;
	bool is_allowed =
		c->depth < INCLUDE_DEPTH_MAX && c->include_count < INCLUDES_MAX && !variable->is_doubtful;
	int r = is_allowed ? git_settings_included_path(c, variable->value, &path) : 0;
	if (r < 0)
		return r;
	if (!path) {
		c->settings.may_run_code = true;
		return 0;
	}
	c->include_count++;
	const char *outer = c->path;
	bool was_conditional = c->is_conditional;
	c->is_conditional |= is_conditional;
	r = git_settings_read_config(c, path, true);
	c->is_conditional = was_conditional;
	c->path = outer;
	return r;
}

/* A number is true too, and so is a name alone. */
static bool git_settings_is_false(const struct git_variable *variable)
{
	static const char *const words[] = { "false", "no", "off", "0", "" };
	for (size_t i = 0; i < COUNT(words); i++)
		if (variable->value.len == strlen(words[i]) &&
			strncasecmp(variable->value.data, words[i], variable->value.len) == 0)
			return variable->has_value;
	return false;
}

/* The last value counts, and an empty one takes back those before it. */
static void git_settings_take_trust(struct collector *c, struct str value)
{
	struct str root = str_from(c->root);
	bool is_below = value.len > 2 && str_has_suffix(value, STR("/*")) &&
		str_has_prefix(root, (struct str){ value.data, value.len - 1 });
	if (value.len == 0)
		c->settings.is_trusted = false;
	else if (str_is(value, "*") || str_eq(value, root) || is_below)
		c->settings.is_trusted = true;
}

/* How the repository is stored is said by its own file alone, never by an included one. */
static void git_settings_take_extension(struct collector *c, const struct git_variable *variable)
{
	if (str_is(variable->name, "extensions.refstorage"))
		c->settings.has_reftable = str_has_prefix(variable->value, STR("reftable"));
	if (str_is(variable->name, "extensions.worktreeconfig"))
		c->has_worktree_config = !git_settings_is_false(variable);
}

static int git_settings_take_variable(void *data, const struct git_variable *variable)
{
	struct collector *c = data;
	struct str sub;
	struct str key;
	if (git_settings_split_name(variable->name, "remote", &sub, &key))
		return git_settings_take_remote(c, sub, key, variable->value);
	if (git_settings_split_name(variable->name, "filter", &sub, &key))
		return git_settings_take_filter(c, sub);
	if (str_is(variable->name, "include.path"))
		return git_settings_take_include(c, variable, false);
	if (git_settings_split_name(variable->name, "includeif", &sub, &key) && str_is(key, "path"))
		return git_settings_take_include(c, variable, true);
	if (c->is_users && !c->is_conditional && str_is(variable->name, "safe.directory"))
		git_settings_take_trust(c, variable->value);
	if (!c->is_users && c->depth == 0 && !c->is_worktrees)
		git_settings_take_extension(c, variable);
	return 0;
}

/* A missing file says nothing; one that cannot be read to its end may say anything, and its remotes
 * do not count. */
static int git_settings_read_config(struct collector *c, const char *path, bool is_included)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = regular_read(AT_FDCWD, path, 0, CONFIG_MAX, &text);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r == 0) {
		c->path = path;
		c->depth += is_included;
		r = git_config_read((struct str){ text.data, text.len }, git_settings_take_variable, c);
		c->depth -= is_included;
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		c->settings.may_run_code = true;
		c->settings.remote = NULL;
		c->settings.remote_url = NULL;
	}
	return 0;
}

static int git_settings_read_users(struct collector *c)
{
	const char *const *files = git_user_files(c->arena);
	int r = files ? 0 : -ENOMEM;
	c->is_users = true;
	for (; r == 0 && *files; files++)
		r = git_settings_read_config(c, *files, false);
	c->is_users = false;
	return r;
}

static int git_settings_read_all(struct collector *c, const struct git_place *place)
{
	int r = git_settings_read_users(c);
	if (r < 0)
		return r;
	const char *path = git_path_resolve(place->common_directory, STR("config"), c->arena);
	r = path ? git_settings_read_config(c, path, false) : -ENOMEM;
	if (r < 0 || !c->has_worktree_config)
		return r;
	path = git_path_resolve(place->git_directory, STR("config.worktree"), c->arena);
	c->is_worktrees = true;
	return path ? git_settings_read_config(c, path, false) : -ENOMEM;
}

int git_settings_read(
	const struct git_place *place, struct arena *arena, struct git_settings *ret_settings)
{
	struct collector collector = { .arena = arena, .root = place->root };
	int r = git_settings_read_all(&collector, place);
	if (r < 0)
		return r;
	size_t size = (collector.filter_count + 1) * sizeof(*collector.filters);
	const char **filters = arena_alloc(arena, size);
	if (!filters)
		return -ENOMEM;
	memcpy(filters, collector.filters, size);
	collector.settings.filters = filters;
	*ret_settings = collector.settings;
	return 0;
}
