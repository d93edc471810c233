/* A tool plugin that behaves, or misbehaves, on demand: `tool BEHAVIOUR [WORD…]`.
 * Static and small: tests start it ten thousand times. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char request[1200 * 1024];
static const char *const *words; /* behind the behaviour; end with NULL */

static void say_n(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n <= 0)
			_exit(70);
		text += n;
		len -= (size_t)n;
	}
}

static void say(const char *text)
{
	say_n(STDOUT_FILENO, text, strlen(text));
}

_Noreturn static void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* The next line of the host; false at the end of input. */
static int hear(void)
{
	size_t len = 0;
	while (!len || request[len - 1] != '\n') {
		ssize_t n = read(STDIN_FILENO, request + len, sizeof(request) - 1 - len);
		if (n <= 0)
			return 0;
		len += (size_t)n;
	}
	request[len] = '\0';
	return 1;
}

static void wait_for_end(void)
{
	char byte;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void shake_hands(void)
{
	hear();
	say("{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0.0\","
		"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"],"
		"\"capabilities\":[\"tool.execute\"]}}\n");
}

static const char *request_id(void)
{
	static char id[64];
	const char *from = strstr(request, "\"request_id\":\"");
	snprintf(id, sizeof(id), "%.27s", from ? from + 14 : "");
	return id;
}

static void begin_answer(void)
{
	say("{\"type\":\"response\",\"request_id\":\"");
	say(request_id());
	say("\",\"status\":\"ok\",\"output\":");
}

/* In one write: it may be the last thing this process does. */
static void answer(const char *output)
{
	static char line[sizeof(request) + 256];
	int len = snprintf(line, sizeof(line),
		"{\"type\":\"response\",\"request_id\":\"%s\",\"status\":\"ok\",\"output\":%s}\n",
		request_id(), output);
	say_n(STDOUT_FILENO, line, (size_t)len);
}

/* The input of the request as it came. */
static const char *input(void)
{
	char *from = strstr(request, "\"input\":");
	char *end = from ? strrchr(from, '}') : NULL;
	if (!end)
		return "null";
	*end = '\0';
	return from + 8;
}

/* ---- behaving ------------------------------------------------------------- */

static int echo(void)
{
	shake_hands();
	if (!hear())
		return 0; /* a spare that nobody needed */
	answer(input());
	wait_for_end();
	return 0;
}

/* Answers, and is gone. */
static int fast(void)
{
	shake_hands();
	if (hear())
		answer("{\"ok\":true}");
	return 0;
}

static int refuse(void)
{
	shake_hands();
	hear();
	char line[512];
	snprintf(line, sizeof(line),
		"{\"type\":\"response\",\"request_id\":\"%s\",\"status\":\"error\",\"error\":{\"code\":"
		"\"E_NO\",\"message\":\"cannot do it\"}}\n",
		request_id());
	say(line);
	return 0;
}

static void write_json(const char *text)
{
	say("\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			say("\\");
		say_n(STDOUT_FILENO, text, 1);
	}
	say("\"");
}

