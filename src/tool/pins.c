/* Pins: files that must be what they were when the operator bound the tool. */
#include "tool/tool_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/sha256.h"

static int pins_fail(perch_err *err, int code, const struct tool_pin *pin, const char *why)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(err, code, "the pinned file '%s' %s", file_shown(pin->path, shown), why);
}

/* Opens a pinned file and compares it. Returns its descriptor. */
static int pins_check_one(const struct tool_pin *pin, perch_err *err)
{
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, pin->path, O_RDONLY);
	char hex[SHA256_HEX_SIZE];
	int r = fd < 0 ? fd : sha256_of_fd(fd, hex);
	if (r == -ENOTSUP)
		return pins_fail(err, r, pin, "is no regular file");
	if (r < 0)
		return pins_fail(err, r, pin, perch_strerror(r));
	if (strcasecmp(hex, pin->sha256) != 0)
		return pins_fail(
			err, -EKEYREJECTED, pin, "has changed since it was bound: its SHA-256 is another one");
	return fd_steal(&fd);
}

static bool pins_is_script(int fd)
{
	char start[2] = { 0 };
	return pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) && start[0] == '#' &&
		start[1] == '!';
}

int pins_check(const struct tool_binding *binding, int *ret_program, perch_err *err)
{
	_cleanup_fd_ int program = -1;
	for (size_t i = 0; i < binding->pin_count; i++) {
		_cleanup_fd_ int fd = pins_check_one(&binding->pins[i], err);
		if (fd < 0)
			return fd;
		bool is_command = i == 0 && strcmp(binding->pins[i].path, binding->command) == 0;
		if (is_command && !pins_is_script(fd))
			program = fd_steal(&fd);
	}
	*ret_program = fd_steal(&program);
	return 0;
}
