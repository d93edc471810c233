/* Building a plugin. */
#include "plugins/build.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/replace.h"
#include "base/str.h"
#include "registry/change.h"

/* The first that is there counts. */
static const struct {
	const char *file;
	const char *command;
} builds[] = {
	{ "Cargo.toml", "cargo build --release" },
	{ "Package.swift", "swift build -c release" },
	{ "go.mod", "mkdir -p bin && go build -o bin/ ./..." },
	{ "package.json", "npm install --no-audit --no-fund && npm run build --if-present" },
	{ "meson.build", "meson setup build && meson compile -C build" },
	{ "Makefile", "make" },
};

const char *build_command(
	const char *directory, const struct manifest *manifest, const char **ret_why)
{
	*ret_why = "build hook";
	if (manifest->hooks.build[0])
		return manifest->hooks.build;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		_cleanup_free_ char *path = str_join(directory, "/", builds[i].file, NULL);
		if (!path || access(path, F_OK) != 0)
			continue;
		*ret_why = builds[i].file;
		return builds[i].command;
	}
	return "";
}

int build_keep_log(const char *name, const char *text, size_t len, char **ret_path)
{
	_cleanup_free_ char *logs = NULL;
	int r = paths_user(PATH_STATE, "perch/logs", &logs, NULL);
	if (r == 0)
		r = change_make_directory(logs);
	if (r < 0)
		return r;
	_cleanup_free_ char *file = str_join("build-", name, ".log", NULL);
	_cleanup_free_ char *path = file ? str_join(logs, "/", file, NULL) : NULL;
	if (!path)
		return -ENOMEM;
	int opened = open(logs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int directory = opened < 0 ? -errno : fd_above_stdio(opened);
	r = directory < 0 ? directory : replace_file(directory, file, (struct str){ text, len });
	if (r < 0)
		return r;
	*ret_path = steal(&path);
	return 0;
}
