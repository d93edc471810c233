/* A command whose output is read into memory: run it, drain both streams within their limits, end
 * it when its time is up, tell how it went. */
#ifndef PROC_CAPTURE_H
#define PROC_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/meter.h"
#include "base/str.h"
#include "perch/host.h"
#include "proc/confine.h"
#include "proc/ladder.h"
#include "proc/timers.h"

struct capture;

/* Called once, from the loop, when the command has ended. The capture may be
 * freed in it. */
typedef void capture_done_fn(void *data, struct capture *capture);

struct capture_spec {
	const char *const *argv;
	const char *program;    /* NULL = argv[0] */
	int program_fd;         /* the program as an open file; 0 = argv[0] is looked up */
	const char *const *env; /* NULL = ours */
	const char *cwd;        /* NULL = ours */
	const struct perch_confine *confine;
	size_t limit; /* of each stream; what comes behind is drained and dropped */
	/* What bytes will take where they go to, against a limit of that (of each stream, too) and the
	 * meter. NULL = as many as they are. */
	size_t (*weigh)(struct str bytes);
	size_t weight_limit;
	uint64_t timeout_ns; /* 0 = none; counted from the birth */
	enum ending ending;  /* 0 = ENDING_COMMAND */
	bool keep_group;     /* its group lives until the capture is freed */
	bool first_byte;     /* the first byte of output is all that matters: end it then */
	bool drop_stderr;    /* its stderr goes to /dev/null */
	struct meter *meter; /* counts the output that is in memory; or NULL */
	capture_done_fn *done;
	void *data;
};

struct capture {
	struct buf out;
	struct buf err;
	bool out_truncated;
	bool err_truncated;
	bool timed_out;
	bool out_of_memory;
	perch_result result;
	perch_child *child;
	/* The members below are private. */
	struct capture_spec spec;
	perch_host *host;
	struct timer timer;
	size_t metered;
	size_t out_weight;
	size_t err_weight;
};

/* Starts it. Fails as perch_child_start does. */
int capture_start(perch_host *host, const struct capture_spec *spec, struct capture **ret_capture,
	perch_err *err);

/* Frees the output. */
void capture_forget(struct capture *capture);

/* Ends what is left of the command. NULL is fine. */
void capture_free(struct capture *capture);

/* The exit status as a shell has it: 128+n for a signal, 124 for a timeout. */
int capture_code(const struct capture *capture);

#endif
