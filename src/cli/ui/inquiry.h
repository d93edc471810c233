/* A short question to another program, as `git --version`: it is run to its end, and the first line
 * of its output is kept. */
#ifndef CLI_UI_INQUIRY_H
#define CLI_UI_INQUIRY_H

#include "perch/host.h"
#include "proc/confine.h"

struct inquiry {
	int code; /* its exit status as a shell has it; 124 after ten seconds */
	char line[256];
};

/* Returns 0, or a negative error with err filled in when it could not be
 * started. */
int inquire(
	const char *const *argv, perch_guard_mode guard, struct inquiry *ret_inquiry, perch_err *err);

/* The same in a room, see proc/room.h, that is opened for it. */
int inquire_in_room(
	const char *const *argv, bool *ret_has_own_proc, struct inquiry *ret_inquiry, perch_err *err);

/* The same for a child of `host`, confined to that (NULL = to nothing), in the directory `cwd`
 * (NULL = ours). */
int inquire_confined(perch_host *host, const struct perch_confine *confine, const char *cwd,
	const char *const *argv, struct inquiry *ret_inquiry, perch_err *err);

#endif
