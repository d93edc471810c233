/* Plugins that a plugin calls: the host's side. Every byte that comes through the socket is written
 * by a process in a sandbox. */
#include "fledge/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/exit_status.h"
#include "base/fd.h"
#include "base/macros.h"
#include "fledge/call_request.h"
#include "proc/host.h"
#include "proc/ladder.h"

struct call {
	struct call *next;
	struct calls *calls;
	struct source line; /* to the caller */
	perch_child *child;
};

struct calls {
	perch_host *host;
	const struct calls_options *options;
	struct source channel;
	int theirs;
	struct call *first;
	unsigned count;
	bool is_dropped;
	char packet[CALLS_MESSAGE_MAX];
};

static void calls_listen(struct calls *calls, bool on)
{
	if (calls->channel.fd >= 0 && !(on && calls->is_dropped))
		loop_watch(&calls->host->loop, &calls->channel, on ? EPOLLIN : 0);
}

/* ---- the end of a call -------------------------------------------------------- */

static void calls_answer(int line, int status, const char *why)
{
	char packet[CALLS_ANSWER_MAX];
	size_t len = strnlen(why, sizeof(packet) - 1);
	packet[0] = (char)status;
	memcpy(packet + 1, why, len);
	if (send(line, packet, len + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* the caller is gone, or does not read */
}

static void calls_end(struct call *call)
{
	struct calls *calls = call->calls;
	struct call **at = &calls->first;
	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	loop_watch(&calls->host->loop, &call->line, 0);
	fd_close(call->line.fd);
	perch_child_free(call->child);
	free(call);
	if (calls->count-- == CALLS_PARALLEL)
		calls_listen(calls, true);
}

static void calls_child_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct call *call = data;
	calls_answer(call->line.fd, exit_status_of(result->signal, result->exit_code), "");
	calls_end(call);
}

static const perch_child_events calls_events = {
	.size = sizeof(calls_events),
	.ended = calls_child_ended,
};

/* Only once: a second signal is the next step of the ladder, and the callee needs its time. */
static void calls_stop(struct call *call)
{
	if (!perch_child_result(call->child)->stop_asked)
		perch_child_stop(call->child);
}

/* The caller never writes to this line, so it was closed. */
static void calls_line_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct call *call = container_of(source, struct call, line);
	loop_watch(&call->calls->host->loop, &call->line, 0);
	calls_stop(call);
}

/* ---- a request ----------------------------------------------------------------- */

/* What a shell makes of `fledge …`: a pipe, a file, a terminal or /dev/null, to be written. A
 * directory, a socket or a mere path could lead its receiver to something else. */
static bool calls_is_output(int fd)
{
	struct stat about;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &about) < 0)
		return false;
	return S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode) || S_ISCHR(about.st_mode);
}

static bool calls_is_line(int fd)
{
	struct stat about;
	return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

static int calls_start_child(
	struct call *call, const struct call_request *request, const int *fds, perch_err *err)
{
	const struct calls_options *options = call->calls->options;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	request->argv[0] = options->program;
	spec.argv = request->argv;
	spec.env = options->env;
	spec.cwd = request->directory;
	spec.stdout_mode = PERCH_OUTPUT_FD;
	spec.stdout_fd = fds[CALLS_STDOUT];
	spec.stderr_mode = PERCH_OUTPUT_FD;
	spec.stderr_fd = fds[CALLS_STDERR];
	ending_apply(ENDING_CALL, &spec);
	spec.events = &calls_events;
	spec.data = call;
	return perch_child_start(call->calls->host, &spec, &call->child, err);
}

/* Takes the line when it is begun. */
static int calls_begin(
	struct calls *calls, const struct call_request *request, int *fds, perch_err *err)
{
	if (!calls_is_output(fds[CALLS_STDOUT]) || !calls_is_output(fds[CALLS_STDERR]))
		return err_set(err, -EINVAL, "its output is no pipe and no file");
	struct call *call = calloc(1, sizeof(*call));
	if (!call)
		return err_no_memory(err);
	*call = (struct call){
		.calls = calls,
		.line = { .fd = fds[CALLS_LINE], .ready = calls_line_ready },
	};
	int r = calls_start_child(call, request, fds, err);
	if (r == 0)
		r = loop_watch(&calls->host->loop, &call->line, EPOLLIN | EPOLLRDHUP);
	if (r < 0) {
		perch_child_free(call->child);
		free(call);
		return r;
	}
	fds[CALLS_LINE] = -1;
	call->next = calls->first;
	calls->first = call;
	if (++calls->count == CALLS_PARALLEL)
		calls_listen(calls, false);
	return 0;
}

static void calls_handle(struct calls *calls, size_t len, int *fds)
{
	struct call_request request = { 0 };
	perch_err err = { 0 };
	int r = call_request_read(calls->packet, len, &request, &err);
	if (r == 0)
		r = calls_begin(calls, &request, fds, &err);
	if (r < 0)
		calls_answer(fds[CALLS_LINE], EXIT_HOST, err.text);
	call_request_free(&request);
}

/* ---- the channel --------------------------------------------------------------- */

/* Takes the descriptors out of a message, as many as there is room for. How many. */
static size_t calls_take_descriptors(struct msghdr *message, int *ret_fds)
{
	size_t count = 0;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		size_t found = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < found; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
			if (count < CALLS_DESCRIPTORS)
				ret_fds[count++] = fd;
			else
				fd_close(fd);
		}
	}
	return count;
}

