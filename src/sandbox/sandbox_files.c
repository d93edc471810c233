/* What a sandbox makes of the file tree: a room with mounts of its own, where there
 * can be one, a private directory, Landlock's rules. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/test_switch.h"
#include "proc/room.h"
#include "sandbox/layers/mounts.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/reuse/dir_cache.h"
#include "sandbox/sandbox_parts.h"

const char *const sandbox_devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
	"/dev/urandom", "/dev/tty", NULL };

/* And the links there, to the process's own streams. */
static const char *const device_links[] = { "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
	NULL };

/* How often the paths of the mounts are looked up while another process renames them. */
enum { LOOKS_MAX = 16 };

/* ---- what is seen ------------------------------------------------------------ */

static int sandbox_files_add_list(
	struct view *view, const char *const *list, enum access access, perch_err *err)
{
	int r = 0;
	for (; r == 0 && list && *list; list++)
		r = view_add(view, *list, access, err);
	return r;
}

static int sandbox_files_add_allowed(struct sandbox *sandbox, const char *const *list,
	enum access access, struct named_hidden hidden, perch_err *err)
{
	int r = 0;
	for (; r == 0 && list && *list; list++)
		r = named_add(&sandbox->view, &sandbox->policy, hidden, *list, access, err);
	return r;
}

/* A path that does not exist need not be revealed. */
static int sandbox_files_add_revealed(
	struct sandbox *sandbox, struct named_hidden hidden, perch_err *err)
{
	const char *const *list = sandbox->policy.reveal;
	int r = 0;
	for (; r == 0 && list && *list; list++) {
		if (access(*list, F_OK) == 0)
			r = named_add(&sandbox->view, &sandbox->policy, hidden, *list, ACCESS_READ, err);
	}
	return r;
}

/* Root owns the disks, too: of the devices, only the harmless ones are seen. */
static int sandbox_files_add_devices(struct view *view, bool is_memory_limited, perch_err *err)
{
	int r = view_add(view, "/dev", ACCESS_NONE, err);
	for (const char *const *device = sandbox_devices; r == 0 && *device; device++) {
		/* Mapped by several processes, it is memory that no limit counts. */
		if (is_memory_limited && strcmp(*device, "/dev/zero") == 0)
			continue;
		if (access(*device, F_OK) == 0)
			r = view_add(view, *device, ACCESS_WRITE, err);
	}
	return r;
}

/* The private directories of other runs are there. */
static int sandbox_files_hide_scratch(struct view *view, perch_err *err)
{
	_cleanup_free_ char *parent = scratch_parent();
	return parent ? view_add(view, parent, ACCESS_NONE, err) : err_no_memory(err);
}

/* Looks up what the policy names. */
static int sandbox_files_look(struct sandbox *sandbox, perch_err *err)
{
	struct view *view = &sandbox->view;
	const struct sandbox_policy *policy = &sandbox->policy;
	int r = policy->reads_everything ? view_add(view, "/", ACCESS_READ, err) : 0;
	if (r == 0)
		r = sandbox_files_add_devices(view, policy->limits.memory > 0, err);
	if (r == 0 && policy->has_private_tmp)
		r = sandbox_files_add_list(view, policy_shared, ACCESS_NONE, err);
	if (r == 0 && policy->has_private_tmp)
		r = sandbox_files_hide_scratch(view, err);
	struct named_hidden hidden = { .first = view->count };
	if (r == 0)
		r = sandbox_files_add_list(view, policy->hide, ACCESS_NONE, err);
	hidden.end = view->count;
	if (r == 0)
		r = sandbox_files_add_revealed(sandbox, hidden, err);
	if (r == 0)
		r = sandbox_files_add_allowed(sandbox, policy->read, ACCESS_READ, hidden, err);
	if (r == 0)
		r = sandbox_files_add_allowed(sandbox, policy->write, ACCESS_WRITE, hidden, err);
	view_sort(view);
	return r < 0 ? r : named_check(view, policy, err);
}

/* Whether a room sees nothing of the shared temporary directories. */
static bool sandbox_files_is_tmp_sealed(const struct sandbox *sandbox)
{
	bool is_sealed = sandbox->policy.has_private_tmp;
	for (size_t i = 0; i < sandbox->view.count; i++) {
		const struct view_entry *entry = &sandbox->view.entries[i];
		is_sealed &= entry->access == ACCESS_NONE || !policy_is_shared(entry->path);
	}
	return is_sealed;
}

static void sandbox_files_add_ways(
	struct path_record *path_record, const char *const *list, bool is_tmp_sealed)
{
	for (; list && *list; list++) {
		if (is_tmp_sealed && policy_is_shared(*list))
			path_record_add_plain(path_record, *list);
		else
			path_record_add(path_record, *list);
	}
}

