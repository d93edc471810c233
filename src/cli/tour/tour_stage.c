/* Where the tour is played: a home of its own, the programs, and perch on PATH. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/tree.h"
#include "cli/tour/tour.h"
#include "plugins/new_file.h"

static const struct {
	const char *path;
	mode_t mode;
	const char *text;
} props[] = {
	{ "home/.ssh/id_ed25519", 0600, "not-a-real-key-but-nobody-elses-business\n" },
	{ "work/diary.txt", 0666, "Today a bird sat on the fence.\n" },
	{ "env", 0666,
		"# For the commands of the tour. In the directory `work`: . ../env\n"
		"unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME\n"
		"export HOME=\"${PWD%/work}/home\" PATH=\"${PWD%/work}/bin:$PATH\"\n" },
};

/* ---- making it ------------------------------------------------------------------- */

/* --keep: the directory must be new. It is kept by its absolute path. */
static int tour_stage_make_kept(struct stage *stage, const char *path, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char resolved[PATH_MAX];
	int r = mkdir(path, 0700) < 0 ? -errno : 0;
	if (r == -EEXIST)
		return err_set(
			err, r, "%s is there already: name a new directory", file_shown(path, shown));
	if (r == 0) {
		r = realpath(path, resolved) ? 0 : -errno;
		stage->top = r == 0 ? str_dup(str_from(resolved)) : NULL;
		if (stage->top)
			return 0;
		rmdir(path);
	}
	r = r ? r : -ENOMEM;
	return err_set(err, r, "%s cannot be made: %s", file_shown(path, shown), perch_strerror(r));
}

static int tour_stage_write_programs(const struct stage *stage, perch_err *err)
{
	int r = 0;
	for (const struct embedded *program = tour_programs; program->path && r == 0; program++) {
		bool is_script = strncmp(program->text, "#!", 2) == 0;
		_cleanup_free_ char *path = str_join("work/", program->path, NULL);
		r = path ? new_file_write(
					   stage->top, path, is_script ? 0777 : 0666, str_from(program->text), err)
				 : err_no_memory(err);
	}
	return r;
}

static int tour_stage_write_props(const struct stage *stage, perch_err *err)
{
	int r = 0;
	for (size_t i = 0; i < COUNT(props) && r == 0; i++)
		r = new_file_write(stage->top, props[i].path, props[i].mode, str_from(props[i].text), err);
	return r;
}

/* `perch` in the commands is this very program. */
static int tour_stage_link_perch(const struct stage *stage, perch_err *err)
{
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
	_cleanup_free_ char *directory = str_join(stage->top, "/bin", NULL);
	_cleanup_free_ char *path = str_join(stage->top, "/bin/perch", NULL);
	if (!directory || !path)
		return err_no_memory(err);
	if (!self || mkdir(directory, 0700) < 0 || symlink(self, path) < 0)
		return err_set(
			err, -errno, "the tour cannot find its own program: %s", perch_strerror(-errno));
	return 0;
}

/* With these variables gone, HOME alone decides where perch keeps its files. */
static bool tour_stage_is_passed_on(const char *variable)
{
	static const char *const dropped[] = { "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"XDG_DATA_HOME", "FLEDGE_NON_INTERACTIVE", NULL };
	struct str name = environment_name(variable);
	for (const char *const *at = dropped; *at; at++) {
		if (str_is(name, *at))
			return false;
	}
	return true;
}

static int tour_stage_describe(struct stage *stage, perch_err *err)
{
	const char *found = getenv("PATH");
	if (!found)
		found = "/usr/bin:/bin";
	const char *const extra[] = {
		arena_join(&stage->arena, "HOME=", stage->top, "/home", NULL),
		arena_join(&stage->arena, "PATH=", stage->top, "/bin:", found, NULL),
		NULL,
	};
	stage->cwd = arena_join(&stage->arena, stage->top, "/work", NULL);
	if (extra[0] && extra[1])
		stage->env = environment_build(
			&stage->arena, (const char *const *)environ, tour_stage_is_passed_on, extra);
	return stage->cwd && stage->env ? 0 : err_no_memory(err);
}

int stage_set(struct stage *stage, const char *keep, perch_err *err)
{
	*stage = (struct stage){ 0 };
	int r =
		keep ? tour_stage_make_kept(stage, keep, err) : tree_make("perch-tour-", &stage->top, err);
	if (r == 0)
		r = tour_stage_write_programs(stage, err);
	if (r == 0)
		r = tour_stage_write_props(stage, err);
	if (r == 0)
		r = tour_stage_link_perch(stage, err);
	if (r == 0)
		r = tour_stage_describe(stage, err);
	if (r < 0)
		stage_strike(stage);
	stage->is_kept = r == 0 && keep;
	return r;
}

void stage_strike(struct stage *stage)
{
	if (stage->top && !stage->is_kept)
		tree_remove(stage->top);
	free(stage->top);
	arena_free(&stage->arena);
	*stage = (struct stage){ 0 };
}
