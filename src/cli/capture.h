/* Running a program and keeping what it says: for questions to other
 * programs, answered in a moment. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "perch/host.h"

struct capture {
	perch_result result;
	char text[256]; /* its first line on stdout */
};

/* Runs argv to its end, ten seconds at most. Returns 0, or a negative error
 * with err filled in when it could not be started. */
int capture_run(
	const char *const *argv, perch_guard_mode guard, struct capture *ret_capture, perch_err *err);

#endif
