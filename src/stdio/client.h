/* A client on a pair of descriptors, mostly stdin and stdout: its lines, messages on their way to
 * it, and the process that it is. What `perch mcp` and `perch acp` share. */
#ifndef STDIO_CLIENT_H
#define STDIO_CLIENT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/loop.h"
#include "perch/service.h"

/* ---- stdio_output.c -------------------------------------------------------- */

/* Messages on their way to the client, in a descriptor that is not ours alone: it is never made
 * non-blocking, and never waited for. */

struct stdio_output {
	int fd;
	perch_source *source; /* NULL: a file, which is always ready */
	perch_timer *timer;
	struct buf queue;
	size_t begin; /* of what is still to be written */
	uint64_t taken;
	uint64_t written;
	uint64_t *gaps; /* before which byte the client must have read all others; ascending */
	size_t gap_count, gap_cap;
	unsigned gap_waits;
	bool has_notified; /* since the last response */
	bool no_nowait;
	int error;
};

/* 0, -ENOMEM, or as perch_source_new fails. */
int stdio_output_open(struct stdio_output *output, perch_host *host, int fd, perch_err *err);

/* The line has a '\n' behind it. A response is not in one read with a notification before it: there
 * are clients that forget the call of a progress as soon as they see its response. */
void stdio_output_take(struct stdio_output *output, struct str line, bool is_response);

static inline size_t stdio_output_waiting(const struct stdio_output *output)
{
	return output->queue.len - output->begin;
}

void stdio_output_close(struct stdio_output *output);

/* ---- stdio_input.c --------------------------------------------------------- */

/* Lines of the client. */

struct stdio_input;

/* The line is without its newline, and empty where it was longer than may be. Returns whether more
 * lines are wanted now. */
typedef bool stdio_line_fn(void *data, struct str line, bool is_too_long);

struct stdio_input {
	int fd;
	perch_source *source; /* NULL: a file, which is always ready */
	perch_timer *timer;   /* goes on with lines that were not wanted before */
	size_t line_max;      /* bytes */
	stdio_line_fn *take;
	void (*ended)(void *data);
	void *data;
	struct buf buf;
	size_t scanned; /* bytes without a newline */
	bool is_skipping;
	bool is_paused;
	bool has_ended;
};

int stdio_input_open(struct stdio_input *input, perch_host *host, int fd, perch_err *err);

/* Lines are wanted again. */
void stdio_input_resume(struct stdio_input *input);

/* Nothing more is wanted. */
void stdio_input_stop(struct stdio_input *input);

void stdio_input_close(struct stdio_input *input);

/* ---- stdio_parent.c -------------------------------------------------------- */

/* The process that started us: another one may hold our stdin open when it dies. */

struct stdio_parent {
	int fd; /* -1 = it is not watched */
	perch_source *source;
	void (*left)(void *data);
	void *data;
};

/* If the parent cannot be watched, the client is served all the same. If it has gone already,
 * `left` is called at once. */
void stdio_parent_watch(struct stdio_parent *parent, perch_host *host);

void stdio_parent_close(struct stdio_parent *parent);

/* ---- stdio_client.c -------------------------------------------------------- */

/* All three together, served until the client leaves. */

enum { STDIO_END_MS = 1400 }; /* clients kill after 2 s */

/* What a protocol adds. */
struct stdio_client_table {
	size_t line_max;   /* bytes of a line */
	size_t unread_max; /* bytes that the client has not read: then it is held */
	void (*line)(void *data, struct str line, bool is_too_long);
	/* Its engine has no memory. Also asked after `leave`. */
	bool (*is_broken)(void *data);
	/* While the client does not read, its jobs are not read either. */
	void (*hold)(void *data, bool is_held);
	/* After each round of the loop; NULL = nothing is to be done. */
	void (*settle)(void *data);
	/* The client is gone: nothing more is said to it. Called once; its jobs are cancelled next. */
	void (*leave)(void *data);
};

/* Lives inside its owner, which sets the first members. */
struct stdio_client {
	const struct stdio_client_table *table;
	void *data;
	perch_host *host;
	perch_service *service; /* the owner's; needed from stdio_client_run on */
	struct stdio_input input;
	struct stdio_output output;
	struct stdio_parent parent;
	perch_timer *ladder; /* when the end must have come */
	bool is_held;        /* the client does not read */
	bool is_ending;
	bool is_late;
	bool has_no_memory;
};

/* 0, -ENOMEM, or as perch_source_new fails; then it must be closed, too. */
int stdio_client_open(struct stdio_client *client, int input, int output, perch_err *err);

/* Serves until the client is gone (its end of the input is closed, its process has ended, it does
 * not read), or until stdio_client_stop; then everything that runs is ended, within 1.5 s. 0, or
 * -ENOMEM. */
int stdio_client_run(struct stdio_client *client);

/* From the loop alone. */
void stdio_client_stop(struct stdio_client *client);

void stdio_client_close(struct stdio_client *client);

#endif
