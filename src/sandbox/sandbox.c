/* A policy made ready for the processes of one run: the layers, one after the
 * other, each built from what the ones before it have done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "proc/cgroup.h"
#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/reuse/reuse_pool.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/layers/probe.h"
#include "sandbox/sandbox_parts.h"
#include "sandbox/layers/seccomp.h"

/* ---- L2: seccomp ------------------------------------------------------------- */

/* Sockets of the file system are allowed where they are granted, and where sockets of programs that
 * would act for the user are out of reach. A room hides the known ones; a sandbox that sees only
 * some of the files must not reach the others either, which Landlock enforces from version 9 on. */
static bool sandbox_may_use_unix(const struct sandbox *sandbox)
{
	const struct layers *layers = &sandbox->layers;
	const struct sandbox_policy *policy = &sandbox->policy;
	bool is_room_enough = layers->has_room && layers->landlock >= 6 && policy->reads_everything;
	if (policy->is_alone)
		return false;
	return policy->has_unix_sockets || is_room_enough || layers->landlock >= 9;
}

/* A room that is used again has a doorkeeper, who bears its children for the host. */
static int sandbox_make_seal(struct sandbox *sandbox, perch_err *err)
{
	struct bpf bpf;
	if (seccomp_seal(&bpf) < 0)
		return err_no_memory(err);
	sandbox->seal = (struct sock_fprog){ (unsigned short)bpf.count, bpf.code };
	sandbox->confine.seal = &sandbox->seal;
	return 0;
}

static int sandbox_make_filter(struct sandbox *sandbox, perch_err *err)
{
	struct layers *layers = &sandbox->layers;
	layers->allows_unix = sandbox_may_use_unix(sandbox);
	/* Where nothing protects modes and times of other files, a strict policy allows no change of
	 * any. */
	const struct sandbox_policy *policy = &sandbox->policy;
	layers->allows_metadata =
		layers->is_root_read_only || !(policy->refuses_unsupported || policy->is_alone);
	if (!probe_seccomp() || !seccomp_is_known())
		return 0;
	const bool has_memory = !sandbox->policy.limits.memory || layers->counts_memory;
	const struct seccomp_needs needs = {
		.has_net = sandbox->policy.net == SANDBOX_NET_FULL,
		.has_unix = layers->allows_unix,
		/* A room has its own. */
		.has_ipc = layers->has_room && !sandbox->policy.may_be_used_again && has_memory,
		.has_terminal = !sandbox->policy.leaves_terminal,
		.has_memory = has_memory,
		.has_metadata = layers->allows_metadata,
		.is_alone = sandbox->policy.is_alone,
		.is_sealed = layers->has_room && sandbox_may_be_reused(sandbox),
	};
	struct bpf bpf;
	if (seccomp_filter(&needs, &bpf) < 0)
		return err_no_memory(err);
	sandbox->filter = (struct sock_fprog){ (unsigned short)bpf.count, bpf.code };
	sandbox->confine.filter = &sandbox->filter;
	layers->has_seccomp = true;
	return needs.is_sealed ? sandbox_make_seal(sandbox, err) : 0;
}

/* ---- L4: a cgroup -------------------------------------------------------------- */

/* A room ends every process in it: then a cgroup is of use only if it limits something. */
static bool sandbox_is_of_use(const struct host_cgroups *cgroups,
	const struct cgroup_limits *limits, const struct layers *layers)
{
	bool lacks_all = (!limits->memory || cgroups->lack_memory) &&
		(!limits->processes || cgroups->lack_processes);
	bool is_asked = limits->memory || limits->processes;
	return is_asked && !cgroups->is_none && !(layers->has_room && lacks_all);
}

