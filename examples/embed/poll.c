/* perch inside a poll(2) loop: one descriptor, one timeout, one call.
 *
 *     cc poll.c $(pkg-config --cflags --libs perch) -o poll
 *     ./poll sh -c 'echo hello; sleep 1; echo bye'
 *
 * Type a line and it goes to the program's stdin; Ctrl+D ends its input. */
#include <perch/perch.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct session {
	bool ended;
	int status;
};

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)data;
	FILE *out = stream == PERCH_STDOUT ? stdout : stderr;
	fprintf(out, "%4llu | %s\n", (unsigned long long)line->number, line->data);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct session *session = data;
	session->ended = true;
	session->status = result->signal ? 128 + result->signal : result->exit_code;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.ended = on_ended,
};

/* Takes what was typed to the child. Returns whether there can be more. */
static bool pass_on_input(perch_child *child)
{
	char text[4096];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	if (n <= 0)
		perch_child_close_stdin(child);
	else
		perch_child_write(child, text, (size_t)n);
	return n > 0;
}

static void run(perch_host *host, perch_child *child, const struct session *session)
{
	struct pollfd fds[] = {
		{ .fd = perch_host_fd(host), .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	while (!session->ended) {
		poll(fds, 2, perch_host_timeout(host));
		if (fds[1].revents && !pass_on_input(child))
			fds[1].fd = -1;
		perch_host_dispatch(host);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: poll PROGRAM [ARGUMENT…]\n");
		return 64;
	}
	perch_err err = { 0 };
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = getenv("PERCH_GUARD"); /* NULL = the installed one */
	perch_host *host;
	perch_child *child;
	struct session session = { 0 };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const *)argv + 1;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = &session;
	if (perch_host_new(&options, &host, &err) < 0)
		goto failed;
	if (perch_child_start(host, &spec, &child, &err) < 0) {
		perch_host_free(host);
		goto failed;
	}
	run(host, child, &session);
	perch_child_free(child);
	perch_host_free(host);
	return session.status;
failed:
	fprintf(stderr, "error: %s\n", err.text);
	return 125;
}
