/* Exit statuses that have a meaning wherever perch gives one: 64 of sysexits(3), the others as
 * shells and timeout(1) have them. Users read of them in docs/troubleshooting.md and perch(1). */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

enum {
	EXIT_USAGE = 64,
	EXIT_TIMED_OUT = 124,
	EXIT_HOST = 125, /* perch itself could not do it */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128, /* and the number of the signal */
};

/* The status of a process that ended by a signal, or (0) with this code. */
static inline int exit_status_of(int signal, int code)
{
	return signal ? EXIT_SIGNAL + signal : code;
}

/* The status that stands for a program that could not be started, by the error of the start. */
int exit_status_of_failed_start(int error);

#endif
