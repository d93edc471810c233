/* A child that misbehaves on demand: `child BEHAVIOUR [NUMBER]`. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *text)
{
	(void)!write(STDOUT_FILENO, text, strlen(text));
}

_Noreturn static void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* One line, gone at once. */
static int one_line(long number)
{
	char line[64];
	snprintf(line, sizeof(line), "line %ld\n", number);
	say(line);
	return 0;
}

/* `number` MiB of lines. */
static int flood(long number)
{
	static char block[64 * 1024];
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = i % 128 == 127 ? '\n' : (char)('a' + i % 26);
	for (long i = 0; i < number * 16; i++) {
		for (size_t done = 0; done < sizeof(block);) {
			ssize_t n = write(STDOUT_FILENO, block + done, sizeof(block) - done);
			if (n <= 0)
				return 1;
			done += (size_t)n;
		}
	}
	return 0;
}

/* A line that never ends; `number` MiB of it, 0 = for ever. Then "\nend\n". */
static int endless_line(long number)
{
	static char block[64 * 1024];
	memset(block, 'x', sizeof(block));
	for (long i = 0; number == 0 || i < number * 16; i++) {
		if (write(STDOUT_FILENO, block, sizeof(block)) <= 0)
			return 1;
	}
	say("\nend\n");
	return 0;
}

static int ignore_term(long number)
{
	(void)number;
	signal(SIGTERM, SIG_IGN);
	say("ready\n");
	wait_for_ever();
}

static int stop_itself(long number)
{
	(void)number;
	say("ready\n");
	raise(SIGSTOP);
	wait_for_ever();
}

/* A grandchild in a session of its own, with our stdout; back when it has told that it is
 * there, by a byte to `ready`. */
static pid_t fork_escaped(void (*body)(int ready))
{
	int ready[2];
	if (pipe(ready) < 0)
		_exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		body(ready[1]);
	}
	char byte;
	(void)!read(ready[0], &byte, 1);
	return pid;
}

static void hold_on(int ready)
{
	(void)!write(ready, "x", 1);
	wait_for_ever();
}

/* Leaves it behind. Prints its process id. */
static int leave_escaped(long number)
{
	(void)number;
	char line[64];
	snprintf(line, sizeof(line), "%d\n", (int)fork_escaped(hold_on));
	say(line);
	return 0;
}

static void flood_for_ever(int ready)
{
	signal(SIGPIPE, SIG_DFL);
	say("x\n");
	(void)!write(ready, "x", 1);
	for (;;)
		say("flooding\n");
}

/* The same, and it writes without a pause. */
static int leave_flooding(long number)
{
	(void)number;
	fork_escaped(flood_for_ever);
	return 0;
}

/* A grandchild in our group; prints our id and its, then waits. */
static int family(long number)
{
	(void)number;
	pid_t pid = fork();
	if (pid == 0)
		wait_for_ever();
	char line[64];
	snprintf(line, sizeof(line), "%d %d\n", (int)getpid(), (int)pid);
	say(line);
	wait_for_ever();
}

static void tell_daemon(int out)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%d\n", (int)getpid());
	(void)!write(out, line, (size_t)len);
}

static void close_all(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
}

/* As daemons do it: a session, a second fork, no descriptor, no environment. Prints its id. */
static void fork_daemon(void)
{
	if (fork() != 0)
		return;
	setsid();
	if (fork() != 0)
		_exit(0);
	tell_daemon(STDOUT_FILENO);
	(void)!chdir("/");
	clearenv();
	close_all();
	const char *const argv[] = { "sleep", "600", NULL };
	const char *const env[] = { NULL };
	execve("/bin/sleep", (char *const *)argv, (char *const *)env);
	_exit(1);
}

/* Four of them, and one that has a session of its own alone; stays when the number is not 0. */
static int leave_daemons(long number)
{
	int held[2];
	if (pipe(held) < 0)
		return 1;
	signal(SIGTERM, number ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < 4; i++)
		fork_daemon();
	if (fork() == 0) {
		setsid();
		tell_daemon(STDOUT_FILENO);
		close_all();
		wait_for_ever();
	}
	close(held[1]);
	(void)!read(held[0], held, 1); /* until the last of them has closed it */
	if (number)
		wait_for_ever();
	return 0;
}

/* Of a set-user-id program: root, for a while, where nobody else can end it. */
static int become_root(long number)
{
	(void)number;
	int held[2];
	if (setresuid(0, 0, 0) < 0 || pipe(held) < 0)
		return 1;
	if (fork() == 0) {
		setsid();
		tell_daemon(STDOUT_FILENO);
		close_all();
		sleep(3);
		_exit(0);
	}
	close(held[1]);
	(void)!read(held[0], held, 1);
	return 0;
}

/* One that is never there for long: it forks and is gone, and so does its child. In the end, a
 * test that has failed must not leave it. */
_Noreturn static void be_comet(void)
{
	setsid();
	time_t end = time(NULL) + 20;
	for (long generation = 0; time(NULL) < end; generation++) {
		if (generation == 100)
			say("storm\n");
		if (fork() > 0)
			_exit(0);
	}
	_exit(0);
}

/* A storm of forks: comets, whose dead are reaped here, not by a busy init. All are called stormN.
 */
