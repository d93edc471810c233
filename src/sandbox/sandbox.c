/* A policy made ready for the processes of one run. No layer is built yet:
 * whatever the policy says, nothing is enforced, and no layer is reported. */
#include "sandbox/sandbox.h"

#include <stddef.h>

int sandbox_open(perch_host *host, const struct sandbox_policy *policy,
	struct sandbox **ret_sandbox, perch_err *err)
{
	(void)host;
	(void)policy;
	(void)err;
	*ret_sandbox = NULL;
	return 0;
}

const struct perch_confine *sandbox_confine(const struct sandbox *sandbox)
{
	(void)sandbox;
	return NULL;
}

const char *const *sandbox_layers(const struct sandbox *sandbox)
{
	(void)sandbox;
	return NULL;
}

const char *const *sandbox_warnings(const struct sandbox *sandbox)
{
	(void)sandbox;
	return NULL;
}

const char *sandbox_tmp(const struct sandbox *sandbox)
{
	(void)sandbox;
	return NULL;
}

void sandbox_close(struct sandbox *sandbox)
{
	(void)sandbox;
}
