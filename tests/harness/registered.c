/* A home directory with plugins. */
#include "harness/registered.h"

#include <stdlib.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/suite.h"

void registered_new(void)
{
	setenv("HOME", folder_new(), 1);
	unsetenv("XDG_CONFIG_HOME");
	free(folder_run("mkdir -p -m 700 " CONFIG "plugins/bin"));
}

void registered_link(const char *target, const char *path)
{
	ck_assert_msg(symlink(target, folder_path("%s", path)) == 0, "%s", path);
}

struct registry registered_read(const char *text, struct arena *arena)
{
	if (text)
		folder_write_mode(REGISTRY, text, 0600);
	struct registry registry;
	perch_err err = { .code = 77 };
	ck_assert_msg(registry_read(arena, &registry, &err) == 0, "%s", err.text);
	ck_assert_int_eq(err.code, 77);
	return registry;
}
