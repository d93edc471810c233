/* Deadlines of many connections with one timer: every kind has one length, so that the connection
 * that enters last is due last, and entering costs nothing. */
#ifndef SERVE_DEADLINES_H
#define SERVE_DEADLINES_H

#include <stdint.h>

#include "base/list.h"
#include "perch/loop.h"

enum deadline_kind {
	DEADLINE_NONE,
	DEADLINE_HEAD,    /* a head must be whole */
	DEADLINE_BODY,    /* a body is looked at, whether it comes fast enough */
	DEADLINE_IDLE,    /* another request must begin */
	DEADLINE_WRITE,   /* the client must read */
	DEADLINE_COMMENT, /* a silent stream says that it is alive */
	DEADLINE_LINGER,  /* the rest that a client sends is read away no longer */
	DEADLINE_KINDS,
};

/* A part of every object with a deadline. */
struct deadline {
	struct link link; /* first */
	uint64_t due_ns;
	enum deadline_kind kind;
};

struct deadlines {
	struct list lists[DEADLINE_KINDS];
	uint64_t length_ns[DEADLINE_KINDS]; /* by deadlines_set_length */
	perch_timer *timer;
	void (*due)(void *data, struct deadline *deadline); /* it is of no kind then */
	void *data;
};

int deadlines_open(struct deadlines *deadlines, perch_host *host, perch_err *err);
void deadlines_close(struct deadlines *deadlines);

/* The new length also holds for those that have entered this kind already. */
void deadlines_set_length(struct deadlines *deadlines, enum deadline_kind kind, uint64_t length_ns);

/* Enters anew, from any kind. */
void deadline_set(struct deadlines *deadlines, struct deadline *deadline, enum deadline_kind kind);

/* The same, but one of this kind goes on as it is. */
void deadline_keep(struct deadlines *deadlines, struct deadline *deadline, enum deadline_kind kind);

#endif
