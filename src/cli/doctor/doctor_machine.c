/* The checks of perch doctor that look at the machine: the kernel, and programs of the system. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cli/cli.h"
#include "cli/ui/inquiry.h"
#include "proc/pidfd.h"
#include "proc/program.h"
#include "sandbox/git/own_git.h"
#include "sandbox/layers/probe.h"

void doctor_check_kernel(struct finding *finding)
{
	struct utsname name;
	if (uname(&name) < 0) {
		doctor_found(finding, STATUS_FAILURE, "perch needs Linux", "unknown");
		return;
	}
	char *end = NULL;
	long major = strtol(name.release, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	bool is_new_enough = major > 5 || (major == 5 && minor >= 10);
	doctor_found(finding, is_new_enough ? STATUS_OK : STATUS_FAILURE,
		"perch needs Linux 5.10 or newer", "%s %s, %s", name.sysname, name.release, name.machine);
}

void doctor_check_pidfd(struct finding *finding)
{
	_cleanup_fd_ int fd = pidfd_open_process(getpid());
	if (fd < 0)
		doctor_found(finding, STATUS_FAILURE,
			"perch needs Linux 5.10 or newer; a container's seccomp "
			"profile may hide pidfd_open",
			"%s", perch_strerror(fd));
	else
		doctor_found(finding, STATUS_OK, NULL, "yes");
}

/* Starts a child that must have a guard: that the file exists would prove little. */
void doctor_check_guard(struct finding *finding)
{
	const char *const argv[] = { "/bin/sh", "-c", "exit 0", NULL };
	struct inquiry inquiry;
	perch_err err = { 0 };
	if (inquire(argv, PERCH_GUARD_REQUIRE, &inquiry, &err) < 0)
		doctor_found(finding, STATUS_WARNING,
			"install perch-guard, or name it in PERCH_GUARD: without it, a perch that is killed "
			"leaves its children behind",
			"%s", err.text);
	else
		doctor_found(
			finding, STATUS_OK, NULL, "%s", cli_guard_path() ? cli_guard_path() : "installed");
}

void doctor_check_landlock(struct finding *finding)
{
	int abi = probe_landlock_abi();
	if (abi > 0)
		doctor_found(finding, STATUS_OK, NULL, "ABI %d", abi);
	else if (abi == 0)
		doctor_found(finding, STATUS_WARNING,
			"boot with lsm=landlock,… (see /sys/kernel/security/lsm)",
			"built in, but switched off");
	else
		doctor_found(finding, STATUS_WARNING, "files can be confined from Linux 5.13 on", "%s",
			perch_strerror(abi));
}

void doctor_check_seccomp(struct finding *finding)
{
	bool has = probe_seccomp();
	doctor_found(finding, has ? STATUS_OK : STATUS_WARNING,
		"the kernel must be built with CONFIG_SECCOMP_FILTER", has ? "filters" : "no");
}

/* Opens a real room: settings of the kernel and of a container do not tell whether it works. */
void doctor_check_user_namespaces(struct finding *finding)
{
	const char *const argv[] = { "/bin/sh", "-c", "exit 0", NULL };
	struct inquiry inquiry;
	bool has_own_proc = false;
	perch_err err = { 0 };
	if (inquire_in_room(argv, &has_own_proc, &inquiry, &err) < 0)
		doctor_found(finding, STATUS_WARNING,
			"without them a sandbox is weaker at hiding paths and at reaching its processes", "%s",
			err.text);
	else if (!has_own_proc)
		doctor_found(finding, STATUS_WARNING,
			"a part of /proc is covered, as containers do: what is sandboxed sees the processes "
			"outside of its sandbox",
			"yes, but without a /proc of their own");
	else
		doctor_found(finding, STATUS_OK, NULL, "yes");
}

/* The git that perch itself would start, which need not be the first on PATH. */
void doctor_check_git(struct finding *finding)
{
	_cleanup_free_ char *path = NULL;
	struct inquiry inquiry;
	perch_err err = { 0 };
	int r = own_git_find(&path, &err);
	const char *const argv[] = { path, "--version", NULL };
	if (r < 0 || inquire(argv, PERCH_GUARD_OFF, &inquiry, &err) < 0)
		doctor_found(finding, STATUS_WARNING, "install git to install plugins from repositories",
			"%s", err.text);
	else
		doctor_found(finding, STATUS_OK, NULL, "%s, %s", inquiry.line, path);
}

void doctor_check_shell(struct finding *finding)
{
	if (access(PROGRAM_SHELL, X_OK) < 0)
		doctor_found(finding, STATUS_FAILURE,
			"there must be a POSIX shell: plugins run commands with it", PROGRAM_SHELL ": %s",
			perch_strerror(-errno));
	else
		doctor_found(finding, STATUS_OK, NULL, PROGRAM_SHELL);
}
