/* Lines of ACP, kept for tests. */
#include "wire/acp_tape.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/test_switch.h"

enum { ACP_TAPE_LINE_MAX = 256 * 1024 }; /* a longer one is no request that a test makes */

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
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	ssize_t written = fd < 0 ? -1 : writev(fd, parts, 3);
	(void)written; /* the test misses what is not there */
	if (fd >= 0)
		close(fd);
}
