/* Attempts to get at other processes, and at the kernel. VICTIM is a process
 * outside, of the same user. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t victim(void)
{
	return (pid_t)attempt_number("VICTIM");
}

static int open_proc(const char *name)
{
	char path[64];
	char byte;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)victim(), name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : attempt_result(read(fd, &byte, 1));
}

/* ---- privileges -------------------------------------------------------------- */

static int have_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data) < 0)
		return errno;
	return data[0].effective || data[0].permitted || data[1].permitted ? 0 : EPERM;
}

static int gain_privileges(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EPERM;
}

/* ---- other processes ----------------------------------------------------------- */

static int read_environ(void)
{
	return open_proc("environ");
}

static int read_maps(void)
{
	return open_proc("maps");
}

static int read_cmdline(void)
{
	return open_proc("cmdline");
}

static int attach(void)
{
	return attempt_result(ptrace(PTRACE_SEIZE, victim(), NULL, NULL));
}

static int read_memory(void)
{
	char byte;
	struct iovec mine = { &byte, 1 };
	struct iovec theirs = { (void *)strtoul(attempt_path("VICTIM_ADDRESS", ""), NULL, 16), 1 };
	return attempt_result(process_vm_readv(victim(), &mine, 1, &theirs, 1, 0));
}

static int take_descriptor(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, victim(), 0);
	return pidfd < 0 ? errno : attempt_result(syscall(438 /* pidfd_getfd */, pidfd, 0, 0));
}

static int signal_victim(void)
{
	return attempt_result(kill(victim(), SIGCONT));
}

/* A process that sees no parent has none to signal. */
static int signal_host(void)
{
	pid_t host = (pid_t)attempt_number("HOST");
	return attempt_result(kill(host, SIGCONT));
}

static int limit_victim(void)
{
	struct rlimit limit = { 1000, 1000 };
	return attempt_result(syscall(SYS_prlimit64, victim(), RLIMIT_SIGPENDING, &limit, NULL));
}

/* Root's processes have capabilities, and a process without any may not slow them. */
static int slow_victim(void)
{
	if (getuid() == 0)
		return EPERM;
	return attempt_result(setpriority(PRIO_PROCESS, (id_t)victim(), 1));
}

/* ---- namespaces ----------------------------------------------------------------- */

static int unshare_user(void)
{
	return attempt_result(unshare(CLONE_NEWUSER));
}

static int clone_user(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	return attempt_result(pid);
}

/* A process that is the host's child, and nobody's in the sandbox. */
static int clone_sister(void)
{
	long pid = syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	return attempt_result(pid);
}

static int clone3_user(void)
{
	struct {
		unsigned long long words[11];
	} arguments = { { CLONE_NEWUSER, 0, 0, 0, SIGCHLD } };
	long pid = syscall(435 /* clone3 */, &arguments, 64);
	if (pid == 0)
		_exit(0);
	return attempt_result(pid);
}

static int enter_namespace(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : attempt_result(setns(fd, CLONE_NEWUTS));
}

static int mount_something(void)
{
	int error = attempt_result(mount("none", ".", "tmpfs", 0, NULL));
	if (!error)
		umount2(".", MNT_DETACH);
	return error;
}

static int open_tree_copy(void)
{
	return attempt_result(syscall(428 /* open_tree */, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */));
}

static int change_root(void)
{
	return attempt_result(chroot("."));
}

/* ---- doors into the kernel ------------------------------------------------------- */

static int make_ring(void)
{
	char parameters[120] = { 0 };
	return attempt_result(syscall(SYS_io_uring_setup, 1, parameters));
}

static int add_key(void)
{
	return attempt_result(syscall(SYS_add_key, "user", "escape", "x", 1, -2 /* process */));
}

static int ask_keys(void)
{
	return attempt_result(syscall(SYS_keyctl, 0 /* get id */, -3 /* session */, 1));
}

static int make_map(void)
{
	union bpf_attr attributes;
	memset(&attributes, 0, sizeof(attributes));
	attributes.map_type = BPF_MAP_TYPE_ARRAY;
	attributes.key_size = 4;
	attributes.value_size = 4;
	attributes.max_entries = 1;
	return attempt_result(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)));
}

