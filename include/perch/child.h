/* A child process: how it is described, what it reports, how it is stopped. It
 * lives in a perch_host, see perch/host.h. */
#ifndef PERCH_CHILD_H
#define PERCH_CHILD_H

#include <perch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_host perch_host;
typedef struct perch_child perch_child;

/* ---- stopping --------------------------------------------------------- */

/* A ladder is how a child is made to stop: a list of steps, each a while after
 * the stop began. */
typedef enum perch_step_action {
	PERCH_STEP_ASK,         /* call the `asked` callback: it may send a cancel message */
	PERCH_STEP_CLOSE_STDIN, /* end of input: many programs leave by themselves */
	PERCH_STEP_TERM,        /* SIGTERM, then SIGCONT: a stopped child must wake to die */
	PERCH_STEP_KILL,        /* SIGKILL */
} perch_step_action;

typedef struct perch_step {
	perch_step_action action;
	uint64_t after_ns; /* since the stop began; steps stand in order of time */
} perch_step;

/* How far a kill goes. "Nothing stays behind" holds within this reach. */
typedef enum perch_reach {
	PERCH_REACH_PROCESS, /* the child alone: it shares our process group */
	PERCH_REACH_GROUP,   /* its process group; a descendant that left it, for a session or a
						  * group of its own, gets away */
	PERCH_REACH_CGROUP,  /* the same, and what got away dies when its cgroup is closed */
	PERCH_REACH_PIDNS,   /* the same, and what got away dies when its PID namespace is closed, or
						  * when we die */
	PERCH_REACH_TREE,    /* everything that descends from the child, whatever session, group or
						  * parent it has by now: at the child's end, and when we die */
} perch_reach;

/* "process", "group", "cgroup", "pidns", "tree". */
PERCH_API const char *perch_reach_name(perch_reach reach);

/* ---- the child --------------------------------------------------------- */

typedef enum perch_stdin_mode {
	PERCH_STDIN_NULL,    /* reading gives end of file */
	PERCH_STDIN_PIPE,    /* perch_child_write fills it */
	PERCH_STDIN_INHERIT, /* ours */
	PERCH_STDIN_FD,      /* stdin_fd, which stays the caller's */
} perch_stdin_mode;

typedef enum perch_output_mode {
	PERCH_OUTPUT_INHERIT, /* ours */
	PERCH_OUTPUT_NULL,    /* thrown away */
	PERCH_OUTPUT_LINES,   /* the `line` callback, line by line */
	PERCH_OUTPUT_BYTES,   /* the `bytes` callback, as they come */
	PERCH_OUTPUT_TAIL,    /* the last tail_limit bytes are kept: perch_child_tail */
	PERCH_OUTPUT_FD,      /* stdout_fd / stderr_fd, which stay the caller's */
} perch_output_mode;

typedef enum perch_stream { PERCH_STDOUT = 1, PERCH_STDERR = 2 } perch_stream;

typedef enum perch_session_mode {
	PERCH_SESSION_OWN,    /* setsid: no terminal, a process group of its own */
	PERCH_SESSION_SHARED, /* stays in our session and process group */
} perch_session_mode;

/* What becomes of the processes that a child leaves behind when it has exited by itself. */
typedef enum perch_background {
	PERCH_BACKGROUND_END,  /* they are killed */
	PERCH_BACKGROUND_KEEP, /* they live on. A child that is stopped takes its group with it */
} perch_background;

/* What became of them, and of those that a child had beside it when it was killed. */
typedef struct perch_background_end {
	unsigned ended; /* how many were killed */
	unsigned left;  /* how many could not be: a set-user-id program has made them another user's */
} perch_background_end;

enum {
	PERCH_LINE_UNTERMINATED = 1, /* the stream ended without a newline */
	PERCH_LINE_TOO_LONG = 2,     /* data is the first line_limit bytes; the rest is skipped */
};

