/* Why there is no room, in words. */
#include <errno.h>

#include "base/err.h"
#include "proc/room_parts.h"

static int room_explain_birth(int error, perch_err *err)
{
	if (error == EAGAIN || error == ENOMEM)
		return err_set(err, -error, "no room for the sandbox: %s", perch_strerror(-error));
	return err_set(err, PERCH_ESANDBOX,
		"no room for the sandbox: namespaces are not allowed here: %s (see the sysctls "
		"user.max_user_namespaces, kernel.unprivileged_userns_clone and "
		"kernel.apparmor_restrict_unprivileged_userns)",
		perch_strerror(-error));
}

static int room_explain_furnishing(int error, const struct furnishing *furnishing, perch_err *err)
{
	const char *why = perch_strerror(-error);
	if (error == ESTALE && furnishing->failed_at)
		return err_set(err, -ESTALE,
			"no room for the sandbox: '%s' became something else while it was looked at",
			furnishing->failed_at);
	if (furnishing->failed_at)
		return err_set(err, PERCH_ESANDBOX, "no room for the sandbox: cannot change '%s' in it: %s",
			furnishing->failed_at, why);
	return err_set(
		err, PERCH_ESANDBOX, "no room for the sandbox: its mounts are not allowed here: %s", why);
}

int room_explain(const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err)
{
	if (failure->stage == STAGE_BIRTH)
		return room_explain_birth(failure->error, err);
	if (failure->stage == STAGE_PRIVILEGES)
		return err_set(err, PERCH_ESANDBOX,
			"no room for the sandbox: its user cannot be mapped: %s%s",
			perch_strerror(-failure->error),
			failure->error == EACCES
				? "; a process that has changed its user must call prctl(PR_SET_DUMPABLE, 1)"
				: "");
	if (failure->stage == STAGE_ROOM)
		return room_explain_furnishing(failure->error, plan->furnishing, err);
	perch_err why = { 0 };
	spawn_explain(failure, plan, &why);
	return err_set(err, failure->stage == STAGE_DESCRIPTORS ? why.code : PERCH_ESANDBOX,
		"no room for the sandbox: %s", why.text);
}
