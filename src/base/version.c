/* The version of the library that is running. */
#include "perch/base.h"
#include "version.h"

const char *perch_version(void)
{
	return PERCH_VERSION;
}
