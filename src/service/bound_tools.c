/* The bindings that jobs use. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/stamp.h"
#include "service/bound_tools.h"

static void bound_free(struct bound_tools *tools, struct bound_tool *bound)
{
	tool_pool_forget(tools->pool, &bound->binding);
	arena_free(&bound->arena);
	free(bound);
}

static void bound_unlink(struct bound_tools *tools, struct bound_tool *bound)
{
	struct bound_tool **link = &tools->first;
	while (*link != bound)
		link = &(*link)->next;
	*link = bound->next;
}

/* Grants may change as the binding may. A missing file has a stamp, too. */
static struct stat bound_stamp_grants(void)
{
	struct stat stamp;
	_cleanup_free_ char *path = NULL;
	bool is_there =
		paths_user(PATH_CONFIG, "perch/grants.toml", &path, NULL) == 0 && stat(path, &stamp) == 0;
	return is_there ? stamp : (struct stat){ 0 };
}

/* Reads a binding and keeps its spares ready from now on. */
static int bound_read(const char *path, const char *name, struct bound_tool *bound, perch_err *err)
{
	bound->grants_stamp = bound_stamp_grants();
	if (stat(path, &bound->stamp) < 0)
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	perch_err inner = { 0 };
	int r = tool_binding_read(path, &bound->arena, &bound->binding, err);
	if (r < 0)
		return r;
	r = tool_binding_check(&bound->binding, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	bound->name = arena_dup(&bound->arena, str_from(name ? name : bound->binding.name));
	if (!bound->name)
		return err_no_memory(err);
	if (!bound->is_given)
		return tool_binding_grant(name, &bound->arena, &bound->binding, err);
	r = tool_binding_trust(&bound->arena, &bound->binding, err);
	bound->grants_stamp = bound_stamp_grants(); /* it may have written there */
	return r;
}

static int bound_add(struct bound_tools *tools, const char *path, const char *name, bool is_given,
	struct bound_tool **ret_bound, perch_err *err)
{
	struct bound_tool *bound = calloc(1, sizeof(*bound));
	if (!bound)
		return err_no_memory(err);
	bound->is_given = is_given;
	int r = bound_read(path, name, bound, err);
	bool has_spares = bound->binding.spares && !tools->has_no_spares;
	if (r == 0 && has_spares && tool_pool_keep(tools->pool, &bound->binding) < 0)
		r = err_no_memory(err);
	if (r < 0) {
		bound_free(tools, bound);
		return r;
	}
	bound->next = tools->first;
	tools->first = bound;
	*ret_bound = bound;
	return 0;
}

static struct bound_tool *bound_find(const struct bound_tools *tools, const char *name)
{
	struct bound_tool *bound = tools->first;
	while (bound && (bound->is_stale || strcmp(bound->name, name) != 0))
		bound = bound->next;
	return bound;
}

int bound_tools_add(struct bound_tools *tools, const char *path, perch_err *err)
{
	struct bound_tool *bound;
	int r = bound_add(tools, path, NULL, true, &bound, err);
	if (r < 0)
		return r;
	bound->is_stale = true; /* not to be found while its name is looked for */
	bool is_double = bound_find(tools, bound->name);
	bound->is_stale = false;
	return is_double ? err_set(err, -EEXIST, "two bindings are for the plugin %s", bound->name) : 0;
}

static bool bound_is_unchanged(const struct bound_tool *bound)
{
	struct stat now;
	const struct stat grants = bound_stamp_grants();
	return stat(bound->binding.path, &now) == 0 && stamp_is_unchanged(&now, &bound->stamp) &&
		stamp_is_unchanged(&grants, &bound->grants_stamp);
}

/* No new job gets it; it is freed with the last job that uses it. */
static void bound_retire(struct bound_tools *tools, struct bound_tool *bound)
{
	bound->is_stale = true;
	if (bound->users)
		return;
	bound_unlink(tools, bound);
	bound_free(tools, bound);
}

/* The file changed, or was never read. */
static int bound_read_again(struct bound_tools *tools, struct bound_tool *old, const char *name,
	struct bound_tool **ret_bound, perch_err *err)
{
	struct arena arena = { 0 };
	struct tool_binding unused;
	const char *path = NULL;
	bool is_given = old && old->is_given;
	int r = 0;
	if (is_given)
		path = arena_dup(&arena, str_from(old->binding.path));
	else
		r = tool_binding_path(name, &arena, &path, err);
	if (r == 0 && !path)
		r = err_no_memory(err);
	if (old)
		bound_retire(tools, old);
	if (r == 0)
		r = bound_add(tools, path, name, is_given, ret_bound, err);
	if (r == -ENOENT && !is_given)
		r = tool_binding_find(name, &arena, &unused, err); /* with a suggestion */
	arena_free(&arena);
	return r;
}

int bound_tools_use(
	struct bound_tools *tools, const char *name, struct bound_tool **ret_bound, perch_err *err)
{
	struct bound_tool *bound = bound_find(tools, name);
	if (!bound || !bound_is_unchanged(bound)) {
		int r = bound_read_again(tools, bound, name, &bound, err);
		if (r < 0)
			return r;
	}
	bound->users++;
	*ret_bound = bound;
	return 0;
}

int bound_tools_use_file(
	struct bound_tools *tools, const char *path, struct bound_tool **ret_bound, perch_err *err)
{
	struct bound_tool *bound = bound_find(tools, path);
	if (bound && !bound_is_unchanged(bound))
		bound_retire(tools, bound), bound = NULL;
	int r = bound ? 0 : bound_add(tools, path, path, true, &bound, err);
	if (r < 0)
		return r;
	bound->users++;
	*ret_bound = bound;
	return 0;
}

void bound_tools_leave(struct bound_tools *tools, struct bound_tool *bound)
{
	bound->users--;
	if (bound->is_stale)
		bound_retire(tools, bound);
}

void bound_tools_free(struct bound_tools *tools)
{
	while (tools->first) {
		struct bound_tool *bound = tools->first;
		tools->first = bound->next;
		bound_free(tools, bound);
	}
}
