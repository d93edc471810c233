/* plugin to plugin: which perch a host starts for a plugin that calls another. */
#include "harness/suite.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/plugin_calls.h"

/* A plugin that may write where a program lies that uses the library puts a perch beside it: it
 * would be executed without a sandbox. */
START_TEST(a_perch_beside_another_program_is_not_started)
{
	char path[PATH_MAX];
	struct arena arena = { 0 };
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 8);
	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	strcpy(strrchr(path, '/'), "/perch");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ck_assert_msg(fd >= 0, "%s", path);
	close(fd);
	const struct registry_entry owner = { .name = "p", .directory = "/" };
	struct plugin_target target = { .command.owner = &owner };
	target.grant.callees = (const char *const[]){ GRANT_ANY_PLUGIN, NULL };
	struct calls_options options;
	int r = plugin_calls_prepare(&target, NULL, "/", &arena, &options);
	bool is_planted = options.program && strcmp(options.program, path) == 0;
	unlink(path);
	ck_assert_int_eq(r, 0);
	ck_assert(!is_planted);
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("plugin-calls", a_perch_beside_another_program_is_not_started)
