/* The floors of a call of a tool as a process: what a careful programmer writes in plain C.
 *
 *     tool-floor plain TOOL…      starts it, asks it, says what it answered
 *     tool-floor confined TOOL…   the same in namespaces of its own, where all is read-only but
 * /var/tmp
 *
 * The second has what no sandbox of this kind can do without, and none of what makes one safe: no
 * secret is hidden, no call forbidden, nobody is left to end what the tool leaves behind. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum { STACK = 64 * 1024, READ_ONLY = 1 };

static const char hello[] = "{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}\n";
static const char question[] =
	"{\"type\":\"request\",\"request_id\":\"plugin_req_4791e3f2a50734e9\",\"tool_name\":\"echo\","
	"\"context\":{},\"input\":{\"text\":\"hi\"}}\n";

/* The child's ends of its pipes, and those that it must not hold. */
struct birth {
	char **argv;
	bool is_confined;
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

static int be_born(void *data)
{
	struct birth *birth = data;
	char byte;
	close(birth->word[1]);
	if (birth->is_confined) {
		must(read(birth->word[0], &byte, 1) == 1);
		furnish();
		must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
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

int main(int argc, char **argv)
{
	char answer[4096];
	if (argc < 3)
		return 125;
	struct birth birth = { .argv = argv + 2, .is_confined = strcmp(argv[1], "confined") == 0 };
	pid_t pid = start(&birth);
	exchange(&birth, hello, sizeof(hello) - 1, answer);
	ssize_t n = exchange(&birth, question, sizeof(question) - 1, answer);
	close(birth.in[1]);
	int status;
	waitpid(pid, &status, 0);
	must(write(STDOUT_FILENO, answer, (size_t)n) == n);
	return status ? 1 : 0;
}
