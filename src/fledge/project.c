/* The project: the user's directory, and its language. */
#include "base/macros.h"
#include "fledge/context.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

/* The first file that exists decides. */
static const struct {
	const char *file;
	const char *language;
} markers[] = {
	{ "Cargo.toml", "rust" },
	{ "package.json", "node" },
	{ "go.mod", "go" },
	{ "pyproject.toml", "python" },
	{ "setup.py", "python" },
	{ "Gemfile", "ruby" },
	{ "build.gradle", "java-gradle" },
	{ "build.gradle.kts", "java-gradle" },
	{ "pom.xml", "java-maven" },
	{ "Package.swift", "swift" },
};

static const char *project_find_language(int directory)
{
	for (size_t i = 0; i < COUNT(markers); i++)
		if (faccessat(directory, markers[i].file, F_OK, 0) == 0)
			return markers[i].language;
	return "generic";
}

/* The last part of a path; "unknown" for one that has none. */
static const char *project_base_name(const char *path, struct arena *arena)
{
	struct str rest = str_from(path);
	while (rest.len && rest.data[rest.len - 1] == '/')
		rest.len--;
	const char *slash = rest.len ? memrchr(rest.data, '/', rest.len) : NULL;
	if (slash)
		rest = (struct str){ slash + 1, rest.len - (size_t)(slash + 1 - rest.data) };
	return rest.len ? arena_dup(arena, rest) : "unknown";
}

static int project_open(const char *directory)
{
	return directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

void project_look_at_language(struct project_context *project)
{
	_cleanup_fd_ int fd = project_open(project->root);
	project->language = fd < 0 ? "generic" : project_find_language(fd);
}

int project_read(const char *directory, struct arena *arena, struct project_context *ret_project)
{
	struct project_context project = { .language = "generic" };
	_cleanup_fd_ int fd = project_open(directory);
	if (fd < 0) {
		*ret_project = project;
		return 0;
	}
	project.is_known = true;
	project.name = project_base_name(directory, arena);
	project.root = arena_dup(arena, str_from(directory));
	if (!project.name || !project.root || git_read(directory, arena, &project.git) < 0)
		return -ENOMEM;
	*ret_project = project;
	return 0;
}
