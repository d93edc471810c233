/* `perch serve`: what a GET costs it, how long a job takes to be accepted, the first event of a
 * turn beside `perch agent serve`, what idle streams hold, and how soon an agent hears of an abort.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "floor.h"
#include "gateway.h"
#include "place.h"

enum { GETS = 20000, TURNS = 500, STREAMS = 5000, ABORTS = 20 };

static double process_seconds(pid_t pid)
{
	char path[64];
	unsigned long user = 0, system = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (!file ||
		fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			&system) != 2)
		abort();
	fclose(file);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static long server_kib(void)
{
	char path[64];
	long pages = 0;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)gateway.pid);
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		abort();
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- what is measured ------------------------------------------------------------------ */

/* A server that does nothing: the calls of the kernel that an answer cannot do without. */
static pid_t start_echo(unsigned *ret_port)
{
	static const char answer[300] = "HTTP/1.1 200 OK\r\n\r\nok\n";
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(place);
	char block[1024];
	int listener = socket(AF_INET, SOCK_STREAM, 0), watch = epoll_create1(0);
	if (bind(listener, (struct sockaddr *)&place, len) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&place, &len) < 0)
		abort();
	*ret_port = ntohs(place.sin_port);
	pid_t pid = fork();
	if (pid)
		return pid;
	int fd = accept(listener, NULL, NULL);
	struct epoll_event event = { .events = EPOLLIN };
	epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event);
	do
		epoll_wait(watch, &event, 1, -1);
	while (recv(fd, block, sizeof(block), MSG_DONTWAIT) > 0 &&
		send(fd, answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL) > 0);
	_exit(0);
}

static double gets_of(pid_t pid)
{
	int fd = gateway_connect();
	double before = process_seconds(pid);
	for (int i = 0; i < GETS; i++) {
		gateway_ask(fd, "GET /healthz", "", "");
		gateway_await(fd, "ok\n");
	}
	double spent = process_seconds(pid) - before;
	close(fd);
	return spent / GETS * 1e6;
}

/* What the kernel takes depends on the machine: with a virtual processor that sleeps it is more
 * than all else. */
static void bench_get(void)
{
	unsigned ours = gateway.port;
	gateway.is_polling = true;
	double spent = gets_of(gateway.pid);
	pid_t echo = start_echo(&gateway.port);
	double floor = gets_of(echo);
	kill(echo, SIGTERM);
	waitpid(echo, NULL, 0);
	gateway.port = ours;
	gateway.is_polling = false;
	bench_print_most("serve/get", "processor", spent, "us", 10);
	bench_print("serve/get", "kernel-alone", floor, "us");
}

/* One turn of the session stays, so that nothing else happens while the others are accepted. */
static void bench_accept_as(const char *name, double most /* 0 = none */)
{
	static double times[TURNS];
	int fd = gateway_connect();
	for (int i = 0; i < TURNS; i++) {
		uint64_t start = bench_now_ns();
		gateway_ask(
			fd, "POST /api/turns", "", "{\"agent\":\"stay\",\"message\":\"hi\",\"session\":\"a\"}");
		gateway_await(fd, "\"questions\":[]}");
		times[i] = (double)(bench_now_ns() - start) / 1000;
	}
	close(fd);
	qsort(times, TURNS, sizeof(times[0]), bench_order);
	if (most > 0)
		bench_print_most("serve/accept", name, times[TURNS / 2], "us", most);
	else
		bench_print("serve/accept", name, times[TURNS / 2], "us");
}

/* A client that sleeps is woken at the end, which is not the server's time. */
static void bench_accept(void)
{
	gateway.is_polling = true;
	bench_accept_as("median", 60);
	gateway.is_polling = false;
	bench_accept_as("median-of-a-client-that-sleeps", 0);
}

/* The least of them, and the median: a delay that the least one escapes is one all the same. */
static void bench_print_turns(double *ours, double *theirs)
{
	qsort(ours, TURNS, sizeof(*ours), bench_order);
	qsort(theirs, TURNS, sizeof(*theirs), bench_order);
	bench_print("serve/turn", "ours", ours[0] / 1000, "us");
	bench_print_most("serve/turn", "vs-agent-serve", ours[0] / theirs[0], "x", 1.3);
	bench_print("serve/turn", "ours-median", ours[TURNS / 2] / 1000, "us");
	bench_print("serve/turn", "vs-agent-serve-median", ours[TURNS / 2] / theirs[TURNS / 2], "x");
}

