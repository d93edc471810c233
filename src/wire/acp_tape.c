/* Lines of ACP, kept for tests. */
#include "wire/acp_tape.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/test_switch.h"

enum {
	ACP_TAPE_LINE_MAX = 256 * 1024, /* a longer one is no request that a test makes */
	ACP_TAPE_MAX = 2 * 1024 * 1024, /* a flood of an agent says the same again and again */
};

/* -1: it cannot be written, or is long enough. */
static int acp_tape_open(const char *path)
{
	struct stat about;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && (fstat(fd, &about) < 0 || about.st_size > ACP_TAPE_MAX)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void acp_tape(const void *connection, const char *side, bool is_ours, struct str line)
{
	const char *directory = TEST_SWITCH("PERCH_TEST_ACP_TAPE");
	char path[PATH_MAX];
	if (!directory || (!is_ours && line.len > ACP_TAPE_LINE_MAX))
		return;
	const struct iovec parts[] = {
		{ (char *)(is_ours ? "> " : "< "), 2 },
		{ (char *)line.data, line.len },
		{ (char *)"\n", 1 },
	};
	snprintf(path, sizeof(path), "%s/%d-%p.%s", directory, (int)getpid(), connection, side);
	int fd = acp_tape_open(path);
	ssize_t written = fd < 0 ? -1 : writev(fd, parts, 3);
	(void)written; /* the test misses what is not there */
	if (fd >= 0)
		close(fd);
}
