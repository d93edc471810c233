/* Building a plugin. */
#include "plugins/build.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/replace.h"
#include "base/str.h"

/* The first file that exists counts. */
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
	for (size_t i = 0; i < COUNT(builds); i++) {
		_cleanup_free_ char *path = str_join(directory, "/", builds[i].file, NULL);
		if (!path || access(path, F_OK) != 0)
			continue;
		*ret_why = builds[i].file;
		return builds[i].command;
	}
	return "";
}

static const struct {
	const char *program;
	const char *package;
} packages[] = {
	{ "cargo", "cargo" },
	{ "cc", "gcc" },
	{ "cmake", "cmake" },
	{ "gcc", "gcc" },
	{ "go", "golang-go" },
	{ "make", "make" },
	{ "meson", "meson" },
	{ "ninja", "ninja-build" },
	{ "npm", "npm" },
};

const char *build_package(struct str program)
{
	for (size_t i = 0; i < COUNT(packages); i++) {
		if (str_is(program, packages[i].program))
			return packages[i].package;
	}
	return "";
}

/* "sh: 1: make: not found", or "bash: line 1: make: command not found". */
static struct str build_program_of_line(struct str line)
{
	struct str program = { 0 };
	struct str word = { 0 };
	while (line.len) {
		program = word;
		word = str_trim(str_cut(&line, ':'));
	}
	return str_is(word, "not found") || str_is(word, "command not found") ? program
																		  : (struct str){ 0 };
}

struct str build_missing_program(struct str log)
{
	struct str found = { 0 };
	while (log.len) {
		struct str program = build_program_of_line(str_cut(&log, '\n'));
		if (program.len)
			found = program;
	}
	return found;
}

int build_keep_log(const char *name, const char *text, size_t len, char **ret_path)
{
	_cleanup_free_ char *logs = NULL;
	int r = paths_user(PATH_STATE, "perch/logs", &logs, NULL);
	if (r == 0)
		r = paths_make(logs, NULL);
	if (r < 0)
		return r;
	_cleanup_free_ char *path = str_join(logs, "/build-", name, ".log", NULL);
	if (!path)
		return -ENOMEM;
	r = replace_path(path, (struct str){ text, len });
	if (r < 0)
		return r;
	*ret_path = steal(&path);
	return 0;
}
