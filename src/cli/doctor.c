/* perch doctor: what this machine offers, and what is missing. Each check is a function in a table;
 * it fills in a finding, which is then printed for people or as JSON. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/sessions.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/macros.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/ui/envelope.h"
#include "cli/ui/inquiry.h"
#include "cli/options.h"
#include "cli/ui/page.h"
#include "plugins/inspect.h"
#include "proc/pidfd.h"
#include "proc/program.h"
#include "sandbox/git/own_git.h"
#include "sandbox/layers/probe.h"
#include "service/expose.h"

enum status {
	STATUS_OK,
	STATUS_WARNING, /* perch works, but something it offers does not */
	STATUS_FAILURE, /* perch cannot do its work */
};

static const char *const status_names[] = { "ok", "warning", "failure" };
static const enum style status_styles[] = { STYLE_INFO, STYLE_WARN, STYLE_ERROR };

struct finding {
	const char *section;
	const char *name;
	enum status status;
	char detail[512];
	const char *fix; /* NULL = nothing to do */
	bool may_fix;    /* --fix was given: the check repairs what it can */
};

/* Records a result; `fix` is dropped where nothing is wrong. */
__attribute__((format(printf, 4, 5))) static void doctor_found(
	struct finding *finding, enum status status, const char *fix, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(finding->detail, sizeof(finding->detail), format, args);
	va_end(args);
	finding->status = status;
	finding->fix = status == STATUS_OK ? NULL : fix;
}

/* ---- the checks ---------------------------------------------------------- */

static void doctor_check_kernel(struct finding *finding)
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

static void doctor_check_pidfd(struct finding *finding)
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
static void doctor_check_guard(struct finding *finding)
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

static void doctor_check_landlock(struct finding *finding)
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

static void doctor_check_seccomp(struct finding *finding)
{
	bool has = probe_seccomp();
	doctor_found(finding, has ? STATUS_OK : STATUS_WARNING,
		"the kernel must be built with CONFIG_SECCOMP_FILTER", has ? "filters" : "no");
}

/* Opens a real room: settings of the kernel and of a container do not tell whether it works. */
static void doctor_check_user_namespaces(struct finding *finding)
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
static void doctor_check_git(struct finding *finding)
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

static void doctor_check_shell(struct finding *finding)
{
	if (access(PROGRAM_SHELL, X_OK) < 0)
		doctor_found(finding, STATUS_FAILURE,
			"there must be a POSIX shell: plugins run commands with it", PROGRAM_SHELL ": %s",
			perch_strerror(-errno));
	else
		doctor_found(finding, STATUS_OK, NULL, PROGRAM_SHELL);
}

/* A directory that is not there yet is fine when it can be made. */
static void doctor_check_directory(struct finding *finding, enum path_kind kind, const char *below)
{
	_cleanup_free_ char *path = NULL;
	perch_err err = { 0 };
	if (paths_user(kind, below, &path, &err) < 0) {
		doctor_found(finding, STATUS_FAILURE, "set HOME", "%s", err.text);
		return;
	}
	static const char fix[] = "make it a directory that you may write to";
	struct stat info;
	if (stat(path, &info) == 0) {
		bool good = S_ISDIR(info.st_mode) && access(path, W_OK | X_OK) == 0;
		doctor_found(finding, good ? STATUS_OK : STATUS_FAILURE, fix, "%s, %s", path,
			good ? "writable" : "not a writable directory");
		return;
	}
	_cleanup_free_ char *above = str_dup(str_from(path));
	while (above && access(above, F_OK) != 0 && strrchr(above, '/') != above)
		*strrchr(above, '/') = '\0';
	bool good = above && access(above, W_OK | X_OK) == 0;
	doctor_found(finding, good ? STATUS_OK : STATUS_FAILURE, fix, "%s, %s", path,
		good ? "will be made when needed" : "cannot be made");
}

