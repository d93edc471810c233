/* What is watched for a policy that is remembered must be all that it was looked up by: the making
 * of policies is traced, and every path that the kernel was asked for is one of these, or on the
 * way to one. */
#include "harness/folder.h"
#include "harness/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/paths.h"
#include "sandbox/policy/policy.h"
#include "tool/tool_confinement.h"

/* Calls that look a path up, and which argument it is. */
static const struct lookup {
	long number;
	int argument;
} lookups[] = {
#ifdef SYS_open
	{ SYS_open, 0 },
	{ SYS_stat, 0 },
	{ SYS_lstat, 0 },
	{ SYS_access, 0 },
	{ SYS_readlink, 0 },
#endif
	{ SYS_openat, 1 },
	{ SYS_openat2, 1 },
	{ SYS_newfstatat, 1 },
	{ SYS_statx, 1 },
	{ SYS_faccessat, 1 },
	{ SYS_faccessat2, 1 },
	{ SYS_readlinkat, 1 },
	{ SYS_chdir, 0 },
	{ SYS_statfs, 0 },
};

static struct arena arena;
static struct tool_binding binding;

static int make_policy(struct sandbox_policy *ret_policy)
{
	return tool_confinement_policy(&binding, &arena, ret_policy, NULL);
}

/* ---- what it was looked up by -------------------------------------------------- */

static bool is_on_way(const char *path, const char *const *to)
{
	size_t len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	bool is = false;
	for (; !is && to && *to; to++)
		is = strncmp(*to, path, len) == 0 && ((*to)[len] == '/' || !(*to)[len]);
	return is;
}

static void check_is_watched(const char *path)
{
	struct sandbox_policy policy;
	ck_assert_int_eq(make_policy(&policy), 0);
	const char *const *looked_up = tool_confinement_looked_up(&binding, &arena);
	ck_assert_ptr_nonnull(looked_up);
	bool is_watched = strcmp(path, PATHS_ACCOUNTS) == 0 || is_on_way(path, looked_up) ||
		is_on_way(path, policy.read) || is_on_way(path, policy.hide) ||
		is_on_way(path, policy.reveal);
	ck_assert_msg(is_watched, "%s was looked up and is not watched", path);
}

/* A path in the memory of the traced process. */
static void read_path(pid_t pid, uint64_t address, char path[4096])
{
	path[0] = '\0';
	for (size_t at = 0; at < 4095; at++) {
		struct iovec ours = { path + at, 1 };
		struct iovec theirs = { (void *)(uintptr_t)(address + at), 1 };
		ck_assert_int_eq(process_vm_readv(pid, &ours, 1, &theirs, 1, 0), 1);
		if (!path[at])
			return;
	}
	ck_abort_msg("a path without an end");
}

/* Whether the call looked a path up; "" is what is open already. */
static bool check_call(pid_t pid, const struct __ptrace_syscall_info *info)
{
	char path[4096];
	for (size_t i = 0; i < COUNT(lookups); i++) {
		if (info->entry.nr != (uint64_t)lookups[i].number)
			continue;
		read_path(pid, info->entry.args[lookups[i].argument], path);
		if (path[0])
			check_is_watched(path);
		return path[0];
	}
	return false;
}

/* Returns how many paths were looked up. */
static unsigned trace(pid_t pid)
{
	unsigned count = 0;
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
	for (;;) {
		struct __ptrace_syscall_info info = { 0 };
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status))
			break;
		ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80));
		ck_assert_int_gt(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info), 0);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			count += check_call(pid, &info);
	}
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	return count;
}

static void check(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct sandbox_policy policy;
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(0); /* somebody else traces us */
		raise(SIGSTOP);
		_exit(make_policy(&policy) == 0 ? 0 : 1);
	}
	ck_assert_uint_gt(trace(pid), 30);
	arena_free(&arena);
}

/* ---- with what ------------------------------------------------------------------- */

static void begin(void)
{
	folder_new();
	free(folder_run("mkdir -p home/.config/gh home/.ssh home/.local/share moved/gh && "
					"touch home/.netrc tool moved/kube && chmod +x tool && ln -s tool link"));
	setenv("HOME", folder_path("home"), 1);
	binding = tool_binding_default();
	binding.name = "looked-up";
	binding.command = folder_path("link");
	binding.directory = folder_path("moved");
}

START_TEST(of_a_usual_policy)
{
	begin();
	check();
}
END_TEST

START_TEST(where_variables_have_moved_things)
{
	static char kubes[8200];
	begin();
	snprintf(kubes, sizeof(kubes), "%s:%s", folder_path("moved/kube"), folder_path("none/kube"));
	setenv("KUBECONFIG", kubes, 1);
	setenv("GH_CONFIG_DIR", folder_path("moved/gh"), 1);
	setenv("CARGO_HOME", folder_path("moved/cargo"), 1);
	setenv("XDG_CONFIG_HOME", folder_path("moved/config"), 1);
	setenv("XDG_STATE_HOME", folder_path("moved/state"), 1);
	setenv("XDG_RUNTIME_DIR", folder_path("moved/run"), 1);
	setenv("SSH_AUTH_SOCK", folder_path("moved/agent"), 1);
	setenv("TMUX_TMPDIR", folder_path("moved"), 1);
	check();
}
END_TEST

START_TEST(of_each_preset)
{
	begin();
	setenv("SSH_AUTH_SOCK", folder_path("moved/agent"), 1);
	setenv("DOCKER_HOST", "unix:///run/other.sock", 1);
	for (size_t i = 0; policy_preset(i); i++) {
		const char *const names[] = { policy_preset(i), NULL };
		binding.widening.presets = names;
		check();
	}
}
END_TEST

START_TEST(with_grants)
{
	begin();
	const char *const reads[] = { folder_path("home/.ssh"), folder_path("moved"), NULL };
	binding.widening.read = reads;
	check();
}
END_TEST

START_TEST(without_a_home)
{
	begin();
	unsetenv("HOME");
	check();
}
END_TEST

SUITE_MAIN("tool-looked-up", of_a_usual_policy, where_variables_have_moved_things, of_each_preset,
	with_grants, without_a_home)
