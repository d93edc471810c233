/* The files that a profile names: its program, and arguments that are files. They are run the next
 * time, too, so the agent must not change them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "agent/template.h"
#include "base/cleanup.h"
#include "proc/program.h"
#include "sandbox/policy/path_list.h"

static bool named_is_file(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Adds a file that exists, unless the agent is allowed to write exactly this path. */
static void named_files_add(struct path_list *files, const struct launch *launch, const char *text)
{
	char here[PATH_MAX] = "";
	bool is_relative = text[0] != '/';
	if (!text[0] || (is_relative && !realpath(launch->cwd ? launch->cwd : ".", here)))
		return;
	const char *path = arena_join(files->arena, here, is_relative ? "/" : "", text, NULL);
	files->failed |= !path;
	if (path && named_is_file(path) && !list_has(launch->options->profile->widening.write, path))
		path_list_add(files, path);
}

/* A program without a slash is looked for on PATH. */
static void named_add_program(
	struct path_list *files, const struct launch *launch, const char *text)
{
	_cleanup_free_ char *found = NULL;
	if (strchr(text, '/')) {
		named_files_add(files, launch, text);
		return;
	}
	int r = program_find(text, launch->env, &found, NULL);
	files->failed |= r == -ENOMEM;
	if (r == 0)
		named_files_add(files, launch, found);
}

/* An argument as a whole, and what stands behind its = */
static void named_add_argument(
	struct path_list *files, const struct launch *launch, const char *text)
{
	const char *equals = strchr(text, '=');
	named_files_add(files, launch, text);
	if (equals)
		named_files_add(files, launch, equals + 1);
}

/* A text that a chat user writes does not name a file. */
static void named_add_word(
	struct path_list *files, struct launch *launch, struct str word, bool is_program)
{
	const struct launch_place place = { "an argument", .most = AGENT_ARGUMENT_MAX };
	const char *text = NULL;
	if (template_uses_strangers(word))
		return;
	int r = launch_expand(launch, word, &place, &text, NULL);
	files->failed |= r == -ENOMEM;
	if (r == 0 && is_program)
		named_add_program(files, launch, text);
	else if (r == 0)
		named_add_argument(files, launch, text);
}

const char *const *launch_named_files(const struct launch *launch)
{
	struct launch trial = *launch;
	struct argv_words words = { 0 };
	struct path_list files;
	path_list_begin(&files, launch->arena, NULL);
	trial.warnings = (struct buf){ 0 };
	/* If this fails, the start of the agent will fail too, and say why. */
	int r = launch_make_env(&trial, NULL);
	if (r == 0)
		r = launch_words(&trial, &words, NULL);
	for (size_t i = 0; r == 0 && i < words.count && !files.failed; i++)
		named_add_word(&files, &trial, words.items[i], i == 0);
	launch_free(&trial);
	return files.failed || r == -ENOMEM ? NULL : files.items;
}

const char *const *agent_profile_files(const struct agent_profile *profile, struct arena *arena)
{
	const struct agent_turn_options options = {
		.profile = profile,
		.message = STR("-"),
		.session_id = "",
		.session_name = "default",
	};
	struct launch launch = {
		.arena = arena,
		.options = &options,
		.dialect = dialect_of(profile->dialect),
		.own_env = (const char *const *)environ,
	};
	int r = launch_begin(&launch, NULL);
	const char *const *files = r == -ENOMEM ? NULL : launch_named_files(&launch);
	launch_free(&launch);
	return files;
}