static void doctor_check_fledge_config(struct finding *finding)
{
	doctor_check_directory(finding, PATH_CONFIG, "fledge");
}

/* With --fix it also repairs; building or linking may need processes, hence a host. */
static void doctor_check_installed(struct finding *finding)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	_cleanup_(buf_free) struct buf problems = { 0 };
	struct workshop workshop = { 0 };
	struct inspection inspection;
	perch_err err = { 0 };
	int r = finding->may_fix ? cli_make_host(NULL, NULL, &workshop.host, &err) : 0;
	if (r == 0)
		r = inspect_plugins(finding->may_fix ? &workshop : NULL, &arena, &inspection, &err);
	perch_host_free(workshop.host);
	if (r < 0) {
		doctor_found(finding, STATUS_FAILURE, "repair or remove that file", "%s", err.text);
		return;
	}
	const char *text = page_join(&problems, inspection.problems, "");
	if (inspection.count == 0)
		doctor_found(finding, STATUS_OK, NULL, "%zu, nothing to repair", inspection.plugins);
	else if (inspection.repaired == inspection.count)
		doctor_found(finding, STATUS_OK, NULL, "repaired: %s", text);
	else if (inspection.repaired < inspection.fixable)
		doctor_found(finding, STATUS_WARNING, "perch doctor --fix", "%s", text);
	else
		doctor_found(finding, STATUS_WARNING, NULL, "%s", text);
}

static void doctor_check_config(struct finding *finding)
{
	doctor_check_directory(finding, PATH_CONFIG, "perch");
}

static void doctor_check_state(struct finding *finding)
{
	doctor_check_directory(finding, PATH_STATE, "perch");
}

static void doctor_check_cache(struct finding *finding)
{
	doctor_check_directory(finding, PATH_CACHE, "perch");
}

/* The database is moved, never removed: the user may want to rescue something from it. */
static void doctor_set_sessions_aside(struct finding *finding)
{
	char path[SESSIONS_PATH_MAX];
	perch_err err = { 0 };
	if (sessions_set_aside(path, &err) < 0)
		doctor_found(finding, STATUS_FAILURE, NULL, "%s", err.text);
	else
		doctor_found(finding, STATUS_OK, NULL, "a broken file was moved to %.400s", path);
}

static void doctor_check_sessions(struct finding *finding)
{
	perch_err err = { 0 };
	int r = sessions_examine(&err);
	if (r >= 0)
		doctor_found(finding, STATUS_OK, NULL, r > 0 ? "sound" : "none yet");
	else if (r == PERCH_ESYNTAX && finding->may_fix)
		doctor_set_sessions_aside(finding);
	else
		doctor_found(finding, STATUS_FAILURE,
			r == PERCH_ESYNTAX ? "perch doctor --fix moves it out of the way" : NULL, "%s",
			err.text);
}

/* What is hidden from those who offer it to others, and that the configuration can be read. */
static void doctor_check_exposed(struct finding *finding)
{
	char words[256];
	perch_err err = { 0 };
	int r = catalog_exposed(words, sizeof(words), &err);
	if (r < 0)
		doctor_found(finding, STATUS_WARNING, NULL, "%s", err.text);
	else
		doctor_found(finding, STATUS_OK, NULL, "%s", r > 0 ? words : "nothing to show yet");
}

static const struct check {
	const char *section;
	const char *name;
	void (*run)(struct finding *finding);
} checks[] = {
	{ "processes", "kernel", doctor_check_kernel },
	{ "processes", "pidfd", doctor_check_pidfd },
	{ "processes", "guard", doctor_check_guard },
	{ "sandbox", "landlock", doctor_check_landlock },
	{ "sandbox", "seccomp", doctor_check_seccomp },
	{ "sandbox", "user namespaces", doctor_check_user_namespaces },
	{ "programs", "git", doctor_check_git },
	{ "programs", "shell", doctor_check_shell },
	{ "plugins", "installed", doctor_check_installed },
	{ "directories", "plugins", doctor_check_fledge_config },
	{ "directories", "config", doctor_check_config },
	{ "directories", "state", doctor_check_state },
	{ "directories", "cache", doctor_check_cache },
	{ "agents", "sessions", doctor_check_sessions },
	{ "frontends", "exposed", doctor_check_exposed },
};
enum { CHECKS = COUNT(checks) };

