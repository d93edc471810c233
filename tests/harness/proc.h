/* For tests with real child processes. */
#ifndef HARNESS_PROC_H
#define HARNESS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "harness/suite.h"
#include "perch/host.h"

/* Everything a child reported, in order. */
struct record {
	struct buf out; /* its stdout lines, each with a '\n' behind it */
	struct buf err; /* the same for stderr */
	unsigned lines; /* how many on stdout */
	unsigned last_flags;
	size_t longest;
	bool closed; /* stdout */
	bool exited;
	bool ended;
	unsigned drained;
	unsigned asked;
	bool discard; /* count the lines, do not keep them */
	perch_result result;
	perch_child *child;
};

extern const perch_child_events record_events;

/* A host with the guard of this build; fails the test if it cannot be made.
 * In a test program whose name ends in -plain it forks plainly. */
perch_host *proc_host(void);
perch_host *proc_host_with(perch_host_options options);

/* A program of this build, named from where the test programs are, at a path of the caller's;
 * fails the test when it is not there. */
const char *proc_in_build(const char *name, char *path, size_t size);

/* tests/children/child of this build, and this build's perch-guard. */
const char *proc_child_path(void);
const char *proc_guard_path(void);

/* A spec that records: stdout and stderr as lines. argv must outlive it. */
perch_child_spec proc_spec(const char *const *argv, struct record *record);

/* Starts it or fails the test. */
void proc_start(perch_host *host, const perch_child_spec *spec, struct record *record);

/* The same for argv, whose stdin is a pipe. */
void proc_start_piped(perch_host *host, const char *const *argv, struct record *record);

/* Starts argv, runs the loop until it has ended, frees the child. */
void proc_run(perch_host *host, const char *const *argv, struct record *record);

/* Runs the loop until *flag; fails the test when it takes half a minute. */
void proc_until(perch_host *host, const bool *flag);

/* Runs the loop until the child has sent this many lines. */
void proc_until_lines(perch_host *host, const struct record *record, unsigned lines);

/* The first process that this one has made and not yet reaped: the guard of a host that has
 * started a child. */
pid_t proc_first_child(void);

/* For perch_host_options.log; the data is an unsigned. */
void proc_count_warnings(void *data, perch_log_level level, const char *text);

/* Ends the test's use of a record: frees the child and the buffers. */
void record_free(struct record *record);

/* The recorded stdout as a string. */
const char *record_out(struct record *record);

/* Waits until a process is gone (or a zombie); fails the test otherwise. */
void proc_wait_gone(pid_t pid);

/* Is it there and not a zombie? */
bool proc_is_alive(pid_t pid);

/* How many descriptors this process has open. */
unsigned proc_open_fds(void);

/* How many zombies and living children this process has. */
unsigned proc_children(void);

/* Peak resident memory of this process, in KiB. */
long proc_peak_memory_kib(void);

/* What a sanitizer's own bookkeeping may add to it. */
#define SANITIZER_SLACK_KIB (UNDER_ASAN ? 32768 : 0)

/* The memory of this process; and that it has hardly grown since. What it has now is counted
 * page by page. The peak is the kernel's counter, to which every processor adds some pages late. */
struct memory {
	long now_kib;
	long peak_kib;
};

struct memory proc_memory(void);
void proc_expect_memory(struct memory before);

#define CHILD(...) ((const char *const[]){ proc_child_path(), __VA_ARGS__, NULL })
#define SHELL(script) ((const char *const[]){ "sh", "-c", script, NULL })

#endif
