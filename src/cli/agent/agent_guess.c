/* Which dialect an agent speaks, by the text of its script, where the profile does not say. */
#include "cli/agent/agent_commands.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

enum { GUESS_FILE_MAX = 256 * 1024 };

/* The type of a result and the message of a turn, and no variable of 0.1. */
static bool agent_guess_looks_newer(const char *path)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (file_read(path, GUESS_FILE_MAX, &text, NULL) < 0 || buf_terminate(&text) < 0 ||
		(text.len && memchr(text.data, '\0', text.len)))
		return false;
	return strstr(text.data, "type") && strstr(text.data, "result") &&
		strstr(text.data, "message") && !strstr(text.data, "AGENT_");
}

const char *agent_guess_newer(const struct agent_profile *profile, const char *const *argv)
{
	if (profile->evidence != DIALECT_UNSAID)
		return NULL;
	for (; argv && *argv; argv++) {
		if (agent_guess_looks_newer(*argv))
			return *argv;
	}
	return NULL;
}
