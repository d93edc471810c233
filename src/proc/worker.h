/* A thread for work that waits for a disk, so that the loop does not: jobs go in, completions come
 * out through the loop. A host has one at most, which is started with its first job and ends with
 * the host. A process that the program forks has no such thread, and needs none to end. */
#ifndef PROC_WORKER_H
#define PROC_WORKER_H

#include "base/list.h"
#include "perch/host.h"

struct worker;

enum job_state {
	JOB_IDLE,    /* the owner's */
	JOB_QUEUED,  /* behind others */
	JOB_WORKING, /* the thread's: nothing of it may be touched */
	JOB_WORKED,  /* `done` comes from the loop */
};

/* Lives inside its owner. Jobs of one host are worked one after the other, in order. */
struct job {
	struct link link;
	void (*work)(struct job *job); /* in the thread: uses only what the job owns */
	void (*done)(struct job *job); /* from the loop; may hand it in again, or free it */
	/* JOB_IDLE = it may be handed in; else the worker's. Becomes idle in the loop alone. */
	_Atomic(enum job_state) state;
};

/* The host's worker; NULL without memory or descriptors: then the work must be done at once. */
struct worker *worker_of(perch_host *host);

/* Hands in a job that is idle. Where no thread can be started, it is worked before this returns;
 * `done` comes from the loop all the same. */
void worker_take(struct worker *worker, struct job *job);

/* Waits until the job is worked, and idle again, without `done`: for an owner that ends. An idle
 * one is fine. */
void worker_settle(struct worker *worker, struct job *job);

#endif
