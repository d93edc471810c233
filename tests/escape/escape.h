/* The attempts of the escape matrix. Each tries to get at something and returns 0
 * when it got there, or the errno that stopped it. What there is to get at is
 * named by the environment, see attempt_path and sockets.c. */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>

typedef int attempt_fn(void);

/* What stops an attempt; none of them: it succeeds, and docs/sandbox.md says so. */
struct row {
	const char *name;
	attempt_fn *attempt;
	bool by_privileges; /* always: the layer that needs nothing of the kernel */
	bool by_seccomp;
	bool by_room;
	int by_landlock;       /* from this ABI on; 0 = never */
	bool only_without_net; /* with a network it is no escape */
	/* Stopped unless there is a room and Landlock of this ABI: not because it would
	 * be an escape, but because nothing else could tell it from one. 0 = no. */
	int needs_room_and;
};

/* Each list ends with a NULL name. */
extern const struct row file_rows[];
extern const struct row process_rows[];
extern const struct row socket_rows[];

/* "$VARIABLE/below"; ends the program when the variable is not set. */
const char *attempt_path(const char *variable, const char *below);
long attempt_number(const char *variable);

/* 0 or errno of a call that returns a negative number when it fails. */
int attempt_result(long r);

/* Opens, and closes again. */
int attempt_open(const char *path, int flags);

/* Listens for the rows of sockets, and is the process that others try to reach;
 * says how on stdout, as NAME=VALUE lines, and waits for the end of its input. */
int serve(void);

#endif