static int count_events(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attributes), .exclude_kernel = 1
	};
	return attempt_result(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

static int handle_faults(void)
{
	return attempt_result(syscall(SYS_userfaultfd, 1 /* user mode only */ | O_CLOEXEC));
}

/* Behind the filter is "no terminal", and that counts as reached. */
static int push_keys(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int error = attempt_result(ioctl(fd, TIOCSTI, "x"));
	return error == ENOTTY ? 0 : error;
}

/* The upper half of the number of an ioctl does not count, to the kernel. */
static int push_keys_disguised(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int error = attempt_result(syscall(SYS_ioctl, fd, 0x100000000UL | TIOCSTI, "x"));
	return error == ENOTTY ? 0 : error;
}

static int open_by_handle(void)
{
	_Alignas(struct file_handle) char space[sizeof(struct file_handle) + MAX_HANDLE_SZ] = { 0 };
	struct file_handle *handle = (struct file_handle *)space;
	handle->handle_bytes = MAX_HANDLE_SZ;
	int mount_id;
	if (name_to_handle_at(AT_FDCWD, ".", handle, &mount_id, 0) < 0)
		return errno;
	int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return attempt_result(open_by_handle_at(directory, handle, O_RDONLY));
}

#ifdef __x86_64__
/* The old way into the kernel, with numbers of its own: 20 is getpid. */
static int call_as_i386(void)
{
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r > 0 ? 0 : (int)-r;
}
#endif

/* ---- what nothing stops ------------------------------------------------------------ */

static int run(const char *const *argv)
{
	pid_t child = fork();
	if (child == 0) {
		execv(argv[0], (char *const *)argv);
		_exit(errno);
	}
	int status;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/* The dynamic loader runs what may only be read. */
static int execute_by_loader(void)
{
	static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2",
		"/lib/ld-linux-aarch64.so.1" };
	for (size_t i = 0; i < 2; i++) {
		if (access(loaders[i], F_OK) == 0)
			return run((const char *const[]){ loaders[i], "/bin/true", NULL });
	}
	return ENOEXEC;
}

static int execute_from_memory(void)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("escape", MFD_CLOEXEC);
	if (from < 0 || to < 0)
		return errno;
	char bytes[65536];
	ssize_t n;
	while ((n = read(from, bytes, sizeof(bytes))) > 0) {
		if (write(to, bytes, (size_t)n) != n)
			return errno;
	}
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	return run((const char *const[]){ path, NULL });
}

const struct row process_rows[] = {
	{ "have-capability", have_capability, .by_privileges = true },
	{ "gain-privileges", gain_privileges, .by_privileges = true },
	{ "read-environ", read_environ, .by_room = true, .by_landlock = 1 },
	{ "read-maps", read_maps, .by_room = true, .by_landlock = 1 },
	{ "read-cmdline", read_cmdline, .by_room = true },
	{ "ptrace", attach, .by_seccomp = true },
	{ "read-memory", read_memory, .by_seccomp = true },
	{ "take-descriptor", take_descriptor, .by_seccomp = true },
	{ "signal-victim", signal_victim, .by_room = true, .by_landlock = 6 },
	{ "signal-host", signal_host, .by_room = true, .by_landlock = 6 },
	{ "limit-victim", limit_victim, .by_seccomp = true },
	{ "slow-victim", slow_victim, .by_room = true },
	{ "unshare-user", unshare_user, .by_seccomp = true },
	{ "clone-user", clone_user, .by_seccomp = true },
	{ "clone-sister", clone_sister, .by_seccomp = true },
	{ "clone3-user", clone3_user, .by_seccomp = true },
	{ "setns", enter_namespace, .by_seccomp = true },
	{ "mount", mount_something, .by_seccomp = true },
	{ "open-tree", open_tree_copy, .by_seccomp = true },
	{ "chroot", change_root, .by_seccomp = true },
	{ "io-uring", make_ring, .by_seccomp = true },
	{ "add-key", add_key, .by_seccomp = true },
	{ "keyctl", ask_keys, .by_seccomp = true },
	{ "bpf", make_map, .by_seccomp = true },
	{ "perf", count_events, .by_seccomp = true },
	{ "userfaultfd", handle_faults, .by_seccomp = true },
	{ "tiocsti", push_keys, .by_seccomp = true },
	{ "tiocsti-disguised", push_keys_disguised, .by_seccomp = true },
	{ "open-by-handle", open_by_handle, .by_seccomp = true },
#ifdef __x86_64__
	{ "call-as-i386", call_as_i386, .by_seccomp = true },
#endif
	{ "execute-by-loader", execute_by_loader, .by_seccomp = false },
	{ "execute-from-memory", execute_from_memory, .by_seccomp = false },
	{ 0 },
};
