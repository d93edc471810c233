/* Paths that a user allows by name. A name means what it meant when it was written down, not what a
 * link makes of it now: a process that writes in a project may put a link there. */
#include "sandbox/sandbox_parts.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "sandbox/policy/way.h"

/* Whether a path, as it is spelled, is in a directory. */
static bool named_is_below(const char *path, const char *directory)
{
	char clean_path[PATH_MAX];
	char clean_directory[PATH_MAX];
	return way_clean(path, clean_path) == 0 && way_clean(directory, clean_directory) == 0 &&
		view_is_inside(clean_path, clean_directory);
}

static bool named_is_below_any(const char *path, const char *const *directories)
{
	for (; directories && *directories; directories++) {
		if (named_is_below(path, *directories))
			return true;
	}
	return false;
}

static int named_refuse_hidden(const char *path, const char *target, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char hidden[FILE_SHOWN_MAX];
	return err_set(err, -ELOOP,
		"'%s' is a way to '%s', which is hidden: to allow it, name that path itself",
		file_shown(path, shown), file_shown(target, hidden));
}

static int named_refuse_changed(const struct sandbox_policy *policy, const char *path,
	const char *link, enum access access, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char at[FILE_SHOWN_MAX];
	file_shown(path, shown);
	file_shown(link, at);
	if (!list_has(policy->granted, path))
		return err_set(err, -ELOOP,
			"'%s' is not what it was: '%s' is a link by now, and is not followed; name what it "
			"leads to",
			shown, at);
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	shell_word(path, word);
	shell_advice(advice, policy->allow_by[0] ? word : "", ". To allow what it leads to: %s --%s %s",
		policy->allow_by, access == ACCESS_WRITE ? "write" : "read", word);
	return err_set_advised(err, -ELOOP, advice,
		"'%s' is not what was allowed: '%s' is a link by now, and is not followed", shown, at);
}

/* The entry that was added last, by way of links. */
static int named_check_added(const struct view *view, const struct sandbox_policy *policy,
	struct named_hidden hidden, const char *path, perch_err *err)
{
	const char *target = view->entries[view->count - 1].path;
	bool is_hidden = false;
	bool is_named = named_is_below_any(path, policy->hide);
	for (size_t i = hidden.first; i < hidden.end; i++) {
		is_hidden |= view_is_inside(target, view->entries[i].path);
		is_named |= named_is_below(path, view->entries[i].path);
	}
	return is_hidden && !is_named ? named_refuse_hidden(path, target, err) : 0;
}

int named_add(struct view *view, const struct sandbox_policy *policy, struct named_hidden hidden,
	const char *path, enum access access, perch_err *err)
{
	size_t before = view->link_count;
	int r = view_add(view, path, access, err);
	if (r < 0 || view->link_count == before || !list_has(policy->named, path))
		return r;
	if (list_has(policy->granted, path) || list_has(policy->fixed, path))
		return named_refuse_changed(policy, path, view->links[before].path, access, err);
	return named_check_added(view, policy, hidden, path, err);
}

static bool named_is_writable(const struct view *view, const char *path)
{
	for (size_t i = view->count; i-- > 0;) {
		if (view_is_inside(path, view->entries[i].path))
			return view->entries[i].access == ACCESS_WRITE;
	}
	return false;
}

int named_check(const struct view *view, const struct sandbox_policy *policy, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char at[FILE_SHOWN_MAX];
	for (size_t i = 0; i < view->link_count; i++) {
		const struct view_link *link = &view->links[i];
		if (link->access == ACCESS_NONE || !list_has(policy->named, link->given) ||
			!named_is_writable(view, link->path))
			continue;
		return err_set(err, -ELOOP,
			"'%s' goes by the link '%s', which lies where the sandbox may write, and is not "
			"followed: name what it leads to",
			file_shown(link->given, shown), file_shown(link->path, at));
	}
	return 0;
}

int policy_check_named(const char *path, const char *const *hide, perch_err *err)
{
	struct way way;
	struct way hidden;
	bool is_hidden = false;
	bool is_named = named_is_below_any(path, hide);
	int r = way_find(&way, path, NULL);
	for (; r == 0 && hide && *hide; hide++) {
		bool is_there = way_find(&hidden, *hide, NULL) == 0;
		is_hidden |= is_there && view_is_inside(way.path, hidden.path);
		is_named |= is_there && named_is_below(path, hidden.path);
		way_leave(&hidden);
	}
	way_leave(&way);
	return is_hidden && !is_named ? named_refuse_hidden(path, way.path, err) : 0;
}