/* One line without its newline and without one '\r' before it. data[len] is a
 * NUL; NULs inside are possible; nothing is checked or decoded. */
typedef struct perch_line {
	const char *data;
	size_t len;
	uint64_t number; /* from 1, per stream */
	unsigned flags;
} perch_line;

/* How a child ended. */
typedef struct perch_result {
	bool status_known; /* false: another part of the program waited for our child */
	int exit_code;     /* 0–255, or -1 when a signal ended it */
	int signal;        /* 0, or the signal that ended it */
	bool dumped_core;
	bool stop_asked;             /* perch_child_stop had been called */
	perch_step_action last_step; /* valid with stop_asked: how far the ladder went */
	/* A pipe was still open when we stopped reading: a descendant outside our
	 * reach, or alive under keep_group, holds it. What it writes later is lost. */
	bool stdout_held;
	bool stderr_held;
	bool output_lost;       /* there was no memory for it */
	uint64_t bytes_skipped; /* of lines over the limit */
	uint64_t duration_ns;   /* birth to exit */
	perch_reach reach;
	bool guarded;
	perch_background_end background; /* known when `ended` is called */
} perch_result;

/* What a child reports. Any may be NULL. A callback may call every perch_child_…
 * function, perch_child_free of its own child included, and start other children; it
 * must not call perch_host_dispatch, _wait or _free. */
typedef struct perch_child_events {
	size_t size; /* sizeof(perch_child_events) */
	void (*line)(perch_child *child, void *data, perch_stream stream, const perch_line *line);
	void (*bytes)(
		perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len);
	/* The stream has ended; every line of it was delivered. */
	void (*closed)(perch_child *child, void *data, perch_stream stream);
	/* What was written to the child has all gone into its pipe; or the child
	 * has closed its input (perch_child_write says -EPIPE from now on). */
	void (*drained)(perch_child *child, void *data);
	/* The ladder's PERCH_STEP_ASK. */
	void (*asked)(perch_child *child, void *data);
	/* The child itself has exited. Output may still come. */
	void (*exited)(perch_child *child, void *data, const perch_result *result);
	/* The last callback: all output was delivered, what the child left was killed. The
	 * child object stays until perch_child_free. */
	void (*ended)(perch_child *child, void *data, const perch_result *result);
} perch_child_events;

/* Limits, each with its default; 0 in the spec means the default. */
#define PERCH_LINE_LIMIT_DEFAULT ((size_t)8 * 1024 * 1024)
#define PERCH_WRITE_LIMIT_DEFAULT ((size_t)16 * 1024 * 1024)
#define PERCH_TAIL_LIMIT_DEFAULT ((size_t)4 * 1024)

struct perch_confine;

typedef struct perch_child_spec {
	size_t size;             /* PERCH_CHILD_SPEC_INIT sets it; 0 = the first published size */
	const char *const *argv; /* ends with NULL; argv[0] is also the program, unless: */
	const char *program;     /* a path, or a name to be looked up on the child's PATH */
	const char *const *env;  /* ends with NULL; NULL = ours */
	const char *cwd;         /* NULL = ours; a relative program path starts here */

	perch_stdin_mode stdin_mode;
	perch_output_mode stdout_mode;
	perch_output_mode stderr_mode;
	int stdin_fd;
	int stdout_fd;
	int stderr_fd;

	perch_session_mode session;
	const struct perch_confine *confine; /* the library's own; NULL = none */

	size_t line_limit;
	size_t write_limit;
	size_t tail_limit;

	/* After the child's own exit its pipes are read for this long, if another process still holds
	 * them; then its group is killed. Bytes that are in the pipe at that moment are always read. */
	uint64_t linger_ns;
	/* Do not kill the group at the end, but when the child is freed. */
	bool keep_group;

	const perch_step *ladder; /* must outlive the child; NULL = TERM, KILL after 5 s */
	size_t ladder_len;

	const perch_child_events *events; /* is copied; NULL = none */
	void *data;                       /* handed to every callback */

	/* An open file that is executed whatever is found at `program` by now; it
	 * stays the caller's. No script: its interpreter could not open it. 0 = none. */
	int program_fd;

	perch_background background;
} perch_child_spec;

