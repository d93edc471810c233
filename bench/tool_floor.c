/* The floors of a call of a tool as a process: what a careful programmer writes in plain C.
 *
 *     tool-floor plain TOOL…      starts it, asks it, says what it answered
 *     tool-floor confined TOOL…   the same in namespaces of its own, where all is read-only but
 * /var/tmp
 *     tool-floor safe TOOL…       the same with what makes it safe
 *     tool-floor run PLUGIN…      as safe as that, a program that is not asked: says what it prints
 *
 * The second has what no sandbox of this kind can do without, and none of what makes one safe: no
 * secret is hidden, no call forbidden, nobody is left to end what the tool leaves behind. The third
 * has an init that ends them, hides devices and a dozen paths, allows the system's directories by
 * Landlock and forbids calls by seccomp; all of it is written down here, where perch has to read,
 * look up, check and be able to explain it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum { STACK = 64 * 1024, READ_ONLY = 1 };
enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446 };
enum { LANDLOCK_ALL = (1 << 13) - 1, LANDLOCK_READ = 1 << 0 | 1 << 2 | 1 << 3 };

static const char hello[] = "{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}\n";
static const char question[] =
	"{\"type\":\"request\",\"request_id\":\"plugin_req_4791e3f2a50734e9\",\"tool_name\":\"echo\","
	"\"context\":{},\"input\":{\"text\":\"hi\"}}\n";

/* The child's ends of its pipes, and those that it must not hold. */
struct birth {
	char **argv;
	bool is_confined;
	bool is_safe;
	int in[2];
	int out[2];
	int word[2];
};

static void must(bool is_done)
{
	if (!is_done)
		_exit(125);
}

