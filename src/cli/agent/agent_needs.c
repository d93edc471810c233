/* What an agent needs beside its profile: the program that `cli` names. */
#include "cli/agent/agent_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
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
