/* What an agent needs beside its profile: the program that `cli` names. */
#include "cli/agent/agent_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/envelope.h"
#include "proc/program.h"

enum { INSTALL_WORDS_MAX = 300 };

/* The first line that is no comment: how it is installed. */
static struct str agent_needs_install(const char *text)
{
	struct str rest = str_from(text ? text : "");
	while (rest.len) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		if (line.len && line.data[0] != '#')
			return line;
	}
	return (struct str){ 0 };
}

bool agent_needs_program(const struct profile_about *about)
{
	return about->cli && about->cli[0] && strcmp(about->cli, "none") != 0;
}

int agent_needs_check(const struct agent_profile *profile, const char *const *env, perch_err *err)
{
	const struct profile_about *about = &profile->about;
	_cleanup_free_ char *path = NULL;
	if (!agent_needs_program(about))
		return 0;
	int r = program_find(about->cli, env ? env : (const char *const *)environ, &path, NULL);
	if (r == 0 || r == -ENOMEM)
		return r;
	struct str install = agent_needs_install(about->cli_install);
	int len = (int)(install.len < INSTALL_WORDS_MAX ? install.len : INSTALL_WORDS_MAX);
	return err_set(err, -ENOENT, "it needs the program '%.100s', which is not on PATH%s%.*s",
		about->cli, len ? "; install it: " : "", len, install.data ? install.data : "");
}

/* ---- the script of an interpreter ---------------------------------------------- */

static bool agent_needs_is_script(const char *argument, const char *directory)
{
	static const char *const endings[] = { ".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash",
		".rb", ".pl", ".lua", ".php" };
	size_t len = strlen(directory);
	if (argument[0] == '-')
		return false;
	if (strncmp(argument, directory, len) == 0 && argument[len] == '/')
		return true;
	const char *dot = strrchr(argument, '.');
	for (size_t i = 0; dot && i < COUNT(endings); i++) {
		if (strcmp(dot, endings[i]) == 0)
			return !strpbrk(argument, " \t\n");
	}
	return false;
}

int agent_needs_script(const struct launch *launch, perch_err *err)
{
	const char *directory = launch->options->profile->directory;
	const char *script = NULL;
	for (size_t i = 1; launch->argv && launch->argv[0] && launch->argv[i] && !script; i++) {
		if (agent_needs_is_script(launch->argv[i], directory))
			script = launch->argv[i];
	}
	if (!script)
		return 0;
	const char *cwd = launch->cwd && script[0] != '/' ? launch->cwd : "";
	_cleanup_free_ char *path = str_join(cwd, cwd[0] ? "/" : "", script, NULL);
	if (!path)
		return err_no_memory(err);
	if (access(path, F_OK) == 0)
		return 0;
	char advice[COMMAND_ADVICE_MAX];
	bool is_advised = command_explain_file(launch, script, advice);
	return err_set(err, -ENOENT, "it needs the file '%.300s', which is not there%s%s", script,
		is_advised ? ": " : "", is_advised ? advice : "");
}

void agent_about_write(perch_json_writer *writer, const struct profile_about *about)
{
	member_text(writer, "title", about->name);
	member_text(writer, "description", about->description);
	member_text(writer, "cli", about->cli);
	member_text(writer, "cli_install", about->cli_install);
	member_text(writer, "tested", about->tested);
	member_text(writer, "maintainer", about->maintainer);
	member_list(writer, "tags", about->tags);
	member_text(writer, "notes", about->notes);
}
