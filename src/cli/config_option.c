/* --config DIR, for commands whose starters pass on few variables. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/cli.h"

int cli_set_config(const char *dir)
{
	if (!dir)
		return 0;
	_cleanup_free_ char *path = realpath(dir, NULL);
	if (!path) {
		cli_error(NULL, "--config: %s: %s", dir, perch_strerror(-errno));
		return EXIT_HOST;
	}
	return setenv("XDG_CONFIG_HOME", path, 1) < 0 ? cli_no_memory() : 0;
}
