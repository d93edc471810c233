/* A policy made ready for the processes of one run: the layers, one after the
 * other, each built from what the ones before it have done. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "proc/cgroup.h"
#include "proc/room.h"
#include "sandbox/limits.h"
#include "sandbox/mounts.h"
#include "sandbox/path_list.h"
#include "sandbox/probe.h"
#include "sandbox/scratch.h"
#include "sandbox/seccomp.h"
#include "sandbox/view.h"

enum { LAYERS_MAX = 8 };

struct sandbox {
	struct perch_confine confine;
	struct confine_limit limits[LIMITS_MAX];
	struct sock_fprog filter;
	struct scratch scratch;
	struct layers layers;
	struct sandbox_policy policy; /* its lists are not ours: only while it is being made */
	struct arena arena;
	const char *tmp;
	char landlock_name[16];
	const char *names[LAYERS_MAX + 1];
	const char *const *warnings;
	struct property properties[PROPERTIES_MAX];
	size_t property_count;
	struct view view; /* while it is being made */
};

/* Where everybody keeps temporary files: replaced by an empty one, or hidden. */
static const char *const shared_tmp[] = { "/tmp", "/var/tmp", "/dev/shm" };

/* What programs expect of /dev. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
	"/dev/urandom", "/dev/tty" };

/* And what leads there, or to a process's own streams. */
static const char *const device_links[] = { "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
	NULL };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what is seen ------------------------------------------------------------ */

static int add_list(struct view *view, const char *const *list, enum access access, perch_err *err)
{
	int r = 0;
	for (; r == 0 && list && *list; list++)
		r = view_add(view, *list, access, err);
	return r;
}

/* Nothing to reveal is nothing wrong. */
static int add_revealed(struct view *view, const char *const *list, perch_err *err)
{
	int r = 0;
	for (; r == 0 && list && *list; list++) {
		if (access(*list, F_OK) == 0)
			r = view_add(view, *list, ACCESS_READ, err);
	}
	return r;
}

/* Whoever is root owns the disks, too: of the devices, only the harmless ones. */
static int add_devices(struct view *view, perch_err *err)
{
	int r = view_add(view, "/dev", ACCESS_NONE, err);
	for (size_t i = 0; r == 0 && i < COUNT(devices); i++) {
		if (access(devices[i], F_OK) == 0)
			r = view_add(view, devices[i], ACCESS_WRITE, err);
	}
	return r;
}

static int look(struct sandbox *sandbox, perch_err *err)
{
	struct view *view = &sandbox->view;
	const struct sandbox_policy *policy = &sandbox->policy;
	int r = policy->reads_everything ? view_add(view, "/", ACCESS_READ, err) : 0;
	if (r == 0)
		r = add_devices(view, err);
	for (size_t i = 0; r == 0 && policy->has_private_tmp && i < COUNT(shared_tmp); i++)
		r = view_add(view, shared_tmp[i], ACCESS_NONE, err);
	if (r == 0)
		r = add_list(view, policy->hide, ACCESS_NONE, err);
	if (r == 0)
		r = add_revealed(view, policy->reveal, err);
	if (r == 0)
		r = add_list(view, policy->read, ACCESS_READ, err);
	if (r == 0)
		r = add_list(view, policy->write, ACCESS_WRITE, err);
	view_sort(view);
	return r;
}

/* ---- L3: namespaces ---------------------------------------------------------- */

/* Those of the shared ones that the policy does not name itself. */
static const char *const *replaced_tmp(struct sandbox *sandbox)
{
	struct path_list list;
	path_list_begin(&list, &sandbox->arena, NULL);
	for (size_t i = 0; sandbox->policy.has_private_tmp && i < COUNT(shared_tmp); i++) {
		const char *path = view_resolve(&sandbox->view, shared_tmp[i]);
		const struct view_entry *entry = path ? view_find(&sandbox->view, path) : NULL;
		if (entry && entry->access == ACCESS_NONE && entry->fd >= 0)
			path_list_add(&list, path);
		list.failed |= !path;
	}
	return list.failed ? NULL : list.items;
}

static bool is_room_switched_off(void)
{
	const char *off = getenv("PERCH_SANDBOX_NO_ROOM");
	return off && off[0] && strcmp(off, "0") != 0;
}

/* What is mounted in the room alone has to be looked up there. */
static int look_into_room(struct sandbox *sandbox, const char *const *replaced, perch_err *err)
{
	struct view *view = &sandbox->view;
	int root = room_root(sandbox->confine.room);
	if (root < 0)
		return err_set(err, root, "the room cannot be looked into: %s", perch_strerror(root));
	view_forget_hidden(view);
	int r = 0;
	bool sees_proc = sandbox->policy.reads_everything || view_find(view, "/proc");
	if (sees_proc && sandbox->layers.has_own_proc)
		r = view_add_in(view, root, "/proc", ACCESS_READ, err);
	for (; r == 0 && *replaced; replaced++)
		r = view_add_in(view, root, *replaced, ACCESS_WRITE, err);
	view_sort(view);
	return r;
}

