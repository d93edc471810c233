/* A home directory of a process of its own. */
#include "harness/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/tree.h"

static char home[64];

static void home_leave(void)
{
	tree_remove(home);
}

int home_open(void)
{
	static const char *const names[] = { "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		"XDG_DATA_HOME" };
	char state[sizeof(home) + sizeof("/perch")];
	snprintf(home, sizeof(home), "%s/perch-home-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(home))
		return -EIO;
	atexit(home_leave);
	snprintf(state, sizeof(state), "%s/perch", home);
	for (size_t i = 0; i < COUNT(names); i++)
		setenv(names[i], home, 1);
	return mkdir(state, 0700) < 0 ? -EIO : 0;
}