/* Only for limits that a cgroup counts best; without one, each process is limited by itself. */
static int sandbox_join_cgroup(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	struct host_cgroups *known = &host->cgroups;
	struct layers *layers = &sandbox->layers;
	const struct cgroup_limits limits = {
		.memory = sandbox->policy.limits.memory,
		.processes = sandbox->policy.limits.processes,
		.or_none = layers->has_room,
	};
	if (!sandbox_is_of_use(known, &limits, layers))
		return 0;
	struct cgroup *cgroup = NULL;
	int r = cgroup_open(&cgroup_kernel_tree, &limits, &cgroup, NULL);
	if (r == -ENOMEM)
		return err_no_memory(err);
	known->is_none = r < 0 && r != -ENOTSUP;
	known->lack_memory |= limits.memory && r == -ENOTSUP;
	known->lack_processes |= limits.processes && r == -ENOTSUP;
	if (r < 0)
		return 0;
	layers->counts_memory = cgroup_limits_memory(cgroup);
	layers->counts_processes = cgroup_limits_processes(cgroup);
	known->lack_memory |= limits.memory && !layers->counts_memory;
	known->lack_processes |= limits.processes && !layers->counts_processes;
	layers->has_cgroup = sandbox_is_of_use(known, &limits, layers);
	if (layers->has_cgroup)
		sandbox->confine.cgroup = cgroup;
	else
		cgroup_close(cgroup);
	return 0;
}

/* ---- L0 ---------------------------------------------------------------------- */

static void sandbox_make_limits(struct sandbox *sandbox)
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

static void sandbox_name_layers(struct sandbox *sandbox)
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

static int sandbox_refuse(
	const struct sandbox *sandbox, const struct property *property, perch_err *err)
{
	const char *no_room = sandbox->layers.no_room;
	return err_set(err, PERCH_ESANDBOX,
		"the sandbox cannot keep this promise here: %s (%s); %s%s%s", property->what,
		property->name, property->why, no_room[0] ? ": " : "", no_room);
}

static void sandbox_warn(struct sandbox *sandbox, struct path_list *warnings, char *text)
{
	const char *copy = text ? arena_dup(&sandbox->arena, str_from(text)) : NULL;
	path_list_add(warnings, copy ? copy : "");
	warnings->failed |= !copy;
}

/* A repository that holds more submodules and worktrees than are looked at one by one. */
static void sandbox_warn_of_crowd(struct sandbox *sandbox, struct path_list *warnings)
{
	char shown[FILE_SHOWN_MAX];
	if (!sandbox->triggers.crowded)
		return;
	_cleanup_free_ char *text =
		str_join("there is too much in ", file_shown(sandbox->triggers.crowded, shown),
			" to look for repositories one by one: nothing in it can be written", NULL);
	sandbox_warn(sandbox, warnings, text);
}

/* Each property that the policy asks for and no layer enforces is refused or told. */
static int sandbox_judge(struct sandbox *sandbox, bool is_trial, perch_err *err)
{
	struct path_list warnings;
	path_list_begin(&warnings, &sandbox->arena, NULL);
	sandbox->property_count = report_make(&sandbox->policy, &sandbox->layers, sandbox->properties);
	for (size_t i = 0; i < sandbox->property_count; i++) {
		const struct property *property = &sandbox->properties[i];
		if (!property->is_asked || property->layer)
			continue;
		if (sandbox->policy.refuses_unsupported && !is_trial)
			return sandbox_refuse(sandbox, property, err);
		_cleanup_free_ char *text =
			str_join("not enforced here: ", property->what, "; ", property->why, NULL);
		sandbox_warn(sandbox, &warnings, text);
	}
	sandbox_warn_of_crowd(sandbox, &warnings);
	if (warnings.failed)
		return err_no_memory(err);
	sandbox->warnings = warnings.count ? warnings.items : NULL;
	return 0;
}

/* ---- all of it ------------------------------------------------------------------ */

int sandbox_make_the_rest(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	int r = sandbox_join_cgroup(sandbox, host, err);
	return r < 0 ? r : sandbox_make_filter(sandbox, err);
}

static int sandbox_make(struct sandbox *sandbox, perch_host *host, bool is_trial, perch_err *err)
{
	int r = sandbox_look(sandbox, host, err);
	if (r == 0)
		r = sandbox_make_tmp(sandbox, err);
	if (r == 0 && !sandbox->is_ruled_ahead)
		r = sandbox_make_ruleset(sandbox, host, err);
	if (r == 0 && !sandbox->is_made_ahead)
		r = sandbox_make_the_rest(sandbox, host, err);
	if (r < 0)
		return r;
	sandbox_make_limits(sandbox);
	sandbox_name_layers(sandbox);
	return sandbox_judge(sandbox, is_trial, err);
}

/* Needed only until the sandbox is made. */
static void sandbox_finish_making(struct sandbox *sandbox)
{
	view_free(&sandbox->view);
	free(sandbox->finding.mounts.items);
	sandbox->finding = (struct finding){ 0 };
}

/* A host that runs once has time to close some descriptors while it waits for the end of the room.
 */