/* Without a room the rest goes on: what it would have enforced is warned about. */
static int move_into_room(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	struct layers *layers = &sandbox->layers;
	if (is_room_switched_off()) {
		snprintf(layers->no_room, sizeof(layers->no_room), "PERCH_SANDBOX_NO_ROOM is set");
		return 0;
	}
	const char *const *replaced = replaced_tmp(sandbox);
	struct mounts mounts = { 0 };
	int r = replaced
		? mounts_make(&sandbox->view, replaced, device_links, sandbox->policy.protect, &mounts)
		: -ENOMEM;
	if (r < 0)
		return err_no_memory(err);
	perch_err why = { 0 };
	r = room_open(host, mounts.items, mounts.count, &sandbox->confine.room, &why);
	free(mounts.items);
	if (r < 0) {
		snprintf(layers->no_room, sizeof(layers->no_room), "%.199s", why.text);
		return r == -ENOMEM ? err_no_memory(err) : 0;
	}
	layers->has_room = true;
	layers->has_own_proc = room_has_own_proc(sandbox->confine.room);
	layers->is_root_read_only = mounts_makes_read_only(&sandbox->view);
	if (replaced[0] && strcmp(replaced[0], "/tmp") == 0)
		sandbox->tmp = "/tmp";
	return look_into_room(sandbox, replaced, err);
}

static int make_scratch(struct sandbox *sandbox, perch_err *err)
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

static int make_ruleset(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	int abi = landlock_abi();
	if (!abi)
		return 0;
	_cleanup_fd_ int ruleset = landlock_ruleset(abi, sandbox->policy.net == SANDBOX_NET_FULL);
	if (ruleset < 0)
		return err_set(err, ruleset, "Landlock cannot be set up: %s", perch_strerror(ruleset));
	int r = view_allow(&sandbox->view, shelf_of(host), ruleset, abi, err);
	if (r < 0)
		return r;
	sandbox->layers.landlock = abi;
	sandbox->confine.landlock_fd = fd_steal(&ruleset);
	return 0;
}

/* ---- L2: seccomp ------------------------------------------------------------- */

/* Sockets of the file system: where they are granted, and where those that would
 * act for us are out of reach. */
static bool may_use_unix(const struct sandbox *sandbox)
{
	const struct layers *layers = &sandbox->layers;
	return sandbox->policy.has_unix_sockets || (layers->has_room && layers->landlock >= 6) ||
		layers->landlock >= 9;
}

static int make_filter(struct sandbox *sandbox, perch_err *err)
{
	struct layers *layers = &sandbox->layers;
	layers->allows_unix = may_use_unix(sandbox);
	/* Where nothing watches over modes and times of others' files, whoever asked
	 * to be strict does without changing any. */
	layers->allows_metadata = layers->is_root_read_only || !sandbox->policy.refuses_unsupported;
	if (!probe_seccomp() || !seccomp_is_known())
		return 0;
	const struct seccomp_needs needs = {
		.has_net = sandbox->policy.net == SANDBOX_NET_FULL,
		.has_unix = layers->allows_unix,
		.has_metadata = layers->allows_metadata,
	};
	struct bpf bpf;
	if (seccomp_filter(&needs, &bpf) < 0)
		return err_no_memory(err);
	sandbox->filter = (struct sock_fprog){ (unsigned short)bpf.count, bpf.code };
	sandbox->confine.filter = &sandbox->filter;
	layers->has_seccomp = true;
	return 0;
}

/* ---- L4: a cgroup -------------------------------------------------------------- */

/* Only for what is counted best there; without one, each process by itself. */
static int join_cgroup(struct sandbox *sandbox, perch_err *err)
{
	const struct cgroup_limits limits = {
		.memory = sandbox->policy.limits.memory,
		.processes = sandbox->policy.limits.processes,
	};
	if (!limits.memory && !limits.processes)
		return 0;
	struct cgroup *cgroup = NULL;
	int r = cgroup_open(&cgroup_kernel_tree, &limits, &cgroup, NULL);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		return 0;
	sandbox->confine.cgroup = cgroup;
	sandbox->layers.has_cgroup = true;
	sandbox->layers.counts_memory = cgroup_limits_memory(cgroup);
	sandbox->layers.counts_processes = cgroup_limits_processes(cgroup);
	return 0;
}

/* ---- L0 ---------------------------------------------------------------------- */

static void make_limits(struct sandbox *sandbox)
{
	const struct limits_elsewhere elsewhere = {
		.memory = sandbox->layers.counts_memory,
		.processes = sandbox->layers.counts_processes,
		.has_own_count = sandbox->layers.has_room,
	};
	sandbox->layers.has_own_count = limits_counts_processes(&elsewhere);
	sandbox->confine.limits = sandbox->limits;
	sandbox->confine.limit_count =
		limits_make(&sandbox->policy.limits, &elsewhere, sandbox->limits);
	sandbox->confine.no_new_privs = true;
	sandbox->confine.no_capabilities = true;
}

/* ---- telling ------------------------------------------------------------------ */

