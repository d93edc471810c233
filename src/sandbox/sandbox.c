/* A policy made ready for processes. */
#include "sandbox/sandbox.h"

#include <stddef.h>

struct sandbox sandbox_open(const struct sandbox_policy *policy)
{
	static const char *const no_layers[] = { NULL };
	(void)policy;
	return (struct sandbox){ .confine = NULL, .layers = no_layers };
}
