/* The process that started us, watched by a pidfd. */
#include "stdio/client.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static void stdio_parent_left(perch_source *source, void *data, unsigned events)
{
	(void)events;
	struct stdio_parent *parent = data;
	perch_source_watch(source, 0);
	parent->left(parent->data);
}

void stdio_parent_watch(struct stdio_parent *parent, perch_host *host)
{
	pid_t pid = getppid();
	int fd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	parent->fd = fd < 0 ? -1 : fd_above_stdio(fd);
	if (parent->fd < 0)
		return;
	if (getppid() != pid) /* it has gone before we could see it */
		parent->left(parent->data);
	else
		perch_source_new(
			host, parent->fd, PERCH_READABLE, stdio_parent_left, parent, &parent->source, NULL);
}

void stdio_parent_close(struct stdio_parent *parent)
{
	perch_source_free(parent->source);
	fd_close(parent->fd);
}