static void name_layers(struct sandbox *sandbox)
{
	const struct layers *layers = &sandbox->layers;
	size_t count = 0;
	sandbox->names[count++] = "privileges";
	if (sandbox->confine.limit_count > 1)
		sandbox->names[count++] = "limits";
	snprintf(
		sandbox->landlock_name, sizeof(sandbox->landlock_name), "landlock:%d", layers->landlock);
	if (layers->landlock)
		sandbox->names[count++] = sandbox->landlock_name;
	if (layers->has_seccomp)
		sandbox->names[count++] = "seccomp";
	if (layers->has_room)
		sandbox->names[count++] = "namespaces";
	if (layers->has_cgroup)
		sandbox->names[count++] = "cgroup";
}

static int refuse(const struct sandbox *sandbox, const struct property *property, perch_err *err)
{
	const char *no_room = sandbox->layers.no_room;
	return err_set(err, PERCH_ESANDBOX,
		"the sandbox cannot keep this promise here: %s (%s); %s%s%s", property->what,
		property->name, property->why, no_room[0] ? ": " : "", no_room);
}

/* Each property that is asked for and that nothing enforces: refused or told. */
static int judge(struct sandbox *sandbox, bool is_trial, perch_err *err)
{
	struct path_list warnings;
	path_list_begin(&warnings, &sandbox->arena, NULL);
	sandbox->property_count = report_make(&sandbox->policy, &sandbox->layers, sandbox->properties);
	for (size_t i = 0; i < sandbox->property_count; i++) {
		const struct property *property = &sandbox->properties[i];
		if (!property->is_asked || property->layer)
			continue;
		if (sandbox->policy.refuses_unsupported && !is_trial)
			return refuse(sandbox, property, err);
		_cleanup_free_ char *text =
			str_join("not enforced here: ", property->what, "; ", property->why, NULL);
		const char *kept = text ? arena_dup(&sandbox->arena, str_from(text)) : NULL;
		path_list_add(&warnings, kept ? kept : "");
		warnings.failed |= !kept;
	}
	if (warnings.failed)
		return err_no_memory(err);
	sandbox->warnings = warnings.count ? warnings.items : NULL;
	return 0;
}

/* ---- all of it ------------------------------------------------------------------ */

static int make(struct sandbox *sandbox, perch_host *host, bool is_trial, perch_err *err)
{
	int r = look(sandbox, err);
	if (r == 0)
		r = move_into_room(sandbox, host, err);
	if (r == 0)
		r = make_scratch(sandbox, err);
	if (r == 0)
		r = make_ruleset(sandbox, host, err);
	if (r == 0)
		r = make_filter(sandbox, err);
	if (r == 0)
		r = join_cgroup(sandbox, err);
	if (r < 0)
		return r;
	make_limits(sandbox);
	name_layers(sandbox);
	return judge(sandbox, is_trial, err);
}

static int open_sandbox(perch_host *host, const struct sandbox_policy *policy, bool is_trial,
	struct sandbox **ret_sandbox, perch_err *err)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	if (!sandbox)
		return err_no_memory(err);
	sandbox->policy = *policy;
	sandbox->confine.landlock_fd = -1;
	sandbox->scratch = (struct scratch){ .parent = -1, .lock = -1 };
	int r = make(sandbox, host, is_trial, err);
	view_free(&sandbox->view);
	if (r < 0) {
		sandbox_close(sandbox);
		return r;
	}
	*ret_sandbox = sandbox;
	return 0;
}

int sandbox_open(perch_host *host, const struct sandbox_policy *policy,
	struct sandbox **ret_sandbox, perch_err *err)
{
	return open_sandbox(host, policy, false, ret_sandbox, err);
}

int sandbox_try(perch_host *host, const struct sandbox_policy *policy, struct sandbox **ret_sandbox,
	perch_err *err)
{
	return open_sandbox(host, policy, true, ret_sandbox, err);
}

const struct perch_confine *sandbox_confine(const struct sandbox *sandbox)
{
	return sandbox ? &sandbox->confine : NULL;
}

const char *const *sandbox_layers(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->names : NULL;
}

const char *const *sandbox_warnings(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->warnings : NULL;
}

size_t sandbox_report(const struct sandbox *sandbox, struct property out[PROPERTIES_MAX])
{
	memcpy(out, sandbox->properties, sandbox->property_count * sizeof(*out));
	return sandbox->property_count;
}

const char *sandbox_no_room(const struct sandbox *sandbox)
{
	return sandbox->layers.no_room[0] ? sandbox->layers.no_room : NULL;
}

const char *sandbox_tmp(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->tmp : NULL;
}

void sandbox_close(struct sandbox *sandbox)
{
	if (!sandbox)
		return;
	room_close(sandbox->confine.room);
	cgroup_close(sandbox->confine.cgroup);
	scratch_close(&sandbox->scratch);
	fd_close(sandbox->confine.landlock_fd);
	free(sandbox->filter.filter);
	arena_free(&sandbox->arena);
	free(sandbox);
}
