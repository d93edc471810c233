/* Which layer enforces which property: a table. */
#include "sandbox/sandbox_parts.h"

#include "base/macros.h"

#include <unistd.h>

typedef bool asks_fn(const struct sandbox_policy *policy);
typedef const char *enforced_by_fn(const struct layers *layers);

static bool sandbox_report_has_any(const char *const *list)
{
	return list && list[0];
}

/* ---- what a policy asks for ------------------------------------------------- */

static bool sandbox_report_asks_always(const struct sandbox_policy *policy)
{
	(void)policy;
	return true;
}

static bool sandbox_report_asks_hide(const struct sandbox_policy *policy)
{
	return sandbox_report_has_any(policy->hide);
}

/* A policy that refuses what cannot be enforced asks for this only where there is something to
 * protect. */
static bool sandbox_report_asks_protect(const struct sandbox_policy *policy)
{
	bool asks = sandbox_report_has_any(policy->protect) && sandbox_report_has_any(policy->write);
	if (!asks || !policy->refuses_unsupported)
		return asks;
	const char *const *path = policy->protect;
	while (*path && access(*path, F_OK) != 0)
		path++;
	return *path;
}

static bool sandbox_report_asks_no_net(const struct sandbox_policy *policy)
{
	return policy->net == SANDBOX_NET_NONE;
}

static bool sandbox_report_asks_tmp(const struct sandbox_policy *policy)
{
	return policy->has_private_tmp;
}

static bool sandbox_report_asks_memory(const struct sandbox_policy *policy)
{
	return policy->limits.memory;
}

static bool sandbox_report_asks_processes(const struct sandbox_policy *policy)
{
	return policy->limits.processes;
}

static bool sandbox_report_asks_own_limits(const struct sandbox_policy *policy)
{
	return policy->limits.files || policy->limits.size || policy->limits.cpu;
}

/* ---- what enforces it -------------------------------------------------------- */

static const char *sandbox_report_from_abi(const struct layers *layers, int abi)
{
	return layers->landlock >= abi ? "landlock" : NULL;
}

static const char *sandbox_report_from_root(const struct layers *layers)
{
	return layers->is_root_read_only ? "namespaces" : NULL;
}

static const char *sandbox_report_by_privileges(const struct layers *layers)
{
	(void)layers;
	return "privileges";
}

static const char *sandbox_report_by_landlock(const struct layers *layers)
{
	return sandbox_report_from_abi(layers, 1);
}

static const char *sandbox_report_by_landlock_or_root(const struct layers *layers)
{
	const char *layer = sandbox_report_from_abi(layers, 1);
	return layer ? layer : sandbox_report_from_root(layers);
}

static const char *sandbox_report_by_truncate(const struct layers *layers)
{
	const char *layer = sandbox_report_from_abi(layers, 3);
	return layer ? layer : sandbox_report_from_root(layers);
}

static const char *sandbox_report_by_metadata(const struct layers *layers)
{
	if (layers->is_root_read_only)
		return "namespaces";
	return layers->has_seccomp && !layers->allows_metadata ? "seccomp" : NULL;
}

static const char *sandbox_report_by_room_or_landlock(const struct layers *layers)
{
	return layers->has_room ? "namespaces" : sandbox_report_from_abi(layers, 1);
}

static const char *sandbox_report_by_room(const struct layers *layers)
{
	return layers->has_room ? "namespaces" : NULL;
}

static const char *sandbox_report_by_seccomp(const struct layers *layers)
{
	return layers->has_seccomp ? "seccomp" : NULL;
}

/* kill(0) reaches every process of the group, also those that have no number in the room. */
static const char *sandbox_report_by_signals(const struct layers *layers)
{
	return layers->has_room && !layers->shares_group ? "namespaces"
													 : sandbox_report_from_abi(layers, 6);
}

/* Without capabilities, Landlock keeps a process from looking into those outside. */
static const char *sandbox_report_by_processes_hidden(const struct layers *layers)
{
	return layers->has_own_proc ? "namespaces" : sandbox_report_from_abi(layers, 1);
}

static const char *sandbox_report_by_path_sockets(const struct layers *layers)
{
	if (layers->has_room)
		return "namespaces";
	if (layers->has_seccomp && !layers->allows_unix)
		return "seccomp";
	return sandbox_report_from_abi(layers, 9);
}

static const char *sandbox_report_by_abstract_sockets(const struct layers *layers)
{
	if (layers->has_seccomp && !layers->allows_unix)
		return "seccomp";
	return sandbox_report_from_abi(layers, 6);
}

static const char *sandbox_report_by_ipc(const struct layers *layers)
{
	return layers->has_room ? "namespaces" : sandbox_report_by_seccomp(layers);
}