/* One packet. False when there is none. */
static bool calls_receive(struct calls *calls)
{
	char control[CMSG_SPACE(sizeof(int) * CALLS_DESCRIPTORS)];
	struct iovec bytes = { calls->packet, sizeof(calls->packet) };
	struct msghdr message = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	ssize_t len = recvmsg(calls->channel.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0 && errno != EAGAIN && errno != EINTR)
		calls_listen(calls, false);
	if (len < 0)
		return false;
	int fds[CALLS_DESCRIPTORS] = { -1, -1, -1 };
	size_t count = calls_take_descriptors(&message, fds);
	bool is_whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
	if (count == CALLS_DESCRIPTORS && calls_is_line(fds[CALLS_LINE])) {
		if (is_whole)
			calls_handle(calls, (size_t)len, fds);
		else
			calls_answer(fds[CALLS_LINE], EXIT_HOST, "its arguments are too long");
	}
	for (size_t i = 0; i < CALLS_DESCRIPTORS; i++)
		fd_close(fds[i]);
	return true;
}

/* A few at a time: a process that writes without end must not hold up the loop. */
static void calls_channel_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct calls *calls = container_of(source, struct calls, channel);
	for (int i = 0; i < CALLS_PARALLEL && calls->count < CALLS_PARALLEL; i++) {
		if (!calls_receive(calls))
			break;
	}
}

int calls_new(perch_host *host, const struct calls_options *options, struct calls **ret_calls)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	int ends[2];
	if (!calls)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		int error = -errno;
		free(calls);
		return error;
	}
	calls->host = host;
	calls->options = options;
	calls->channel = (struct source){ .fd = ends[0], .ready = calls_channel_ready };
	calls->theirs = ends[1];
	int r = loop_watch(&host->loop, &calls->channel, EPOLLIN);
	if (r < 0) {
		calls_free(calls);
		return r;
	}
	*ret_calls = calls;
	return 0;
}

int calls_channel(const struct calls *calls)
{
	return calls->theirs;
}

/* Both ends: an end that commands still have leads nowhere then. */
static void calls_close(struct calls *calls)
{
	calls_listen(calls, false);
	calls->channel.fd = fd_close(calls->channel.fd);
	calls->theirs = fd_close(calls->theirs);
}

void calls_drop(struct calls *calls)
{
	if (!calls || calls->is_dropped)
		return;
	calls_listen(calls, false);
	calls->is_dropped = true;
	for (struct call *call = calls->first; call; call = call->next)
		calls_stop(call);
}

void calls_push(struct calls *calls)
{
	for (struct call *call = calls ? calls->first : NULL; call; call = call->next)
		perch_child_stop(call->child);
}

bool calls_are_busy(const struct calls *calls)
{
	return calls && calls->count;
}

void calls_signal(struct calls *calls, int signal)
{
	for (struct call *call = calls ? calls->first : NULL; call; call = call->next)
		perch_child_signal(call->child, signal);
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	calls_close(calls);
	while (calls->first)
		calls_end(calls->first);
	free(calls);
}