static void furnish(void)
{
	const struct {
		uint64_t set, clear, propagation, user;
	} attributes = { .set = READ_ONLY };
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	must(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0);
	must(syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof(attributes)) ==
		0);
	must(mount("tmpfs", "/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) == 0);
}

/* Covers what is there with what is empty; both lie in the new /var/tmp. */
static void hide(const char *path)
{
	struct stat info;
	if (stat(path, &info) == 0)
		must(mount(S_ISDIR(info.st_mode) ? "/var/tmp/directory" : "/var/tmp/file", path, NULL,
				 MS_BIND, NULL) == 0);
}

static void furnish_safely(void)
{
	static const char *const hidden[] = { "/root/.ssh", "/root/.gnupg", "/root/.npmrc",
		"/root/.netrc", "/root/.config/gh", "/etc/shadow", "/etc/gshadow", "/etc/ssl/private",
		"/run/dbus", "/run/systemd", "/run/user", "/dev/shm" };
	static const char *const devices[] = { "null", "full", "random", "urandom", "tty" };
	char from[64];
	char to[64];
	furnish();
	must(mkdir("/var/tmp/directory", 0755) == 0 && mkdir("/var/tmp/dev", 0755) == 0);
	must(mknod("/var/tmp/file", S_IFREG | 0444, 0) == 0);
	for (size_t i = 0; i < COUNT(hidden); i++)
		hide(hidden[i]);
	for (size_t i = 0; i < COUNT(devices); i++) {
		snprintf(from, sizeof(from), "/dev/%s", devices[i]);
		snprintf(to, sizeof(to), "/var/tmp/dev/%s", devices[i]);
		must(mknod(to, S_IFREG | 0444, 0) == 0 && mount(from, to, NULL, MS_BIND, NULL) == 0);
	}
	must(mount("/var/tmp/dev", "/dev", NULL, MS_BIND | MS_REC, NULL) == 0);
}

static void allow(int ruleset, const char *path, uint64_t rights)
{
	struct __attribute__((packed)) {
		uint64_t rights;
		int fd;
	} rule = { rights, open(path, O_PATH | O_CLOEXEC) };
	if (rule.fd >= 0)
		must(syscall(LANDLOCK_ADD, ruleset, 1, &rule, 0) == 0);
	close(rule.fd);
}

static void restrict_files(const char *program)
{
	static const char *const readable[] = { "/bin", "/etc", "/lib", "/lib32", "/lib64", "/opt",
		"/proc", "/sbin", "/sys", "/usr", "/var/lib/dpkg/alternatives" };
	const uint64_t handled = LANDLOCK_ALL;
	int ruleset = (int)syscall(LANDLOCK_CREATE, &handled, sizeof(handled), 0);
	must(ruleset >= 0);
	for (size_t i = 0; i < COUNT(readable); i++)
		allow(ruleset, readable[i], LANDLOCK_READ);
	allow(ruleset, program, 1 << 0 | 1 << 2);
	allow(ruleset, "/dev", LANDLOCK_READ | 1 << 1);
	allow(ruleset, "/var/tmp", LANDLOCK_ALL);
	must(syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0);
}

static void forbid_calls(void)
{
	static const uint16_t calls[] = { SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
		SYS_kcmp, SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2,
		SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
		SYS_open_by_handle_at, SYS_fanotify_init, SYS_io_uring_setup, SYS_io_uring_enter,
		SYS_io_uring_register, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key,
		SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module, SYS_delete_module,
		SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_settimeofday,
		SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_socket };
	struct sock_filter code[COUNT(calls) + 3] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0) };
	for (size_t i = 0; i < COUNT(calls); i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, calls[i], (uint8_t)(COUNT(calls) - i), 0);
	code[COUNT(calls) + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[COUNT(calls) + 2] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	const struct sock_fprog program = { COUNT(code), code };
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* The first process of the room waits for the tool: what that leaves behind ends with it. */
static void be_init(const struct birth *birth, pid_t tool)
{
	int status;
	must(tool > 0);
	close(birth->in[1]);
	waitpid(tool, &status, 0);
	_exit(status ? 1 : 0);
}

static void confine(const struct birth *birth)
{
	char byte;
	must(read(birth->word[0], &byte, 1) == 1);
	if (birth->is_safe)
		furnish_safely();
	else
		furnish();
	for (int capability = 0; birth->is_safe; capability++) {
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			break;
	}
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
}

static int be_born(void *data)
{
	struct birth *birth = data;
	close(birth->word[1]);
	if (birth->is_confined)
		confine(birth);
	if (birth->is_safe) {
		pid_t tool = vfork();
		if (tool)
			be_init(birth, tool);
		restrict_files(birth->argv[0]);
		forbid_calls();
	}
	setsid();
	dup2(birth->in[0], STDIN_FILENO);
	dup2(birth->out[1], STDOUT_FILENO);
	execv(birth->argv[0], birth->argv);
	_exit(127);
}

static void map_user(pid_t pid, const char *name, unsigned id)
{
	char path[64];
	char text[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int length = snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd >= 0 && write(fd, text, (size_t)length) == length);
	close(fd);
}

static pid_t start(struct birth *birth)
{
	static char stack[STACK];
	int namespaces = birth->is_confined ? CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC
										: CLONE_VM | CLONE_VFORK;
	must(pipe2(birth->in, O_CLOEXEC) == 0 && pipe2(birth->out, O_CLOEXEC) == 0 &&
		pipe2(birth->word, O_CLOEXEC) == 0);
	pid_t pid = clone(be_born, stack + STACK, namespaces | SIGCHLD, birth);
	must(pid > 0);
	if (birth->is_confined) {
		map_user(pid, "uid_map", geteuid());
		map_user(pid, "gid_map", getegid());
		must(write(birth->word[1], "", 1) == 1);
	}
	close(birth->in[0]);
	close(birth->out[1]);
	return pid;
}

static ssize_t exchange(const struct birth *birth, const char *line, size_t len, char *answer)
{
	must(write(birth->in[1], line, len) == (ssize_t)len);
	ssize_t n = read(birth->out[0], answer, 4096);
	must(n > 0 && answer[n - 1] == '\n');
	return n;
}

/* Whatever it prints, to its end. */
static ssize_t listen_to(const struct birth *birth, char *text, size_t size)
{
	ssize_t len = 0;
	for (ssize_t n; (n = read(birth->out[0], text + len, size - (size_t)len)) > 0;)
		len += n;
	return len;
}

int main(int argc, char **argv)
{
	char answer[4096];
	if (argc < 3)
		return 125;
	bool is_run = strcmp(argv[1], "run") == 0;
	struct birth birth = { .argv = argv + 2, .is_safe = is_run || strcmp(argv[1], "safe") == 0 };
	birth.is_confined = birth.is_safe || strcmp(argv[1], "confined") == 0;
	pid_t pid = start(&birth);
	ssize_t n = 0;
	if (is_run) {
		n = listen_to(&birth, answer, sizeof(answer));
	} else {
		exchange(&birth, hello, sizeof(hello) - 1, answer);
		n = exchange(&birth, question, sizeof(question) - 1, answer);
	}
	close(birth.in[1]);
	int status;
	waitpid(pid, &status, 0);
	must(write(STDOUT_FILENO, answer, (size_t)n) == n);
	return status ? 1 : 0;
}