void sandbox_add_ways(const struct sandbox *sandbox, struct path_record *path_record)
{
	const struct sandbox_policy *policy = &sandbox->policy;
	const bool is_sealed = sandbox_files_is_tmp_sealed(sandbox);
	_cleanup_free_ char *parent = scratch_parent();
	const char *const scratch[] = { parent, NULL };
	path_record->failed |= !parent;
	sandbox_files_add_ways(path_record, sandbox_devices, false);
	sandbox_files_add_ways(path_record, policy_shared, false);
	sandbox_files_add_ways(path_record, scratch, is_sealed);
	sandbox_files_add_ways(path_record, policy->hide, is_sealed);
	sandbox_files_add_ways(path_record, policy->reveal, false);
	sandbox_files_add_ways(path_record, policy->read, false);
	sandbox_files_add_ways(path_record, policy->write, false);
}

/* ---- L3: namespaces ---------------------------------------------------------- */

/* Those of the shared directories that the policy does not name itself. */
static const char *const *sandbox_files_replaced_tmp(struct sandbox *sandbox)
{
	struct path_list list;
	path_list_begin(&list, &sandbox->arena, NULL);
	for (size_t i = 0; sandbox->policy.has_private_tmp && policy_shared[i]; i++) {
		const char *path = view_resolve(&sandbox->view, policy_shared[i]);
		const struct view_entry *entry = path ? view_find(&sandbox->view, path) : NULL;
		if (entry && entry->access == ACCESS_NONE && entry->fd >= 0)
			path_list_add(&list, path);
		list.failed |= !path;
	}
	return list.failed ? NULL : list.items;
}

static bool sandbox_files_is_hidden(const struct view *view, const char *path)
{
	for (size_t i = view->count; i-- > 0;) {
		if (view_is_inside(path, view->entries[i].path))
			return view->entries[i].access == ACCESS_NONE;
	}
	return false;
}

/* Adds the path (its holder resolved) if it is a link inside something hidden. */
static void sandbox_files_add_hidden_link(
	struct path_list *links, struct view *view, const char *path)
{
	if (!file_is_link(path))
		return;
	const char *resolved = view_resolve_link(view, path);
	links->failed |= !resolved;
	if (resolved && !list_has(links->items, resolved) && sandbox_files_is_hidden(view, resolved))
		path_list_add(links, resolved);
}

/* A view holds what paths lead to. Where the path itself is a link inside something hidden, as that
 * of a plugin which is developed in place, the link must be found there, too. */
static const char *const *sandbox_files_links_to_keep(struct sandbox *sandbox)
{
	const struct sandbox_policy *policy = &sandbox->policy;
	const char *const *const lists[] = { policy->reveal, policy->read, policy->write };
	struct path_list links;
	path_list_begin(&links, &sandbox->arena, device_links);
	for (size_t i = 0; i < COUNT(lists); i++) {
		for (const char *const *path = lists[i]; path && *path && !links.failed; path++)
			sandbox_files_add_hidden_link(&links, &sandbox->view, *path);
	}
	return links.failed ? NULL : links.items;
}

bool sandbox_has_room_off(void)
{
	const char *off = TEST_SWITCH("PERCH_SANDBOX_NO_ROOM");
	return off && off[0] && strcmp(off, "0") != 0;
}

bool sandbox_has_stream_to_keep(const struct sandbox *sandbox)
{
	return sandbox->policy.leaves_terminal && isatty(STDERR_FILENO);
}

int sandbox_look_into(struct sandbox *sandbox, const struct room *room, perch_err *err)
{
	struct view *view = &sandbox->view;
	const char *const *replaced = sandbox->finding.replaced;
	int root = room_root(room);
	if (root < 0)
		return err_set(err, root, "the room cannot be looked into: %s", perch_strerror(root));
	view_forget_hidden(view);
	int r = sandbox_has_stream_to_keep(sandbox) ? view_add(view, "/dev", ACCESS_NONE, err) : 0;
	if (r < 0)
		return r;
	bool sees_proc = sandbox->policy.reads_everything || view_find(view, "/proc");
	if (sees_proc && room_has_own_proc(room))
		r = view_add_in(view, root, "/proc", ACCESS_READ, err);
	for (; r == 0 && *replaced; replaced++)
		r = view_add_in(view, root, *replaced, ACCESS_WRITE, err);
	view_sort(view);
	return r;
}

static bool sandbox_files_has_new_tmp(const char *const *replaced)
{
	return replaced[0] && strcmp(replaced[0], "/tmp") == 0;
}

/* Where /tmp is named, another directory takes its place, which has to be there before the room
 * is. */
static int sandbox_files_find(struct sandbox *sandbox, perch_err *err)
{
	struct finding *finding = &sandbox->finding;
	finding->has_looked = true;
	int r = sandbox_files_look(sandbox, err);
	if (r < 0)
		return r;
	finding->replaced = sandbox_files_replaced_tmp(sandbox);
	if (finding->replaced && !sandbox_files_has_new_tmp(finding->replaced))
		r = sandbox_make_tmp(sandbox, err);
	if (r < 0)
		return r;
	view_sort(&sandbox->view);
	const char *const *links = sandbox_files_links_to_keep(sandbox);
	r = finding->replaced && links ? mounts_make(&sandbox->view, finding->replaced, links,
										 sandbox->policy.protect, &finding->mounts)
								   : -ENOMEM;
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? err_set(err, r, "what the sandbox is to protect cannot be looked up: %s",
					   perch_strerror(r))
				 : 0;
}