static int storm(long number)
{
	char name[16];
	snprintf(name, sizeof(name), "storm%ld", number);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; i < 8; i++) {
		if (fork() == 0)
			be_comet();
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}

static int open_terminal(long number)
{
	(void)number;
	int fd = open("/dev/tty", O_RDWR);
	if (fd >= 0) {
		char byte;
		(void)!read(fd, &byte, 1);
		say("opened\n");
		return 1;
	}
	say(errno == ENXIO ? "no terminal\n" : "other error\n");
	return 0;
}

/* Echoes stdin to stdout, as bytes. */
static int echo(long number)
{
	(void)number;
	static char block[64 * 1024];
	ssize_t n;
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0) {
		for (ssize_t done = 0; done < n;) {
			ssize_t written = write(STDOUT_FILENO, block + done, (size_t)(n - done));
			if (written <= 0)
				return 1;
			done += written;
		}
	}
	return 0;
}

/* Counts stdin and prints the sum after its end. */
static int count(long number)
{
	(void)number;
	static char block[64 * 1024];
	unsigned long long sum = 0;
	ssize_t n;
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0)
		sum += (unsigned long long)n;
	printf("%llu\n", sum);
	return fflush(stdout);
}

/* Never reads; says ready, waits for a signal. */
static int deaf(long number)
{
	(void)number;
	say("ready\n");
	wait_for_ever();
}

static int close_stdin(long number)
{
	(void)number;
	close(STDIN_FILENO);
	say("closed\n");
	wait_for_ever();
}

/* Lines with everything that may go wrong in a line. */
static int strange_lines(long number)
{
	(void)number;
	static const char bytes[] = "a\0b\nwindows\r\n\r\n\n\xC3";
	(void)!write(STDOUT_FILENO, bytes, sizeof(bytes) - 1);
	/* The second half of a character in a write of its own. */
	static const char rest[] = "\xA9t\xC3\xA9\nlast";
	(void)!write(STDOUT_FILENO, rest, sizeof(rest) - 1);
	return 0;
}

/* Which descriptors are open; which signals are ignored or blocked. */
static int inherited(long number)
{
	(void)number;
	for (int fd = 0; fd < 6000; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
	}
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < 32; i++) {
		struct sigaction action;
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf("ignored %d\n", i);
		if (sigismember(&mask, i))
			printf("blocked %d\n", i);
	}
	printf("session %s\n", getsid(0) == getpid() ? "own" : "shared");
	return fflush(stdout);
}

/* Stops everybody it can, again and again. */
static int stop_everybody(long number)
{
	(void)number;
	say("ready\n");
	while (kill(-1, SIGSTOP) == 0 || errno == ESRCH)
		;
	return 1;
}

static bool holds_secret(const char *pid, long address)
{
	static const char secret[] = "perch's secret";
	char path[64];
	char bytes[sizeof(secret)];
	snprintf(path, sizeof(path), "/proc/%.20s/mem", pid);
	int fd = open(path, O_RDWR);
	bool holds = fd >= 0 && pread(fd, bytes, sizeof(bytes), address) == (ssize_t)sizeof(bytes) &&
		memcmp(bytes, secret, sizeof(secret)) == 0;
	if (fd >= 0)
		close(fd);
	return holds;
}

/* Looks into the memory of everybody, at this address, until something comes
 * on stdin; says whether it found the secret there. */
static int peek(long address)
{
	bool is_stolen = false;
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	say("ready\n");
	for (char byte; read(STDIN_FILENO, &byte, 1) < 0;) {
		DIR *directory = opendir("/proc");
		for (const struct dirent *entry; directory && (entry = readdir(directory));)
			is_stolen |= entry->d_name[0] <= '9' && holds_secret(entry->d_name, address);
		if (directory)
			closedir(directory);
	}
	say(is_stolen ? "stolen\n" : "safe\n");
	return 0;
}

static int exit_with(long number)
{
	return (int)number;
}

static int die_of(long number)
{
	signal((int)number, SIG_DFL);
	raise((int)number);
	wait_for_ever();
}

/* A sibling of this one, which is no child that its parent knows of. */
static int bear_for_parent(long number)
{
	(void)number;
	long pid = syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	say(pid < 0 ? strerror(errno) : "a child of my parent");
	say("\n");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long number);
} behaviours[] = {
	{ "one-line", one_line },
	{ "flood", flood },
	{ "endless-line", endless_line },
	{ "ignore-term", ignore_term },
	{ "stop-itself", stop_itself },
	{ "leave-escaped", leave_escaped },
	{ "leave-flooding", leave_flooding },
	{ "family", family },
	{ "leave-daemons", leave_daemons },
	{ "become-root", become_root },
	{ "storm", storm },
	{ "open-terminal", open_terminal },
	{ "echo", echo },
	{ "count", count },
	{ "deaf", deaf },
	{ "close-stdin", close_stdin },
	{ "strange-lines", strange_lines },
	{ "inherited", inherited },
	{ "stop-everybody", stop_everybody },
	{ "peek", peek },
	{ "exit", exit_with },
	{ "die-of", die_of },
	{ "bear-for-parent", bear_for_parent },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
		if (strcmp(argv[1], behaviours[i].name) == 0)
			return behaviours[i].run(argc > 2 ? strtol(argv[2], NULL, 10) : 0);
	}
	fprintf(stderr, "no such behaviour\n");
	return 64;
}