/* Both are there already; each turn has a session of its own. */
static void bench_first(void)
{
	static double ours[TURNS], theirs[TURNS];
	char profile[256], line[128], block[4096];
	snprintf(profile, sizeof(profile), "%s/perch/agents/bot.yaml", place_home());
	const char *const argv[] = { gateway_perch, "agent", "serve", "--profile", profile, NULL };
	struct floor_child bridge = floor_start(argv, true, false);
	int fd = gateway_connect();
	for (int i = 0; i < TURNS; i++) {
		char body[128];
		snprintf(
			body, sizeof(body), "{\"agent\":\"bot\",\"message\":\"hi\",\"session\":\"f%d\"}", i);
		uint64_t start = bench_now_ns();
		gateway_ask(fd, "POST /api/turns", "Accept: text/event-stream\r\n", body);
		gateway_await(
			fd, "\r\n0\r\n\r\n"); /* the end of the stream: the next one in this connection */
		ours[i] = (double)(bench_now_ns() - start);
		int len = snprintf(line, sizeof(line),
			"{\"id\":\"%d\",\"message\":\"hi\",\"session_name\":\"g%d\"}\n", i, i);
		start = bench_now_ns();
		if (write(bridge.in, line, (size_t)len) != len)
			abort();
		ssize_t n;
		do {
			n = read(bridge.out, block, sizeof(block) - 1);
			block[n > 0 ? n : 0] = '\0';
		} while (n > 0 && !strstr(block, "\"event\":\"end\""));
		theirs[i] = (double)(bench_now_ns() - start);
	}
	close(fd);
	close(bridge.in);
	floor_wait(&bridge);
	bench_print_turns(ours, theirs);
}

static void bench_streams(void)
{
	static int streams[STREAMS];
	long before = server_kib();
	for (int i = 0; i < STREAMS; i++) {
		streams[i] = gateway_connect();
		gateway_ask(streams[i], "GET /api/events", "", "");
		gateway_await(streams[i], "200 OK");
	}
	double each = (double)(server_kib() - before) / STREAMS;
	bench_print_most("serve/stream", "memory", each, "KiB", 1);
	for (int i = 0; i < STREAMS; i++)
		close(streams[i]);
}

static void bench_await_file(const char *path)
{
	while (access(path, F_OK) < 0)
		usleep(50);
}

/* From the end of the connection to the agent's trap, which looks every millisecond. */
static void bench_abort(void)
{
	double best = 1e18;
	char listens[512], ended[512];
	snprintf(listens, sizeof(listens), "%s/listens", place_home());
	snprintf(ended, sizeof(ended), "%s/ended", place_home());
	for (int i = 0; i < ABORTS; i++) {
		unlink(listens);
		unlink(ended);
		int fd = gateway_connect();
		gateway_ask(fd, "POST /v1/chat/completions", "",
			"{\"model\":\"stay\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
		bench_await_file(listens); /* before its trap is set, SIGTERM would end it silently */
		uint64_t start = bench_now_ns();
		close(fd);
		bench_await_file(ended);
		best = bench_smaller(best, (double)(bench_now_ns() - start) / 1e6);
	}
	bench_print_most("serve/abort", "to-sigterm", best, "ms", 5);
}

/* All of it, or the part that is named. */
int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "get", bench_get },
		{ "streams", bench_streams },
		{ "turn", bench_first },
		{ "chat", gateway_bench_rival },
		{ "abort", bench_abort },
		{ "accept", bench_accept },
	};
	const struct rlimit many = { 65536, 65536 };
	setrlimit(RLIMIT_NOFILE, &many);
	setenv("BENCH_HOME", getenv("HOME") ? getenv("HOME") : "/", 1);
	gateway_open();
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	}
	kill(gateway.pid, SIGTERM);
	kill(gateway.pid, SIGTERM);
	waitpid(gateway.pid, NULL, 0);
	return 0;
}