/* Its environment, its directory, its process id. */
static int tell(void)
{
	char cwd[4096];
	char pid[32];
	shake_hands();
	hear();
	begin_answer();
	say("{\"env\":[");
	for (char **variable = environ; *variable; variable++) {
		if (variable != environ)
			say(",");
		write_json(*variable);
	}
	say("],\"cwd\":");
	write_json(getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	snprintf(pid, sizeof(pid), ",\"pid\":%d}}\n", (int)getpid());
	say(pid);
	return 0;
}

/* ---- misbehaving ---------------------------------------------------------- */

/* `say HANDSHAKE`: whatever it is, and then a good answer. */
static int say_something(void)
{
	hear();
	say(words[0]);
	say("\n");
	if (hear())
		answer("true");
	return 0;
}

/* `respond RESPONSE` */
static int respond_something(void)
{
	shake_hands();
	hear();
	say(words[0]);
	say("\n");
	wait_for_end();
	return 0;
}

/* `exit N`: at once. */
static int leave(void)
{
	return atoi(words[0]);
}

/* `late-exit N`: after its response. */
static int leave_later(void)
{
	shake_hands();
	hear();
	answer("\"done\"");
	return atoi(words[0]);
}

static int leave_without_answer(void)
{
	shake_hands();
	hear();
	say_n(STDERR_FILENO, "panic: no answer\n", 17);
	abort();
}

static int half_an_answer(void)
{
	shake_hands();
	hear();
	begin_answer();
	return 0;
}

static int silent(void)
{
	wait_for_ever();
}

static int silent_later(void)
{
	shake_hands();
	wait_for_ever();
}

static int ignore_term(void)
{
	signal(SIGTERM, SIG_IGN);
	shake_hands();
	wait_for_ever();
}

static int stay(void)
{
	signal(SIGTERM, SIG_IGN);
	shake_hands();
	hear();
	answer("\"done\"");
	wait_for_ever();
}

static int stop_itself(void)
{
	shake_hands();
	raise(SIGSTOP);
	wait_for_ever();
}

_Noreturn static int endless_line(void)
{
	static char block[64 * 1024];
	memset(block, 'x', sizeof(block));
	signal(SIGTERM, SIG_IGN);
	for (;;)
		say_n(STDOUT_FILENO, block, sizeof(block));
}

/* 16 MiB of errors, then an answer. */
static int flood_stderr(void)
{
	static char block[64 * 1024];
	memset(block, 'e', sizeof(block));
	shake_hands();
	for (int i = 0; i < 256; i++)
		say_n(STDERR_FILENO, block, sizeof(block));
	say_n(STDERR_FILENO, "the last words", 14);
	hear();
	answer("\"after the flood\"");
	return 0;
}

_Noreturn static int flood_stderr_for_ever(void)
{
	static char block[64 * 1024];
	memset(block, 'e', sizeof(block));
	shake_hands();
	for (;;)
		say_n(STDERR_FILENO, block, sizeof(block));
}

/* Floods its output behind its response. */
_Noreturn static int flood_behind(void)
{
	shake_hands();
	hear();
	answer("1");
	for (;;)
		say("more and more\n");
}

static int farewell(void)
{
	shake_hands();
	hear();
	answer("1");
	say("good bye\n");
	return 0;
}

/* `tires FILE`: waits for a request for some time, then closes its output, makes the file and stays
 * as long as it can. Where the file is there already it is as echo. */
static int tire(void)
{
	if (access(words[0], F_OK) == 0)
		return echo();
	signal(SIGTERM, SIG_IGN);
	shake_hands();
	struct pollfd fds = { .fd = STDIN_FILENO, .events = POLLIN };
	if (poll(&fds, 1, 300) > 0 && hear()) {
		answer(input());
		return 0;
	}
	close(STDOUT_FILENO);
	close(open(words[0], O_CREAT | O_WRONLY, 0600));
	wait_for_ever();
}

/* Hangs up; then `close-stdin exit` leaves, anything else waits. */
static int close_stdin(void)
{
	close(STDIN_FILENO);
	if (strcmp(words[0], "exit") == 0)
		return 0;
	wait_for_ever();
}

/* Hangs up after its handshake, before the request. */
static int close_stdin_later(void)
{
	hear();
	close(STDIN_FILENO);
	say("{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t.p\",\"plugin_version\":\"1\","
		"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"],"
		"\"capabilities\":[\"tool.execute\"]}}\n");
	return 0;
}

/* A child that keeps stdout, in our group; the process id goes to stderr. */
static void leave_a_child(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_IGN);
		wait_for_ever();
	}
	char text[32];
	int len = snprintf(text, sizeof(text), "%d", (int)pid);
	say_n(STDERR_FILENO, text, (size_t)len);
}

static int child_keeps_stdout(void)
{
	shake_hands();
	leave_a_child();
	hear();
	answer("1");
	return 0;
}

static int child_keeps_stdout_without_answer(void)
{
	shake_hands();
	leave_a_child();
	hear();
	return 0;
}

/* Its process id and its child's on stderr, then it waits. */
static int family(void)
{
	char text[32];
	shake_hands();
	leave_a_child();
	int len = snprintf(text, sizeof(text), " %d\n", (int)getpid());
	say_n(STDERR_FILENO, text, (size_t)len);
	wait_for_ever();
}

/* Leaves files, folders without permissions, links, and a deep hole. */
static int litter(void)
{
	shake_hands();
	hear();
	close(open("file", O_CREAT | O_WRONLY, 0));
	mkdir("full", 0700);
	close(open("full/file", O_CREAT | O_WRONLY, 0600));
	mkdir("full/inner", 0700);
	close(open("full/inner/file", O_CREAT | O_WRONLY, 0600));
	(void)!symlink("/", "root");
	(void)!symlink(".", "full/self");
	chmod("full/inner", 0);
	chmod("full", 0);
	for (int i = 0; i < 1500; i++) {
		if (mkdir("deeper", 0700) < 0 || chdir("deeper") < 0)
			break;
	}
	answer("1");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} behaviours[] = {
	{ "echo", echo },
	{ "fast", fast },
	{ "refuse", refuse },
	{ "tell", tell },
	{ "say", say_something },
	{ "respond", respond_something },
	{ "exit", leave },
	{ "late-exit", leave_later },
	{ "abort", leave_without_answer },
	{ "half", half_an_answer },
	{ "silent", silent },
	{ "silent-later", silent_later },
	{ "ignore-term", ignore_term },
	{ "stay", stay },
	{ "stop-itself", stop_itself },
	{ "endless-line", endless_line },
	{ "flood-stderr", flood_stderr },
	{ "flood-stderr-for-ever", flood_stderr_for_ever },
	{ "flood-behind", flood_behind },
	{ "farewell", farewell },
	{ "tires", tire },
	{ "close-stdin", close_stdin },
	{ "close-stdin-later", close_stdin_later },
	{ "child-keeps-stdout", child_keeps_stdout },
	{ "child-keeps-stdout-mute", child_keeps_stdout_without_answer },
	{ "family", family },
	{ "litter", litter },
};

int main(int argc, char **argv)
{
	words = (const char *const *)argv + (argc > 1 ? 2 : argc);
	for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
		if (strcmp(argv[1], behaviours[i].name) == 0)
			return behaviours[i].run();
	}
	fprintf(stderr, "no such behaviour\n");
	return 64;
}