static const char *sandbox_report_by_count(const struct layers *layers)
{
	if (layers->counts_processes)
		return "cgroup";
	return layers->has_own_count ? "namespaces" : NULL;
}

/* Each process by itself, and only with the filter that keeps it from memory which no limit
 * counts. */
static const char *sandbox_report_by_memory(const struct layers *layers)
{
	if (layers->counts_memory)
		return "cgroup";
	return layers->has_seccomp ? "limits" : NULL;
}

static const char *sandbox_report_by_limits(const struct layers *layers)
{
	(void)layers;
	return "limits";
}

/* ---- the table ----------------------------------------------------------------- */

#define NEEDS_ROOM "needs user namespaces"

static const struct {
	const char *name;
	const char *what;
	asks_fn *asks;
	enforced_by_fn *enforced_by;
	const char *missing;
} properties[] = {
	{ "privileges", "no capability, and none by a setuid program", sandbox_report_asks_always,
		sandbox_report_by_privileges, "" },
	{ "read", "only what the policy allows is read and executed", sandbox_report_asks_always,
		sandbox_report_by_landlock, "needs Landlock (Linux 5.13)" },
	{ "write", "only what the policy allows is written, made, renamed or removed",
		sandbox_report_asks_always, sandbox_report_by_landlock_or_root,
		"needs Landlock (Linux 5.13)" },
	{ "truncate", "only what may be written is cut short", sandbox_report_asks_always,
		sandbox_report_by_truncate, "needs Landlock ABI 3 (Linux 6.2) or user namespaces" },
	{ "metadata", "mode, owner, times and attributes of other files stay",
		sandbox_report_asks_always, sandbox_report_by_metadata, NEEDS_ROOM },
	{ "hide", "hidden paths are neither read nor listed", sandbox_report_asks_hide,
		sandbox_report_by_room_or_landlock, "needs user namespaces or Landlock" },
	{ "protect", "protected paths inside a writable directory stay as they are",
		sandbox_report_asks_protect, sandbox_report_by_room, NEEDS_ROOM },
	{ "tmp", "temporary files of others are out of sight", sandbox_report_asks_tmp,
		sandbox_report_by_room_or_landlock, "needs user namespaces or Landlock" },
	{ "net", "no network", sandbox_report_asks_no_net, sandbox_report_by_seccomp,
		"needs seccomp filters" },
	{ "unix-sockets", "no control socket (docker, dbus, agents) can be connected to",
		sandbox_report_asks_always, sandbox_report_by_path_sockets,
		"a socket that is granted opens the others too: needs user namespaces or Landlock ABI 9" },
	{ "abstract-sockets", "no abstract socket outside can be connected to",
		sandbox_report_asks_always, sandbox_report_by_abstract_sockets,
		"needs Landlock ABI 6 (Linux 6.12)" },
	{ "signals", "no process outside can be signalled", sandbox_report_asks_always,
		sandbox_report_by_signals,
		"needs Landlock ABI 6 (Linux 6.12), or user namespaces and a process group of its own" },
	{ "ipc", "shared memory, semaphores and message queues of others are out of reach",
		sandbox_report_asks_always, sandbox_report_by_ipc,
		"needs user namespaces or seccomp filters" },
	{ "other-processes", "environment and memory of processes outside are out of reach",
		sandbox_report_asks_always, sandbox_report_by_processes_hidden,
		"needs Landlock (Linux 5.13)" },
	{ "kernel", "no io_uring, ptrace, mount, namespaces, keys, bpf, perf, terminal input",
		sandbox_report_asks_always, sandbox_report_by_seccomp, "needs seccomp filters" },
	{ "memory", "the memory limit holds (cgroup: of all together, limits: of each process)",
		sandbox_report_asks_memory, sandbox_report_by_memory,
		"needs a delegated cgroup or seccomp filters" },
	{ "processes", "the limit of processes holds", sandbox_report_asks_processes,
		sandbox_report_by_count,
		"needs a delegated cgroup, or user namespaces and not to be root" },
	{ "limits", "open files, file size and CPU time are limited", sandbox_report_asks_own_limits,
		sandbox_report_by_limits, "" },
};

#define PROPERTIES (COUNT(properties))
_Static_assert(PROPERTIES <= PROPERTIES_MAX, "the callers' arrays are large enough");

size_t report_make(const struct sandbox_policy *policy, const struct layers *layers,
	struct property out[PROPERTIES_MAX])
{
	for (size_t i = 0; i < PROPERTIES; i++) {
		const char *layer = properties[i].enforced_by(layers);
		out[i] = (struct property){
			.name = properties[i].name,
			.what = properties[i].what,
			.layer = layer,
			.why = layer ? NULL : properties[i].missing,
			.is_asked = properties[i].asks(policy),
		};
	}
	return PROPERTIES;
}
