/* What does not exist cannot be protected: a place that git would execute from may be made by
 * what is sandboxed. So it is looked for when everything in the sandbox is gone, and told. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "proc/host.h"
#include "sandbox/path_list.h"
#include "sandbox/sandbox_parts.h"

static bool is_there(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

int sandbox_note_absent(struct sandbox *sandbox)
{
	struct path_list absent;
	path_list_begin(&absent, &sandbox->arena, NULL);
	const char *const *path = sandbox->policy.protect;
	for (; path && *path && !absent.failed; path++) {
		bool is_writable = policy_is_inside_any(*path, sandbox->policy.write);
		const char *kept =
			is_writable && !is_there(*path) ? arena_dup(&sandbox->arena, str_from(*path)) : "";
		path_list_add(&absent, kept ? kept : "");
		absent.failed |= !kept;
	}
	sandbox->absent = absent.items;
	return absent.failed ? -ENOMEM : 0;
}

/* git writes such a file into what it makes for a new worktree, and into no repository
 * that is there already: it makes git look for configuration and hooks somewhere else. */
static bool is_never_meant(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && strcmp(slash, "/commondir") == 0;
}

void sandbox_tell_made(struct sandbox *sandbox)
{
	const char *const *path = sandbox->absent;
	for (; path && *path; path++) {
		char shown[FILE_SHOWN_MAX];
		if (!is_there(*path))
			continue;
		file_shown(*path, shown);
		if (is_never_meant(*path) && unlink(*path) == 0)
			log_warn(&sandbox->host->log,
				"%s was made in the sandbox, so that git would look for programs to execute "
				"somewhere else: it was removed",
				shown);
		else
			log_warn(&sandbox->host->log,
				"%s was made in the sandbox, and git may execute what it says: look at it first",
				shown);
	}
}
