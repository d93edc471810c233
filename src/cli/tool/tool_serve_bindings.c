/* The bindings that `perch tool serve` uses. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/stamp.h"
#include "cli/tool/tool_serve.h"

static void tool_serve_bindings_free_served(struct serve_bindings *bindings, struct served *served)
{
	tool_pool_forget(bindings->pool, &served->binding);
	arena_free(&served->arena);
	free(served);
}

static void tool_serve_bindings_unlink_served(
	struct serve_bindings *bindings, struct served *served)
{
	struct served **link = &bindings->first;
	while (*link != served)
		link = &(*link)->next;
	*link = served->next;
}

/* What was allowed changes as the binding does. No file is a stamp, too. */
static struct stat tool_serve_bindings_stamp_grants(void)
{
	struct stat stamp;
	_cleanup_free_ char *path = NULL;
	bool is_there =
		paths_user(PATH_CONFIG, "perch/grants.toml", &path, NULL) == 0 && stat(path, &stamp) == 0;
	return is_there ? stamp : (struct stat){ 0 };
}

/* Reads a binding and keeps its spares ready from now on. */
static int tool_serve_bindings_read_served(
	const char *path, const char *name, struct served *served, perch_err *err)
{
	served->grants_stamp = tool_serve_bindings_stamp_grants();
	if (stat(path, &served->stamp) < 0)
		return err_set(err, -errno, "%s: %s", path, perch_strerror(-errno));
	perch_err inner = { 0 };
	int r = tool_binding_read(path, &served->arena, &served->binding, err);
	if (r < 0)
		return r;
	r = tool_binding_check(&served->binding, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	served->name = arena_dup(&served->arena, str_from(name ? name : served->binding.name));
	if (!served->name)
		return err_no_memory(err);
	if (!served->is_given)
		return tool_binding_grant(name, &served->arena, &served->binding, err);
	r = tool_binding_trust(&served->arena, &served->binding, err);
	served->grants_stamp = tool_serve_bindings_stamp_grants(); /* it may have written there */
	return r;
}

static int tool_serve_bindings_add(struct serve_bindings *bindings, const char *path,
	const char *name, bool is_given, struct served **ret_served, perch_err *err)
{
	struct served *served = calloc(1, sizeof(*served));
	if (!served)
		return err_no_memory(err);
	served->is_given = is_given;
	int r = tool_serve_bindings_read_served(path, name, served, err);
	if (r == 0 && served->binding.spares && tool_pool_keep(bindings->pool, &served->binding) < 0)
		r = err_no_memory(err);
	if (r < 0) {
		tool_serve_bindings_free_served(bindings, served);
		return r;
	}
	served->next = bindings->first;
	bindings->first = served;
	*ret_served = served;
	return 0;
}

static struct served *tool_serve_bindings_find(
	const struct serve_bindings *bindings, const char *name)
{
	struct served *served = bindings->first;
	while (served && (served->is_stale || strcmp(served->name, name) != 0))
		served = served->next;
	return served;
}

int serve_bindings_add(struct serve_bindings *bindings, const char *path, perch_err *err)
{
	struct served *served;
	int r = tool_serve_bindings_add(bindings, path, NULL, true, &served, err);
	if (r < 0)
		return r;
	served->is_stale = true; /* not to be found while its name is looked for */
	bool is_double = tool_serve_bindings_find(bindings, served->name);
	served->is_stale = false;
	return is_double ? err_set(err, -EEXIST, "two bindings are for the plugin %s", served->name)
					 : 0;
}

static bool tool_serve_bindings_is_unchanged(const struct served *served)
{
	struct stat now;
	const struct stat grants = tool_serve_bindings_stamp_grants();
	return stat(served->binding.path, &now) == 0 && stamp_is_unchanged(&now, &served->stamp) &&
		stamp_is_unchanged(&grants, &served->grants_stamp);
}

/* Nobody new gets it; with its last user it goes. */
static void tool_serve_bindings_retire(struct serve_bindings *bindings, struct served *served)
{
	served->is_stale = true;
	if (served->users)
		return;
	tool_serve_bindings_unlink_served(bindings, served);
	tool_serve_bindings_free_served(bindings, served);
}

/* The file changed, or was never read. */
static int tool_serve_bindings_read_again(struct serve_bindings *bindings, struct served *old,
	const char *name, struct served **ret_served, perch_err *err)
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
		tool_serve_bindings_retire(bindings, old);
	if (r == 0)
		r = tool_serve_bindings_add(bindings, path, name, is_given, ret_served, err);
	if (r == -ENOENT && !is_given)
		r = tool_binding_find(name, &arena, &unused, err); /* with a suggestion */
	arena_free(&arena);
	return r;
}

int serve_bindings_use(
	struct serve_bindings *bindings, const char *name, struct served **ret_served, perch_err *err)
{
	struct served *served = tool_serve_bindings_find(bindings, name);
	if (!served || !tool_serve_bindings_is_unchanged(served)) {
		int r = tool_serve_bindings_read_again(bindings, served, name, &served, err);
		if (r < 0)
			return r;
	}
	served->users++;
	*ret_served = served;
	return 0;
}

void serve_bindings_leave(struct serve_bindings *bindings, struct served *served)
{
	served->users--;
	if (served->is_stale)
		tool_serve_bindings_retire(bindings, served);
}

void serve_bindings_free(struct serve_bindings *bindings)
{
	while (bindings->first) {
		struct served *served = bindings->first;
		bindings->first = served->next;
		tool_serve_bindings_free_served(bindings, served);
	}
}
