/* Where our own cgroup is. */
#include "proc/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/str.h"

enum { TABLE_MAX = 1024 * 1024 };

/* Blanks, tabs, line ends and backslashes are written as \ooo there. */
static char *cgroup_find_unescape(struct str text)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	for (size_t i = 0; i < text.len; i++) {
		const char *at = text.data + i;
		bool is_escape = *at == '\\' && text.len - i > 3;
		buf_append_char(
			&out, is_escape ? (char)((at[1] & 3) << 6 | (at[2] & 7) << 3 | (at[3] & 7)) : *at);
		i += is_escape ? 3 : 0;
	}
	return buf_steal(&out);
}

/* "0::/path": the line of version 2. */
static struct str cgroup_find_membership(struct str table)
{
	while (table.len) {
		struct str line = str_cut(&table, '\n');
		if (str_has_prefix(line, STR("0::/")))
			return (struct str){ line.data + 3, line.len - 3 };
	}
	return (struct str){ 0 };
}

struct mount {
	struct str root;
	struct str point;
};

/* "36 35 98:0 /root /point options … - cgroup2 …" */
static bool cgroup_find_parse_mount(struct str line, struct mount *ret_mount)
{
	static const struct str mark = { " - cgroup2 ", 11 };
	if (!memmem(line.data, line.len, mark.data, mark.len))
		return false;
	for (int i = 0; i < 3; i++)
		str_cut(&line, ' ');
	ret_mount->root = str_cut(&line, ' ');
	ret_mount->point = str_cut(&line, ' ');
	return ret_mount->point.len > 0;
}

static bool cgroup_find_is_below(struct str path, struct str root)
{
	if (str_is(root, "/"))
		return true;
	return str_has_prefix(path, root) && (path.len == root.len || path.data[root.len] == '/');
}

/* Joins the mount and the membership: a mount may show only a part of the tree. */
static int cgroup_find_join(
	const struct mount *mount, struct str member, struct cgroup_place *ret_place)
{
	size_t skipped = str_is(mount->root, "/") ? 0 : mount->root.len;
	_cleanup_free_ char *point = cgroup_find_unescape(mount->point);
	_cleanup_free_ char *rest =
		str_dup((struct str){ member.data + skipped, member.len - skipped });
	if (!point || !rest)
		return -ENOMEM;
	bool is_top = !rest[0] || strcmp(rest, "/") == 0;
	ret_place->directory = str_join(point, is_top ? "" : rest, NULL);
	ret_place->is_top = is_top;
	return ret_place->directory ? 0 : -ENOMEM;
}

static int cgroup_find_locate(struct str table, struct str member, struct cgroup_place *ret_place)
{
	struct mount mount;
	while (table.len) {
		if (cgroup_find_parse_mount(str_cut(&table, '\n'), &mount) &&
			cgroup_find_is_below(member, mount.root))
			return cgroup_find_join(&mount, member, ret_place);
	}
	return -ENOENT;
}

/* "4:memory,pids:/path": of version 1. A controller that is used there is not to be had in
 * version 2. */
static bool cgroup_find_is_of_first_version(struct str table, const char *controller)
{
	while (table.len) {
		struct str line = str_cut(&table, '\n');
		str_cut(&line, ':');
		struct str names = str_cut(&line, ':');
		while (names.len) {
			if (str_is(str_cut(&names, ','), controller))
				return true;
		}
	}
	return false;
}

static bool cgroup_find_lacks_all(struct str table, const struct cgroup_limits *limits)
{
	return (!limits->memory || cgroup_find_is_of_first_version(table, "memory")) &&
		(!limits->processes || cgroup_find_is_of_first_version(table, "pids"));
}

/* The top of the whole tree, and a process in the first namespace of cgroups. */
static bool cgroup_find_shows_all(const char *point)
{
	enum { TOP = 1 };
	const ino_t first_namespace = 0xEFFFFFFB; /* the kernel's PROC_CGROUP_INIT_INO */
	struct statfs filesystem;
	struct stat top;
	struct stat namespace;
	return point && statfs(point, &filesystem) == 0 && filesystem.f_type == CGROUP2_SUPER_MAGIC &&
		stat(point, &top) == 0 && top.st_ino == TOP &&
		stat("/proc/self/ns/cgroup", &namespace) == 0 && namespace.st_ino == first_namespace;
}

static int cgroup_find_by_mounts(const struct cgroup_tree *tree, struct str member,
	struct cgroup_place *ret_place, perch_err *err)
{
	_cleanup_(buf_free) struct buf mounts = { 0 };
	int r = file_read(tree->mountinfo, TABLE_MAX, &mounts, err);
	if (r < 0)
		return r == -ENOMEM ? r : PERCH_ESANDBOX;
	r = cgroup_find_locate((struct str){ mounts.data, mounts.len }, member, ret_place);
	if (r == -ENOENT)
		return err_set(err, PERCH_ESANDBOX, "no file system of cgroups of version 2 is mounted");
	return r < 0 ? err_no_memory(err) : 0;
}

int cgroup_find(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
	struct cgroup_place *ret_place, perch_err *err)
{
	_cleanup_(buf_free) struct buf memberships = { 0 };
	int r = file_read(tree->membership, TABLE_MAX, &memberships, err);
	if (r < 0)
		return r == -ENOMEM ? r : PERCH_ESANDBOX;
	const struct str table = { memberships.data, memberships.len };
	if (limits->or_none && cgroup_find_lacks_all(table, limits))
		return err_set(err, -ENOTSUP, "a cgroup of version 2 could limit nothing");
	struct str member = cgroup_find_membership(table);
	/* In a cgroup namespace, a cgroup outside begins with "/..". */
	if (!member.len || str_has_prefix(member, STR("/..")))
		return err_set(err, PERCH_ESANDBOX, "this process is in no cgroup of version 2");
	if (!cgroup_find_shows_all(tree->usual_point))
		return cgroup_find_by_mounts(tree, member, ret_place, err);
	const struct mount usual = { STR("/"), str_from(tree->usual_point) };
	r = cgroup_find_join(&usual, member, ret_place);
	return r < 0 ? err_no_memory(err) : 0;
}
