/* What stands behind include/perch/sandbox.h, for `perch sandbox check`. */
#ifndef PLUGINS_SANDBOX_API_H
#define PLUGINS_SANDBOX_API_H

#include "base/buf.h"
#include "perch/sandbox.h"
#include "sandbox/sandbox.h"

struct perch_sandbox {
	struct arena arena;
	struct sandbox_policy policy;
	struct policy_widening widening;
	perch_sandbox_base base;
	const char *directory; /* that was given; NULL = none */
	struct sandbox *sandbox;
	perch_sandbox_rules rules;
	struct buf hint;
};

/* Fills in the policy of one that is not open; fails as perch_sandbox_open does. */
int sandbox_api_policy(perch_sandbox *own, const perch_sandbox_options *given, perch_err *err);

#endif