static bool sandbox_may_finish_later(const struct sandbox *sandbox)
{
	enum { KEPT_MAX = 100 };
	return sandbox->host->runs_once && sandbox->view.count + sandbox->view.held_count <= KEPT_MAX;
}

static struct sandbox *new_sandbox(perch_host *host, const struct sandbox_policy *policy)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	if (!sandbox)
		return NULL;
	sandbox->host = host;
	sandbox->is_looked_through = true;
	sandbox->policy = *policy;
	sandbox->writes_outside = policy->write && policy->write[0];
	sandbox->removes_left = policy->is_strict;
	sandbox->layers.shares_group = policy->shares_group;
	sandbox->confine.landlock_fd = -1;
	sandbox->scratch = (struct scratch){ .lock = -1 };
	sandbox->reuse.picture.changes = -1;
	return sandbox;
}

bool sandbox_may_be_reused(const struct sandbox *sandbox)
{
	return sandbox->policy.may_be_used_again && !sandbox->host->runs_once;
}

static int sandbox_make_or_take(
	struct sandbox *sandbox, bool is_trial, struct sandbox **ret_reused, perch_err *err)
{
	bool may_be_reused = sandbox_may_be_reused(sandbox) && !is_trial;
	*ret_reused = may_be_reused ? reuse_pool_take_known(sandbox) : NULL;
	int r = may_be_reused && !*ret_reused ? sandbox_look_first(sandbox, err) : 0;
	if (r < 0)
		return r;
	if (may_be_reused && !*ret_reused)
		*ret_reused = reuse_pool_take_alike(sandbox);
	if (*ret_reused) {
		sandbox_make_limits(*ret_reused); /* never above ours, which may have changed */
		(*ret_reused)->started = sandbox->started;
		return 0;
	}
	r = sandbox_make(sandbox, sandbox->host, is_trial, err);
	if (r == 0 && may_be_reused)
		reuse_pool_note_new(sandbox);
	return r;
}

static int open_sandbox(perch_host *host, const struct sandbox_policy *policy, bool is_trial,
	struct sandbox **ret_sandbox, perch_err *err)
{
	struct sandbox *sandbox = new_sandbox(host, policy);
	if (!sandbox)
		return err_no_memory(err);
	struct sandbox *reused = NULL;
	int r = sandbox_protect(sandbox, err);
	if (r == 0)
		r = sandbox_make_or_take(sandbox, is_trial, &reused, err);
	if (!sandbox_may_finish_later(sandbox))
		sandbox_finish_making(sandbox);
	if (r < 0 || reused)
		sandbox_free(sandbox);
	if (r < 0)
		return r;
	*ret_sandbox = reused ? reused : sandbox;
	(*ret_sandbox)->is_looked_through = is_trial;
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

void sandbox_free(struct sandbox *sandbox)
{
	sandbox_finish_making(sandbox);
	/* What a process in it could still be writing is neither looked at nor removed before its end.
	 */
	room_close(sandbox->confine.room);
	cgroup_close(sandbox->confine.cgroup);
	sandbox_tell_new_triggers(sandbox);
	scratch_close(&sandbox->scratch);
	fd_close(sandbox->confine.landlock_fd);
	free(sandbox->filter.filter);
	free(sandbox->seal.filter);
	reuse_pool_forget(sandbox);
	arena_free(&sandbox->arena);
	free(sandbox);
}

static void sandbox_leave(struct host_guest *guest)
{
	sandbox_free((struct sandbox *)guest);
}

/* The kernel takes its time to end a room: a host that runs once has other things to do. */
static bool sandbox_is_left_to_the_end(struct sandbox *sandbox)
{
	const perch_host *host = sandbox->host;
	bool leaves_nothing =
		!sandbox->writes_outside && !sandbox->scratch.path && !sandbox->confine.cgroup;
	bool may_wait = host->runs_once && (leaves_nothing || host->hears_of_leftovers_last);
	if (!may_wait || !room_end(sandbox->confine.room))
		return false;
	sandbox->guest.leave = sandbox_leave;
	host_add_last_guest(sandbox->host, &sandbox->guest);
	return true;
}

void sandbox_close(struct sandbox *sandbox)
{
	if (sandbox && !reuse_pool_put(sandbox) && !sandbox_is_left_to_the_end(sandbox))
		sandbox_free(sandbox);
}
