/* A policy made ready for processes. */
#include "sandbox/sandbox.h"

#include <stddef.h>

struct sandbox sandbox_open(const struct sandbox_policy *policy)
{
	(void)policy;
	return (struct sandbox){ .confine = NULL, .layers = NULL };
}
