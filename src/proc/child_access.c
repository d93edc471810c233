/* What a program may ask of a child and do to it. */
#include "proc/child.h"

#include <poll.h>
#include <signal.h>

static const char *const reach_names[] = {
	[PERCH_REACH_PROCESS] = "process",
	[PERCH_REACH_GROUP] = "group",
	[PERCH_REACH_CGROUP] = "cgroup",
	[PERCH_REACH_PIDNS] = "pidns",
	[PERCH_REACH_TREE] = "tree",
};

const char *perch_reach_name(perch_reach reach)
{
	return reach_names[reach];
}

int perch_child_write(perch_child *child, const void *data, size_t len)
{
	return outbox_write(&child->outbox, data, len);
}

void perch_child_close_stdin(perch_child *child)
{
	outbox_close(&child->outbox);
}

bool child_has_output(const perch_child *child, perch_stream which)
{
	const struct stream *stream = &child->streams[which - PERCH_STDOUT];
	struct pollfd fds = { .fd = stream->source.fd, .events = POLLIN };
	return !stream_is_open(stream) || poll(&fds, 1, 0) != 0;
}

size_t perch_child_unwritten(const perch_child *child)
{
	return outbox_waiting(&child->outbox);
}

void perch_child_pause(perch_child *child, perch_stream stream)
{
	stream_pause(child_stream(child, stream));
}

void perch_child_resume(perch_child *child, perch_stream stream)
{
	stream_resume(child_stream(child, stream));
}

int perch_child_signal(perch_child *child, int signal)
{
	return signal == SIGKILL ? child_kill(child) : child_signal(child, signal);
}

int perch_child_pid(const perch_child *child)
{
	return child->pid;
}

void *perch_child_data(const perch_child *child)
{
	return child->data;
}

const perch_result *perch_child_result(const perch_child *child)
{
	return &child->result;
}

const char *perch_child_tail(
	const perch_child *child, perch_stream stream, size_t *ret_len, uint64_t *ret_dropped)
{
	const struct tail *tail = &child->streams[stream - PERCH_STDOUT].tail;
	struct str text = tail_text(tail);
	*ret_len = text.len;
	if (ret_dropped)
		*ret_dropped = tail->total - text.len;
	return text.data ? text.data : "";
}
