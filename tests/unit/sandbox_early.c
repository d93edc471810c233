/* What is mounted in a sandbox before its policy is known: it is what the policy wants then, for
 * each kind of sandbox. Otherwise a room is made twice, which nothing else would show. */
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/policy/policy.h"
#include "sandbox/sandbox.h"

static perch_host *new_host(void)
{
	folder_new();
	setenv("TMPDIR", folder_path("."), 1);
	setenv("PERCH_SANDBOX_NO_ROOM", "0", 1);
	perch_host *host = proc_host();
	host->runs_once = true;
	return host;
}

static pid_t init_of(const struct room *room)
{
	char path[64];
	char line[256];
	int pid = 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", room_entrance(room));
	FILE *file = fopen(path, "r");
	while (fgets(line, sizeof(line), file) && sscanf(line, "Pid: %d", &pid) != 1)
		;
	fclose(file);
	return pid;
}

/* Where in its file system the cover of /dev lies; "" = nothing covers it. */
static const char *cover_of_devices(const struct sandbox *sandbox)
{
	static char cover[256];
	char path[64];
	char line[1024];
	char where[256];
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", init_of(sandbox_confine(sandbox)->room));
	FILE *file = fopen(path, "r");
	for (char root[256]; fgets(line, sizeof(line), file);) {
		bool is_read = sscanf(line, "%*d %*d %*s %255s %255s", root, where) == 2;
		if (is_read && strcmp(where, "/dev") == 0)
			strcpy(cover, strcmp(root, "/") == 0 ? "" : root);
	}
	fclose(file);
	return cover;
}

static struct sandbox_policy policy_of(enum sandbox_kind kind)
{
	return (struct sandbox_policy){
		.reads_everything = true,
		.net = SANDBOX_NET_NONE,
		.has_private_tmp = kind != SANDBOX_OF_GIT,
		.is_alone = kind == SANDBOX_OF_GIT,
		.limits = { .memory = kind == SANDBOX_OF_TOOL ? (uint64_t)1 << 30 : 0 },
	};
}

/* The cover that a sandbox of this policy has, when one of that kind was begun. "none" = here is no
 * room. */
static const char *cover_after(enum sandbox_kind begun, const struct sandbox_policy *policy)
{
	static char cover[256];
	struct sandbox *sandbox;
	perch_host *host = new_host();
	sandbox_begin(host, begun);
	ck_assert_int_eq(sandbox_open(host, policy, &sandbox, NULL), 0);
	bool has_room = sandbox_confine(sandbox)->room;
	strcpy(cover, has_room ? cover_of_devices(sandbox) : "none");
	sandbox_close(sandbox);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
	return cover;
}

START_TEST(the_devices_of_each_kind_are_mounted_early)
{
	for (enum sandbox_kind begun = SANDBOX_OF_PLUGIN; begun <= SANDBOX_OF_GIT; begun++) {
		for (enum sandbox_kind wanted = SANDBOX_OF_PLUGIN; wanted <= SANDBOX_OF_GIT; wanted++) {
			struct sandbox_policy policy = policy_of(wanted);
			const char *cover = cover_after(begun, &policy);
			if (strcmp(cover, "none") == 0)
				return;
			ck_assert_msg(strcmp(cover, "/early-0") == 0, "%d, %d: '%s'", begun, wanted, cover);
		}
	}
}
END_TEST

/* Where a policy wants more of /dev, it is mounted when that is known. */
START_TEST(a_device_that_is_granted_is_there)
{
	static const char *const granted[] = { "/dev/ptmx", NULL };
	struct sandbox_policy policy = policy_of(SANDBOX_OF_PLUGIN);
	policy.read = granted;
	if (access(granted[0], F_OK) != 0)
		return;
	const char *cover = cover_after(SANDBOX_OF_PLUGIN, &policy);
	ck_assert_msg(strcmp(cover, "/early-0") != 0, "'%s'", cover);
}
END_TEST

SUITE_MAIN(
	"sandbox-early", the_devices_of_each_kind_are_mounted_early, a_device_that_is_granted_is_there)