#ifdef __cplusplus
static inline perch_child_spec perch_child_spec_init(void)
{
	perch_child_spec init = perch_child_spec();
	init.size = sizeof(init);
	return init;
}
#define PERCH_CHILD_SPEC_INIT perch_child_spec_init()
#else
#define PERCH_CHILD_SPEC_INIT            \
	{                                    \
		.size = sizeof(perch_child_spec) \
	}
#endif

/* Starts a program. On success *ret_child belongs to the caller until
 * perch_child_free. Never waits for the child, only for its exec.
 * Fails, with err->stage and err->text saying where and why, with
 *   -ENOENT            no such program, or no such cwd
 *   -EACCES            not executable, or a directory
 *   PERCH_EINTERPRETER its interpreter (first line) is missing
 *   -ENOEXEC           neither a binary for this machine nor a script with #!
 *   -E2BIG             arguments and environment are too large
 *   -EAGAIN            the limit of processes is reached
 *   -EINVAL            no argv, or something set that a newer library added
 *   -EMFILE, -ENFILE, -ENOMEM, PERCH_EGUARD, PERCH_ESANDBOX and other errnos. */
PERCH_API int perch_child_start(
	perch_host *host, const perch_child_spec *spec, perch_child **ret_child, perch_err *err);

/* Writes to the child's stdin: at once as far as the pipe takes it, the rest when it can. All or
 * nothing. Fails with -EPIPE (the child does not read any more: no error by itself), -ENOBUFS
 * (write_limit would be crossed; nothing was taken, `drained` will tell), -EBADF (stdin is no pipe,
 * or was closed by perch_child_close_stdin), -ENOMEM. Never raises SIGPIPE. */
PERCH_API int perch_child_write(perch_child *child, const void *data, size_t len);

/* End of input, once everything written so far is in the pipe. */
PERCH_API void perch_child_close_stdin(perch_child *child);

/* Bytes written and not yet in the pipe. */
PERCH_API size_t perch_child_unwritten(const perch_child *child);

/* Back-pressure: a paused stream is not read, its pipe fills, the child waits.
 * Nothing is lost; the child's end is not reported before it was resumed. */
PERCH_API void perch_child_pause(perch_child *child, perch_stream stream);
PERCH_API void perch_child_resume(perch_child *child, perch_stream stream);

/* Begins the ladder; again: goes to its next step at once. */
PERCH_API void perch_child_stop(perch_child *child);

/* Sends a signal to the child's group, or to the child alone where it shares ours; SIGKILL goes as
 * far as its reach. -ESRCH when no process is left. */
PERCH_API int perch_child_signal(perch_child *child, int signal);

/* The child's process id; it stays the child's until `ended`. */
PERCH_API int perch_child_pid(const perch_child *child);

/* The `data` of the spec. */
PERCH_API void *perch_child_data(const perch_child *child);

/* What is known now; exit_code and signal count only after `exited`. */
PERCH_API const perch_result *perch_child_result(const perch_child *child);

/* The last bytes of a PERCH_OUTPUT_TAIL stream, starting at a character, valid
 * until the next dispatch. *ret_dropped (may be NULL) says how many came before. */
PERCH_API const char *perch_child_tail(
	const perch_child *child, perch_stream stream, size_t *ret_len, uint64_t *ret_dropped);

/* Gives the child back. If it is alive, it is killed (as far as its reach
 * goes) and buried by the host; no callback is called any more. NULL is fine. */
PERCH_API void perch_child_free(perch_child *child);

#ifdef __cplusplus
}
#endif

#endif
