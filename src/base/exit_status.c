/* Exit statuses that have a meaning wherever perch gives one. */
#include "base/exit_status.h"

#include <errno.h>

#include "perch/base.h"

int exit_status_of_failed_start(int error)
{
	switch (error) {
	case -ENOENT:
		return EXIT_NOT_FOUND;
	case -EACCES:
	case -ENOEXEC:
	case PERCH_EINTERPRETER:
		return EXIT_NOT_EXECUTABLE;
	default:
		return EXIT_HOST;
	}
}
