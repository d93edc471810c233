/* The user's own configuration in caches that were moved. A plugin's tools keep what they download
 * in a directory of the plugin's; some look there for their configuration, too. The plugin may
 * write in that directory, so nothing is followed there. */
#include "plugins/plugin_confinement.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macros.h"

static const struct {
	const char *cache;    /* below the plugin's cache, as policy_caches has it */
	const char *file;     /* in it */
	const char *variable; /* that says where the user's own is; */
	const char *usual;    /* else here, below the home directory */
} configs[] = {
	{ "cargo", "config.toml", "CARGO_HOME", ".cargo" },
	{ "cargo", "config", "CARGO_HOME", ".cargo" },
	{ "ccache", "ccache.conf", "CCACHE_DIR", ".config/ccache" },
};

static bool cache_config_find(size_t i, char ret_path[PATH_MAX])
{
	const char *home = getenv("HOME");
	const char *moved = getenv(configs[i].variable);
	bool is_moved = moved && moved[0] == '/';
	int len = is_moved ? snprintf(ret_path, PATH_MAX, "%s/%s", moved, configs[i].file)
					   : snprintf(ret_path, PATH_MAX, "%s/%s/%s", home ? home : "",
							 configs[i].usual, configs[i].file);
	return len > 0 && len < PATH_MAX && ret_path[0] == '/' && access(ret_path, R_OK) == 0;
}

/* A file that the plugin has put there is its own. */
static void cache_config_link(int directory, const char *file, const char *source)
{
	char target[PATH_MAX];
	struct stat about;
	ssize_t len = readlinkat(directory, file, target, sizeof(target));
	bool is_same = len == (ssize_t)strlen(source) && memcmp(target, source, (size_t)len) == 0;
	if (is_same || (fstatat(directory, file, &about, AT_SYMLINK_NOFOLLOW) == 0 && len < 0))
		return;
	unlinkat(directory, file, 0);
	if (symlinkat(source, directory, file) < 0)
		return; /* then it has none, as before */
}

void cache_config_show(const char *cache)
{
	for (size_t i = 0; i < COUNT(configs); i++) {
		char source[PATH_MAX];
		if (!cache_config_find(i, source))
			continue;
		_cleanup_fd_ int above = fd_directory(AT_FDCWD, cache, O_RDONLY | O_NOFOLLOW);
		if (above >= 0)
			mkdirat(above, configs[i].cache, 0700);
		_cleanup_fd_ int directory =
			above < 0 ? -1 : fd_directory(above, configs[i].cache, O_RDONLY | O_NOFOLLOW);
		if (directory >= 0)
			cache_config_link(directory, configs[i].file, source);
	}
}