/* ---- telling ------------------------------------------------------------- */

/* Where the text of a finding begins. */
enum { DETAIL_COLUMN = 28 };

static void doctor_print_finding(struct page *page, const struct finding *finding)
{
	char status[16];
	snprintf(status, sizeof(status), "%-8s", status_names[finding->status]);
	buf_append_text(&page->out, "  ");
	page_style(page, status_styles[finding->status], status);
	buf_printf(&page->out, " %-16s ", finding->name);
	page_wrap(page, str_from(finding->detail), DETAIL_COLUMN);
	if (finding->fix) {
		buf_printf(&page->out, "\n%*s", DETAIL_COLUMN, "");
		page_wrap(page, str_from(finding->fix), DETAIL_COLUMN);
	}
	buf_append_char(&page->out, '\n');
}

static int doctor_print_for_people(const struct cli *cli, const struct finding *findings)
{
	struct page page;
	page_begin(&page, cli);
	const char *section = "";
	buf_printf(&page.out, "perch %s\n", perch_version());
	for (int i = 0; i < CHECKS; i++) {
		if (strcmp(section, findings[i].section) != 0)
			buf_printf(&page.out, "%s\n", findings[i].section);
		section = findings[i].section;
		doctor_print_finding(&page, &findings[i]);
	}
	return page_end(&page);
}

static int doctor_print_json(const struct finding *findings, bool is_healthy)
{
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_text(writer, "version", perch_version());
	member_bool(writer, "healthy", is_healthy);
	member_array(writer, "findings");
	for (int i = 0; i < CHECKS; i++) {
		perch_json_begin_object(writer);
		member_text(writer, "section", findings[i].section);
		member_text(writer, "name", findings[i].name);
		member_text(writer, "status", status_names[findings[i].status]);
		member_text(writer, "detail", findings[i].detail);
		member_text(writer, "fix", findings[i].fix);
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
	return envelope_end(&envelope);
}

static int cli_doctor(struct cli *cli, int argc, char **argv)
{
	bool may_fix = false;
	const struct option_spec options[] = {
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "fix", 0, OPTION_FLAG, &may_fix },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(options, argc, argv, &at);
	if (r)
		return r;
	if (at < argc)
		return cli_usage_error("see: perch help doctor", "doctor takes no '%s'", argv[at]);
	struct finding findings[CHECKS];
	bool is_healthy = true;
	for (int i = 0; i < CHECKS; i++) {
		findings[i] = (struct finding){
			.section = checks[i].section,
			.name = checks[i].name,
			.may_fix = may_fix,
		};
		checks[i].run(&findings[i]);
		is_healthy = is_healthy && findings[i].status != STATUS_FAILURE;
	}
	r = cli->json ? doctor_print_json(findings, is_healthy)
				  : doctor_print_for_people(cli, findings);
	if (r)
		return r;
	return is_healthy ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "see what this machine offers, and what is missing",
	.help = "usage: perch doctor [--fix] [--json]\n"
			"\n"
			"Looks at the kernel, the programs and the directories that perch relies on and\n"
			"at the installed plugins, and says for each what it found, and what to do where\n"
			"something is missing. Ends with 0 when perch can do its work here, with 1 when\n"
			"it cannot.\n"
			"\n"
			"  --fix    repair what can be repaired safely: installs that were interrupted,\n"
			"           links that are missing or lead nowhere, a broken session database\n"
			"  --json   one object, for programs\n"
			"\n"
			"example:\n"
			"  perch doctor --json | jq '.findings[] | select(.status != \"ok\")'\n",
	.run = cli_doctor,
};