/* A path has changed while it was looked up: all of them are looked up again. */
static void sandbox_files_forget_look(struct sandbox *sandbox)
{
	view_free(&sandbox->view);
	free(sandbox->finding.mounts.items);
	sandbox->finding = (struct finding){ 0 };
	buf_clear(&sandbox->reuse.fingerprint);
	scratch_close(&sandbox->scratch);
	sandbox->tmp = NULL;
}

/* Called while a room is being opened; the mounts may have been found before, by
 * sandbox_look_first. */
static int sandbox_files_find_mounts(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	struct sandbox *sandbox = data;
	struct finding *finding = &sandbox->finding;
	if (!finding->has_looked)
		finding->refused = sandbox_files_find(sandbox, err);
	*ret_mounts = finding->mounts.items;
	*ret_count = finding->mounts.count;
	return finding->refused;
}

static int sandbox_files_use_room(
	struct sandbox *sandbox, const char *const *replaced, perch_err *err)
{
	struct layers *layers = &sandbox->layers;
	layers->has_room = true;
	layers->has_own_proc = room_has_own_proc(sandbox->confine.room);
	layers->is_root_read_only = mounts_makes_read_only(&sandbox->view);
	if (sandbox_files_has_new_tmp(replaced))
		sandbox->tmp = "/tmp";
	return sandbox->is_ruled_ahead ? 0 : sandbox_look_into(sandbox, sandbox->confine.room, err);
}

/* A missing room is told; a path that cannot be looked up is an error. */
static int sandbox_files_open_room(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	const struct finding *finding = &sandbox->finding;
	struct room_wish wish = {
		.early = sandbox_early(sandbox),
		.find = sandbox_files_find_mounts,
		.meanwhile = sandbox_make_ahead,
		.furnished = sandbox_finish_ahead,
		.data = sandbox,
	};
	wish.is_usual = sandbox->policy.has_private_tmp || wish.early;
	perch_err why = { 0 };
	int r = -ESTALE;
	for (int looks = 0; r == -ESTALE && looks < LOOKS_MAX; looks++) {
		if (looks) {
			sandbox_files_forget_look(sandbox);
			wish.early = NULL;
		}
		why = (perch_err){ 0 };
		r = room_open_with(host, &wish, &sandbox->confine.room, &why);
		if (r < 0)
			sandbox_forget_ahead(sandbox);
	}
	if (r == 0)
		return sandbox_files_use_room(sandbox, finding->replaced, err);
	/* A process that keeps renaming paths must not lead to a run without a room. */
	if (finding->refused < 0 || r == -ENOMEM || r == -ESTALE)
		return err_set(err, r == -ESTALE ? PERCH_ESANDBOX : r, "%s", why.text);
	snprintf(sandbox->layers.no_room, sizeof(sandbox->layers.no_room), "%.199s", why.text);
	return finding->has_looked ? 0 : sandbox_files_look(sandbox, err);
}

int sandbox_look_first(struct sandbox *sandbox, perch_err *err)
{
	int r = sandbox_has_room_off() ? 0 : sandbox_files_find(sandbox, err);
	if (r != -ESTALE)
		return r;
	sandbox_files_forget_look(sandbox);
	return 0;
}

int sandbox_look(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	if (!sandbox_has_room_off())
		return sandbox_files_open_room(sandbox, host, err);
	char *why = sandbox->layers.no_room;
	snprintf(why, sizeof(sandbox->layers.no_room), "they are switched off for a test");
	return sandbox_files_look(sandbox, err);
}

int sandbox_make_tmp(struct sandbox *sandbox, perch_err *err)
{
	if (!sandbox->policy.has_private_tmp || sandbox->tmp)
		return 0;
	int r = scratch_open(&sandbox->scratch, err);
	if (r == 0)
		r = view_add(&sandbox->view, sandbox->scratch.path, ACCESS_WRITE, err);
	sandbox->tmp = sandbox->scratch.path;
	return r;
}

/* ---- L1: Landlock ------------------------------------------------------------ */

int sandbox_make_ruleset(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	int abi = landlock_abi();
	if (!abi)
		return 0;
	_cleanup_fd_ int ruleset = landlock_ruleset(abi, sandbox->policy.net == SANDBOX_NET_FULL);
	if (ruleset < 0)
		return err_set(err, ruleset, "Landlock cannot be set up: %s", perch_strerror(ruleset));
	int r = view_allow(&sandbox->view, dir_cache_of(host), ruleset, abi, err);
	/* Hidden directories are covered by empty ones, and files in them are not read: listing does no
	 * harm. */
	if (r == 0 && sandbox->layers.has_room && sandbox_has_stream_to_keep(sandbox) &&
		sandbox->policy.reads_everything)
		r = landlock_allow_listing(ruleset, abi, room_root(sandbox->confine.room));
	if (r < 0)
		return r;
	sandbox->layers.landlock = abi;
	sandbox->confine.landlock_fd = fd_steal(&ruleset);
	return 0;
}
