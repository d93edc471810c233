/* What the files of `perch doctor` share: a finding, and the checks that make one each. */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "perch/base.h"

enum status {
	STATUS_OK,
	STATUS_WARNING, /* perch works, but something it offers does not */
	STATUS_FAILURE, /* perch cannot do its work */
};

struct finding {
	const char *section;
	const char *name;
	enum status status;
	char detail[512];
	const char *fix; /* NULL = nothing to do */
	bool may_fix;    /* --fix was given: the check repairs what it can */
};

/* Records a result; `fix` is dropped where nothing is wrong. */
void doctor_found(struct finding *finding, enum status status, const char *fix, const char *format,
	...) PERCH_PRINTF(4, 5);

typedef void doctor_check_fn(struct finding *finding);

/* ---- doctor_machine.c: the kernel, and programs of the system ------------------ */

doctor_check_fn doctor_check_kernel;
doctor_check_fn doctor_check_pidfd;
doctor_check_fn doctor_check_guard;
doctor_check_fn doctor_check_landlock;
doctor_check_fn doctor_check_seccomp;
doctor_check_fn doctor_check_user_namespaces;
doctor_check_fn doctor_check_git;
doctor_check_fn doctor_check_shell;

/* ---- doctor_files.c: the files and directories of the user --------------------- */

doctor_check_fn doctor_check_fledge_config;
doctor_check_fn doctor_check_installed;
doctor_check_fn doctor_check_config;
doctor_check_fn doctor_check_state;
doctor_check_fn doctor_check_cache;
doctor_check_fn doctor_check_sessions;
doctor_check_fn doctor_check_exposed;

#endif
