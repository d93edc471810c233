/* The checks of perch doctor that look at the user's files: directories, plugins, sessions, the
 * configuration. */
#include "cli/doctor/doctor.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sessions.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/ui/page.h"
#include "plugins/inspect.h"
#include "service/expose.h"

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

void doctor_check_fledge_config(struct finding *finding)
{
	doctor_check_directory(finding, PATH_CONFIG, "fledge");
}

/* With --fix it also repairs; building or linking may need processes, hence a host. */
void doctor_check_installed(struct finding *finding)
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

void doctor_check_config(struct finding *finding)
{
	doctor_check_directory(finding, PATH_CONFIG, "perch");
}

void doctor_check_state(struct finding *finding)
{
	doctor_check_directory(finding, PATH_STATE, "perch");
}

void doctor_check_cache(struct finding *finding)
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

void doctor_check_sessions(struct finding *finding)
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

/* What the frontends of the service do not see, and whether the configuration can be read. */
void doctor_check_exposed(struct finding *finding)
{
	char words[256];
	perch_err err = { 0 };
	int r = catalog_exposed(words, sizeof(words), &err);
	if (r < 0)
		doctor_found(finding, STATUS_WARNING, NULL, "%s", err.text);
	else
		doctor_found(finding, STATUS_OK, NULL, "%s", r > 0 ? words : "nothing to show yet");
}
